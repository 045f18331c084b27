package conf

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

//go:embed *.yaml
var presets embed.FS

// Presets returns the names of the embedded settings files, without .yaml, in ascending order.
func Presets() []string {
	files, err := presets.ReadDir(".")
	if err != nil {
		panic(err) // the embedded folder is always readable
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(file.Name(), ".yaml")
	}
	return names
}

// Preset returns the text of a preset, and its first sentence, which follows the line for editors.
func Preset(name string) (text []byte, about string) {
	text, err := presets.ReadFile(name + ".yaml")
	if err != nil {
		panic(err) // only for other names than Presets has
	}
	lines := strings.SplitN(string(text), "\n", 3)
	about, _, _ = strings.Cut(strings.TrimPrefix(lines[1], "# "), ".")
	return text, about
}

// largestFile is the size of a settings file in bytes, mostFiles the number of files that defaults
// lists may lead to. Files that people write are far smaller; 30 files that each name two of the
// next would be read a billion times.
const (
	largestFile = 256 << 10
	mostFiles   = 100
)

// composer counts the files that it reads, and notes the top-level keys that they name by ${…}.
type composer struct {
	files int
	named map[string]bool
}

// reference is the start of an interpolation, up to the end of its top-level key.
var reference = regexp.MustCompile(`\$\{\s*([^${}.:,\s]+)`)

// note notes what a node, and those below it, name.
func (c *composer) note(node *yaml.Node) {
	for _, match := range reference.FindAllStringSubmatch(node.Value, -1) {
		c.named[canonical(match[1])] = true
	}
	for _, below := range node.Content {
		c.note(below)
	}
}

// compose reads the settings file at path and merges the files of its defaults list with it.
// parents are the files whose defaults lists led here; from is the place in the last of them. Both
// are empty for the first file. What a file names is noted at once: its values may yet be replaced,
// and what they name belongs to the file nevertheless.
func (c *composer) compose(path, from string, parents []string) (*yaml.Node, error) {
	if slices.Contains(parents, path) {
		return nil, fault.New(fault.Usage, "remove one of the entries",
			"read settings%s: the defaults lists form a cycle: %s",
			from, strings.Join(append(parents, path), " -> "))
	}
	if c.files++; c.files > mostFiles {
		return nil, fault.New(fault.Usage, "copy the settings into fewer files",
			"read settings%s: found defaults lists that lead to more than %d files", from,
			mostFiles)
	}
	own, err := readFile(path, from)
	if err != nil {
		return nil, err
	}
	c.note(own)
	defaults, err := takeDefaults(own)
	if err != nil {
		return nil, err
	}
	merged := &yaml.Node{Kind: yaml.MappingNode, LineComment: own.LineComment}
	for _, entry := range defaults {
		if entry.Value == "_self_" {
			merge(merged, own)
			continue
		}
		file, err := c.compose(besides(path, entry.Value), " "+Where(entry),
			append(slices.Clip(parents), path))
		if err != nil {
			return nil, err
		}
		merge(merged, file)
	}
	return merged, nil
}

// besides is the path of a defaults entry: a file in path's folder.
func besides(path, entry string) string {
	if ext := filepath.Ext(entry); ext != ".yaml" && ext != ".yml" {
		entry += ".yaml"
	}
	return filepath.Join(filepath.Dir(path), entry)
}

// takeDefaults removes the defaults list from a file's settings and returns its entries, which
// include _self_.
func takeDefaults(own *yaml.Node) ([]*yaml.Node, error) {
	self := &yaml.Node{Kind: yaml.ScalarNode, Value: "_self_"}
	list := child(own, "defaults")
	if list == nil {
		return []*yaml.Node{self}, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, wrongType(list, "defaults", "a list of names of settings files")
	}
	remove(own, "defaults")
	entries := list.Content
	for _, entry := range entries {
		if entry.Kind != yaml.ScalarNode {
			return nil,
				wrongType(entry, "defaults", "the name of a settings file in the same folder")
		}
	}
	found := 0
	for _, entry := range entries {
		if entry.Value == "_self_" {
			if found++; found == 2 {
				return nil, fault.New(fault.Usage, "remove one of them", "read settings %s: defaults: found _self_ twice", Where(entry))
			}
		}
	}
	if found == 0 {
		entries = append(entries, self)
	}
	return entries, nil
}

// readFile reads one settings file or preset. from says which line named it, for errors; "" for
// none.
func readFile(path, from string) (*yaml.Node, error) {
	text, err := disk.ReadRegular(path)
	source := path
	info, missing := os.Lstat(path)
	hidden := missing == nil && info.IsDir() && slices.Contains(Presets(), path) // a preset, by a folder
	if hidden || errors.Is(err, fs.ErrNotExist) && errors.Is(missing, fs.ErrNotExist) {
		preset := strings.TrimSuffix(filepath.Base(path), ".yaml") + ".yaml"
		embedded, presetErr := presets.ReadFile(preset)
		if presetErr != nil {
			hint := fault.DidYouMean(strings.TrimSuffix(preset, ".yaml"), Presets(),
				"the presets are "+strings.Join(Presets(), ", "))
			kind := fault.Usage // the name of a preset, or a defaults list
			if from == "" && preset != path+".yaml" {
				kind = fault.Failed // a path
			}
			return nil, fault.New(kind, hint,
				"read settings%s: found neither a file nor a preset %s", from, path)
		}
		text, err, source = embedded, nil, "preset "+preset
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "", "read settings%s: %s: %w", from, path, err)
	}
	if len(text) > largestFile {
		return nil, fault.New(fault.Usage, "give a settings file, not a data file",
			"read settings %s: found more than %d bytes, expected a settings file", source,
			largestFile)
	}
	return parse(text, source)
}

// parse reads the text of one settings file into a mapping with canonical top-level keys.
func parse(text []byte, source string) (*yaml.Node, error) {
	root, second, err := ReadYAML(text)
	switch {
	case err != nil:
		where, what := DescribeSyntax(text, err)
		return nil, fault.New(fault.Usage, SyntaxHint, "read settings %s%s: %s", source, where,
			what)
	case second > 0:
		return nil, fault.New(fault.Usage, "split them into two files and a defaults list",
			"read settings %s:%d: found a second YAML document, expected one", source, second)
	case root == nil:
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	if root.ShortTag() == "!!null" {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	for i := 0; root.Kind == yaml.MappingNode && i < len(root.Content); i += 2 {
		root.Content[i].Value = canonical(root.Content[i].Value)
	}
	if err := adopt(root, source, true); err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, fault.New(fault.Usage, "write settings as key: value",
			"read settings %s: found %s, expected keys and values", Where(root), describe(root))
	}
	return root, nil
}

// ReadYAML parses a text that should hold one YAML document, and returns its root, or nil for an
// empty text. If there is a second document, which the library's Unmarshal ignores, second is its
// line.
func ReadYAML(text []byte) (root *yaml.Node, second int, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	if err = decoder.Decode(&document); err == nil {
		root = document.Content[0]
		if err = decoder.Decode(&next); err == nil {
			return root, next.Line, nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return root, 0, err
}

// SyntaxHint says how to mend most errors of YAML's syntax.
const SyntaxHint = "indent with spaces, the same within a list or mapping; quote text with signs such as [ { : # @"

// DescribeSyntax describes an error that the YAML library found in text: where, as ":LINE" counted
// from 1 or empty, and what, with the line itself.
func DescribeSyntax(text []byte, err error) (where, what string) {
	what = strings.TrimPrefix(err.Error(), "yaml: ")
	syntax, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return "", what
	}
	what = syntax.Message
	lines := bytes.Split(bytes.TrimRight(text, " \r\n"), []byte("\n"))
	line := syntax.Mark.Line
	if line == 0 { // the library does not say where it cannot read a character
		if at := bytes.IndexFunc(text, unreadable); at >= 0 {
			line = 1 + bytes.Count(text[:at], []byte("\n"))
		}
	}
	if start := syntax.ContextMark.Line; start > 0 {
		what += ", " + syntax.ContextMsg
		if line > len(lines) { // the error is what the last lines lack
			line = start
		}
		if start < line {
			what += fmt.Sprintf(" that starts in line %d", start)
		}
	}
	if line == 0 {
		return "", what
	}
	line = min(line, len(lines))
	return fmt.Sprintf(":%d", line), fmt.Sprintf("at %.100q: %s", bytes.TrimSpace(lines[line-1]),
		what)
}

// unreadable reports whether YAML refuses a character.
func unreadable(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\u0085", r)
}
