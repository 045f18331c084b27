package source

import (
	"slices"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// BuildGraph reads the sources of a graph. A source without any node or edge is an error. The same
// files and spec give the same graph. Errors are of kind fault.Usage for a wrong spec and
// fault.Input, with file and line, for bad data. The files stay open in files, to be checked before
// the graph is published. It takes about as long as reading the files; memory holds the graph and
// the pairs of one edge source.
func BuildGraph(files *inputfile.Files, spec GraphSpec) (*ingest.Graph, Report, error) {
	spec, err := spec.prepared()
	if err != nil {
		return nil, nil, err
	}
	genes, report, err := readGenes(files, spec.Genes)
	if err != nil {
		return nil, nil, err
	}
	graph, reports := &ingest.Graph{Genes: genes}, Report{report}
	names, more, err := ReadNames(files, spec.Aliases, genes)
	if err != nil {
		return nil, nil, err
	}
	reports = append(reports, more...)
	types := &nodeTypes{graph, map[string]*Names{ingest.Gene: names}}
	for i, table := range spec.Nodes {
		nodes, report, err := readNodes(files, table, table.place(i))
		if err != nil {
			return nil, nil, err
		}
		graph.Others, reports = append(graph.Others, nodes), append(reports, report)
	}
	addEdges := func(ofGenes bool) error {
		for i, edges := range spec.Edges {
			if edges.ofGenes() != ofGenes {
				continue
			}
			tables, more, err := edges.read(files, types, spec.UnknownGenes, edges.place(i))
			if err == nil {
				err = Report(more).check("check its gene names and the weight that an edge needs, or omit this edge type", *spec.MaxDropped)
			}
			if err != nil {
				return err
			}
			for _, table := range tables {
				if graph.EdgesOf(table.Type) != nil {
					return usage("give every edge type its own name", "%s: an earlier source also makes edge type %s", edges.place(i), table.Type)
				}
				graph.Edges = append(graph.Edges, table)
			}
			reports = append(reports, more...)
		}
		return nil
	}
	if err := addEdges(true); err != nil {
		return nil, nil, err
	}
	if spec.GEM.File != "" {
		more, err := addMetabolism(files, graph, names, spec.GEM, spec.UnknownGenes, *spec.MaxDropped)
		if err != nil {
			return nil, nil, err
		}
		reports = append(reports, more...)
	}
	if spec.Ontology.File != "" {
		more, err := addOntology(files, graph, names, spec.Ontology, spec.UnknownGenes, *spec.MaxDropped)
		if err != nil {
			return nil, nil, err
		}
		reports = append(reports, more...)
	}
	if err := addEdges(false); err != nil { // these may name nodes of all sections
		return nil, nil, err
	}
	for _, names := range types.names {
		if names.grows {
			names.addTo(graph)
		}
	}
	graph.Sort()
	return graph, reports, nil
}

// read reads one source of edges.
func (e EdgesSpec) read(files *inputfile.Files, types *nodeTypes, unknown ingest.UnknownGenes, place string) ([]*ingest.Edges, []SourceReport, error) {
	var file *edgeFile
	var nameless int
	var err error
	if e.Matrix != "" {
		file, nameless, err = e.openMatrix(files, types.of(ingest.Gene))
	} else {
		file, err = e.open(files, types, place)
	}
	if err != nil {
		return nil, nil, err
	}
	file.unknown, file.ablation = unknown, e.Ablation
	tables, reports, err := file.read()
	if err == nil {
		reports[0].note(Count{"columns without a name, which are left out", nameless})
	}
	return tables, reports, err
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
