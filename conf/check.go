package conf

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
)

// Check checks a section of settings, and those inside it, by the rules in the tags of its fields.
// It fills in defaults, and completes the fields of type Place:
//
//	File   string   `yaml:"file" required:"yes"`           // in place of yes, a hint
//	Loops  Loops    `yaml:"self_loops" words:"keep none"`  // if it is set, one of the words
//	Name   string   `yaml:"name" default:"has_annotation"`
//	Kinds  []string `yaml:"kinds" words:"deletion ts"`     // a list of these words
//	Ignore []string `yaml:"ignore" forms:"matrix"`         // for sections of these forms; *: any
//	Table  Table    `yaml:",inline" required:"file"`       // a key of what is inline
//	GEM    GEM      `yaml:"gem"`                           // a section may be omitted as a whole
//
// The form of a section is the result of its method Form. What no tag says, its method Check says,
// of values and sections alike. section points to a struct, whose slices are copied before they are
// changed. An error is a fault.Usage that names the setting.
func Check(section any) error {
	return checkSection(reflect.ValueOf(section).Elem(), "", "")
}

type checker interface{ Check() error }

// checkSection checks the section of a path. above is the place of the section around it.
func checkSection(v reflect.Value, above Place, path string) error {
	place := above
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.Type == reflect.TypeFor[Place]() {
			own := v.FieldByIndex(field.Index)
			if own.Len() > 0 {
				place = Place(own.String())
			}
			own.SetString(string(place.at(path)))
		}
	}
	c := sectionCheck{section: v, place: place, path: path}
	if section, ok := v.Addr().Interface().(interface{ Form() string }); ok {
		c.form = section.Form()
	}
	if err := c.fields(v, rules{}); err != nil {
		return err
	}
	return c.self(v, path)
}

// at is the place of a key.
func (p Place) at(key string) Place {
	switch {
	case p == "":
		return Place(key)
	case key == "":
		return p
	}
	return p + ": " + Place(key)
}

// sectionCheck checks a section.
type sectionCheck struct {
	section    reflect.Value
	place      Place
	path, form string
}

// wrong is the error of a key.
func (c sectionCheck) wrong(key, hint, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if place := c.place.at(key); place != "" {
		err = fmt.Errorf("%s: %w", place, err)
	}
	return fault.New(fault.Usage, hint, "read settings: %w", err)
}

// self checks what a value says of itself.
func (c sectionCheck) self(v reflect.Value, key string) error {
	value, ok := v.Addr().Interface().(checker)
	if !ok {
		return nil
	}
	if err := value.Check(); err != nil {
		return c.wrong(key, fault.HintOf(err), "%w", err)
	}
	return nil
}

// fields checks the fields of a struct; outer are the rules of the field that it is inline in.
func (c sectionCheck) fields(v reflect.Value, outer rules) error {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		rules := rules{field.Tag, cmp.Or(field.Tag.Get("forms"), outer.forms), ""}
		if includes(outer.forms, c.form) {
			rules.required = field.Tag.Get("required")
			if name != "" && name == outer.required {
				rules.required = "yes"
			}
		}
		key := join(c.path, name)
		var err error
		switch {
		case option == "inline":
			err = cmp.Or(c.fields(value, rules), c.self(value, c.path))
		case !includes(rules.forms, c.form):
			if !value.IsZero() {
				err = c.wrong(key, c.removal(), "it does not apply to a %s", c.form)
			}
		default:
			err = c.field(rules, value, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removal is the hint to remove a key, which the section's public source may have set.
func (c sectionCheck) removal() string {
	for _, field := range reflect.VisibleFields(c.section.Type()) {
		source := c.section.FieldByIndex(field.Index)
		if field.Type == reflect.TypeFor[SourceName]() && source.Len() > 0 {
			return fmt.Sprintf("remove it, or the source %s, which may set it", source)
		}
	}
	return "remove it"
}

// rules are the tag of a field, the forms of sections that it is for, and the hint if it is
// missing.
type rules struct {
	reflect.StructTag
	forms, required string
}

// includes reports whether forms have a form; * stands for any.
func includes(forms, form string) bool {
	return forms == "" || forms == "*" || slices.Contains(strings.Fields(forms), form)
}

// field checks a field by its rules.
func (c sectionCheck) field(rules rules, value reflect.Value, key string) error {
	if text := rules.Get("default"); text != "" && value.IsZero() {
		setDefault(value, text)
	}
	if hint := rules.required; hint != "" && isEmpty(value) {
		return c.wrong(key, strings.TrimPrefix(hint, "yes"), "missing")
	}
	words := strings.Fields(rules.Get("words"))
	switch {
	case value.Kind() == reflect.Struct:
		if value.IsZero() && rules.required == "" {
			return nil // the section is omitted
		}
		return checkSection(value, c.place, key)
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
		return c.list(value, key)
	case value.Kind() == reflect.Map && len(words) > 0:
		for _, name := range sortedKeys(value) {
			if err := c.word(value.MapIndex(name), join(key, name.String()), words); err != nil {
				return err
			}
		}
		return nil
	case value.Kind() == reflect.Slice && len(words) > 0:
		for i := range value.Len() {
			if err := c.word(value.Index(i), key, words); err != nil {
				return err
			}
		}
		return nil
	case len(words) > 0 && !value.IsZero():
		return c.word(value, key, words)
	}
	return c.self(value, key)
}

// setDefault sets a text, or a list of texts in which spaces separate them.
func setDefault(value reflect.Value, text string) {
	if value.Kind() != reflect.Slice {
		value.SetString(text)
		return
	}
	for _, word := range strings.Fields(text) {
		value.Set(reflect.Append(value, reflect.ValueOf(word)))
	}
}

// isEmpty reports whether a field has no value, or a list without any. A section is never empty: it
// says itself what it lacks.
func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct:
		return false
	case reflect.Slice:
		for i := range value.Len() {
			if !value.Index(i).IsZero() {
				return false
			}
		}
		return true
	}
	return value.IsZero()
}

// list checks the sections of a list, on a copy.
func (c sectionCheck) list(list reflect.Value, key string) error {
	if list.Len() == 0 {
		return nil
	}
	sections := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
	reflect.Copy(sections, list)
	list.Set(sections)
	for i := range sections.Len() {
		if err := checkSection(sections.Index(i), c.place, join(key, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

func (c sectionCheck) word(value reflect.Value, key string, words []string) error {
	if slices.Contains(words, value.String()) {
		return nil
	}
	return c.wrong(key, fault.DidYouMean(value.String(), words, "choose one of them"),
		"found %q, expected %s", value.String(), english.WordSeries(words, "or"))
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int {
		return strings.Compare(a.String(), b.String())
	})
}

// Pattern is a regular expression whose first group is the part of a text that counts, such as the
// name of a gene.
type Pattern string

// Check returns an error for a pattern without a group.
func (p Pattern) Check() error {
	pattern, err := regexp.Compile(string(p))
	if err != nil {
		return fault.New(fault.Usage,
			"write it as https://github.com/google/re2/wiki/Syntax says", "%w", err)
	}
	if p != "" && pattern.NumSubexp() == 0 {
		return fault.New(fault.Usage, "put the name in parentheses, as in ^(.+)_YPD$",
			"found %q, expected a group", p)
	}
	return nil
}
