package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
)

// load reads a settings file with a text, and overrides, and shows each setting as KEY=VALUE, with
// brackets around lists.
func load(t testing.TB, text string, overrides ...string) (shown string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	settings, err := Load(path, overrides)
	if err != nil {
		return "", err
	}
	var words []string
	for _, s := range settings.List {
		value := strings.Join(s.Values, ",")
		if s.IsList {
			value = "[" + value + "]"
		}
		words = append(words, s.Key+"="+value)
	}
	return strings.Join(words, " "), nil
}

func TestLoad(t *testing.T) {
	t.Setenv("TCBUILD_TEST_FOLDER", "/data: [x]")
	for _, test := range []struct {
		text      string
		overrides []string
		want      string
	}{
		{"", nil, ""},
		{"# nothing\n", nil, ""},
		{"root: data\nkeep: 3\n", nil, "root=data keep=3"},
		{"log-file: x\n", nil, "log_file=x"},
		{"keep:\n", nil, ""}, // the default
		{"keep: ''\n", nil, "keep="},
		{"variants: [indices, full-masks]\n", nil, "variants=[indices,full-masks]"},
		{"variants:\n- indices\n- 'a, b'\n", nil, "variants=[indices,a, b]"},
		{"variants: []\n", nil, "variants=[]"},
		{"perturbations: {file: s.tsv, genes_columns: [a, b]}\n", nil,
			"perturbations.file=s.tsv perturbations.genes_columns=[a,b]"},
		{"root: data\nkeep: 3\n", []string{"keep=5", "keep=6"}, "root=data keep=6"},
		{"a: {b: 1}\n", []string{"a.b=2", "c=[x, y]", `d="x=y"`, "e={f: 1}"},
			"a.b=2 c=[x,y] d=x=y e.f=1"},
		{"", []string{"a=x: y", "b=", "c=010"}, "a=x: y b= c=010"},
		{"root: ${oc.env:TCBUILD_TEST_FOLDER}/x\n", nil, "root=/data: [x]/x"},
		{"root: ${oc.env:TCBUILD_TEST_NONE, tmp }/x\n", nil, "root=tmp/x"},
		{"root: '\\${x}'\n", nil, "root=${x}"},
		{"a: 0x10\nb: 1_000\nc: yes\nd: 1e3\n", nil, "a=0x10 b=1_000 c=yes d=1e3"},
	} {
		if got, err := load(t, test.text, test.overrides...); err != nil || got != test.want {
			t.Errorf("%q %q: got %s, %v, want %s", test.text, test.overrides, got, err, test.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ text, override, want string }{
		{"a: 1\na: 2\n", "", `my.yaml:2: key "a" is given twice`},
		{"a-b: 1\na_b: 2\n", "", `my.yaml:2: key "a_b" is given twice`},
		{"p: {x: 1, x: 2}\n", "", `my.yaml:1: key "p.x" is given twice`},
		{"a: 1\n---\nb: 2\n", "", "my.yaml:2: found a second YAML document, expected one"},
		{"- a\n", "", "my.yaml:1: found a list, expected keys and values"},
		{"a\n", "", `my.yaml:1: found "a", expected keys and values`},
		{"a: ~\n", "", `my.yaml:1: a: found "~", which means no value in YAML`},
		{"a: [null]\n", "", `my.yaml:1: a: found "null", which means no value in YAML`},
		{"a: [[x]]\n", "", "my.yaml:1: a: found a list, expected a plain value"},
		{"a: [{x: 1}]\n", "", "my.yaml:1: a: found a section of keys and values, expected a plain"},
		{"a: &x 1\nb: *x\n", "", "my.yaml:1: a: found a YAML anchor or alias, expected a plain"},
		{"a: !!str 1\n", "", "my.yaml:1: a: found the tag !!str, expected a plain value"},
		{"<<: {a: 1}\n", "", "my.yaml:1: found \"<<\" as a key, expected a word"},
		{"a: [1\nb: 2\n", "", "my.yaml:"},
		{"a:\n\tb: 1\n", "", "my.yaml:2"},
		{"a: ${b}\n", "", "my.yaml:1: found ${b, expected ${oc.env:NAME}"},
		{"a: ${oc.env:X\n", "", "my.yaml:1: found ${oc.env:X"},
		{"a: ${oc.env:TCBUILD_TEST_NONE}\n", "", "environment variable TCBUILD_TEST_NONE is not set"},
		{"", "a=null", `override a=null: a: found "null"`},
		{"", "a=[x", "override a=[x: "},
		{"", "a={b: 1, b: 2}", `override a={b: 1, b: 2}: key "a.b" is given twice`},
	} {
		var overrides []string
		if test.override != "" {
			overrides = []string{test.override}
		}
		_, err := load(t, test.text, overrides...)
		if fault.KindOf(err) != fault.Usage || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%q %s: got %v, want %s", test.text, test.override, err, test.want)
		}
	}
	_, err := Load("none/my.yaml", nil)
	if fault.KindOf(err) != fault.Failed || !strings.Contains(err.Error(), "none/my.yaml") {
		t.Errorf("a missing file: got %v", err)
	}
	if _, err := load(t, "a: "+strings.Repeat("x", largestFile)); fault.KindOf(err) != fault.Usage {
		t.Errorf("a large file: got %v", err)
	}
}

func TestRedact(t *testing.T) {
	t.Setenv("TCBUILD_TEST_A", "secret")
	t.Setenv("TCBUILD_TEST_B", "secret-longer")
	settings, err := Load("", []string{"a=${oc.env:TCBUILD_TEST_A}", "b=${oc.env:TCBUILD_TEST_B}",
		"c=${oc.env:TCBUILD_TEST_NONE,public}"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "${oc.env:TCBUILD_TEST_B} ${oc.env:TCBUILD_TEST_A} public"
	if got := settings.Redact("secret-longer secret public", 1); got != want {
		t.Errorf("got %s", got)
	}
	if got := settings.Redact("secret", 7); got != "secret" {
		t.Errorf("short values: got %s", got)
	}
}

// No text makes Load crash, and no value changes the keys.
func FuzzLoad(f *testing.F) {
	f.Add("a: 1\nb: [x, y]\np: {q: r}\n", "a=2", "v")
	f.Add("a: ${oc.env:TCBUILD_TEST_FUZZ}", "b={c: 1}", "x: [1]\ny: 2")
	f.Add("a: &x [1]\nb: *x", "a.b=[", "")
	f.Fuzz(func(t *testing.T, text, override, value string) {
		if strings.ContainsRune(value, 0) {
			return
		}
		t.Setenv("TCBUILD_TEST_FUZZ", value)
		var overrides []string
		if IsOverride(override) {
			overrides = []string{override}
		}
		_, err := load(t, text, overrides...)
		if err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("%q %q: got %v", text, override, err)
		}
		got, err := load(t, "a: ${oc.env:TCBUILD_TEST_FUZZ}")
		if err != nil || got != "a="+value {
			t.Errorf("%q became %q, %v", value, got, err)
		}
	})
}
