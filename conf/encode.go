package conf

import (
	"fmt"
	"reflect"
	"strings"
)

// Encode returns the fields of a struct that have a value, by the keys from which Decode reads
// them, for records and fingerprints. A field with the value of its tag default has none, and an
// empty list has one. value points to the struct.
func Encode(value any) map[string]any {
	return encodeStruct(reflect.ValueOf(value).Elem())
}

func encodeStruct(v reflect.Value) map[string]any {
	encoded := make(map[string]any)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported() || key == "-" || isDefault(field, value):
		case options == "inline":
			for key, inner := range encodeStruct(value) {
				encoded[key] = inner
			}
		default:
			encoded[key] = encode(value)
		}
	}
	return encoded
}

func isDefault(field reflect.StructField, value reflect.Value) bool {
	byDefault, has := field.Tag.Lookup("default")
	return value.IsZero() || has && strings.Trim(fmt.Sprint(value), "[]") == byDefault
}

func encode(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		return encode(v.Elem())
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Slice:
		elements := make([]any, v.Len())
		for i := range elements {
			elements[i] = encode(v.Index(i))
		}
		return elements
	}
	if v.Kind() == reflect.String {
		return v.String() // without its type
	}
	return v.Interface()
}
