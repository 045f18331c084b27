package source

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// geneOntology is the type of the terms' nodes, as in torchcell.
const geneOntology = "gene_ontology"

// addOntology adds the terms of an ontology, their relations, and their genes to a graph.
func (s *GraphSpec) addOntology(files *inputfile.Files, graph *ingest.Graph, genes *names.Resolver) (ingest.Accounts, error) {
	spec := s.Ontology
	if spec.File == "" {
		return nil, nil
	}
	text, err := readWhole(files, spec.File)
	if err != nil {
		return nil, err
	}
	terms, err := parseOBO(spec.File, text)
	if err != nil {
		return nil, err
	}
	nodes := &ingest.Account{Made: geneOntology, File: spec.File, Rows: len(terms.terms)}
	kept := make([]bool, len(terms.terms))
	obsolete, elsewhere, bare := 0, 0, 0
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
	a := annotations{relation: spec.Relation, terms: terms, kept: kept, genes: genes, unknown: s.UnknownGenes, pairs: pairs.New(false), joins: make(joins)}
	var annotated ingest.Accounts
	for _, table := range spec.Annotations {
		report, err := a.read(files, table)
		if err == nil {
			err = check(report, "check that the file annotates these genes, and the settings gene and where", genes, *s.MaxDropped)
		}
		if err != nil {
			return nil, err
		}
		annotated = append(annotated, report)
	}
	relations, err := terms.relations(spec, nodes)
	if err != nil {
		return nil, err
	}
	if spec.Terms == AnnotatedTerms {
		bare = terms.dropBare(kept, slices.Clone(a.term), relations)
	}
	nodes.Add(ingest.Obsolete, "obsolete", obsolete)
	nodes.Add(ingest.OtherNamespace, "other namespaces", elsewhere)
	nodes.Add(ingest.TermWithoutGenes, "", bare)
	rows := terms.addNodes(graph, kept)
	nodes.Kept = graph.NodesOf(geneOntology).Len()
	reports := ingest.Accounts{nodes}
	for _, r := range relations {
		edges, report := r.edges(kept, rows)
		report.File = spec.File
		graph.Edges, reports = append(graph.Edges, edges), append(reports, report)
	}
	if err := checkAll(reports, "check the settings namespaces, relations and terms", genes, *s.MaxDropped); err != nil {
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

// relations returns the relations of terms that are not obsolete, by the name of their edges, and
// counts those that make no edges. Of the default ones, those that the file lacks are left out.
func (o *ontology) relations(
	spec OntologySpec, account *ingest.Account,
) (all []*termRelation, err error) {
	wanted := spec.Relations
	byName := make(map[string]*termRelation)
	for _, name := range wanted {
		byName[name] = &termRelation{name: name}
	}
	if wanted == nil {
		wanted = map[string]string{"is_a": "is_a", "part_of": "part_of"}
	}
	unwanted := make(map[string]int)
	for i, t := range o.terms {
		if t.obsolete {
			continue
		}
		for _, p := range t.parents {
			name, makesEdges := wanted[p.relation]
			if !makesEdges {
				unwanted[p.relation]++
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
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	for _, relation := range slices.Sorted(maps.Keys(unwanted)) {
		account.Add(ingest.UnusedRelation, relation, unwanted[relation])
	}
	return all, nil
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
	var ids, labels, namespaces []string
	rows = make([]uint32, len(o.terms))
	for i, t := range o.terms {
		if kept[i] {
			rows[i] = uint32(len(ids))
			ids, labels, namespaces = append(ids, t.id), append(labels, t.name), append(namespaces, t.namespace)
		}
	}
	nodes, _ := ingest.NewNodes(geneOntology, ids, []ingest.Column{ingest.TextColumn("name", labels), ingest.TextColumn("namespace", namespaces)})
	graph.Others = append(graph.Others, nodes)
	return rows
}

// edges returns the edges between kept terms, each pair once.
func (r *termRelation) edges(kept []bool, rows []uint32) (*ingest.Edges, *ingest.Account) {
	edges := &ingest.Edges{Type: ingest.EdgeType{Source: geneOntology, Relation: r.name, Target: geneOntology}}
	report := &ingest.Account{Made: edges.Type.String(), Rows: len(r.src)}
	met, left, again := pairs.New(false), 0, 0
	for k, src := range r.src {
		dst := r.dst[k]
		if !kept[src] || !kept[dst] {
			left++
			continue
		}
		if _, meeting := met.Meet(src, dst); meeting != pairs.First {
			again++
			continue
		}
		edges.Src, edges.Dst = append(edges.Src, rows[src]), append(edges.Dst, rows[dst])
	}
	report.Kept = edges.Len()
	report.Add(ingest.TermLeftOut, "", left)
	report.Add(ingest.RepeatedPair, "", again)
	return edges, report
}

// annotations are the edges of genes and terms, in the order of their first rows.
type annotations struct {
	relation string
	terms    *ontology
	kept     []bool // of the terms, those in the namespaces to keep
	genes    *names.Resolver
	unknown  UnknownNames

	pairs               *pairs.Set
	gene, term          []uint32 // by pair; term is an index in terms
	evidence, qualifier []string
	joins               joins
}

// read adds the rows of a table.
func (a *annotations) read(files *inputfile.Files, spec AnnotationsSpec) (*ingest.Account, error) {
	report := &ingest.Account{Made: a.edgeType().String(), File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, spec.Gene, spec.Term, "evidence", "qualifier")
	if err != nil {
		return report, err
	}
	var missing missingNames
	var resolved [isUnknown + 1]int
	elsewhere, again := 0, 0 // terms of other namespaces, and repeated rows
	err = rows.each("annotations", report, func(batch *table.Batch, i int) error {
		code, qualifier := batch.Text(columns[2], i), batch.Text(columns[3], i)
		if err := cmp.Or(table.CheckUTF8(qualifier), table.CheckUTF8(code)); err != nil {
			return err
		}
		name := batch.Text(columns[0], i)
		if spec.Split != "" {
			name, _, _ = bytes.Cut(name, []byte(spec.Split))
		}
		answer := a.genes.Find(name)
		if answer.Meaning != names.Gene {
			if err := names.Unexpected(name); err != nil {
				return err
			}
			if a.unknown == RefuseNames {
				return unknownName(a.genes, name)
			}
			missing.lose(string(name), answer.Meaning)
			return nil
		}
		id := batch.Text(columns[1], i)
		at, how := a.terms.find(id)
		switch {
		case how == isUnknown && a.unknown == RefuseNames:
			return fault.New(fault.Input, "use an ontology of the same release or a later one, or drop such rows with unknown_genes: drop-gene",
				"term %s is not in the ontology (%s terms)", fault.Quote(id), ingest.Grouped(len(a.terms.terms)))
		case how == isUnknown:
			missing.add(string(id))
		case how != isObsolete && !a.kept[at]:
			elsewhere++
			return nil
		}
		if resolved[how]++; how >= isObsolete {
			return nil
		}
		pair, meeting := a.pairs.Meet(answer.Gene, uint32(at))
		if meeting == pairs.First {
			report.Kept++
			a.gene, a.term = append(a.gene, answer.Gene), append(a.term, uint32(at))
			a.evidence, a.qualifier = append(a.evidence, ""), append(a.qualifier, "")
		} else {
			again++
		}
		a.evidence[pair], a.qualifier[pair] = a.joins.with(a.evidence[pair], code), a.joins.with(a.qualifier[pair], qualifier)
		return nil
	})
	missing.account(report)
	report.Add(ingest.UnknownNode, "terms", resolved[isUnknown])
	report.Add(ingest.Obsolete, "of obsolete terms that no single term replaces",
		resolved[isObsolete])
	report.Add(ingest.OtherNamespace, "terms in other namespaces", elsewhere)
	report.Add(ingest.RepeatedAnnotation, "", again)
	report.Add(ingest.AlternativeTerm, "", resolved[byAlternative])
	report.Add(ingest.ReplacedTerm, "", resolved[byReplacement])
	return report, err
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

func (a *annotations) edgeType() ingest.EdgeType {
	return ingest.EdgeType{Source: ingest.Gene, Relation: a.relation, Target: geneOntology}
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
