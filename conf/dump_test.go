package conf

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// flattenNode appends "path=text" for every scalar at and below a node.
func flattenNode(node *yaml.Node, path string, words *[]string) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			flattenNode(node.Content[i+1], join(path, node.Content[i].Value), words)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			flattenNode(element, join(path, strconv.Itoa(i)), words)
		}
	default:
		*words = append(*words, path+"="+node.Value)
	}
}
