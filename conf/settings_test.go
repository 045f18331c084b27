package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// folder makes a folder of settings files from name, text pairs.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// node returns the value of a top-level key.
func (s *Settings) node(key string) *yaml.Node { return child(s.root, key) }

// flatten writes the settings as sorted-by-appearance "path=text" words.
func flatten(s *Settings) string {
	var words []string
	flattenNode(s.root, "", &words)
	return strings.Join(words, " ")
}

func TestLoad(t *testing.T) {
	t.Setenv("CONF_TEST_SET", "42")
	t.Setenv("CONF_TEST_EMPTY", "")
	for _, c := range []struct {
		name      string
		files     []string // the first is loaded
		overrides []string
		want      string
	}{
		{"empty file", []string{"a.yaml", ""}, nil, ""},
		{"only comments", []string{"a.yaml", "# nothing\n"}, nil, ""},
		{"nested", []string{"a.yaml", "x: 1\ny: {z: [a, b]}\n"}, nil, "x=1 y.z.0=a y.z.1=b"},
		{"dashes are underscores", []string{"a.yaml", "log-format: json\n"}, []string{"log-format=text"}, "log_format=text"},

		{"later default beats earlier", []string{"a.yaml", "defaults: [b, c]\n", "b.yaml", "x: b\ny: b\n", "c.yaml",
			"x: c\n"}, nil, "x=c y=b"},
		{"file beats defaults", []string{"a.yaml", "defaults: [b]\nx: a\n", "b.yaml", "x: b\n"}, nil, "x=a"},
		{"_self_ first", []string{"a.yaml", "defaults: [_self_, b.yaml]\nx: a\n", "b.yaml", "x: b\n"}, nil, "x=b"},
		{"_self_ between", []string{"a.yaml", "defaults: [b, _self_, c]\nx: a\ny: a\n", "b.yaml", "x: b\n", "c.yaml",
			"y: c\n"}, nil, "x=a y=c"},
		{"defaults of defaults", []string{"a.yaml", "defaults: [b]\n", "b.yaml", "defaults: [c]\nx: b\n", "c.yaml",
			"x: c\ny: c\n"}, nil, "x=b y=c"},
		{"sections merge, lists do not", []string{"a.yaml", "defaults: [b]\ns: {x: a}\nl: [a]\n", "b.yaml",
			"s: {x: b, y: b}\nl: [b, c]\n"}, nil, "s.x=a s.y=b l.0=a"},
		{"preset as default", []string{"a.yaml", "defaults: [quickstart]\nseed: 5\nroot: r\n"}, []string{"~samples"},
			"root=r scale=yeast seed=5"},

		{"override", []string{"a.yaml", "x: 1\n"}, []string{"x=2"}, "x=2"},
		{"last override wins", []string{"a.yaml", "x: 1\n"}, []string{"x=2", "x=3"}, "x=3"},
		{"dotted", []string{"a.yaml", "s: {x: 1, y: 2}\n"}, []string{"s.y=3"}, "s.x=1 s.y=3"},
		{"list element", []string{"a.yaml", "l: [{x: 1}, {x: 2}]\n"}, []string{"l.1.x=3"}, "l.0.x=1 l.1.x=3"},
		{"section into section merges", []string{"a.yaml", "s: {x: 1, y: 2}\n"}, []string{"s={y: 3}"}, "s.x=1 s.y=3"},
		{"new top-level key", []string{"a.yaml", "x: 1\n"}, []string{"out=d"}, "x=1 out=d"},
		{"plus adds", []string{"a.yaml", "s: {x: 1}\n"}, []string{"+s.y=2", "+t.u.v=3"}, "s.x=1 s.y=2 t.u.v=3"},
		{"plus adds in a list's element", []string{"a.yaml", "l: [{x: 1}]\n"}, []string{"+l.0.y=2", "++l.0.s.z=3"}, "l.0.x=1 l.0.y=2 l.0.s.z=3"},
		{"double plus does either", []string{"a.yaml", "x: 1\n"}, []string{"++x=2", "++s.y=3"}, "x=2 s.y=3"},
		{"tilde removes", []string{"a.yaml", "x: 1\ns: {y: 2, z: 3}\n"}, []string{"~x", "~s.z"}, "s.y=2"},
		{"list value", []string{"a.yaml", "x: 1\n"}, []string{"x=[a, 2]"}, "x.0=a x.1=2"},
		{"quoted value", []string{"a.yaml", ""}, []string{"x='a b'"}, "x=a b"},
		{"value with = and :", []string{"a.yaml", ""}, []string{"x=a: b=c"}, "x=a: b=c"},
		{"empty value", []string{"a.yaml", ""}, []string{"x="}, "x="},

		{"interpolation", []string{"a.yaml", "root: r\nout: ${root}/o\n"}, nil, "root=r out=r/o"},
		{"sees overrides", []string{"a.yaml", "root: r\nout: ${root}/o\n"}, []string{"root=q"}, "root=q out=q/o"},
		{"in an override", []string{"a.yaml", "root: r\n"}, []string{"out=${root}/o"}, "root=r out=r/o"},
		{"of an override's key with dash", []string{"a.yaml", "out: ${my-root}/o\n"}, []string{"my-root=q"}, "out=q/o my_root=q"},
		{"forward and chained", []string{"a.yaml", "a: ${b}${b}\nb: ${c}\nc: 1\n"}, nil, "a=11 b=1 c=1"},
		{"dotted and list", []string{"a.yaml", "a: ${s.x}-${s.l.1}\ns: {x: 1, l: [p, q]}\n"}, nil, "a=1-q s.x=1 s.l.0=p s.l.1=q"},
		{"whole section", []string{"a.yaml", "a: ${s}\ns: {x: '${y}'}\ny: 2\n"}, nil, "a.x=2 s.x=2 y=2"},
		{"through a section", []string{"a.yaml", "b: ${a.x}\na: ${s}\ns: {x: 1}\n"}, nil, "b=1 a.x=1 s.x=1"},
		{"sibling in the same section", []string{"a.yaml", "s: {x: 1, y: '${s.x}'}\n"}, nil, "s.x=1 s.y=1"},
		{"escaped", []string{"a.yaml", `x: \${root}`}, nil, "x=${root}"},
		{"environment", []string{"a.yaml", "x: ${oc.env:CONF_TEST_SET}\ny: ${oc.env:CONF_TEST_EMPTY,d}\n"}, nil, "x=42 y="},
		{"environment default", []string{"a.yaml",
			"x: ${oc.env:CONF_TEST_UNSET, 7 }\ny: ${x}/${oc.env:CONF_TEST_UNSET,b}\n"}, nil, "x=7 y=7/b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files...)
			settings, err := Load(filepath.Join(dir, "a.yaml"), c.overrides)
			if err != nil {
				t.Fatal(err)
			}
			if got := flatten(settings); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     []string
		overrides []string
		want      string // DIR is replaced by the folder
		hint      string
	}{
		{"open list", []string{"a.yaml", "x: 1\ny: [\n"}, nil,
			`read settings DIR/a.yaml:2: at "y: [": did not find expected node content, while parsing a flow node`, "quote"},
		{"outdented", []string{"a.yaml", "out: x\nedges:\n  - name: a\n   table: [\n"}, nil,
			`read settings DIR/a.yaml:4: at "table: [": did not find expected '-' indicator, while parsing a block collection ` +
				"that starts in line 3", "indent"},
		{"open quote", []string{"a.yaml", "x: 1\n\ngraph: \"abc\nmode: y\n\n"}, nil,
			`read settings DIR/a.yaml:3: at "graph: \"abc": found unexpected end of stream, while scanning a quoted scalar`, ""},
		{"tab", []string{"a.yaml", "# first\nx: 1\n\ty: 1\n"}, nil,
			`read settings DIR/a.yaml:3: at "y: 1": found a tab character that violates indentation`, "spaces"},
		{"sign", []string{"a.yaml", "\r\nx: @y\r\n"}, nil, `read settings DIR/a.yaml:2: at "x: @y": found character that cannot`, "quote"},
		{"Latin-1", []string{"a.yaml", "x: 1\n# caf\xe9\n"}, nil, `read settings DIR/a.yaml:2: at "# caf\xe9": `, ""},
		{"override", []string{"a.yaml", ""}, []string{"x=[1, 2"}, `read settings override x=[1, 2: at "[1, 2": did not`, ""},
		{"not a mapping", []string{"a.yaml", "- x\n"}, nil,
			"read settings DIR/a.yaml:1: found a list, expected keys and values", "key: value"},
		{"key twice", []string{"a.yaml", "x: 1\ny: 2\nx: 3\n"}, nil, `read settings DIR/a.yaml:3: key "x" is given twice`, "remove one"},
		{"key twice, spelled differently", []string{"a.yaml", "a-b: 1\na_b: 2\n"}, nil,
			`read settings DIR/a.yaml:2: key "a_b" is given twice`, "remove one"},
		{"nested key twice", []string{"a.yaml", "s:\n  x: 1\n  x: 2\n"}, nil,
			`read settings DIR/a.yaml:3: key "x" is given twice`, "remove one"},
		{"list as key", []string{"a.yaml", "? [a]\n: 1\n"}, nil, "read settings DIR/a.yaml:1: found a list as a key, expected a word", ""},
		{"anchor", []string{"a.yaml", "x: &a 1\ny: *a\n"}, nil, "read settings DIR/a.yaml:1: found a YAML anchor or alias", "${key}"},
		{"two documents", []string{"a.yaml", "x: 1\n---\ny: 2\n"}, nil,
			"read settings DIR/a.yaml:2: found a second YAML document", "defaults list"},
		{"alias bomb", []string{"a.yaml", "a: &a [x, x]\nb: [*a, *a]\n"}, nil,
			"read settings DIR/a.yaml:1: found a YAML anchor or alias", "${key}"},
		{"merge key", []string{"a.yaml", "x: 1\n<<: {y: 2}\n"}, nil,
			"read settings DIR/a.yaml:2: found the YAML merge key <<, expected a word", "defaults list"},
		{"unknown tag", []string{"a.yaml", "x: 1\ny: !foo z\n"}, nil,
			"read settings DIR/a.yaml:2: found the tag !foo, expected plain values", "quotes"},
		{"tag of another language", []string{"a.yaml", "x: !!python/object/apply:os.system [ls]\n"}, nil,
			"read settings DIR/a.yaml:1: found the tag ", ""},
		{"tag of a type", []string{"a.yaml", "s: [!!binary aGk=]\n"}, nil, "read settings DIR/a.yaml:1: found the tag !!binary", ""},
		{"tag in an override", []string{"a.yaml", ""}, []string{"x=[!foo z]"}, "read settings override x=[!foo z]: found the tag !foo", ""},
		{"large file", []string{"a.yaml", "#" + strings.Repeat("x", largestFile)}, nil,
			"read settings DIR/a.yaml: found more than 262144 bytes", "settings"},
		{"text that doubles", []string{"a.yaml", doubling("${%[1]s}${%[1]s}${%[1]s}")}, nil, "read settings DIR/a.yaml:1", "repeatedly"},
		{"lists that double", []string{"a.yaml", doubling("['${%[1]s}', '${%[1]s}', '${%[1]s}']")}, nil,
			"read settings: found values of more than", "repeatedly"},
		{"nested interpolations", []string{"a.yaml", "x: " + strings.Repeat("${", 5000) + "x" + strings.Repeat("}", 5000) + "\n"}, nil,
			"read settings DIR/a.yaml:1: found ${…} inside ${…} in", "${a.b}"},
		{"a default that refers", []string{"a.yaml", "y: 1\nx: ${oc.env:CONF_TEST_UNSET,${y}}\n"}, nil,
			"read settings DIR/a.yaml:2: found ${…} inside ${…} in \"${oc.env:CONF_TEST_UNSET,${y}}\"", "${a.b}"},
		{"deep lists", []string{"a.yaml", "x: " + strings.Repeat("[", 50_000)}, nil, "read settings DIR/a.yaml", ""},
		{"missing file", []string{"b.yaml", ""}, nil, "read settings: found neither a file nor a preset DIR/a.yaml", "presets are"},

		{"missing default", []string{"a.yaml", "x: 1\ndefaults:\n- quickstat\n"}, nil,
			"read settings DIR/a.yaml:3: found neither a file nor a preset DIR/quickstat.yaml", "did you mean quickstart?"},
		{"error in a default", []string{"a.yaml", "defaults: [b]\n", "b.yaml", "\nx: 1\nx: 2\n"}, nil,
			`read settings DIR/b.yaml:3: key "x" is given twice`, ""},
		{"circle of defaults", []string{"a.yaml", "defaults: [b]\n", "b.yaml", "\ndefaults: [a]\n"}, nil,
			"read settings DIR/b.yaml:2: the defaults lists form a cycle: DIR/a.yaml -> DIR/b.yaml -> DIR/a.yaml", "remove one"},
		{"own settings twice", []string{"a.yaml", "defaults: [_self_, b, _self_]\n", "b.yaml", ""}, nil,
			"read settings DIR/a.yaml:1: defaults: found _self_ twice", "remove one"},
		{"defaults no list", []string{"a.yaml", "defaults: b\n"}, nil,
			`read settings DIR/a.yaml:1: defaults: found "b", expected a list`, ""},
		{"default with a group", []string{"a.yaml", "defaults:\n- db: mysql\n"}, nil,
			"read settings DIR/a.yaml:2: defaults: found a section of keys and values, expected the name of a settings file in the same folder", ""},

		{"no override", []string{"a.yaml", ""}, []string{"=x"}, `read settings: found "=x", expected an override`, "key=value"},
		{"dotted key that is not there", []string{"a.yaml", "edges: {threshold: 1}\n"}, []string{"edges.treshold=2"},
			"read settings override edges.treshold=2: found no key edges.treshold to change", "did you mean threshold?"},
		{"dotted key, nothing near", []string{"a.yaml", "s: {x: 1}\n"}, []string{"s.other=2"},
			"read settings override s.other=2: found no key s.other to change", "write +s.other=2"},
		{"plus on a key that is there", []string{"a.yaml", "\nx: 1\n"}, []string{"+x=2"},
			"read settings override +x=2: x already exists (DIR/a.yaml:2)", "drop the +"},
		{"plus below a scalar", []string{"a.yaml", "\nx: 1\n"}, []string{"+x.y=2"},
			`read settings override +x.y=2: x is "1" (DIR/a.yaml:2), expected a section`, ""},
		{"plus behind a list's end", []string{"a.yaml", "\nl: [1]\n"}, []string{"+l.1=2"},
			"read settings override +l.1=2: l is a list (DIR/a.yaml:2), expected a section", ""},
		{"tilde on a key that is not there", []string{"a.yaml", "alpha: 1\n"}, []string{"~alhpa"},
			"read settings override ~alhpa: found no key alhpa to remove", "did you mean alpha?"},
		{"bad list", []string{"a.yaml", ""}, []string{"x=[a"}, "read settings override x=[a:", ""},
		{"key twice in a value", []string{"a.yaml", ""}, []string{"x={a: 1, a: 2}"},
			`read settings override x={a: 1, a: 2}: key "a" is given twice`, ""},

		{"unknown key", []string{"a.yaml", "root: r\nout: ${rot}/o\n"}, nil,
			"read settings DIR/a.yaml:2: ${rot} names a key that does not exist", "did you mean root?"},
		{"unknown resolver", []string{"a.yaml", "x: ${now:%Y}\n"}, nil,
			"read settings DIR/a.yaml:1: found ${now:…}, expected ${key}, ${a.b} or ${oc.env:VAR}", ""},
		{"unset variable", []string{"a.yaml", "x: ${oc.env:CONF_TEST_UNSET}\n"}, nil,
			"read settings DIR/a.yaml:1: environment variable CONF_TEST_UNSET is not set", "${oc.env:CONF_TEST_UNSET,default}"},
		{"unclosed", []string{"a.yaml", "x: a${b\n"}, nil, `read settings DIR/a.yaml:1: found ${ without } in "a${b"`, "close it"},
		{"itself", []string{"a.yaml", "x: a${x}\n"}, nil, "read settings DIR/a.yaml:1: the value refers to itself", "cycle"},
		{"circle", []string{"a.yaml", "x: ${y}\ny: ${z}\nz: ${x}\n"}, nil,
			"read settings DIR/a.yaml:1: the value refers to itself", "cycle"},
		{"section in itself", []string{"a.yaml", "s:\n  x: ${s}\n"}, nil,
			"read settings DIR/a.yaml:2: the value refers to itself", "cycle"},
		{"section in a text", []string{"a.yaml", "s: {x: 1}\ny: a${s}\n"}, nil,
			"read settings DIR/a.yaml:2: ${s} inside a text is a section", ""},
		{"written null", []string{"a.yaml", "x: 1\nsep: ~\n"}, nil, "read settings DIR/a.yaml:2: sep: found ~, which means no value in YAML, expected a value", `'sep="~"'`},
		{"null of an override", []string{"a.yaml", "a: {b: [x, y]}\n"}, []string{"a.b=null"}, "read settings override a.b=null: a.b: found null, which", `'a.b="null"'`},
		{"null in a list", []string{"a.yaml", "a: {b: [x, Null]}\n"}, nil, "read settings DIR/a.yaml:1: a.b.1: found Null, which", ""},
		{"null as a key", []string{"a.yaml", "a: {~: x}\n"}, nil, "read settings DIR/a.yaml:1: a.~: found ~, which", ""},
		{"null in a text", []string{"a.yaml", "s:\ny: a${s}\n"}, nil, "read settings DIR/a.yaml:2: ${s} inside a text is", ""},
		{"in an override", []string{"a.yaml", ""}, []string{"x=${rot}"},
			"read settings override x=${rot}: ${rot} names a key that does not exist", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files...)
			_, err := Load(filepath.Join(dir, "a.yaml"), c.overrides)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if fault.KindOf(err) != fault.Usage && c.name != "missing file" {
				t.Errorf("got kind %d, want fault.Usage", fault.KindOf(err))
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("got hint %q, want one with %q", hint, c.hint)
			}
		})
	}
}

// doubling are settings a1 to a40, each made of the one before it by a format.
func doubling(format string) string {
	text := "a0: x\n"
	for i := range 40 {
		text += fmt.Sprintf("a%d: %s\n", i+1, fmt.Sprintf(format, fmt.Sprint("a", i)))
	}
	return text
}

// A path that does not exist is a failure; a word that is not a preset is a wrong name.
func TestLoadMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]fault.Kind{"nopreset": fault.Usage, "none.yaml": fault.Failed,
		"dir/none": fault.Failed, "./none": fault.Failed} {
		if _, err := Load(path, nil); err == nil || fault.KindOf(err) != want || fault.HintOf(err) == "" {
			t.Errorf("%s: got kind %d of %v, want %d and a hint", path, fault.KindOf(err), err, want)
		}
	}
}

func TestLoadUnreadableFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{t.TempDir(), pipe, "/dev/zero"} {
		_, err := Load(path, nil)
		if err == nil || fault.KindOf(err) != fault.Failed || !strings.Contains(err.Error(), "expected a file") || fault.HintOf(err) == "" {
			t.Errorf("got %v, want a fault.Failed with a hint that says what was found", err)
		}
	}
}

func TestLoadPreset(t *testing.T) {
	t.Chdir(t.TempDir()) // where no file hides the preset
	for _, path := range []string{"quickstart", "quickstart.yaml", "no/such/folder/quickstart.yaml"} {
		settings, err := Load(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := Where(settings.node("seed")), "preset quickstart.yaml:"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: seed is from %s, want %s…", path, got, want)
		}
	}
}

// A folder with the name of a preset, such as the one that ingest graph has made, does not hide it.
func TestPresetBesideFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("yeast", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("yeast", nil); err != nil {
		t.Error(err)
	}
}

// The value of an override has the type that it would have in a file, and so has that of a
// variable.
func TestTypesOfOverrides(t *testing.T) {
	path := filepath.Join(folder(t, "a.yaml", "section: {weight: 1, genes: 1, keep: false, name: a}\n"), "a.yaml")
	type section struct {
		Weight float64
		Genes  int
		Keep   bool
		Name   string
	}
	t.Setenv("CONF_TEST_WEIGHT", "0.5")
	settings, err := Load(path, []string{"section.weight=${oc.env:CONF_TEST_WEIGHT}", "section.genes=20", "section.keep=true", "section.name=007"})
	if err != nil {
		t.Fatal(err)
	}
	var got section
	if err := decode(settings.node("section"), reflect.ValueOf(&got).Elem(), ""); err != nil || got != (section{0.5, 20, true, "007"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "many", "- 1", "1 #", "*a", "!!int 1", "a: 1", "|", "1\n2"} {
		settings, err := Load(path, []string{"section.name=" + text})
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(settings.node("section"), reflect.ValueOf(&got).Elem(), ""); err != nil || got.Name != text {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
		settings, err = Load(path, []string{"section.genes=" + text})
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(settings.node("section"), reflect.ValueOf(&got).Elem(), ""); err == nil {
			t.Errorf("%q is a number", text)
		}
	}
}

// Every preset must load, whatever the environment.
func TestPresetsLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range Presets() {
		if _, err := Load(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhere(t *testing.T) {
	dir := folder(t, "a.yaml", "defaults: [b]\n\nx: 1 # one\n", "b.yaml", "y: 2\nx: 2\nz: ${x}\n")
	settings, err := Load(filepath.Join(dir, "a.yaml"), []string{"w=3"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"x": "DIR/a.yaml:3", "y": "DIR/b.yaml:1", "z": "DIR/b.yaml:3", "w": "override w=3"} {
		if got := strings.ReplaceAll(Where(settings.node(key)), dir, "DIR"); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestEntries(t *testing.T) {
	dir := folder(t, "a.yaml", "one: 1\nlist: [a, '${one}']\nnothing:\nsection: {x: 1}\nmixed: [[a]]\n")
	settings, err := Load(filepath.Join(dir, "a.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range settings.Entries() {
		line := e.Key + ":"
		var words []string
		if err := e.Decode(&words); err == nil {
			line += strings.Join(words, ",")
		}
		if e.IsNull() {
			line += " null"
		}
		if e.Referenced {
			line += " referenced"
		}
		got = append(got, line)
	}
	want := []string{"one:1 referenced", "list:a,1", "nothing: null", "section:", "mixed:"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestIsOverride(t *testing.T) {
	for argument, want := range map[string]bool{
		"a=1": true, "a=": true, "a.b=1": true, "a.0.b=1": true, "+a=1": true, "++a=1": true, "~a": true, "a-b=1": true, "a=x\ny": true,
		"a": false, "./a=1": false, "dir/a=1": false, "=1": false, "+++a=1": false, "~": false, "~/a": false, "1a=1": false, "a.=1": false, "": false,
	} {
		if got := IsOverride(argument); got != want {
			t.Errorf("%q: got %t", argument, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("x: 1\ny: ${x}\n", "x=2")
	f.Add("s: {x: [1, a]}\n", "+s.y=[1, {a: b}]")
	f.Add("x: ${oc.env:A,y}\ny: \\${z}\n", "~x")
	f.Add("defaults: [_self_]\na-b: ${a_b}\n", "a_b='q'")
	f.Fuzz(func(t *testing.T, text, override string) {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		settings, err := Load(path, []string{override})
		if err != nil {
			// A fuzzed defaults entry may name a folder, which is a failure to read.
			if fault.KindOf(err) != fault.Usage && !strings.Contains(text, "defaults") {
				t.Errorf("got kind %d of %v", fault.KindOf(err), err)
			}
			return
		}
		for _, entry := range settings.Entries() {
			if Where(entry.Value) == "" {
				t.Errorf("%s has no place", entry.Key)
			}
		}
	})
}

// Files that each name two of the next lead to 2^40 files.
func TestDefaultsThatMultiply(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		for _, side := range []string{"a", "b"} {
			text := fmt.Sprintf("defaults: [%da, %db]\n", i+1, i+1)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, side, ".yaml")), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, side := range []string{"40a.yaml", "40b.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, side), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(filepath.Join(dir, "0a.yaml"), nil)
	if err == nil || !strings.Contains(err.Error(), "more than 100 files") {
		t.Errorf("got %v", err)
	}
}

func TestOverrideOfTwoDocuments(t *testing.T) {
	path := filepath.Join(folder(t, "a.yaml", ""), "a.yaml")
	_, err := Load(path, []string{"x=[1]\n---\n[2]"})
	want := "found a second YAML document in its line 2, expected one"
	if fault.KindOf(err) != fault.Usage || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
