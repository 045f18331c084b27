package source

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// annotations are the edges of genes and terms, in the order of their first rows.
type annotations struct {
	spec    OntologySpec
	terms   *ontology
	kept    []bool // of the terms, those in the namespaces to keep
	names   *Names
	unknown ingest.UnknownGenes

	pairs               *pairs
	gene, term          []uint32 // by pair; term is an index in terms
	evidence, qualifier []string
	joins               joins
}

// read adds the rows of a table; place is where its settings are, for errors.
func (a *annotations) read(files *inputfile.Files, spec AnnotationsSpec, place string) (SourceReport, error) {
	report := SourceReport{Made: a.edgeType().String(), File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, place, spec.Gene, spec.Term, "evidence", "qualifier")
	if err != nil {
		return report, err
	}
	r := annotationReader{annotations: a, split: []byte(spec.Split), columns: [4]int(columns)}
	err = rows.each("annotations", &report, r.row)
	r.account(&report)
	return report, err
}

// annotationReader counts the rows of one file.
type annotationReader struct {
	*annotations
	columns [4]int // of genes, terms, evidence and qualifiers
	split   []byte // what ends the gene's name; nil: nothing
	recent  recentName

	repeated  int
	missing   missingNames
	resolved  [isUnknown + 1]int
	elsewhere int // terms of other namespaces
	kept      int
}

func (r *annotationReader) row(batch *table.Batch, i int) error {
	code, qualifier := batch.Text(r.columns[2], i), batch.Text(r.columns[3], i)
	if err := cmp.Or(checkUTF8(qualifier), checkUTF8(code)); err != nil {
		return err
	}
	name := batch.Text(r.columns[0], i)
	if len(r.split) > 0 {
		name, _, _ = bytes.Cut(name, r.split)
	}
	m := r.recent.find(r.names, name)
	if m.result != gene {
		if err := ingest.CheckGeneName(name); err != nil {
			return err
		}
		if r.unknown == ingest.RefuseUnknownGenes {
			return fault.New(fault.Input, r.names.unknownHint(string(name)), "%s", r.names.describe(string(name), m.result))
		}
		r.missing.add(string(name))
		r.missing.count([2]found{m.result, m.result})
		return nil
	}
	id := batch.Text(r.columns[1], i)
	at, how := r.terms.find(id)
	if how == isUnknown {
		if r.unknown == ingest.RefuseUnknownGenes {
			return fault.New(fault.Input, "use an ontology of the same release or a later one, or drop such rows with unknown_genes: drop-gene",
				"term %s is not in the ontology (%s terms)", fault.Quote(id), grouped(len(r.terms.terms)))
		}
		r.missing.add(string(id))
	}
	if how == isUnknown || how == isObsolete {
		r.resolved[how]++
		return nil
	}
	if !r.annotations.kept[at] {
		r.elsewhere++
		return nil
	}
	r.resolved[how]++
	pair, meeting := r.pairs.meet(m.gene, uint32(at))
	if meeting == first {
		r.kept++
		r.gene, r.term = append(r.gene, m.gene), append(r.term, uint32(at))
		r.evidence, r.qualifier = append(r.evidence, ""), append(r.qualifier, "")
	} else {
		r.repeated++
	}
	r.evidence[pair], r.qualifier[pair] = r.joins.with(r.evidence[pair], code), r.joins.with(r.qualifier[pair], qualifier)
	return nil
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

func (r *annotationReader) account(report *SourceReport) {
	report.Kept, report.Unnamed = r.kept, r.resolved[isUnknown]
	r.missing.account(report)
	report.drop(
		Count{"of unknown terms", r.resolved[isUnknown]},
		Count{"of obsolete terms that no single term replaces", r.resolved[isObsolete]},
		Count{"of terms in other namespaces", r.elsewhere},
		Count{"of the gene and term of an earlier row", r.repeated},
	)
	report.note(
		Count{"of alternative ids of terms", r.resolved[byAlternative]},
		Count{"of obsolete terms, read as the terms that replace them", r.resolved[byReplacement]},
	)
}

func (a *annotations) edgeType() ingest.EdgeType {
	return ingest.EdgeType{Source: ingest.Gene, Relation: a.spec.Relation, Target: geneOntology}
}

// edges returns the edge table; nodes are the rows of terms among the nodes.
func (a *annotations) edges(nodes []uint32) *ingest.Edges {
	edges := &ingest.Edges{Type: a.edgeType(), Src: a.gene, Dst: a.term}
	for k, at := range edges.Dst {
		edges.Dst[k] = nodes[at]
		a.evidence[k], a.qualifier[k] = strings.ReplaceAll(a.evidence[k], joint, "|"), strings.ReplaceAll(a.qualifier[k], joint, "|")
	}
	edges.Columns = []ingest.Column{ingest.TextColumn("evidence", a.evidence), ingest.TextColumn("qualifier", a.qualifier)}
	return edges
}
