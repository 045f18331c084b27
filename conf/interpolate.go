package conf

import (
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"tcbuild/fault"
)

// progress is how far a node's interpolations are replaced: cycles lead back to a node that is
// pending.
type progress int

const (
	untouched progress = iota
	pending
	resolved
)

// resolver replaces the ${…} of settings, in place.
type resolver struct {
	root       *yaml.Node
	state      map[*yaml.Node]progress
	referenced map[string]bool // top-level keys that were named
	sizes      map[*yaml.Node]int
	index      map[*yaml.Node]map[string]*yaml.Node // of mappings, by key
	expanded   int                                  // bytes of text that interpolations have made
	nested     int                                  // the ${…} inside a ${…} at work
}

// The most bytes that the values may have when every ${…} is replaced, and the most ${…} inside one
// another.
const (
	mostExpanded = 4 << 20
	mostNested   = 20
)

func tooLarge(place string) error {
	return fault.New(fault.Usage, "look for values that refer to others again and again",
		"read settings%s: the values have more than %d bytes with every ${…} replaced", place, mostExpanded)
}

// sizeOf is the number of bytes and nodes at and below a node; one that several others share counts
// for each.
func (r *resolver) sizeOf(node *yaml.Node) int {
	if size, known := r.sizes[node]; known {
		return size
	}
	size := 1 + len(node.Value)
	for _, below := range node.Content {
		size = min(size+r.sizeOf(below), mostExpanded+1)
	}
	r.sizes[node] = size
	return size
}

// resolve replaces all interpolations in a node and below it.
func (r *resolver) resolve(node *yaml.Node) error {
	switch r.state[node] {
	case resolved:
		return nil
	case pending:
		return fault.New(fault.Usage, "break the circle by giving one of them a plain value",
			"read settings %s: the value refers to itself", Where(node))
	}
	r.state[node] = pending
	if node.Kind == yaml.ScalarNode {
		if err := r.replace(node); err != nil {
			return err
		}
	}
	for i, below := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			continue // keys are taken literally
		}
		if err := r.resolve(below); err != nil {
			return err
		}
	}
	r.state[node] = resolved
	return nil
}

// replace gives a scalar its final value: what it names, if it is one ${…}, which
// may be a list or a section; otherwise its text with every ${…} replaced by text.
func (r *resolver) replace(node *yaml.Node) error {
	place := Where(node)
	if !strings.Contains(node.Value, "${") {
		return nil
	}
	var text strings.Builder
	for rest := node.Value; rest != ""; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			text.WriteString(rest)
			break
		}
		if literal, escaped := strings.CutSuffix(before, `\`); escaped {
			text.WriteString(literal + "${")
			rest = after
			continue
		}
		inner, after, closed := cutClosingBrace(after)
		if !closed {
			return fault.New(fault.Usage, `close it with }, or write \${ for a literal ${`,
				"read settings %s: found ${ without } in %q", place, node.Value)
		}
		value, err := r.lookUp(inner, place)
		if err != nil {
			return err
		}
		if before == "" && after == "" && len(rest) == len(node.Value) {
			*node = *value
			node.LineComment = place
			return nil
		}
		if value.Kind != yaml.ScalarNode || value.ShortTag() == "!!null" {
			return fault.New(fault.Usage, "", "read settings %s: ${%s} inside a text is %s, expected a single value", place, inner, describe(value))
		}
		text.WriteString(before + value.Value)
		if r.expanded += len(before) + len(value.Value); r.expanded > mostExpanded {
			return tooLarge(" " + place)
		}
		rest = after
	}
	node.Value, node.Tag = text.String(), "!!str"
	return nil
}

// cutClosingBrace cuts text, which follows a "${", at the brace that closes it.
func cutClosingBrace(text string) (inner, after string, closed bool) {
	for depth, i := 1, 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			depth++
		case text[i] == '}':
			if depth--; depth == 0 {
				return text[:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// lookUp returns the value that the inside of a ${…} names. The node is shared: copy it before
// changing it.
func (r *resolver) lookUp(inner, place string) (*yaml.Node, error) {
	name := &yaml.Node{Kind: yaml.ScalarNode, Value: inner, LineComment: place}
	if r.nested++; r.nested > mostNested {
		return nil, fault.New(fault.Usage, "", "read settings %s: found more than %d ${ inside one another", place, mostNested)
	}
	err := r.replace(name) // ${a.${b}}, ${oc.env:VAR,${b}}
	r.nested--
	if err != nil {
		return nil, err
	}
	if name.Kind != yaml.ScalarNode {
		return nil, wrongType(name, "${"+inner+"}", "a key")
	}
	key := strings.TrimSpace(name.Value)
	if kind, argument, found := strings.Cut(key, ":"); found {
		return environment(kind, argument, place)
	}
	path := splitKey(key)
	r.referenced[path[0]] = true
	node := r.root
	for _, word := range path {
		if node.Kind == yaml.ScalarNode {
			if err := r.resolve(node); err != nil { // what it names may have the key
				return nil, err
			}
		}
		next := r.child(node, word)
		if next == nil {
			return nil, fault.New(fault.Usage, didYouMean(word, keysOf(node), "keys are written from the top, as ${a.b}"),
				"read settings %s: ${%s} names a key that is not there", place, key)
		}
		node = next
	}
	return node, r.resolve(node)
}

// child is the function child, fast however often one of many keys is asked for.
func (r *resolver) child(node *yaml.Node, key string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return child(node, key)
	}
	if r.index[node] == nil {
		r.index[node] = indexOf(node)
	}
	return r.index[node][key]
}

// environment returns the value of an oc.env:VAR or oc.env:VAR,default.
func environment(kind, argument, place string) (*yaml.Node, error) {
	if kind != "oc.env" {
		return nil, fault.New(fault.Usage, "",
			"read settings %s: found ${%s:…}, expected ${key}, ${a.b} or ${oc.env:VAR}", place, kind)
	}
	variable, fallback, hasDefault := strings.Cut(argument, ",")
	variable = strings.TrimSpace(variable)
	value, isSet := os.LookupEnv(variable)
	switch {
	case isSet:
		return scalar(value, place), nil
	case hasDefault:
		return parseValue(strings.TrimSpace(fallback), place)
	default:
		return nil, fault.New(fault.Usage, "set it, or write ${oc.env:"+variable+",default}",
			"read settings %s: environment variable %s is not set", place, variable)
	}
}
