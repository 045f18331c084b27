package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tcbuild/fault"
)

// probe runs a command with a flag of every kind and returns their values.
func probe(t *testing.T, file string, args ...string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	e := newEnv(&bytes.Buffer{}, &bytes.Buffer{})
	var out, mode string
	var samples int
	var dry bool
	var columns []string
	var got string
	cmd := &cobra.Command{Use: "probe [PATH]"}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "")
	flags.StringVar(&mode, "the-mode", "indices", "")
	intFlag(flags, &samples, "samples", 7, -10, "")
	flags.BoolVar(&dry, "dry", false, "")
	flags.StringSliceVar(&columns, "columns", []string{"genes"}, "")
	_ = cmd.MarkFlagRequired("out")
	run := func(_ context.Context, args []string) error {
		got = fmt.Sprint(out, " ", mode, " ", samples, " ", dry, " ", columns, " ", args)
		return nil
	}
	root := newRoot(e)
	root.AddCommand(configured(e, cmd, run))
	root.SetArgs(append([]string{"probe", "--config", path}, args...))
	err := root.Execute()
	if err != nil {
		err = fault.New(fault.KindOf(err), fault.HintOf(err), "%s", strings.ReplaceAll(err.Error(), path, "a.yaml"))
	}
	return got, err
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file string
		args []string
		want string
	}{
		{"defaults", "", []string{"--out", "o"}, "o indices 7 false [genes] []"},
		{"file beats default", "out: f\nsamples: 1\nthe_mode: full\ndry: true\ncolumns: [a, b]\n", nil, "f full 1 true [a b] []"},
		{"dashes in a file", "out: f\nthe-mode: full\n", nil, "f full 7 false [genes] []"},
		{"override beats file", "out: f\nsamples: 1\n", []string{"samples=2"}, "f indices 2 false [genes] []"},
		{"flag beats override", "out: f\nsamples: 1\n", []string{"samples=2", "--samples", "3"}, "f indices 3 false [genes] []"},
		{"flag beats file", "out: f\nsamples: 1\n", []string{"--samples=3"}, "f indices 3 false [genes] []"},
		{"flag given as its default beats file", "out: f\nsamples: 1\n", []string{"--samples=7"}, "f indices 7 false [genes] []"},
		{"override without a file's key", "", []string{"out=o", "columns=[x,y]"}, "o indices 7 false [x y] []"},
		{"a single word for a list", "out: f\ncolumns: a\n", nil, "f indices 7 false [a] []"},
		{"words with commas for a list, as on the command line", "out: f\ncolumns: a,b\n", nil, "f indices 7 false [a b] []"},
		{"number and switch for a text", "out: 007\nthe_mode: true\n", nil, "007 true 7 false [genes] []"},
		{"list flag beats file", "out: f\ncolumns: [a]\n", []string{"--columns", "b,c"}, "f indices 7 false [b c] []"},
		{"null leaves the default", "out: f\nsamples:\n", nil, "f indices 7 false [genes] []"},
		{"arguments among overrides", "", []string{"a.tsv", "out=o", "--dry"}, "o indices 7 true [genes] [a.tsv]"},
		{"argument with = and a folder", "", []string{"./a=b.tsv", "out=o"}, "o indices 7 false [genes] [./a=b.tsv]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := probe(t, c.file, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestSettingErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		file       string
		args       []string
		want, hint string
	}{
		{"unknown key", "out: f\nsampels: 1\n", nil, `read settings a.yaml:2: unknown setting "sampels"`, "did you mean samples?"},
		{"unknown override", "out: f\n", []string{"sampels=1"}, `read settings override sampels=1: unknown setting "sampels"`, "did you mean samples?"},
		{"nothing near", "zzzzzz: 1\n", nil, `read settings a.yaml:1: unknown setting "zzzzzz"`, "columns, dry, log_format, out, quiet, samples, the_mode"},
		{"config in a file", "config: b.yaml\n", nil, `read settings a.yaml:1: unknown setting "config"`, ""},
		{"bad number", "out: f\nsamples: many\n", nil, `read settings a.yaml:2: samples: found "many", expected a whole decimal number, -10 or more (64 bits)`, "--samples"},
		{"list for a number", "out: f\nsamples: [1, 2]\n", nil, `read settings a.yaml:2: samples: found a list, expected a whole decimal number, -10 or more (64 bits)`, "--samples"},
		{"section for a flag", "out: f\nsamples:\n  x: 1\n", nil, `read settings a.yaml:3: unknown setting "samples.x"`, ""},
		{"list for a text", "out: [f]\n", nil, `read settings a.yaml:1: out: found a list, expected text`, "--out"},
		{"list for a text in an override", "", []string{"out=[f]"}, `read settings override out=[f]: out: found a list, expected text`, "--out"},
		{"empty list for a text", "out: []\n", nil, `read settings a.yaml:1: out: found a list, expected text`, "--out"},
		{"list of one number", "out: f\nsamples: [1]\n", nil, `read settings a.yaml:2: samples: found a list, expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"list for a switch", "out: f\ndry: [true]\n", nil, `read settings a.yaml:2: dry: found a list, expected true or false`, ""},
		{"word for a switch", "out: f\ndry: maybe\n", nil, `read settings a.yaml:2: dry: found "maybe", expected true or false`, ""},
		{"fraction", "out: f\nsamples: 1.5\n", nil, `read settings a.yaml:2: samples: found "1.5", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"octal or decimal", "out: f\nsamples: 010\n", nil, `read settings a.yaml:2: samples: found "010", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"octal or decimal in a flag", "out: f\n", []string{"--samples", "-010"}, `read --samples: found "-010", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"hexadecimal", "out: f\nsamples: 0x10\n", nil, `read settings a.yaml:2: samples: found "0x10", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"hexadecimal flag", "out: f\n", []string{"--samples", "0x10"}, `read --samples: found "0x10", expected a whole decimal number, -10 or more (64 bits)`, "--samples: "},
		{"underscores", "out: f\n", []string{"samples=1_000"}, `read settings override samples=1_000: samples: found "1_000", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"underscores in a flag", "out: f\n", []string{"--samples=1_000"}, `read --samples: found "1_000", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"power of ten", "out: f\nsamples: 1e3\n", nil, `read settings a.yaml:2: samples: found "1e3", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"no digits", "out: f\n", []string{"--samples=-"}, `read --samples: found "-", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"number beyond its range", "out: f\n", []string{"--samples=99999999999999999999"}, `read --samples: found "99999999999999999999", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"setting beyond its range", "out: f\nsamples: 99999999999999999999\n", nil, `read settings a.yaml:2: samples: found "99999999999999999999", expected a whole decimal number, -10 or more (64 bits)`, ""},
		{"word for a switch in a flag", "out: f\n", []string{"--dry=maybe"}, `read --dry: found "maybe", expected true or false`, ""},
		{"list of lists", "out: f\ncolumns: [[a]]\n", nil, `read settings a.yaml:2: columns: found a list, expected a plain value`, ""},
		{"null in a list", "out: f\ncolumns: [a, null]\n", nil, `read settings a.yaml:2: columns: found "null", which means no value in YAML, expected a value`, "put text in quotes"},
		{"a written null", "out: f\n", []string{"out=~"}, `read settings override out=~: out: found "~", which means no value in YAML, expected a value`, `'out="~"'`},
		{"missing everywhere", "samples: 1\n", nil, "probe: --out is missing", "tcbuild probe [PATH]"},
		{"too many arguments", "out: f\n", []string{"a", "b"}, `probe: found argument "b", expected only PATH, flags and key=value`, "tcbuild probe [PATH]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := probe(t, c.file, c.args...)
			if err == nil {
				t.Fatalf("no error; got %s", got)
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), c.hint) {
				t.Errorf("got kind %d, hint %q, want a hint with %q", fault.KindOf(err), fault.HintOf(err), c.hint)
			}
		})
	}
}

// Errors of the settings of a perturbation set, which may be in a section.
func TestErrorsOfASection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, want string }{
		{"perturbations:\n  max_dropped: 2\n", `read settings a.yaml:2: perturbations.max_dropped: found "2", expected a share from 0 to 1`},
		{"max_dropped: nan\n", `read settings a.yaml:1: max_dropped: found "nan", expected a share from 0 to 1`},
		{"max_dropped: 0_1\n", `read settings a.yaml:1: max_dropped: found "0_1", expected a share from 0 to 1`},
		{"max_dropped: 0x0\n", `read settings a.yaml:1: max_dropped: found "0x0", expected a share from 0 to 1`},
		{"allow_wildtype: 1\n", `read settings a.yaml:1: allow_wildtype: found "1", expected true or false`},
		{"perturbations:\n  workers: 2\n", `read settings a.yaml:2: unknown setting "perturbations.workers"`},
		{"perturbations:\n  shards: 2\n", `read settings a.yaml:2: unknown setting "perturbations.shards"`},
		{"perturbations: {file: a}\nperturbations.file: b\n", `read settings a.yaml:2: found perturbations.file, which is also given as perturbations.file in a.yaml:1`},
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		root := newRoot(newEnv(&bytes.Buffer{}, &bytes.Buffer{}))
		root.SetArgs([]string{"incidence", "--graph", "none", "--out", t.TempDir() + "/out", "--config", path})
		err := root.Execute()
		if err == nil || strings.ReplaceAll(err.Error(), path, "a.yaml") != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
