package conf

import (
	"fmt"
	"reflect"
	"strings"
)

// Encode returns the fields of a struct that have a value, by the keys from which Decode reads
// them, for records and fingerprints. A field with the value of its tag default has none, and an
// empty list has one. value points to the struct; text changes every text.
func Encode(value any, text func(string) string) map[string]any {
	return encoder{text}.structure(reflect.ValueOf(value).Elem())
}

type encoder struct{ text func(string) string }

func (e encoder) structure(v reflect.Value) map[string]any {
	encoded := make(map[string]any)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported() || key == "-" || isDefault(field, value):
		case options == "inline":
			for key, inner := range e.structure(value) {
				encoded[key] = inner
			}
		default:
			encoded[key] = e.encode(value)
		}
	}
	return encoded
}

func isDefault(field reflect.StructField, value reflect.Value) bool {
	byDefault, has := field.Tag.Lookup("default")
	return value.IsZero() || has && strings.Trim(fmt.Sprint(value), "[]") == byDefault
}

func (e encoder) encode(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		return e.encode(v.Elem())
	case reflect.Struct:
		return e.structure(v)
	case reflect.Slice:
		elements := make([]any, v.Len())
		for i := range elements {
			elements[i] = e.encode(v.Index(i))
		}
		return elements
	}
	if v.Kind() == reflect.String {
		return e.text(v.String())
	}
	return v.Interface()
}
