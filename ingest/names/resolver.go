// Package names says what the name of a gene means, for tables, expressions, flags and lists alike.
// In go the genes of a graph, their other names, and the genes that other sources know and the
// graph lacks; out comes an Answer for each name:
//
//	TFC3      Gene, the row of YAL001C
//	SWC3      NotInGraph: it is the name of YAL011W, which the graph lacks
//	SHARED    Ambiguous: both YAL1W and YAL2W have the name
//	7-Sep     Date, which Excel made of SEP7
//	TFC33     Unknown
package names

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Meaning is the kind of thing that a name means.
type Meaning uint8

const (
	Unknown    Meaning = iota // no gene that the resolver knows has the name
	Gene                      // a gene of the graph
	NotInGraph                // a gene, or several, none of them in the graph
	Ambiguous                 // several genes, at least one of them in the graph
	Control                   // nothing: it stands where a gene's name does, and deletes none
	Date                      // a gene's name of which Excel made a date; the name is lost
)

// Answer is what a name means.
type Answer struct {
	// Gene is the row of the gene in nodes/gene. If the name is not one gene's of the graph, it is
	// the number of the first that has the name, above these rows for genes outside the graph.
	Gene uint32
	// Level is that of the column that gave the name, see Builder; 0 for an id of the graph.
	Level   int16
	Meaning Meaning
}

// Known reports whether a gene has the name, in the graph or not.
func (a Answer) Known() bool {
	return a.Meaning == Gene || a.Meaning == NotInGraph || a.Meaning == Ambiguous
}

// Reason says why rows are dropped for a name that means no gene of the graph.
func (a Answer) Reason() ingest.Reason {
	if a.Meaning == Ambiguous {
		return ingest.AmbiguousName
	}
	return ingest.UnknownGene
}

// Resolver finds genes by their names. It is immutable, and safe for concurrent use.
type Resolver struct {
	nodes  *ingest.Nodes
	ids    []string // of the nodes in their order, then of genes outside the graph
	levels int      // of names, beside that of ids
	exact  *entries
	folded *entries // of names in lower case; nil: case matters
	rules  rules
}

// Nodes are the nodes that a name can mean.
func (r *Resolver) Nodes() *ingest.Nodes { return r.nodes }

// Find says what a name means; the first of these that fits counts. It allocates nothing.
//
//  1. Controls.
//  2. Ids and other names, by their levels.
//  3. The same in any case, if the graph ignores case.
//  4. Ids without a version (ENSG00000141510.18), or as numbers of pandas (7157.0).
//  5. Dates.
func (r *Resolver) Find(name []byte) Answer {
	if r.rules.controls[string(name)] {
		return Answer{Meaning: Control}
	}
	answer := r.Exact(name)
	if answer.Meaning != Unknown || r.nodes.Type != ingest.Gene {
		return answer
	}
	var lower [32]byte
	in, key := r.entry(name, lower[:0])
	if answer = in.get(key); answer.Meaning == Unknown && IsDate(name) {
		answer.Meaning = Date
	}
	return answer
}

// entry says where a name of a gene is found, and as what, which may be written to lower.
func (r *Resolver) entry(name, lower []byte) (in *entries, key []byte) {
	if r.exact.get(name).Meaning != Unknown {
		return r.exact, name
	}
	withVersion := versioned
	if r.folded != nil {
		withVersion = versionedInAnyCase
		key = appendLower(lower, name)
		if r.folded.get(key).Meaning != Unknown {
			return r.folded, key
		}
	}
	if plain := withoutVersion(name, withVersion); plain != nil {
		return r.entry(plain, lower)
	}
	return r.exact, name
}

// Exact says which genes have a name, exactly as it is written.
func (r *Resolver) Exact(name []byte) Answer { return r.exact.get(name) }

func appendLower(to, name []byte) []byte {
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(name)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// Row returns the gene that a name means, or says why it means none.
func (r *Resolver) Row(name string) (gene uint32, err error) {
	answer := r.Find([]byte(name))
	if answer.Meaning != Gene {
		return 0, r.Explain([]byte(name))
	}
	return answer.Gene, nil
}

// ID is the id of the gene that an answer has, in the graph or not.
func (r *Resolver) ID(a Answer) string { return r.ids[a.Gene] }

// Owners returns the ids of the genes that have a name.
func (r *Resolver) Owners(name []byte) (ids []string) {
	in, key := r.entry(name, nil)
	for _, gene := range in.genes(key) {
		ids = append(ids, r.ids[gene])
	}
	return ids
}

// Explain is the error of a name that means no gene of the graph. Its hint says what was probably
// meant, or what to add; it ends without a dot, so that callers can go on with their settings.
func (r *Resolver) Explain(name []byte) error {
	owners := r.Owners(name)
	nodes := ingest.Plural(r.nodes.Len(), r.nodes.Type, "")
	switch {
	case r.Find(name).Meaning == Ambiguous:
		return fault.New(fault.Input, "write the id of the gene that is meant",
			"name %s is ambiguous: it is a name of %s", fault.Quote(name),
			strings.Join(owners, " and "))
	case owners != nil && !slices.Equal(owners, []string{string(name)}):
		return fault.New(fault.Input, r.hint(name), "%s %s (%s) is not in the graph (%s)",
			r.nodes.Type, fault.Quote(name), strings.Join(owners, " or "), nodes)
	}
	return fault.New(fault.Input, r.hint(name), "%s is not in the graph (%s)", r.quote(name), nodes)
}

// quote quotes an unknown name for an error, and says if it is a date.
func (r *Resolver) quote(name []byte) string {
	quoted := fmt.Sprintf("%s %s", r.nodes.Type, fault.Quote(name))
	if r.nodes.Type == ingest.Gene && IsDate(name) {
		quoted += " (" + ADate + ")"
	}
	return quoted
}

// hint says what to do about a name that means no gene.
func (r *Resolver) hint(name []byte) string {
	owners, isGene := r.Owners(name), r.nodes.Type == ingest.Gene
	switch {
	case len(owners) == 1:
		return "add " + owners[0] + " to the graph"
	case owners != nil:
		return "write the id of the gene that is meant"
	case isGene && IsDate(name):
		return DateHint
	case isGene && r.gene(string(name)) != "":
		return fmt.Sprintf("if it is an allele of %s, tcbuild.screens.sga in Python reads such names",
			r.gene(string(name)))
	}
	if near := r.near(string(name)); near != "" {
		return near
	}
	if !isGene {
		return "correct the name, or add it to the nodes"
	}
	return "correct the name, or add the gene or this name of it to the graph"
}

// Unexpected returns a fault.Input unless name is the name of one gene: it must not be empty, have
// spaces around it, begin with a quote, or contain a |. It is for names that mean no gene. A bad
// name is a mistake in the table, not a gene missing from the graph, so it is never dropped.
func Unexpected(name []byte) error {
	switch {
	case len(name) == 0:
		return fault.New(fault.Input, "remove the extra delimiter or empty list element",
			"found an empty gene name")
	case len(bytes.TrimSpace(name)) != len(name):
		return fault.New(fault.Input, "remove the spaces",
			"found gene %s, expected a name without spaces around it", fault.Quote(name))
	case name[0] == '"':
		return fault.New(fault.Input, QuotesHint,
			"found gene %s, expected a name without quotes around it", fault.Quote(name))
	case bytes.Contains(name, []byte{'|'}):
		return fault.New(fault.Input, "put each gene in a column or list element of its own, "+
			"or all in one text column, with | between them",
			"found gene %s, expected the name of one gene", fault.Quote(name))
	}
	return nil
}

// QuotesHint is the hint for an id in quotes that a text table kept: not all of its column had
// them.
const QuotesHint = "remove the quotes, or put every field of the column in quotes, " +
	"or save the file as .csv"

// TwoNames is the error of a sample that names one gene by two names.
func TwoNames(a, b, gene string) error {
	return fault.New(fault.Input,
		"correct the names, or the aliases, or drop the row, if a gene was crossed with itself",
		"found %s and %s, which are both names of gene %s, expected each gene once",
		fault.Quote(a), fault.Quote(b), fault.Quote(gene))
}

// Advice is the hint for a set that has lost many rows to names.
func (r *Resolver) Advice(lost map[string]int) string {
	known := 0
	for name := range lost {
		if r.Exact([]byte(name)).Known() {
			known++
		}
	}
	if 2*known > len(lost) {
		return "add the genes to the graph: it lists them in names/gene"
	}
	return "give the genes' other names in the columns name and aliases of nodes/gene"
}
