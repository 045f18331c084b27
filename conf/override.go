package conf

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

var overridePattern = regexp.MustCompile(`^(?:(\+{0,2})(` + dottedKey + `)=((?s).*)|~(` + dottedKey + `))$`)

const dottedKey = `[A-Za-z_][\w-]*(?:\.[\w-]+)*`

// IsOverride reports whether a command line argument is an override: key=value, +key=value,
// ++key=value or ~key, where key is words joined by dots. A file name that looks like one can be
// written as ./name.
func IsOverride(argument string) bool { return overridePattern.MatchString(argument) }

// applyOverride changes the settings by one override.
func applyOverride(root *yaml.Node, override string) error {
	match := overridePattern.FindStringSubmatch(override)
	if match == nil {
		return fault.New(fault.Usage, "write key=value, a.b=value, +key=value, ++key=value or ~key",
			"read settings: found %q, expected an override", override)
	}
	plus, key, text, removed := match[1], match[2], match[3], match[4]
	if removed != "" {
		return removeValue(root, override, splitKey(removed))
	}
	value, err := parseValue(text, "override "+override)
	if err != nil {
		return err
	}
	path := splitKey(key)
	old, depth, valid := find(root, path)
	switch {
	case old != nil && plus == "+":
		return fault.New(fault.Usage, "drop the + to change it",
			"read settings override %s: %s already exists (%s)", override, key, Where(old))
	case old != nil:
		assign(old, value)
		return nil
	case plus == "" && len(path) > 1:
		return fault.New(fault.Usage,
			fault.DidYouMean(path[depth], valid, "to add it write +"+override),
			"read settings override %s: found no key %s to change", override, key)
	}
	return add(root, path, value)
}

// removeValue removes one key and its value from the settings.
func removeValue(root *yaml.Node, override string, path []string) error {
	last := len(path) - 1
	parent, _, _ := find(root, path[:last])
	if parent != nil && remove(parent, path[last]) {
		return nil
	}
	_, depth, valid := find(root, path)
	return fault.New(fault.Usage, fault.DidYouMean(path[depth], valid, ""),
		"read settings override %s: found no key %s to remove", override, strings.Join(path, "."))
}

// add adds a new value, and the sections that lead to it.
func add(root *yaml.Node, path []string, value *yaml.Node) error {
	place := value.LineComment
	last := len(path) - 1
	node := root
	for i, key := range path {
		next := child(node, key)
		if next == nil && node.Kind != yaml.MappingNode {
			return fault.New(fault.Usage, "",
				"read settings %s: %s is %s (%s), expected a section of keys and values",
				place, strings.Join(path[:i], "."), describe(node), Where(node))
		}
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode, LineComment: place}
			if i == last {
				next = value
			}
			node.Content = append(node.Content, scalar(key, place), next)
		}
		node = next
	}
	return nil
}

// find follows a path of keys as far as it exists. When it ends early, value is
// nil, depth is the position of the missing key, and valid are the keys there.
func find(root *yaml.Node, path []string) (value *yaml.Node, depth int, valid []string) {
	node := root
	for depth, key := range path {
		next := child(node, key)
		if next == nil {
			return nil, depth, keysOf(node)
		}
		node = next
	}
	return node, len(path), nil
}

// remove removes a key from a mapping; it returns false if the key does not exist.
func remove(mapping *yaml.Node, key string) bool {
	if mapping.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return true
		}
	}
	return false
}

// splitKey splits a dotted key; its first word becomes canonical.
func splitKey(key string) []string {
	path := strings.Split(key, ".")
	path[0] = canonical(path[0])
	return path
}

// parseValue reads the value of an override: a YAML list, mapping or quoted
// text if it starts like one, otherwise plain text up to its end.
func parseValue(text, place string) (*yaml.Node, error) {
	if text == "" || !strings.ContainsRune(`[{"'`, rune(text[0])) {
		return scalar(text, place), nil
	}
	value, second, err := ReadYAML([]byte(text))
	switch {
	case err != nil:
		_, what := DescribeSyntax([]byte(text), err)
		return nil, fault.New(fault.Usage, SyntaxHint, "read settings %s: %s", place, what)
	case second > 0:
		return nil, fault.New(fault.Usage, "quote the value",
			"read settings %s: found a second YAML document in its line %d, expected one",
			place, second)
	}
	return value, adopt(value, place, false)
}
