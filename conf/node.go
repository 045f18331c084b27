package conf

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// Where says where a node of the settings was written: "conf/yeast.yaml:12",
// "preset yeast.yaml:12" or "override out=x".
func Where(node *yaml.Node) string { return node.LineComment }

// adopt prepares a node parsed from source for merging. It records the place of every node in
// LineComment, because nodes have no file name and nodes of several files get mixed, and refuses
// what merging by key cannot handle.
func adopt(node *yaml.Node, source string, lines bool) error {
	place := source
	if lines {
		place += ":" + strconv.Itoa(node.Line)
	}
	node.HeadComment, node.LineComment, node.FootComment = "", place, ""
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		return fault.New(fault.Usage, "refer to another value by ${key}",
			"read settings %s: found a YAML anchor or alias, expected plain values", place)
	}
	if node.Style&yaml.TaggedStyle != 0 {
		return fault.New(fault.Usage, "remove it; to keep a number as text, put it in quotes",
			"read settings %s: found the tag %s, expected plain values", place, node.Tag)
	}
	for _, child := range node.Content {
		if err := adopt(child, source, lines); err != nil {
			return err
		}
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	seen := make(map[string]bool)
	for pair := range slices.Chunk(node.Content, 2) {
		switch key := pair[0]; {
		case key.Kind != yaml.ScalarNode:
			return fault.New(fault.Usage, "",
				"read settings %s: found %s as a key, expected a word", Where(key), describe(key))
		case key.ShortTag() == "!!merge":
			return fault.New(fault.Usage,
				"name another file in a defaults list, or refer to a value by ${key}",
				"read settings %s: found the YAML merge key <<, expected a word", Where(key))
		case seen[key.Value]:
			return fault.New(fault.Usage, "remove one of them",
				"read settings %s: key %q is given twice", Where(key), key.Value)
		}
		seen[pair[0].Value] = true
	}
	return nil
}

// canonical is the stored spelling of a top-level key: dashes count as underscores.
func canonical(key string) string { return strings.ReplaceAll(key, "-", "_") }

// child returns the value of a mapping's key or a list's element, nil when there is none.
func child(node *yaml.Node, key string) *yaml.Node {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i]
		}
	}
	return nil
}

// keysOf returns the keys of a mapping, nil for anything else.
func keysOf(node *yaml.Node) (keys []string) {
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		keys = append(keys, node.Content[i].Value)
	}
	return keys
}

// merge merges the mapping from into the mapping into: mappings merge key by key, anything else is
// replaced.
func merge(into, from *yaml.Node) {
	for i := 0; i < len(from.Content); i += 2 { // keys are unique
		key, value := from.Content[i], from.Content[i+1]
		if old := child(into, key.Value); old != nil {
			assign(old, value)
		} else {
			into.Content = append(into.Content, key, value)
		}
	}
}

// assign gives a node a new value, in place; two mappings merge.
func assign(old, value *yaml.Node) {
	if old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode {
		merge(old, value)
		return
	}
	*old = *value
}

// scalar makes a node from text as YAML reads plain text: 1 is a number, true a boolean, x text.
// Empty text stays text, not null, and so does what YAML would read as more than one plain value.
func scalar(text, place string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, LineComment: place}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) == 0 {
		return node
	}
	if plain := document.Content[0]; plain.Kind == yaml.ScalarNode && plain.Style == 0 && plain.Value == text {
		node.Tag = plain.Tag
	}
	return node
}
