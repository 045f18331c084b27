package graph

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

var plainType = regexp.MustCompile(`^[A-Za-z0-9]+(_[A-Za-z0-9]+)*$`)

// WrongNodeType says why a text cannot be a node type, or returns "". A type that is nearly one
// with a meaning would be taken for one whose nodes nothing removes.
func WrongNodeType(nodeType string) string {
	if !plainType.MatchString(nodeType) {
		return fmt.Sprintf("is %q, expected letters and digits, in parts that are joined by _",
			nodeType)
	}
	for _, known := range []string{ingest.Gene, ingest.Reaction, ingest.Metabolite} {
		if nodeType != known && strings.EqualFold(strings.TrimRight(nodeType, "sS"), known) {
			return fmt.Sprintf("is %q, expected %s", nodeType, known)
		}
	}
	return ""
}

// WrongEdgeType says why an edge type cannot be one of a cell graph, or returns "".
func WrongEdgeType(edge ingest.EdgeType) string {
	for _, nodeType := range []string{edge.Source, edge.Target} {
		if wrong := WrongNodeType(nodeType); wrong != "" {
			return "node type " + wrong
		}
	}
	if !isPlain(edge.Relation) {
		return fmt.Sprintf(
			"relation is %q, expected UTF-8 text without spaces and control characters",
			edge.Relation)
	}
	for _, known := range []ingest.EdgeType{ingest.GPR, ingest.RMR, ingest.MRM} {
		if edge != known && strings.EqualFold(edge.String(), known.String()) {
			return fmt.Sprintf("relation is %q, expected %s", edge.Relation, known.Relation)
		}
	}
	return ""
}

// isPlain reports whether a name is UTF-8 text that can be told apart when printed.
func isPlain(name string) bool {
	isOdd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	return utf8.ValidString(name) && !strings.ContainsFunc(name, isOdd)
}

// CheckID returns an error for a text that cannot be the id of a node.
func CheckID(nodeType, id string) error {
	wrong := func(hint, what string) error {
		return fault.New(fault.Input, hint, "id %s %s", fault.Quote(id), what)
	}
	isGene := nodeType == ingest.Gene
	switch {
	case id == "":
		return wrong("give every node an id", "is empty")
	case !utf8.ValidString(id):
		return wrong("save the file as UTF-8 text", "is not valid UTF-8")
	case strings.TrimSpace(id) != id:
		return wrong("remove the space, here and in the edge tables", "begins or ends with a space")
	case len(id) > 1 && id[0] == '"' && id[len(id)-1] == '"':
		return wrong(names.QuotesHint, "is in quotes")
	case strings.ContainsFunc(id, unicode.IsControl):
		return wrong("remove it; a line break or a tab may come from another file format",
			"contains a control character")
	case isGene && strings.Contains(id, "|"):
		return wrong("give the gene one name",
			"contains a |, which separates the genes of a perturbation set")
	case isGene && names.IsDate([]byte(id)):
		return wrong(names.DateHint, "is a date, as Excel makes of names such as SEP7")
	}
	return nil
}
