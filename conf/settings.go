// Package conf reads settings from YAML files and command line overrides, as Hydra does. From
// weakest to strongest:
//
//   - the files of the file's `defaults:` list, each beating the ones before it,
//   - the file's own keys, where `_self_` stands in that list (by default at the end),
//   - the overrides, in the order given: key=value and a.b=value change a value,
//     +a.b=value adds one, ++a.b=value does either, ~a.b removes one.
//
// Finally, ${key}, ${a.b} and ${oc.env:VAR,default} are replaced by what they name.
package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// Settings are the merged settings of one run. Their nodes are shared and must not be changed.
type Settings struct {
	root       *yaml.Node      // a mapping; its keys are canonical
	referenced map[string]bool // top-level keys that an interpolation names
}

// Load reads the settings file at path, if path is not empty, and applies the overrides. If there
// is no such file, it reads the preset with that base name, with or without .yaml.
//
// Every error is a fault.Usage that names the file and line, or the override;
// a file that exists but cannot be read is a fault.Failed.
func Load(path string, overrides []string) (*Settings, error) {
	root, referenced := &yaml.Node{Kind: yaml.MappingNode}, make(map[string]bool)
	if path != "" {
		var err error
		if root, err = (&composer{named: referenced}).compose(path, "", nil); err != nil {
			return nil, err
		}
	}
	for _, override := range overrides {
		if err := applyOverride(root, override); err != nil {
			return nil, err
		}
	}
	r := resolver{root: root, referenced: referenced, state: make(map[*yaml.Node]progress), sizes: make(map[*yaml.Node]int)}
	if err := r.resolve(root); err != nil {
		return nil, err
	}
	if r.sizeOf(root) > mostExpanded {
		return nil, tooLarge("")
	}
	if err := checkNulls(root, ""); err != nil {
		return nil, err
	}
	return &Settings{root: root, referenced: referenced}, nil
}

// checkNulls returns an error for a null that is written out: text without quotes, such as ~, may
// mean itself. A key with nothing behind it leaves the default.
func checkNulls(node *yaml.Node, path string) error {
	if node.ShortTag() == "!!null" && node.Value != "" {
		return fault.New(fault.Usage, fmt.Sprintf("put text in quotes, as in '%s=%q'; omit the key for its default", path, node.Value),
			"read settings %s: %s: found %s, which means no value in YAML, expected a value", Where(node), path, node.Value)
	}
	for i, below := range node.Content {
		name := strconv.Itoa(i)
		if node.Kind == yaml.MappingNode {
			name = node.Content[i&^1].Value
		}
		if err := checkNulls(below, join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// Entry is one top-level setting.
type Entry struct {
	Key        string     // dashes are spelled as underscores
	Value      *yaml.Node // merged and interpolated
	Referenced bool       // whether a value has ${Key}, or had it and was replaced
}

// IsOverride reports whether an override gave the setting its value.
func (e Entry) IsOverride() bool { return strings.HasPrefix(Where(e.Value), "override ") }

// IsSection reports whether the value is a section of keys, or a list of them.
func (e Entry) IsSection() bool {
	return e.Value.Kind == yaml.MappingNode || len(e.Value.Content) > 0 && e.Value.Content[0].Kind == yaml.MappingNode
}

// IsNull reports whether the setting is present without a value, as in `key:` or `key: null`.
func (e Entry) IsNull() bool { return e.Value.ShortTag() == "!!null" }

// Word returns the text of a scalar; ok is false for anything else.
func (e Entry) Word() (word string, ok bool) { return e.Value.Value, e.Value.Kind == yaml.ScalarNode }

// Words returns the texts of a list of scalars; ok is false for anything else, and for a list with
// a null in it.
func (e Entry) Words() (words []string, ok bool) {
	if e.Value.Kind != yaml.SequenceNode {
		return nil, false
	}
	words = []string{} // not nil: an empty list differs from none
	for _, element := range e.Value.Content {
		if element.Kind != yaml.ScalarNode || element.ShortTag() == "!!null" {
			return nil, false
		}
		words = append(words, element.Value)
	}
	return words, true
}

// Entries returns the top-level settings in order of their first mention.
func (s *Settings) Entries() []Entry {
	entries := make([]Entry, 0, len(s.root.Content)/2)
	for pair := range slices.Chunk(s.root.Content, 2) {
		key := pair[0].Value
		entries = append(entries, Entry{Key: key, Value: pair[1], Referenced: s.referenced[key]})
	}
	return entries
}

// Node returns the value of a top-level key, nil when it is absent or null.
func (s *Settings) Node(key string) *yaml.Node {
	value := child(s.root, canonical(key))
	if value == nil || value.ShortTag() == "!!null" {
		return nil
	}
	return value
}

// Resolved is a settings file of the same values, in which nothing is left to replace.
func (s *Settings) Resolved() ([]byte, error) { return yaml.Marshal(literal(s.root)) }

// literal copies a node, with values that mean themselves.
func literal(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	as := &yaml.Node{Kind: node.Kind, Tag: node.ShortTag(), Value: strings.ReplaceAll(node.Value, "${", `\${`)}
	if as.Tag == "!!str" {
		as.Style = yaml.DoubleQuotedStyle
	}
	for _, below := range node.Content {
		as.Content = append(as.Content, literal(below))
	}
	return as
}

// Decode stores top-level settings into the fields of a struct, as the function
// Decode does. It looks only at the keys that the struct has (see Keys).
func (s *Settings) Decode(value any) error {
	v := reflect.ValueOf(value).Elem()
	if s.root.LineComment != "" { // not only of overrides
		setPlace(v, s.root)
	}
	fields, keys := structFields(v)
	for _, key := range keys {
		node := child(s.root, key)
		if node == nil {
			continue
		}
		if err := decode(node, fields[key], key); err != nil {
			return err
		}
	}
	return nil
}
