package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/ingest/graph/build"
	"tcbuild/ingest/samples"
)

// The reference of all settings, for people and for editors. Both are made from the flags of the
// commands, and from the fields of the specs and their comments.
const (
	settingsReference = "../../docs/SETTINGS.md"
	settingsSchema    = "../../conf/tcbuild.schema.json"
)

const settingsHead = `# Settings

Every key that a settings file or ` + "`key=value`" + ` can set. Generated from the program:
` + "`go test ./cmd/tcbuild -run TestSettingsReference -update`" + ` rewrites it.

## Rules

` + "`--config FILE`" + ` names a YAML file or a preset; ` + "`tcbuild presets`" +
	` lists the presets. After the
command, ` + "`key=value`" + ` changes a setting of the file, as in Hydra:

| written | effect |
| --- | --- |
| ` + "`key=value`, `a.b=value`" +
	` | sets a value; a top-level key may also be any flag of the command |
| ` + "`edges.4.string.min=400`" + ` | sets a value in an element of a list, counted from 0 |
| ` + "`+a.b=value`" + ` | adds a value that the file does not have |
| ` + "`++a.b=value`" + ` | sets or adds a value |
| ` + "`~a.b`" + ` | removes a value |

- A flag takes precedence over an override, and an override over the file. Each top-level value sets
  the flag of its name; ` + "`log_format` and `log-format`" + ` are the same.
- Numbers are decimal: ` + "`010` is ten, and `0x10` and `1_000`" +
	` are errors. A value that starts with
  ` + "`[`, `{`" + ` or a quote is YAML. Any other value is one number, ` + "`true` or `false`" +
	`, or text.
- A single text in place of a list is a list of one.
- A key without a value keeps its default. ` + "`~` and `null`" +
	` are errors: as text, they need quotes
  (` + "`'gene_delimiter=\"~\"'`" + `).
- ` + "`defaults: [base]`" +
	` starts from other files in the same folder; later ones take precedence. The
  file itself comes last, or where the list says ` + "`_self_`" + `.
- ` + "`${key}`, `${a.b}` and `${oc.env:VAR,default}`" + ` stand for other values.
- An unknown key is an error, with the nearest valid name as a hint. Other keys are allowed only if a
  value refers to them with ` + "`${…}`" + `.
- One file can serve several commands. Flags of other commands are ignored, and the log says so;
  sections and overrides of other commands are errors.
- A public source (` + "`source: string`" +
	`) sets keys of its section, which are then not required.

Editors with a YAML language server complete and check keys if a settings file begins with
` + "`# yaml-language-server: $schema=PATH`" + `, the path of
[conf/tcbuild.schema.json](../conf/tcbuild.schema.json).
`

// requiredInText ends the comment of a key that must be there, or mostly.
var requiredInText = regexp.MustCompile(` \((required[^)]*)\)$`)

// settingRow is a key of the reference.
type settingRow struct{ key, commands, kind, byDefault, meaning, example string }

// settingsTables makes the tables of the reference, and collects what they need.
type settingsTables struct {
	t        *testing.T
	comments map[string]string   // of fields, by pkg.Type.Field
	words    map[string][]string // of named string types, by pkg.Type
	examples *yaml.Node
	rows     []settingRow
}

func TestSettingsReference(t *testing.T) {
	tables := &settingsTables{
		t: t, comments: make(map[string]string), words: make(map[string][]string),
	}
	for _, dir := range []string{
		"ingest", "ingest/names", "ingest/samples", "ingest/samples/duplicates", "ingest/where",
		"ingest/table",
		"ingest/graph/build", "ingest/graph/models", "ingest/graph/networks",
		"ingest/graph/ontologies", "internal/download",
	} {
		tables.parse("../../" + dir)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(read(t, "testdata/settings.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	tables.examples = document.Content[0]

	var text strings.Builder
	text.WriteString(settingsHead)
	section := func(title, introduction string) {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n", title, introduction)
		tables.print(&text)
	}
	properties := tables.flags()
	section("Flags", "Any flag of the command, at the top level, with `-` or `_`.")
	for key, schema := range tables.fields(reflect.TypeFor[build.Spec](), "",
		nodeAt(tables.examples, "graph")) {
		properties[key] = append(properties[key], schema)
	}
	section("Sections of `ingest graph`",
		"`edges[]` is an entry of the list `edges`. For a complete example, see conf/yeast.yaml; "+
			"conf/sources.yaml has an entry for each public source.")
	properties["ingest"] = []any{map[string]any{"type": "object", "required": []string{"config"},
		"description": "of rebuild: the settings file of 'ingest graph' that builds the graph, " +
			"and overrides"}}
	tables.rows = []settingRow{
		{"ingest.config", "", "text", "required", "a settings file of `ingest graph`, or a preset",
			"yeast"},
		{"ingest.KEY", "", "text", "", "overrides a top-level value of that file",
			"data: downloads"},
	}
	section("Section `ingest` of `rebuild`",
		"Builds the graph from public sources, in place of `graph`.")
	set := tables.fields(reflect.TypeFor[samples.Spec](), "",
		nodeAt(tables.examples, "perturbations"))
	properties["perturbations"] = append(properties["perturbations"],
		object(set, "a perturbation set and how to read it"))
	flags, _ := settableFlags(perturbationFlags(&cobra.Command{}).flags)
	for key, schema := range set {
		if key != "file" && flags[key] == nil { // they are settings at the top level, too
			properties[key] = append(properties[key], schema)
		}
	}
	section("Section `perturbations`",
		"Names a perturbation set and says how to read it. Use it instead of a path: "+
			"`perturbations: {file: SGA_NxN.txt, source: costanzo2016}`. "+
			"You can also set every key but `file` outside this section: at the top level, "+
			"as key=value or, for many keys, as a flag. Setting a key twice is an error. "+
			"A public source sets these keys for you; 'tcbuild ingest sources NAME' prints them.")
	properties["defaults"] = []any{
		map[string]any{"type": "array", "items": map[string]any{"type": "string"},
			"description": "names of settings files in the same folder to start from; _self_ is " +
				"the file itself"},
	}
	tables.rows = []settingRow{
		{"defaults", "", "list of text", "",
			"settings files in the same folder to start from; later ones take precedence, " +
				"`_self_` is the file itself",
			"[base]"},
	}
	section("In every settings file", "These keys are read before all others.")

	schema := object(nil, "Settings of tcbuild; generated with docs/SETTINGS.md")
	delete(schema, "additionalProperties") // other keys are for ${key}
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	merged := schema["properties"].(map[string]any)
	for key, kinds := range properties {
		merged[key] = kinds[0]
		if len(kinds) > 1 {
			merged[key] = map[string]any{"anyOf": kinds}
		}
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(schema); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		settingsReference: text.String(), settingsSchema: encoded.String(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if read(t, path) != want {
			t.Errorf("%s is not what the program has; run: go test ./cmd/tcbuild -run "+
				"TestSettingsReference -update",
				filepath.Base(path))
		}
	}
}

// parse reads the comments of fields and the constants of a package.
func (s *settingsTables) parse(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			s.t.Fatal(err)
		}
		prefix := file.Name.Name + "."
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				if fields, ok := node.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							s.comments[prefix+node.Name.Name+"."+name.Name] = strings.Join(
								strings.Fields(field.Doc.Text()+field.Comment.Text()), " ",
							)
						}
					}
				}
			case *ast.ValueSpec:
				if kind, ok := node.Type.(*ast.Ident); ok && len(node.Values) == 1 {
					value, ok := node.Values[0].(*ast.BasicLit)
					if ok && value.Kind == token.STRING {
						word, _ := strconv.Unquote(value.Value)
						s.words[prefix+kind.Name] = append(s.words[prefix+kind.Name], word)
					}
				}
			}
			return true
		})
	}
}

var defaultInText = regexp.MustCompile(` \(default:? ([^)]*)\)$`)

// flags adds the flags of all commands, and returns their schemas.
func (s *settingsTables) flags() map[string][]any {
	properties := make(map[string][]any)
	byRow := make(map[settingRow][]string)
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			add(sub)
		}
		flags, _ := settableFlags(cmd.LocalNonPersistentFlags())
		name := "`" + strings.TrimPrefix(cmd.CommandPath(), "tcbuild ") + "`"
		if !cmd.HasParent() {
			flags, _ = settableFlags(cmd.PersistentFlags())
			name = "all"
		}
		for key, flag := range flags {
			if key == "version" {
				continue
			}
			argument, usage := pflag.UnquoteUsage(flag)
			kind := map[string]string{
				"string":      "text",
				"int":         "whole number",
				"uint64":      "whole number",
				"float64":     "number",
				"bool":        "true or false",
				"stringSlice": "list of text",
				"stringArray": "list of text",
			}[flag.Value.Type()]
			row := settingRow{
				key: key, kind: kind, meaning: defaultInText.ReplaceAllString(usage, ""),
			}
			if match := defaultInText.FindStringSubmatch(usage); match != nil {
				row.byDefault = match[1]
			} else if _, required := flag.Annotations[cobra.BashCompOneRequiredFlag]; required {
				row.byDefault = "required"
			} else if value := strings.Trim(flag.DefValue, "[]"); value != "" && value != "0" {
				row.byDefault = "`" + value + "`"
			}
			node, otherwise := cmp.Or(nodeAt(s.examples, "flags", key+" "+argument),
				nodeAt(s.examples, "flags", key)), ""
			if kind == "true or false" {
				otherwise = "true"
			} else if strings.HasPrefix(row.byDefault, "`") {
				otherwise = strings.Trim(row.byDefault, "`")
			} else if node != nil {
				err := setFlag(cmd.Flags(), flag, conf.Entry{Key: key, Value: node})
				if err != nil {
					s.t.Error(err)
				}
			}
			row.example = s.example(node, key, otherwise)
			byRow[row] = append(byRow[row], name)
		}
	}
	root := newRoot(newEnv(io.Discard, io.Discard))
	add(root)
	for row, commands := range byRow {
		slices.Sort(commands)
		row.commands = strings.Join(commands, ", ")
		s.rows = append(s.rows, row)
	}
	slices.SortFunc(s.rows, func(a, b settingRow) int {
		return strings.Compare(a.key+"\x00"+a.commands, b.key+"\x00"+b.commands)
	})
	kinds := make(map[[2]string][]string) // meanings, by key and type
	for _, row := range s.rows {
		of := [2]string{row.key, row.kind}
		if !slices.Contains(kinds[of], row.meaning) {
			kinds[of] = append(kinds[of], row.meaning)
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(kinds),
		func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		properties[of[0]] = append(properties[of[0]],
			schemaOf(of[1], strings.Join(kinds[of], "; or: ")))
	}
	return properties
}

// fields adds the keys of a spec, and returns their schemas.
func (s *settingsTables) fields(
	spec reflect.Type, prefix string, examples *yaml.Node,
) map[string]any {
	properties := make(map[string]any)
	for i := range spec.NumField() {
		field := spec.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		if options == "inline" {
			maps.Copy(properties, s.fields(field.Type, prefix, examples))
			continue
		}
		owner := strings.ReplaceAll(spec.String(), "*", "")
		comment := s.comments[owner+"."+field.Name]
		if comment == "" {
			s.t.Errorf("%s.%s has no comment for docs/SETTINGS.md", owner, field.Name)
		}
		if strings.HasPrefix(comment, "refused") {
			continue
		}
		row := settingRow{key: prefix + key, meaning: comment}
		if match := requiredInText.FindStringSubmatch(comment); match != nil {
			row.meaning, row.byDefault = requiredInText.ReplaceAllString(comment, ""), match[1]
		} else if match := defaultInText.FindStringSubmatch(comment); match != nil {
			row.meaning, row.byDefault = defaultInText.ReplaceAllString(comment, ""), match[1]
		}
		kind, list := field.Type, false
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Slice {
			kind, list = kind.Elem(), true
		}
		if kind.Kind() == reflect.Struct {
			row.kind, row.example = "section", ""
			inner := prefix + key + "."
			if list {
				row.kind, inner = "list of sections", prefix+key+"[]."
			}
			s.rows = append(s.rows, row)
			schema := object(s.fields(kind, inner, nodeAt(examples, key)), row.meaning)
			if list {
				schema = map[string]any{
					"type": "array", "items": schema, "description": row.meaning,
				}
			}
			properties[key] = schema
			continue
		}
		row.kind = map[reflect.Kind]string{
			reflect.String:  "text",
			reflect.Int:     "whole number",
			reflect.Float64: "number",
			reflect.Bool:    "true or false",
		}[kind.Kind()]
		byKey := kind.Kind() == reflect.Map
		if byKey {
			kind = kind.Elem()
		}
		words := s.words[kind.String()]
		if tag, ok := field.Tag.Lookup("words"); ok {
			words = strings.Fields(tag)
		}
		if words != nil && !list {
			row.kind = strings.Join(words, " or ")
		}
		plain := cmp.Or(row.kind, "text") // of a value of a map, too
		if byKey {
			row.kind = plain + ", by name"
		}
		if list {
			row.kind = "list of " + row.kind
		}
		schemaKind := row.kind
		if kind.Kind() == reflect.Bool && row.byDefault == "" {
			row.byDefault = "`false`"
		}
		row.example = s.example(nodeAt(examples, key), row.key, "")
		s.rows = append(s.rows, row)
		schema := schemaOf(schemaKind, row.meaning)
		if byKey {
			schema = schemaOf(plain, row.meaning)
		}
		if words != nil && !list {
			schema = map[string]any{
				"anyOf":       []any{map[string]any{"enum": words}, reference},
				"description": row.meaning,
			}
		}
		if byKey {
			schema = map[string]any{
				"type": "object", "additionalProperties": schema, "description": row.meaning,
			}
		}
		properties[key] = schema
	}
	return properties
}

// reference is the schema of a value with a ${key} in it.
var reference = map[string]any{"type": "string", "pattern": `\$\{`}

// schemaOf is the schema of a value that is no section.
func schemaOf(kind, meaning string) map[string]any {
	word := []string{"string", "number", "boolean"} // texts that look like something else are texts
	switch kind {
	case "text":
		return map[string]any{"type": word, "description": meaning}
	case "list of text":
		return map[string]any{
			"type":        append([]string{"array"}, word...),
			"items":       map[string]any{"type": word},
			"description": meaning,
		}
	}
	plain := map[string]string{
		"whole number": "integer", "number": "number", "true or false": "boolean",
	}[kind]
	return map[string]any{
		"anyOf":       []any{map[string]any{"type": []string{plain, "null"}}, reference},
		"description": meaning,
	}
}

// object is the schema of a section with these keys alone.
func object(properties map[string]any, meaning string) map[string]any {
	if properties == nil {
		properties = make(map[string]any)
	}
	return map[string]any{
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": false,
		"description":          meaning,
	}
}

// example is the YAML of an example, or of the default.
func (s *settingsTables) example(node *yaml.Node, key, otherwise string) string {
	switch {
	case otherwise != "" && !strings.Contains(otherwise, " "):
		return otherwise
	case node != nil:
		node.Style |= yaml.FlowStyle
		node.HeadComment, node.LineComment, node.FootComment = "", "", ""
		text, err := yaml.Marshal(node)
		if err != nil {
			s.t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	s.t.Errorf("%s has no example in testdata/settings.yaml", key)
	return ""
}

// nodeAt is the node under keys, nil if there is none; of a list, that of the first element that
// has one.
func nodeAt(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var next *yaml.Node
		switch {
		case node == nil:
		case node.Kind == yaml.SequenceNode:
			for _, element := range node.Content {
				if next == nil {
					next = nodeAt(element, key)
				}
			}
		default:
			for pair := range slices.Chunk(node.Content, 2) {
				if pair[0].Value == key {
					next = pair[1]
				}
			}
		}
		node = next
	}
	return node
}

// print prints the rows as a table, and forgets them.
func (s *settingsTables) print(out *strings.Builder) {
	columns := []string{"key", "commands", "type", "default", "meaning", "example"}
	if s.rows[0].commands == "" {
		columns = slices.Delete(columns, 1, 2)
	}
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(columns, " | "),
		strings.Repeat(" --- |", len(columns)))
	for _, row := range s.rows {
		cells := []string{
			"`" + row.key + "`", row.commands, row.kind, row.byDefault, row.meaning, "",
		}
		if row.example != "" {
			cells[5] = "`" + row.example + "`"
		}
		if row.commands == "" {
			cells = slices.Delete(cells, 1, 2)
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	s.rows = nil
}
