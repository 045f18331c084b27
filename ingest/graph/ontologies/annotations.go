package ontologies

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
	"tcbuild/internal/pairs"
)

// AnnotationsSpec is a table of genes and terms that annotate them, with columns evidence and
// qualifier.
type AnnotationsSpec struct {
	// public source, such as gaf; the other keys override its settings
	Source         conf.SourceName `yaml:"source" section:"annotations"`
	table.TextSpec `yaml:",inline" required:"file"`
	where.RowsSpec `yaml:",inline"`
	Gene           string `yaml:"gene" required:"yes"` // column of gene names (required)
	// separator between names in a field; only the first name is read
	Split string `yaml:"split"`
	Term  string `yaml:"term" required:"yes"` // column of term ids (required)
}

// annotations are the edges of genes and terms, in the order of their first rows.
type annotations struct {
	terms *ontology
	kept  []bool // of the terms, those in the namespaces to keep
	genes *names.Resolver
	drop  bool // unknown names, and their rows

	pairs               *pairs.Set
	gene, term          []uint32 // by pair; term is an index in terms
	evidence, qualifier []string
	joins               joins

	account *ingest.Account // of the table at hand
	row     int64           // at hand
}

func newAnnotations(o *ontology, kept []bool, genes *names.Resolver, drop bool) *annotations {
	return &annotations{
		terms: o, kept: kept, genes: genes, drop: drop, pairs: pairs.New(false), joins: make(joins),
	}
}

// read adds the rows of a table.
func (a *annotations) read(
	files *inputfile.Files, spec AnnotationsSpec, account *ingest.Account,
) error {
	rows, columns, err := where.OpenTable(files, spec.TextSpec, spec.RowsSpec,
		spec.Gene, spec.Term, "evidence", "qualifier")
	if err != nil {
		return err
	}
	a.account = account
	return rows.Each("annotations", account, func(batch *table.Batch, i int) error {
		a.row = batch.First + int64(i)
		code, qualifier := batch.Text(columns[2], i), batch.Text(columns[3], i)
		if err := cmp.Or(table.CheckUTF8(qualifier), table.CheckUTF8(code)); err != nil {
			return err
		}
		name := batch.Text(columns[0], i)
		if spec.Split != "" {
			name, _, _ = bytes.Cut(name, []byte(spec.Split))
		}
		gene, ok, err := a.findGene(name)
		if !ok || err != nil {
			return err
		}
		term, ok, err := a.findTerm(batch.Text(columns[1], i))
		if ok {
			a.add(gene, term, code, qualifier)
		}
		return err
	})
}

// findGene finds a gene, or says why the row makes nothing.
func (a *annotations) findGene(name []byte) (gene uint32, ok bool, err error) {
	answer := a.genes.Find(name)
	if answer.Meaning == names.Gene {
		return answer.Gene, true, nil
	}
	a.account.Drop(answer.Reason(), "", a.row, name)
	a.account.AddName(string(name), 1)
	return 0, false, graph.MissingNode(a.genes, name, a.drop)
}

// findTerm finds a term, or says why the row makes nothing.
func (a *annotations) findTerm(id []byte) (term uint32, ok bool, err error) {
	at, how := a.terms.find(id)
	switch {
	case how == isUnknown && !a.drop:
		return 0, false, fault.New(fault.Input,
			"use an ontology of the same release or a later one, "+
				"or drop such rows with unknown_genes: drop-gene",
			"term %s is not in the ontology (%s terms)",
			fault.Quote(id), ingest.Grouped(len(a.terms.terms)))
	case how == isUnknown:
		a.account.Drop(ingest.UnknownNode, "terms", a.row, id)
		a.account.AddName(string(id), 1)
	case how == isObsolete:
		const why = "of obsolete terms that no single term replaces"
		a.account.Drop(ingest.Obsolete, why, a.row, id)
	case !a.kept[at]:
		a.account.Drop(ingest.OtherNamespace, "terms in other namespaces", a.row, id)
	default:
		switch how {
		case byAlternative:
			a.account.Add(ingest.AlternativeTerm, "", 1)
		case byReplacement:
			a.account.Add(ingest.ReplacedTerm, "", 1)
		}
		return uint32(at), true, nil
	}
	return 0, false, nil
}

// add makes an edge, or adds the evidence and qualifier to the pair's edge.
func (a *annotations) add(gene, term uint32, code, qualifier []byte) {
	pair, meeting := a.pairs.Meet(gene, term)
	if meeting == pairs.First {
		a.account.Kept++
		a.gene, a.term = append(a.gene, gene), append(a.term, term)
		a.evidence, a.qualifier = append(a.evidence, ""), append(a.qualifier, "")
	} else {
		a.account.Drop(ingest.RepeatedAnnotation, "", a.row, nil)
	}
	a.evidence[pair] = a.joins.with(a.evidence[pair], code)
	a.qualifier[pair] = a.joins.with(a.qualifier[pair], qualifier)
}

// edges returns the edge table; nodes are the rows of terms among the nodes.
func (a *annotations) edges(kind ingest.EdgeType, nodes []uint32) *ingest.Edges {
	edges := &ingest.Edges{Type: kind, Src: a.gene, Dst: a.term}
	for k, at := range edges.Dst {
		edges.Dst[k] = nodes[at]
		a.evidence[k] = strings.ReplaceAll(a.evidence[k], joint, "|")
		a.qualifier[k] = strings.ReplaceAll(a.qualifier[k], joint, "|")
	}
	edges.Columns = []ingest.Column{
		ingest.TextColumn("evidence", a.evidence), ingest.TextColumn("qualifier", a.qualifier),
	}
	return edges
}

// joins are the sets of texts, joined in the order of their first rows, that were made of another
// set and one more text. Many pairs of genes and terms have the same sets.
type joins map[[2]string]string

// joint separates the texts of a set until the set is complete: a text such as NOT|part_of has a |.
const joint = "\x00"

// with returns a set with one more text, unless that is empty or in the set.
func (j joins) with(set string, text []byte) string {
	if joined, ok := j[[2]string{set, string(text)}]; ok {
		return joined
	}
	added, joined := string(text), set
	switch {
	case set == "":
		joined = added
	case added != "" && !slices.Contains(strings.Split(set, joint), added):
		joined += joint + added
	}
	j[[2]string{set, added}] = joined
	return joined
}
