package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain\ttext\n", "plain\ttext\n"},
		{"hoΔ 基因 ±", "hoΔ 基因 ±"},
		{"\x1b]0;title\x07", `\u001b]0;title\u0007`},
		{"a\rb\x7f\x00", `a\u000db\u007f\u0000`},
		{"\u202egnp.\u2066x\u200d", `\u202egnp.\u2066x\u200d`},
		{"\u009b31m", `\u009b31m`},
		{"\x9b31m\xff", `\x9b31m\xff`},
		{"half \xe5\x9f", `half \xe5\x9f`},
		{"\U000e0041", `\udb40\udc41`},
		{"\ufffd", "\ufffd"},
	} {
		var out bytes.Buffer
		p := &printable{out: &out}
		n, err := p.Write([]byte(c.text))
		if n != len(c.text) || err != nil || p.Failed() != nil || out.String() != c.want {
			t.Errorf("%q: wrote %d bytes %q, %v, want %q", c.text, n, out.String(), err, c.want)
		}
	}
}

// Escaped JSON has the same meaning and nothing unprintable.
func TestPrintableJSON(t *testing.T) {
	t.Parallel()
	var all []rune
	for r := rune(0); r <= unicode.MaxRune; r += 1 + r>>12 {
		if utf8.ValidRune(r) {
			all = append(all, r)
		}
	}
	text, err := json.Marshal(string(all))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &printable{out: &out}
	if _, err := p.Write(text); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != string(all) {
		t.Errorf("the text has changed: %v", err)
	}
	if i := strings.IndexFunc(out.String(), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%q is still there", out.String()[i:i+4])
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 100_000)
	for _, c := range []struct{ text, want string }{
		{"read a.tsv:3: found 12", "read a.tsv:3: found 12"},
		{strings.Repeat("word ", 300), strings.Repeat("word ", 300)},
		{`read a.tsv:3: found "` + long + `", expected a number`,
			`read a.tsv:3: found "` + long[:979] + "… (98,541 bytes left out) …" + long[:480] + `", expected a number`},
	} {
		if got := clip(c.text); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, text := range []string{strings.Repeat("word ", 100_000), strings.Repeat(`"\"`, 100_000), strings.Repeat("é ", 2000), strings.Repeat("\xff", 5000)} {
		if got := clip(text); len(got) > longestMessage+100 || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%.10q…: got %d bytes", text, len(got))
		}
	}
}

// Whatever names the input has, nothing is printed that could control a terminal or hide text.
func TestHostileNames(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, name := range []string{"\x1b]0;x\x07\u202eevil\u009b2Ja\rtcbuild: done", strings.Repeat("x", 1<<20), strings.Repeat("w ", 1<<19) + "x"} {
		dir := t.TempDir()
		hostile := strings.ReplaceAll(sound["sets.tsv"], "s1", name)
		writeFiles(t, dir, sound, map[string]string{
			"ids.tsv": hostile, "again.tsv": hostile + name + "\tYA\t1\t\n", "columns.tsv": strings.ReplaceAll(sound["sets.tsv"], "fitness", name),
			"genes.tsv": strings.ReplaceAll(sound["sets.tsv"], "YC", name), "numbers.tsv": strings.ReplaceAll(sound["sets.tsv"], "0.5", "0.5\n"+name+"\tYA\t"+name),
			"settings.yaml": "? " + yamlKey(t, name) + "\n: 1\n",
		})
		for _, args := range [][]string{
			{"incidence", "--graph", "graph", "--perturbations", "columns.tsv", "--out", "dry", "--dry-run"},
			{"incidence", "--graph", "graph", "--perturbations", "ids.tsv", "--out", "ids"},
			{"incidence", "--graph", "graph", "--perturbations", "columns.tsv", "--out", "columns"},
			{"incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "plain"},
			{"incidence", "--graph", "graph", "--perturbations", "genes.tsv", "--out", "genes"},
			{"incidence", "--graph", "graph", "--perturbations", "numbers.tsv", "--out", "numbers"},
			{"inspect", "columns"}, {"inspect", "ids", "--samples", "0:2"}, {"diff", "ids", "plain"}, {"diff", "columns", "plain"},
			{"verify", "ids"}, {"synth", "--config", "settings.yaml", "--out", "s"}, {"verify", "/nowhere/" + name[:min(len(name), 3000)]},
			{"synth", "--out", "s", "--scale", name[:min(len(name), 100_000)]}, {"s" + name[:min(len(name), 100_000)]},
			{"synth", "--out", "s", "--" + name[:min(len(name), 100_000)]}, {"synth", "scale=" + name[:min(len(name), 100_000)]},
		} {
			o := execute(t, dir, args...)
			for stream, text := range map[string]string{"stdout": o.stdout, "stderr": o.stderr} {
				if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }); i >= 0 {
					t.Errorf("%.60q: %s has %q", args, stream, text[i:min(len(text), i+20)])
				}
			}
			if len(o.stderr) > 3*longestMessage || countLines(o.stderr) > 10 {
				t.Errorf("%.60q: got %d bytes in %d lines on stderr", args, len(o.stderr), countLines(o.stderr))
			}
		}
	}
}

func yamlKey(t *testing.T, text string) string {
	t.Helper()
	line, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// What people read stays a table and short, whatever names the input has; JSON has them whole.
func TestLongAndBrokenNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("G", 100_000)
	table := "genes,sample_id,\"f\tg h\"," + long + "\nA,\"x\ty z\",1,1\n" + long + "," + long + ",%d,2\n"
	writeFiles(t, dir, map[string]string{
		"graph/nodes/gene.tsv":          "id\nA\nB\n" + long + "\n",
		"graph/edges/gene__x__gene.tsv": "src\tdst\nA\tB\nB\t" + long + "\n",
		"p.csv":                         fmt.Sprintf(table, 2), "q.csv": fmt.Sprintf(table, 3),
	})
	for _, set := range []string{"p", "q"} {
		must(t, dir, "dataset", "--mode", "indices", "--graph", "graph", "--perturbations", set+".csv", "--out", set)
	}
	for _, args := range [][]string{{"inspect", "p"}, {"inspect", "p", "--samples", ":"}, {"diff", "p", "q"}} {
		o := execute(t, dir, args...)
		if len(o.stdout) == 0 || len(o.stdout) > 5000 || strings.Contains(o.stdout, "g\nh") || strings.Contains(o.stdout, "y\nz") {
			t.Errorf("tcbuild %s: got %d bytes:\n%.3000s", strings.Join(args, " "), len(o.stdout), o.stdout)
		}
	}
	for _, name := range []string{long, `f\tg h`, `x\ty z`} {
		if o := must(t, dir, "inspect", "p", "--samples", ":", "--json"); !strings.Contains(o.stdout, `"`+name+`"`) {
			t.Errorf("JSON lacks %.20s", name)
		}
	}
}

// Unprintable text is an error even if a command does not use it.
func TestStdoutIsFull(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"verify", "out"}, {"status", "out"}, {"inspect", "out"}, {"inspect", "out", "--samples", "0:2", "--json"},
		{"diff", "out", "out"}, {"version"}, {"synth", "--help"}, {"completion", "bash"}} {
		cmd := program(t, "main", args...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		o := outcome{cmd.ProcessState.ExitCode(), "", stderr.String()}
		o.refused(t, 1, "no space left on device")
	}
}
