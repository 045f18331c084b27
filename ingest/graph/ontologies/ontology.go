// Package ontologies reads an ontology, and the genes that its terms annotate. In go an OBO file
// and tables of annotations; out come terms and their relations, and edges of genes to terms:
//
//	[Term]
//	id: GO:0000001
//	is_a: GO:0048308 ! organelle inheritance
package ontologies

import (
	"maps"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// TermType is the type of the terms' nodes, as in torchcell.
const TermType = "gene_ontology"

// Spec names an ontology and its annotations of genes.
type Spec struct {
	// ontology in OBO format, such as go-basic.obo; may be compressed (.gz, .zst). Terms that are
	// not obsolete become nodes, in file order, with columns name and namespace
	File string `yaml:"file" required:"name the ontology, such as go-basic.obo; for a graph without terms, remove the section: ~gene_ontology"`
	// relations between terms that become edges term -> parent, each with the NAME in its edge type
	// gene_ontology__NAME__gene_ontology. Relations with the same name share an edge type, which
	// stores each pair once (default: is_a and part_of, under these names)
	Relations map[string]string `yaml:"relations"`
	// namespaces of the terms to keep (default: all)
	Namespaces []string `yaml:"namespaces"`
	// terms to keep: all, or only annotated ones and their ancestors (default: all)
	Terms Terms `yaml:"terms" words:"all annotated" default:"all"`
	// tables of annotations, such as GAF files. A gene and a term share one edge
	// gene__RELATION__gene_ontology, in order of first appearance; its evidence codes and
	// qualifiers are joined by |. Alternative ids, and obsolete terms with a single replacement,
	// are replaced with the current term
	Annotations []AnnotationsSpec `yaml:"annotations"`
	// relation in the edge type of annotations (default: has_annotation)
	Relation string `yaml:"relation" default:"has_annotation"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// Terms says which terms of an ontology are nodes.
type Terms string

const (
	AllTerms       Terms = "all"
	AnnotatedTerms Terms = "annotated"
)

// Check returns an error for settings that contradict each other.
func (s *Spec) Check() error {
	if s.Terms == AnnotatedTerms && len(s.Annotations) == 0 {
		return fault.New(fault.Usage, "name their files",
			"annotations: missing, although terms is annotated")
	}
	for _, name := range append(slices.Sorted(maps.Values(s.Relations)), s.Relation) {
		if err := graph.CheckRelation(name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) annotationType() ingest.EdgeType {
	return ingest.EdgeType{Source: ingest.Gene, Relation: s.Relation, Target: TermType}
}

func relationType(name string) ingest.EdgeType {
	return ingest.EdgeType{Source: TermType, Relation: name, Target: TermType}
}

// relations are the names of edge types, by the names of relations in the file.
func (s *Spec) relations() map[string]string {
	if s.Relations == nil {
		return map[string]string{"is_a": "is_a", "part_of": "part_of"}
	}
	return s.Relations
}

// AddTo adds the terms of an ontology, their relations, and their genes to a graph. A name of a
// gene or a term that is unknown is an error, unless drop is set.
func (s *Spec) AddTo(
	cell *ingest.Graph, files *inputfile.Files, genes *names.Resolver, drop bool,
) (ingest.Accounts, error) {
	text, err := table.ReadWhole(files, s.File)
	if err != nil {
		return nil, err
	}
	terms, err := parseOBO(s.File, text)
	if err != nil {
		return nil, err
	}
	nodes := &ingest.Account{Made: TermType, File: s.File, Rows: len(terms.terms)}
	kept := s.choose(terms, nodes)
	a := newAnnotations(terms, kept, genes, drop)
	var annotated ingest.Accounts
	for _, table := range s.Annotations {
		account := &ingest.Account{Made: s.annotationType().String(), File: table.File}
		if err := a.read(files, table, account); err != nil {
			return nil, err
		}
		annotated = append(annotated, account)
	}
	relations, err := s.readRelations(terms, nodes)
	if err != nil {
		return nil, err
	}
	if s.Terms == AnnotatedTerms {
		bare := terms.dropBare(kept, slices.Clone(a.term), relations)
		nodes.Add(ingest.TermWithoutGenes, "", bare)
	}
	rows := terms.addNodes(cell, kept)
	nodes.Kept = cell.NodesOf(TermType).Len()
	accounts := ingest.Accounts{nodes}
	for _, edges := range relations {
		account := &ingest.Account{Made: edges.Type.String(), File: s.File}
		keepEdges(edges, kept, rows, account)
		cell.Edges, accounts = append(cell.Edges, edges), append(accounts, account)
	}
	if len(annotated) > 0 {
		cell.Edges = append(cell.Edges, a.edges(s.annotationType(), rows))
	}
	return append(accounts, annotated...), nil
}

// choose says which terms are nodes by their namespaces, and counts the others.
func (s *Spec) choose(o *ontology, account *ingest.Account) (kept []bool) {
	kept = make([]bool, len(o.terms))
	for i, t := range o.terms {
		switch {
		case t.obsolete:
			account.Drop(ingest.Obsolete, "obsolete", int64(i), []byte(t.id))
		case s.Namespaces != nil && !slices.Contains(s.Namespaces, t.namespace):
			account.Drop(ingest.OtherNamespace, "other namespaces", int64(i), []byte(t.id))
		default:
			kept[i] = true
		}
	}
	return kept
}

// readRelations returns the relations of terms that are not obsolete, as edges whose ends are
// indices of terms, by the name of their type, and notes those that make no edges. Of the default
// ones, those that the file lacks are left out. A slim is a part of an ontology: parents may be
// outside.
func (s *Spec) readRelations(o *ontology, account *ingest.Account) ([]*ingest.Edges, error) {
	byName := make(map[string]*ingest.Edges)
	add := func(name string, ends ...uint32) {
		if byName[name] == nil {
			byName[name] = &ingest.Edges{Type: relationType(name)}
		}
		if len(ends) == 2 {
			e := byName[name]
			e.Src, e.Dst = append(e.Src, ends[0]), append(e.Dst, ends[1])
		}
	}
	for _, name := range s.Relations {
		add(name)
	}
	for i, t := range o.terms {
		if t.obsolete {
			continue
		}
		for _, p := range t.parents {
			name, makesEdges := s.relations()[p.relation]
			at, how := o.find([]byte(p.id))
			switch {
			case !makesEdges:
				account.Add(ingest.UnusedRelation, p.relation, 1)
			case how == isUnknown:
				account.Add(ingest.ParentOutside, p.relation, 1)
			case how > byAlternative:
				return nil, fault.New(fault.Input, oboHint,
					"read ontology %s:%d: found %s %s of term %s, which is obsolete",
					s.File, p.line, p.relation, fault.Quote(p.id), t.id)
			default:
				add(name, uint32(i), uint32(at))
			}
		}
	}
	var all []*ingest.Edges
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}

// dropBare removes from kept the terms that have no gene, nor a term below them that has one, and
// counts them.
func (o *ontology) dropBare(kept []bool, annotated []uint32, relations []*ingest.Edges) (bare int) {
	parents := make([][]uint32, len(o.terms))
	for _, r := range relations {
		for k, child := range r.Src {
			parents[child] = append(parents[child], r.Dst[k])
		}
	}
	reached := make([]bool, len(o.terms))
	for next := annotated; len(next) > 0; {
		at := next[len(next)-1]
		if next = next[:len(next)-1]; kept[at] && !reached[at] {
			reached[at] = true
			next = append(next, parents[at]...)
		}
	}
	for i := range kept {
		if kept[i] && !reached[i] {
			kept[i] = false
			bare++
		}
	}
	return bare
}

// addNodes adds the kept terms as nodes, and returns the row of each.
func (o *ontology) addNodes(cell *ingest.Graph, kept []bool) (rows []uint32) {
	var ids, labels, namespaces []string
	rows = make([]uint32, len(o.terms))
	for i, t := range o.terms {
		if kept[i] {
			rows[i] = uint32(len(ids))
			ids, labels = append(ids, t.id), append(labels, t.name)
			namespaces = append(namespaces, t.namespace)
		}
	}
	nodes, _ := ingest.NewNodes(TermType, ids, []ingest.Column{
		ingest.TextColumn("name", labels), ingest.TextColumn("namespace", namespaces),
	})
	cell.Others = append(cell.Others, nodes)
	return rows
}

// keepEdges keeps the edges between kept terms, each pair once, and gives them the rows of nodes.
func keepEdges(edges *ingest.Edges, kept []bool, rows []uint32, account *ingest.Account) {
	met := pairs.New(false)
	src, dst := edges.Src, edges.Dst
	edges.Src, edges.Dst = nil, nil
	account.Rows = len(src)
	for k := range src {
		if !kept[src[k]] || !kept[dst[k]] {
			account.Drop(ingest.TermLeftOut, "", int64(k), nil)
			continue
		}
		if _, meeting := met.Meet(src[k], dst[k]); meeting != pairs.First {
			account.Drop(ingest.RepeatedPair, "", int64(k), nil)
			continue
		}
		edges.Src, edges.Dst = append(edges.Src, rows[src[k]]), append(edges.Dst, rows[dst[k]])
	}
	account.Kept = edges.Len()
}
