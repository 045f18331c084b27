package conf

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
	"tcbuild/internal/decimal"
)

// Decode stores top-level settings into the fields of a struct that value points to. A struct's
// keys are the names in its yaml tags, or its field names in lower case; `yaml:",inline"` takes the
// keys of a struct field as its own. Keys that the settings lack, and keys without a value, leave
// their fields unchanged, so set defaults first. A single text is a list of one. A field of type
// Place is set to where its struct was written, and one of type SourceName gives its struct the
// values of a public source.
//
// A key that the struct does not have is an error below the top level. That, or a value of the
// wrong type, is a fault.Usage that says where it is (see Where) and names the nearest valid key.
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

// Keys returns the keys that Decode knows for a struct, in order of declaration. value points to
// the struct.
func Keys(value any) []string {
	_, keys := structFields(reflect.ValueOf(value).Elem())
	return keys
}

// CopyKey copies the field of a key, if there is one, between two structs of a type. The arguments
// point to them.
func CopyKey(to, from any, key string) {
	fields, _ := structFields(reflect.ValueOf(to).Elem())
	values, _ := structFields(reflect.ValueOf(from).Elem())
	if field, known := fields[key]; known {
		field.Set(values[key])
	}
}

// decode stores node, found at path, into v.
func decode(node *yaml.Node, v reflect.Value, path string) error {
	if node.ShortTag() == "!!null" {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return decode(node, v.Elem(), path)
	case reflect.Struct:
		return decodeStruct(node, v, path)
	case reflect.Map:
		return decodeMap(node, v, path)
	case reflect.Slice:
		return decodeSlice(node, v, path)
	default:
		return decodeLeaf(node, v, path)
	}
}

// Place is where a section of settings was written, as Where says it.
type Place string

func decodeStruct(node *yaml.Node, v reflect.Value, path string) error {
	if node.Kind != yaml.MappingNode {
		return wrongType(node, path, "a section of keys and values")
	}
	if err := decodeSource(node, v); err != nil {
		return err
	}
	setPlace(v, node)
	fields, names := structFields(v)
	unknown := slices.DeleteFunc(keysOf(node), func(key string) bool { _, known := fields[key]; return known })
	return eachPair(node, path, func(key, value *yaml.Node, path string) error {
		field, known := fields[key.Value]
		if !known {
			hint := fault.DidYouMean(key.Value, names,
				"the keys here are "+strings.Join(names, ", "))
			if name := synonyms[key.Value]; slices.Contains(names, name) {
				hint = "did you mean " + name + "?"
			}
			return fault.New(fault.Usage, hint, "read settings %s: unknown key %q%s", Where(key),
				path, AndMore(unknown[1:]))
		}
		return decode(value, field, path)
	})
}

// synonyms are words that people try for a key which is spelled otherwise.
var synonyms = map[string]string{
	"above": "min", "at_least": "min", "cutoff": "min", "minimum": "min", "threshold": "min",
	"at_most": "max", "below": "max", "maximum": "max",
	"path": "file", "sep": "delimiter", "separator": "delimiter", "score": "weight",
	"weights": "weight",
}

// setPlace sets a struct's field of type Place, which may be inline.
func setPlace(v reflect.Value, node *yaml.Node) {
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.Type == reflect.TypeFor[Place]() {
			v.FieldByIndex(field.Index).SetString(Where(node))
		}
	}
}

// AndMore completes a message that names one case with the names of the others, if there are any.
func AndMore(others []string) string {
	if len(others) == 0 {
		return ""
	}
	return ", and also " + fault.List(others)
}

// structFields returns the settable fields of a struct by key, and the keys in order of
// declaration.
func structFields(v reflect.Value) (fields map[string]reflect.Value, names []string) {
	fields = make(map[string]reflect.Value)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported() || name == "-":
			continue
		case options == "inline":
			inner, innerNames := structFields(v.Field(i))
			for _, innerName := range innerNames {
				fields[innerName] = inner[innerName]
			}
			names = append(names, innerNames...)
			continue
		case name == "":
			name = strings.ToLower(field.Name)
		}
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	return fields, names
}

func decodeMap(node *yaml.Node, v reflect.Value, path string) error {
	if node.Kind != yaml.MappingNode {
		return wrongType(node, path, "a section of keys and values")
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(node.Content)/2))
	return eachPair(node, path, func(key, value *yaml.Node, path string) error {
		k, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := decode(key, k, path); err != nil {
			return err
		}
		if err := decodeElement(value, element, path); err != nil {
			return err
		}
		v.SetMapIndex(k, element)
		return nil
	})
}

func decodeSlice(node *yaml.Node, v reflect.Value, path string) error {
	if node.Kind == yaml.ScalarNode && v.Type().Elem().Kind() == reflect.String {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return decode(node, v.Index(0), path)
	}
	if node.Kind != yaml.SequenceNode {
		return wrongType(node, path, "a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content)))
	for i, element := range node.Content {
		if err := decodeElement(element, v.Index(i), join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// decodeElement decodes an element of a list or map, which has no default for a null to leave.
func decodeElement(node *yaml.Node, v reflect.Value, path string) error {
	if node.ShortTag() == "!!null" {
		return wrongType(node, path, "a value (put text in quotes)")
	}
	return decode(node, v, path)
}

// decodeLeaf decodes a scalar. Numbers are decimal: the YAML library would read 010 as eight, other
// readers as ten.
func decodeLeaf(node *yaml.Node, v reflect.Value, path string) error {
	ok := false
	number := node.ShortTag() == "!!int" || node.ShortTag() == "!!float"
	switch {
	case v.CanInt():
		i, err := strconv.ParseInt(node.Value, 10, v.Type().Bits())
		v.SetInt(i)
		ok = number && err == nil
	case v.CanUint():
		u, err := strconv.ParseUint(node.Value, 10, v.Type().Bits())
		v.SetUint(u)
		ok = number && err == nil
	case v.CanFloat():
		f, err := decimal.Parse(node.Value)
		v.SetFloat(f)
		ok = number && err == nil && decimalNumber.MatchString(node.Value)
	default:
		ok = node.Decode(v.Addr().Interface()) == nil
	}
	if !ok {
		return wrongType(node, path, expected(v))
	}
	return nil
}

var decimalNumber = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// expected describes the text that a scalar type takes, for messages.
func expected(v reflect.Value) string {
	switch {
	case v.CanInt():
		return fmt.Sprintf("a whole decimal number (%d bits)", v.Type().Bits())
	case v.CanUint():
		return fmt.Sprintf("a whole decimal number, 0 or more (%d bits)", v.Type().Bits())
	case v.CanFloat():
		return "a finite decimal number, 0 or at least 5e-324 in size"
	case v.Kind() == reflect.Bool:
		return "true or false"
	default:
		return "text"
	}
}

// eachPair calls f for the keys and values of a mapping in order, with the path of each value.
func eachPair(mapping *yaml.Node, path string, f func(key, value *yaml.Node, path string) error) error {
	for pair := range slices.Chunk(mapping.Content, 2) {
		if err := f(pair[0], pair[1], join(path, pair[0].Value)); err != nil {
			return err
		}
	}
	return nil
}

func wrongType(node *yaml.Node, path, expected string) error {
	return WrongValue(node, path, expected, "")
}

// WrongValue is the error of a value, at path, that is not what was expected.
func WrongValue(node *yaml.Node, path, expected, hint string) error {
	return fault.New(fault.Usage, hint,
		"read settings %s: %sfound %s, expected %s", Where(node), prefix(path), describe(node),
		expected)
}

// describe describes a node, for messages.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a section of keys and values"
	case yaml.SequenceNode:
		return "a list"
	default:
		return strconv.Quote(node.Value)
	}
}

// join appends a key to a dotted path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// prefix is a path at the start of a message; "" for the top level.
func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}
