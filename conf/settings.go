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
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// Settings are the merged settings of one run. Their nodes are shared and must not be changed.
type Settings struct {
	root       *yaml.Node        // a mapping; its keys are canonical
	referenced map[string]bool   // the keys that settings name by ${…}
	secrets    map[string]string // references, by the value of the environment variable
}

// Load reads the settings file at path, if path is not empty, and applies the overrides. If there
// is no such file, it reads the preset with that base name, with or without .yaml.
//
// Every error is a fault.Usage that names the file and line, or the override;
// a file that exists but cannot be read is a fault.Failed.
func Load(path string, overrides []string) (*Settings, error) {
	root, files := &yaml.Node{Kind: yaml.MappingNode}, composer{named: make(map[string]bool)}
	if path != "" {
		var err error
		if root, err = files.compose(path, "", nil); err != nil {
			return nil, err
		}
	}
	for _, override := range overrides {
		if err := applyOverride(root, override); err != nil {
			return nil, err
		}
	}
	files.note(root)
	r := resolver{root: root, state: make(map[*yaml.Node]progress),
		secrets: make(map[string]string)}
	if err := r.resolve(root); err != nil {
		return nil, err
	}
	if err := r.check(root, ""); err != nil {
		return nil, err
	}
	return &Settings{root: root, referenced: files.named, secrets: r.secrets}, nil
}

// Redact replaces values of environment variables in a text with the references to them in the
// settings. Values of fewer than least bytes stay, as other words may contain them. Nil settings
// have none.
func (s *Settings) Redact(text string, least int) string {
	if s == nil {
		return text
	}
	values := slices.SortedFunc(maps.Keys(s.secrets), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b)) // one may contain another
	})
	for _, value := range values {
		if len(value) >= max(least, 1) {
			text = strings.ReplaceAll(text, value, s.secrets[value])
		}
	}
	return text
}

// check returns an error for values that are too large together, and for a null that is written
// out: text without quotes, such as ~, may mean itself. A key with nothing behind it leaves the
// default.
func (r *resolver) check(node *yaml.Node, path string) error {
	if r.expanded += 1 + len(node.Value); r.expanded > mostExpanded { // a shared node counts each time
		return tooLarge("")
	}
	if node.ShortTag() == "!!null" && node.Value != "" {
		return fault.New(fault.Usage, fmt.Sprintf("put text in quotes, as in '%s=%q'; omit the key for its default", path, node.Value),
			"read settings %s: %s: found %s, which means no value in YAML, expected a value",
			Where(node), path, node.Value)
	}
	for i, below := range node.Content {
		name := strconv.Itoa(i)
		if node.Kind == yaml.MappingNode {
			name = node.Content[i&^1].Value
		}
		if err := r.check(below, join(path, name)); err != nil {
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

// Keys are the keys of a section.
func (e Entry) Keys() []string { return keysOf(e.Value) }

// IsScalar reports whether the value is neither a section nor a list.
func (e Entry) IsScalar() bool { return e.Value.Kind == yaml.ScalarNode }

// IsNull reports whether the setting is present without a value, as in `key:` or `key: null`.
func (e Entry) IsNull() bool { return e.Value.ShortTag() == "!!null" }

// Decode stores the value, as Settings.Decode does.
func (e Entry) Decode(value any) error { return decode(e.Value, reflect.ValueOf(value).Elem(), e.Key) }

// Entries returns the top-level settings in order of their first mention.
func (s *Settings) Entries() []Entry {
	entries := make([]Entry, 0, len(s.root.Content)/2)
	for pair := range slices.Chunk(s.root.Content, 2) {
		key := pair[0].Value
		entries = append(entries, Entry{Key: key, Value: pair[1], Referenced: s.referenced[key]})
	}
	return entries
}

// Entry returns the top-level setting of a key, and whether there is one.
func (s *Settings) Entry(key string) (Entry, bool) {
	value := child(s.root, key)
	return Entry{Key: key, Value: value, Referenced: s.referenced[key]}, value != nil
}
