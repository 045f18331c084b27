package conf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// place is where settings are written.
type place struct {
	file, override string // one of them is empty
}

// at names a line of the file, or the override.
func (p place) at(line int) string {
	if p.override != "" {
		return "override " + p.override
	}
	if line == 0 {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(line)
}

// readText reads the text of a settings file.
func (r *reader) readText(text []byte, at place) error {
	root, err := parse(text, at)
	if err != nil || root == nil || root.ShortTag() == "!!null" {
		return err
	}
	if root.Kind != yaml.MappingNode {
		return fault.New(fault.Usage, "write settings as key: value",
			"read settings %s: found %s, expected keys and values", at.at(root.Line),
			describe(root))
	}
	return r.readSection(root, "", at)
}

// parse parses the one YAML document of a text; nil for an empty text.
func parse(text []byte, at place) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	err := decoder.Decode(&document)
	if err == nil {
		if err = decoder.Decode(&next); err == nil {
			return nil, fault.New(fault.Usage, "keep one of them",
				"read settings %s: found a second YAML document, expected one", at.at(next.Line))
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		line, what := 0, strings.TrimPrefix(err.Error(), "yaml: ")
		if syntax, ok := errors.AsType[*yaml.LoadError](err); ok {
			line, what = max(syntax.Mark.Line, syntax.ContextMark.Line), syntax.Message
		}
		return nil, fault.New(fault.Usage,
			"indent with spaces, the same within a list or section; "+
				"quote text with signs such as [ { : # @",
			"read settings %s: %s", at.at(line), what)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

// readSection reads the keys of a section, whose own key ends in a dot unless it is the whole file.
func (r *reader) readSection(section *yaml.Node, above string, at place) error {
	seen := make(map[string]bool)
	for pair := range slices.Chunk(section.Content, 2) {
		key, value := pair[0], pair[1]
		where := at.at(key.Line)
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return fault.New(fault.Usage, "write settings as key: value",
				"read settings %s: found %s as a key, expected a word", where, describe(key))
		}
		name := canonical(above + key.Value)
		if seen[name] {
			return fault.New(fault.Usage, "remove one of them",
				"read settings %s: key %q is given twice", where, name)
		}
		seen[name] = true
		if value.Kind == yaml.MappingNode {
			if err := r.readSection(value, name+".", at); err != nil {
				return err
			}
		} else if err := r.readValue(value, name, at); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads a scalar or a list of them. A key with nothing behind it leaves the default.
func (r *reader) readValue(node *yaml.Node, key string, at place) error {
	setting := Setting{Key: key, Values: []string{}, IsOverride: at.override != "",
		Place: at.at(node.Line)}
	elements := []*yaml.Node{node}
	if setting.IsList = node.Kind == yaml.SequenceNode; setting.IsList {
		elements = node.Content
	} else if node.ShortTag() == "!!null" && node.Value == "" {
		return nil
	}
	for _, element := range elements {
		where := at.at(element.Line)
		isPlain := element.Kind == yaml.ScalarNode && element.Anchor == "" &&
			element.Style&yaml.TaggedStyle == 0
		switch {
		case !isPlain:
			return fault.New(fault.Usage, "write a value, or a list of values",
				"read settings %s: %s: found %s, expected a plain value", where, key,
				describe(element))
		case element.ShortTag() == "!!null":
			return fault.New(fault.Usage, fmt.Sprintf(
				"put text in quotes, as in '%s=%q'; omit the key for its default", key,
				element.Value), "read settings %s: %s: found %q, which means no value in YAML, "+
				"expected a value", where, key, element.Value)
		}
		value, err := r.expand(element.Value, where)
		if err != nil {
			return err
		}
		setting.Values = append(setting.Values, value)
	}
	r.add(setting)
	return nil
}

// canonical is the spelling of a key: dashes count as underscores.
func canonical(key string) string { return strings.ReplaceAll(key, "-", "_") }

// describe describes a node, for messages.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a section of keys and values"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return "a YAML anchor or alias"
	case node.Style&yaml.TaggedStyle != 0:
		return "the tag " + node.Tag
	}
	return strconv.Quote(node.Value)
}

var overridePattern = regexp.MustCompile(`^([A-Za-z_][\w-]*(?:\.[\w-]+)*)=((?s).*)$`)

// IsOverride reports whether a command line argument is an override: key=value, where key is words
// joined by dots. A file name that looks like one can be written as ./name.
func IsOverride(argument string) bool { return overridePattern.MatchString(argument) }

// readOverride reads an override. Its value is a YAML list, section or quoted text if it starts
// like one, otherwise plain text up to its end.
func (r *reader) readOverride(override string) error {
	match := overridePattern.FindStringSubmatch(override)
	if match == nil {
		return fault.New(fault.Usage, "write key=value or a.b=value",
			"read settings: found %q, expected an override", override)
	}
	key, text, at := canonical(match[1]), match[2], place{override: override}
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	isListOrQuoted := text != "" && strings.ContainsRune("[{\"'", rune(text[0]))
	parsed, err := parse([]byte(text), at)
	isNull := err == nil && parsed != nil && parsed.ShortTag() == "!!null"
	switch {
	case isListOrQuoted && err != nil:
		return err
	case isListOrQuoted:
		node = parsed
	case isNull && text != "":
		node.Tag = parsed.Tag
	}
	if node.Kind == yaml.MappingNode {
		return r.readSection(node, key+".", at)
	}
	return r.readValue(node, key, at)
}
