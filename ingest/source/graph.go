package source

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// BuildGraph reads the sources of a graph. A source without any node or edge is an error. The same
// files and spec give the same graph. Errors are of kind fault.Usage for a wrong spec and
// fault.Input, with file and line, for bad data. The files stay open in files, to be checked before
// the graph is published. It takes about as long as reading the files; memory holds the graph and
// the pairs of one edge source.
func BuildGraph(files *inputfile.Files, spec GraphSpec) (*ingest.Graph, ingest.Accounts, error) {
	spec, err := spec.prepared()
	if err != nil {
		return nil, nil, err
	}
	genes, model, report, err := readGenes(files, spec.Genes)
	if err != nil {
		return nil, nil, err
	}
	builder := names.NewBuilder(genes, genes.Len()*(1+3*min(1, len(spec.Aliases))))
	reports, err := readNames(files, spec.Aliases, builder)
	if err != nil {
		return nil, nil, err
	}
	reports = slices.Insert(reports, 0, report)
	graph := &ingest.Graph{Genes: genes, IgnoreCase: spec.IgnoreCase}
	if err := spec.nameGenes(files, graph, builder); err != nil {
		return nil, nil, err
	}
	known := builder.Resolver(spec.IgnoreCase)
	types := &nodeTypes{graph, map[string]*nodeNames{ingest.Gene: {Resolver: known}}}
	for _, add := range []func() (ingest.Accounts, error){
		func() (ingest.Accounts, error) { return spec.addNodes(files, graph) },
		func() (ingest.Accounts, error) { return spec.addEdges(files, types, true) },
		func() (ingest.Accounts, error) { return spec.addMetabolism(files, graph, known, model) },
		func() (ingest.Accounts, error) { return spec.addOntology(files, graph, known) },
		func() (ingest.Accounts, error) { return spec.addEdges(files, types, false) }, // may name nodes of all sections
	} {
		more, err := add()
		if err != nil {
			return nil, nil, err
		}
		reports = append(reports, more...)
	}
	for _, nodes := range types.names {
		if nodes.grows {
			nodes.addTo(graph)
		}
	}
	graph.Sort()
	return graph, reports, nil
}

// nameGenes gives the graph the names that were read from tables.
func (s *GraphSpec) nameGenes(files *inputfile.Files, graph *ingest.Graph, known *names.Builder) error {
	columns, others := known.Columns()
	graph.Genes.Columns, graph.OtherGenes = append(graph.Genes.Columns, columns...), others
	for _, table := range s.Aliases {
		file, err := files.Open(table.File)
		if err != nil {
			return err
		}
		source := ingest.NameSource{Input: file.Input(filepath.Base(table.File)), Source: string(table.Source)}
		for _, download := range s.Downloads {
			if download.File == table.File {
				source.Address = download.Address
			}
		}
		graph.NameSources = append(graph.NameSources, source)
	}
	return files.Failed()
}

// addNodes adds the tables of further types.
func (s *GraphSpec) addNodes(files *inputfile.Files, graph *ingest.Graph) (reports ingest.Accounts, err error) {
	for _, table := range s.Nodes {
		nodes, report, err := readNodes(files, table)
		if err != nil {
			return nil, err
		}
		graph.Others, reports = append(graph.Others, nodes), append(reports, report)
	}
	return reports, nil
}

// addEdges adds the edges between genes, or all others.
func (s *GraphSpec) addEdges(files *inputfile.Files, types *nodeTypes, ofGenes bool) (reports ingest.Accounts, err error) {
	for _, edges := range s.Edges {
		if edges.ofGenes() != ofGenes {
			continue
		}
		tables, more, err := edges.read(files, types, s.UnknownGenes)
		if err == nil {
			err = checkAll(more, "check its gene names and the weight that an edge needs, or omit this edge type", types.of(ingest.Gene).Resolver, *s.MaxDropped)
		}
		if err != nil {
			return nil, err
		}
		for _, table := range tables {
			if types.graph.EdgesOf(table.Type) != nil {
				return nil, usage("give every edge type its own name", "%s: an earlier source also makes edge type %s", edges.Place, table.Type)
			}
			types.graph.Edges = append(types.graph.Edges, table)
		}
		reports = append(reports, more...)
	}
	return reports, nil
}

// read reads one source of edges.
func (t *EdgesSpec) read(files *inputfile.Files, types *nodeTypes, unknown UnknownNames) ([]*ingest.Edges, ingest.Accounts, error) {
	var file *edgeFile
	var err error
	if t.Matrix != "" {
		file, err = t.openMatrix(files, types.of(ingest.Gene))
	} else {
		file, err = t.open(files, types)
	}
	if err != nil {
		return nil, nil, err
	}
	file.unknown, file.ablation = unknown, t.Ablation
	return file.read()
}

// Files returns the paths of the files that BuildGraph reads, sorted.
func (s GraphSpec) Files() []string {
	files := []string{s.Genes.File, s.Genes.GEM, s.GEM.File, s.Ontology.File}
	for _, table := range s.Ontology.Annotations {
		files = append(files, table.File)
	}
	for _, table := range s.Nodes {
		files = append(files, table.File)
	}
	for _, table := range s.Aliases {
		files = append(files, table.File)
	}
	for _, e := range s.Edges {
		files = append(files, e.File, e.IDs)
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(file string) bool { return file == "" })
}

// nodeTypes finds nodes of every type by their names.
type nodeTypes struct {
	graph *ingest.Graph
	names map[string]*nodeNames
}

// of knows the nodes of a type that the graph has, or makes a look-up to which edges add theirs.
func (t *nodeTypes) of(nodeType string) *nodeNames {
	found := t.names[nodeType]
	if found == nil {
		nodes := t.graph.NodesOf(nodeType)
		if nodes == nil {
			nodes, _ = ingest.NewNodes(nodeType, nil, nil)
		}
		found = &nodeNames{Resolver: names.OfIDs(nodes), grows: nodes.Len() == 0, rows: make(map[string]uint32)}
		t.names[nodeType] = found
	}
	return found
}

// addTo adds to a graph the nodes that edges have found, without those whose edges were all
// dropped.
func (n *nodeNames) addTo(g *ingest.Graph) {
	const unused = math.MaxUint32
	nodeType := n.Nodes().Type
	rows := slices.Repeat([]uint32{unused}, len(n.ids))
	ends := func(visit func(row *uint32)) {
		for _, e := range g.Edges {
			if source, target := e.Type.Ends(); source == nodeType || target == nodeType {
				for i := range e.Src {
					if source == nodeType {
						visit(&e.Src[i])
					}
					if target == nodeType {
						visit(&e.Dst[i])
					}
				}
			}
		}
	}
	ends(func(row *uint32) { rows[*row] = 0 })
	var ids []string
	for at, id := range n.ids {
		if rows[at] != unused {
			rows[at] = uint32(len(ids))
			ids = append(ids, id)
		}
	}
	ends(func(row *uint32) { *row = rows[*row] })
	nodes, _ := ingest.NewNodes(nodeType, ids, nil)
	g.Others = append(g.Others, nodes)
}

// readGenes reads the gene list, or the model whose rules name the genes.
func readGenes(files *inputfile.Files, spec GenesSpec) (genes *ingest.Nodes, model *gem, report *ingest.Account, err error) {
	if spec.GEM == "" {
		genes, report, err = readNodes(files, NodesSpec{Type: ingest.Gene, TextSpec: spec.TextSpec, RowsSpec: spec.RowsSpec, Column: spec.Column})
	} else if model, err = readGEM(files, spec.GEM); err == nil {
		genes, report, err = genesOfModel(model)
	}
	return genes, model, report, err
}

// nodeID is an id and where it was read.
type nodeID struct {
	id    string
	where place
}

// readNodes reads a table of nodes: genes ascending bytewise, others in the order of their rows.
func readNodes(files *inputfile.Files, spec NodesSpec) (*ingest.Nodes, *ingest.Account, error) {
	report := &ingest.Account{Made: spec.Type, File: spec.File}
	if spec.Type == ingest.Gene {
		report.Made = "genes"
	}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, append([]string{spec.Column}, slices.Sorted(maps.Keys(spec.Keep))...)...)
	if err != nil {
		return nil, report, err
	}
	kept, err := keptColumns(rows.Reader, columns[1:], spec.Keep, spec.Place, "id")
	if err != nil {
		rows.Close()
		return nil, report, err
	}
	builders := make([]array.Builder, len(kept))
	for k := range kept {
		builders[k] = kept[k].builder()
	}
	var read []nodeID
	err = rows.each(report.Made, report, func(batch *table.Batch, i int) error {
		id := batch.Text(columns[0], i)
		read = append(read, nodeID{string(id), place{rows.Reader, batch.First + int64(i)}})
		for k, column := range kept {
			c, err := column.read(batch, i)
			if err != nil {
				return fmt.Errorf("column %s: %w", fault.Quote(column.name), err)
			}
			c.appendTo(builders[k])
		}
		if len(id) == 0 {
			return fmt.Errorf("column %q is empty, expected an id of a %s", spec.Column, spec.Type)
		}
		if spec.Type == ingest.Gene && names.IsDate(id) {
			return dateFault(id)
		}
		return cmp.Or(checkNodeID(spec.Type, id), table.CheckUTF8(id))
	})
	if err != nil {
		return nil, report, err
	}
	if len(read) == 0 {
		return nil, report, fault.New(fault.Input, "",
			"read %s %s: found no %s in %s, expected at least one", report.Made, spec.File, report.Made, ingest.Plural(report.Rows, "row", ""))
	}
	if spec.Type == ingest.Gene {
		slices.SortStableFunc(read, func(a, b nodeID) int { return strings.Compare(a.id, b.id) })
	}
	ids := make([]string, len(read))
	for k := range read {
		ids[k] = read[k].id
	}
	var carried []ingest.Column
	for k, column := range kept {
		carried = append(carried, ingest.Column{Name: column.name, Values: builders[k].NewArray()})
	}
	nodes, duplicate := ingest.NewNodes(spec.Type, ids, carried)
	if duplicate >= 0 {
		return nil, report, fault.New(fault.Input, "remove one of them", "read %s %s: found %s %q twice, first at %s",
			report.Made, read[duplicate].where, spec.Type, ids[duplicate], read[slices.Index(ids, ids[duplicate])].where)
	}
	report.Kept = nodes.Len()
	return nodes, report, nil
}

// checkNodeID returns an error for a text that is not the id of a node, or of a gene that a
// perturbation set could name.
func checkNodeID(nodeType string, id []byte) error {
	if nodeType == ingest.Gene {
		return names.Unexpected(id)
	}
	if wrong, hint := graph.WrongID(nodeType, string(id)); wrong != "" {
		return fault.New(fault.Input, hint, "id %s %s", fault.Quote(id), wrong)
	}
	return nil
}

// dateFault returns the error for a gene id that is a date.
func dateFault(id []byte) error {
	return fault.New(fault.Input, names.DateHint,
		"found gene %s (a date, as Excel makes of names such as SEP7), expected an id", fault.Quote(id))
}

// genesOfModel are the genes that the rules of a model name.
func genesOfModel(model *gem) (*ingest.Nodes, *ingest.Account, error) {
	report := &ingest.Account{Made: "genes", File: model.path}
	named := make(map[string]bool)
	for _, reaction := range model.reactions {
		for _, gene := range reaction.rule.Genes() {
			err := names.Unexpected([]byte(gene))
			if names.IsDate([]byte(gene)) {
				err = dateFault([]byte(gene))
			}
			if err != nil {
				return nil, report, fmt.Errorf("read genes %s: %w", model.path, err)
			}
			named[gene] = true
		}
	}
	if report.Rows = len(named); report.Rows == 0 {
		return nil, report, fault.New(fault.Input, "name a gene list in place of gem", "read genes %s: found no rule with a gene, expected at least one", model.path)
	}
	report.Kept = report.Rows
	nodes, _ := ingest.NewNodes(ingest.Gene, slices.Sorted(maps.Keys(named)), nil)
	return nodes, report, nil
}
