package conf

import (
	"cmp"
	"fmt"
	"testing"

	"tcbuild/fault"
)

type checkedSection struct {
	File    string            `yaml:"file" required:"yes"`
	Form_   string            `yaml:"form"`
	Ignore  []string          `yaml:"ignore" forms:"matrix" required:"name one"`
	Where   checkedInline     `yaml:",inline" forms:"table"`
	Loops   string            `yaml:"loops" words:"keep none" default:"keep"`
	Types   map[string]string `yaml:"types" words:"number text"`
	Pattern Pattern           `yaml:"pattern"`
	Max     checkedCount      `yaml:"max"`
	Inner   []checkedSection  `yaml:"inner"`
	Place   Place             `yaml:"-"`
}

func (s *checkedSection) Form() string { return s.Form_ }

func (s *checkedSection) Check() error {
	if s.Max > 5 && s.Loops == "none" {
		return fault.New(fault.Usage, "lower it", "found none beside a large max")
	}
	return nil
}

type checkedInline struct {
	Where string `yaml:"where" required:"yes"`
}

type checkedCount int

func (c checkedCount) Check() error {
	if c < 0 {
		return fault.New(fault.Usage, "count from 0", "found %d, expected 0 or more", c)
	}
	return nil
}

func TestCheck(t *testing.T) {
	whole := checkedSection{File: "f", Form_: "table", Where: checkedInline{"x"}}
	for _, c := range []struct {
		change func(*checkedSection)
		want   string // "": no error
	}{
		{func(s *checkedSection) {}, ""},
		{func(s *checkedSection) { s.File = "" }, "read settings: file: missing"},
		{func(s *checkedSection) { s.Where.Where = "" }, "read settings: where: missing"},
		{func(s *checkedSection) { s.Form_ = "matrix" }, "read settings: ignore: missing"},
		{func(s *checkedSection) { s.Form_, s.Ignore = "matrix", []string{"a"} },
			"read settings: where: it does not apply to a matrix"},
		{func(s *checkedSection) { s.Ignore = []string{} },
			"read settings: ignore: it does not apply to a table"},
		{func(s *checkedSection) { s.Loops = "drop" },
			`read settings: loops: found "drop", expected keep or none`},
		{func(s *checkedSection) { s.Types = map[string]string{"a": "text", "b": "x"} },
			`read settings: types.b: found "x", expected number or text`},
		{func(s *checkedSection) { s.Pattern = "a+" },
			`read settings: pattern: found "a+", expected a group`},
		{func(s *checkedSection) { s.Max = -1 },
			"read settings: max: found -1, expected 0 or more"},
		{func(s *checkedSection) { s.Loops, s.Max, s.Place = "none", 6, "a.yaml:3" },
			"read settings: a.yaml:3: found none beside a large max"},
		{func(s *checkedSection) {
			s.Inner = []checkedSection{{Form_: "table", Place: "a.yaml:4"}}
		},
			"read settings: a.yaml:4: inner.0.file: missing"},
	} {
		section := whole
		c.change(&section)
		inner := section.Inner
		err := Check(&section)
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("got %q, expected %q", got, c.want)
		}
		if err == nil && section.Loops != "keep" {
			t.Errorf("loops is %q, expected the default", section.Loops)
		}
		if len(inner) > 0 && inner[0].Place != "a.yaml:4" {
			t.Error("the caller's list has changed")
		}
	}
}
