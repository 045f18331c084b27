package source

import (
	"maps"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// geneOntology is the type of the terms' nodes, as in torchcell.
const geneOntology = "gene_ontology"

// addOntology adds the terms of an ontology, their relations, and their genes to a graph.
func addOntology(files *inputfile.Files, graph *ingest.Graph, names *Names, spec OntologySpec,
	unknown ingest.UnknownGenes, maxDropped float64) (Report, error) {
	text, err := readWhole(files, spec.File)
	if err != nil {
		return nil, err
	}
	terms, err := parseOBO(spec.File, text)
	if err != nil {
		return nil, err
	}
	nodes := SourceReport{Made: geneOntology, File: spec.File, Rows: len(terms.terms)}
	kept := make([]bool, len(terms.terms))
	obsolete, elsewhere := 0, 0
	for i, t := range terms.terms {
		switch {
		case t.obsolete:
			obsolete++
		case spec.Namespaces != nil && !slices.Contains(spec.Namespaces, t.namespace):
			elsewhere++
		default:
			kept[i] = true
		}
	}
	a := annotations{spec: spec, terms: terms, kept: kept, names: names, unknown: unknown, pairs: newPairs(false), joins: make(joins)}
	var annotated Report
	for i, table := range spec.Annotations {
		report, err := a.read(files, table, spec.annotationsPlace(i))
		if err == nil {
			err = report.check("check that the file annotates these genes, and the settings gene and where", maxDropped)
		}
		if err != nil {
			return nil, err
		}
		annotated = append(annotated, report)
	}
	relations, err := terms.relations(spec)
	if err != nil {
		return nil, err
	}
	bare := 0
	if spec.Terms == AnnotatedTerms {
		bare = terms.dropBare(kept, slices.Clone(a.term), relations)
	}
	nodes.drop(Count{"obsolete", obsolete}, Count{"of other namespaces", elsewhere}, Count{"without genes, also below them", bare})
	rows := terms.addNodes(graph, kept)
	nodes.Kept = graph.NodesOf(geneOntology).Len()
	reports := Report{nodes}
	for _, r := range relations {
		edges, report := r.edges(kept, rows)
		report.File = spec.File
		graph.Edges, reports = append(graph.Edges, edges), append(reports, report)
	}
	reports[0].Noted = terms.otherRelations(spec)
	if err := reports.check("check the settings namespaces, relations and terms", maxDropped); err != nil {
		return nil, err
	}
	if len(annotated) > 0 {
		graph.Edges = append(graph.Edges, a.edges(rows))
	}
	return append(reports, annotated...), nil
}

// termRelation is an edge type of terms: its rows, by indices of terms.
type termRelation struct {
	name     string
	src, dst []uint32
}

// relations returns the relations of terms that are not obsolete, by the name of their edges. Of
// the default ones, those that the file lacks are left out.
func (o *ontology) relations(spec OntologySpec) ([]*termRelation, error) {
	byName := make(map[string]*termRelation)
	for _, name := range spec.Relations {
		byName[name] = &termRelation{name: name}
	}
	for i, t := range o.terms {
		for _, p := range t.parents {
			name, wanted := spec.edgesOf(p.relation)
			if t.obsolete || !wanted {
				continue
			}
			at, how := o.find([]byte(p.id))
			if how > byAlternative {
				return nil, fault.New(fault.Input, oboHint, "read ontology %s:%d: found %s %s of term %s, expected a term of the file",
					spec.File, p.line, p.relation, fault.Quote(p.id), t.id)
			}
			r := byName[name]
			if r == nil {
				r = &termRelation{name: name}
				byName[name] = r
			}
			r.src, r.dst = append(r.src, uint32(i)), append(r.dst, uint32(at))
		}
	}
	var all []*termRelation
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}

// edgesOf returns the name of the edges that a relation makes.
func (s OntologySpec) edgesOf(relation string) (name string, wanted bool) {
	if s.Relations == nil {
		return relation, relation == "is_a" || relation == "part_of"
	}
	name, wanted = s.Relations[relation]
	return name, wanted
}

// otherRelations counts the relations that make no edges.
func (o *ontology) otherRelations(spec OntologySpec) (noted []Count) {
	counts := make(map[string]int)
	for _, t := range o.terms {
		for _, p := range t.parents {
			if _, wanted := spec.edgesOf(p.relation); !wanted && !t.obsolete {
				counts[p.relation]++
			}
		}
	}
	for _, relation := range slices.Sorted(maps.Keys(counts)) {
		noted = append(noted, Count{"relations " + relation + ", which are not among gene_ontology.relations", counts[relation]})
	}
	return noted
}

// dropBare removes from kept the terms that have no gene, nor a term below them that has one, and
// counts them.
func (o *ontology) dropBare(kept []bool, annotated []uint32, relations []*termRelation) (bare int) {
	parents := make([][]uint32, len(o.terms))
	for _, r := range relations {
		for k, child := range r.src {
			parents[child] = append(parents[child], r.dst[k])
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
func (o *ontology) addNodes(graph *ingest.Graph, kept []bool) (rows []uint32) {
	var ids, names, namespaces []string
	rows = make([]uint32, len(o.terms))
	for i, t := range o.terms {
		if kept[i] {
			rows[i] = uint32(len(ids))
			ids, names, namespaces = append(ids, t.id), append(names, t.name), append(namespaces, t.namespace)
		}
	}
	nodes, _ := ingest.NewNodes(geneOntology, ids, []ingest.Column{ingest.TextColumn("name", names), ingest.TextColumn("namespace", namespaces)})
	graph.Others = append(graph.Others, nodes)
	return rows
}

// edges returns the edges between kept terms, each pair once.
func (r *termRelation) edges(kept []bool, rows []uint32) (*ingest.Edges, SourceReport) {
	edges := &ingest.Edges{Type: ingest.EdgeType{Source: geneOntology, Relation: r.name, Target: geneOntology}}
	report := SourceReport{Made: edges.Type.String(), Rows: len(r.src)}
	met, left, again := newPairs(false), 0, 0
	for k, src := range r.src {
		dst := r.dst[k]
		if !kept[src] || !kept[dst] {
			left++
			continue
		}
		if _, meeting := met.meet(src, dst); meeting != first {
			again++
			continue
		}
		edges.Src, edges.Dst = append(edges.Src, rows[src]), append(edges.Dst, rows[dst])
	}
	report.Kept = edges.Len()
	report.drop(Count{"of terms that are left out", left}, Count{"repeating an earlier pair of terms", again})
	return edges, report
}
