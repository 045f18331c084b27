// Package conf reads settings, from weakest to strongest: a YAML file, then key=value and a.b=value
// from the command line. It knows no keys: who asks for them says which there are.
//
//	root: data                      root       data
//	variants: [indices]             variants   indices, in a list
//	perturbations:
//	  file: ${oc.env:SCREEN}        perturbations.file   what the environment has as SCREEN
package conf

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// A Setting is one value, or a list of them.
type Setting struct {
	Key        string   // the keys that lead to it, joined by dots; underscores, never dashes
	Values     []string // as they are written, after quotes and variables; one if it is no list
	IsList     bool
	IsOverride bool   // it comes from the command line
	Place      string // "my.yaml:12", or "override out=x"
}

// Settings are what one run is given.
type Settings struct {
	List      []Setting         // the file's in its order, then the overrides
	variables map[string]string // the references to environment variables, by their values
}

// largestFile is the size of a settings file in bytes. Files that people write are far smaller.
const largestFile = 256 << 10

// Load reads the settings file at path, if path is not empty, and the overrides. A key has one
// value: the last override's, or the file's.
//
// Every error is a fault.Usage that names the file and line, or the override; a file that cannot be
// read is a fault.Failed.
func Load(path string, overrides []string) (*Settings, error) {
	r := reader{variables: make(map[string]string)}
	if path != "" {
		if err := r.readFile(path); err != nil {
			return nil, err
		}
	}
	for _, override := range overrides {
		if err := r.readOverride(override); err != nil {
			return nil, err
		}
	}
	return &Settings{List: r.settings, variables: r.variables}, nil
}

// reader collects settings.
type reader struct {
	settings  []Setting
	variables map[string]string
}

func (r *reader) readFile(path string) error {
	text, err := disk.ReadRegular(path)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "check the path"
		}
		return fault.New(fault.Failed, hint, "read settings: %s: %w", path, err)
	}
	if len(text) > largestFile {
		return fault.New(fault.Usage, "give a settings file, not a data file",
			"read settings %s: found more than %d bytes, expected a settings file", path,
			largestFile)
	}
	return r.readText(text, place{file: path})
}

// add adds a setting. An override replaces an earlier setting of its key.
func (r *reader) add(s Setting) {
	if s.IsOverride {
		r.settings = slices.DeleteFunc(r.settings, func(earlier Setting) bool {
			return earlier.Key == s.Key
		})
	}
	r.settings = append(r.settings, s)
}

// Redact replaces values of environment variables in a text with the references to them in the
// settings. Values of fewer than least bytes stay, as other words may contain them. Nil settings
// have none.
func (s *Settings) Redact(text string, least int) string {
	if s == nil {
		return text
	}
	var values []string
	for value := range s.variables {
		if len(value) >= max(least, 1) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { // one may contain another
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	for _, value := range values {
		text = strings.ReplaceAll(text, value, s.variables[value])
	}
	return text
}

// expand replaces the variables in a value, after it is parsed: no variable can add a setting.
func (r *reader) expand(text, where string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			out.WriteString(text)
			return out.String(), nil
		}
		if literal, escaped := strings.CutSuffix(before, `\`); escaped {
			out.WriteString(literal + "${")
			text = after
			continue
		}
		inside, rest, closed := strings.Cut(after, "}")
		name, isVariable := strings.CutPrefix(inside, "oc.env:")
		if !closed || !isVariable {
			return "", fault.New(fault.Usage, `write \${ for a literal ${`,
				"read settings %s: found ${%.50s, expected ${oc.env:NAME} or ${oc.env:NAME,DEFAULT}",
				where, inside)
		}
		name, byDefault, hasDefault := strings.Cut(name, ",")
		name = strings.TrimSpace(name)
		value, isSet := os.LookupEnv(name)
		switch {
		case isSet:
			r.variables[value] = "${oc.env:" + name + "}"
		case hasDefault:
			value = strings.TrimSpace(byDefault)
		default:
			return "", fault.New(fault.Usage, "set it, or write ${oc.env:"+name+",default}",
				"read settings %s: environment variable %s is not set", where, name)
		}
		out.WriteString(before + value)
		text = rest
	}
}
