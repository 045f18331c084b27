package conf

import (
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/fault"
)

// progress is the state of replacing a node's interpolations. A cycle leads back to a pending node.
type progress int

const (
	untouched progress = iota
	pending
	resolved
)

// resolver replaces the ${…} of settings, in place.
type resolver struct {
	root     *yaml.Node
	state    map[*yaml.Node]progress
	expanded int               // bytes of text made by interpolations
	secrets  map[string]string // references, by the value of the environment variable
}

// mostExpanded limits the bytes of all values after every ${…} is replaced.
const mostExpanded = 4 << 20

func tooLarge(place string) error {
	return fault.New(fault.Usage, "look for values that refer to others repeatedly",
		"read settings%s: found values of more than %d bytes after replacing every ${…}", place,
		mostExpanded)
}

// resolve replaces all interpolations in a node and below it.
func (r *resolver) resolve(node *yaml.Node) error {
	switch r.state[node] {
	case resolved:
		return nil
	case pending:
		return fault.New(fault.Usage,
			"break the cycle: replace one of the references by a plain value",
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

// replace gives a scalar its final value. A single ${…} becomes the value it names, which may be a
// list or a section. In other text every ${…} is replaced by text.
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
		inner, after, closed := strings.Cut(after, "}")
		if strings.Contains(inner, "${") {
			return fault.New(fault.Usage, "name the value itself, as in ${a.b}",
				"read settings %s: found ${…} inside ${…} in %.100q", place, node.Value)
		}
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
			return fault.New(fault.Usage, "",
				"read settings %s: ${%s} inside a text is %s, expected a single value",
				place, inner, describe(value))
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

// lookUp returns the value that the inside of a ${…} names. The node is shared: copy it before
// changing it.
func (r *resolver) lookUp(inner, place string) (*yaml.Node, error) {
	key := strings.TrimSpace(inner)
	if kind, argument, found := strings.Cut(key, ":"); found {
		return r.environment(kind, argument, place)
	}
	path := splitKey(key)
	node := r.root
	for _, word := range path {
		if node.Kind == yaml.ScalarNode {
			if err := r.resolve(node); err != nil { // its target may have the key
				return nil, err
			}
		}
		next := child(node, word)
		if next == nil {
			return nil, fault.New(fault.Usage, fault.DidYouMean(word, keysOf(node), "write keys from the top level, as in ${a.b}"),
				"read settings %s: ${%s} names a key that does not exist", place, key)
		}
		node = next
	}
	return node, r.resolve(node)
}

// environment returns the value of an oc.env:VAR or oc.env:VAR,default.
func (r *resolver) environment(kind, argument, place string) (*yaml.Node, error) {
	if kind != "oc.env" {
		return nil, fault.New(fault.Usage, "",
			"read settings %s: found ${%s:…}, expected ${key}, ${a.b} or ${oc.env:VAR}", place,
			kind)
	}
	variable, fallback, hasDefault := strings.Cut(argument, ",")
	variable = strings.TrimSpace(variable)
	value, isSet := os.LookupEnv(variable)
	switch {
	case isSet:
		r.secrets[value] = "${oc.env:" + variable + "}"
		return scalar(value, place), nil
	case hasDefault:
		return parseValue(strings.TrimSpace(fallback), place)
	default:
		return nil, fault.New(fault.Usage, "set it, or write ${oc.env:"+variable+",default}",
			"read settings %s: environment variable %s is not set", place, variable)
	}
}
