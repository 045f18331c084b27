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
	names := NewNames(genes)
	if spec.Aliases.SGDFeatures != "" {
		if names, report, err = ReadNames(files, spec.Aliases.SGDFeatures, genes); err != nil {
			return nil, nil, err
		}
		reports = append(reports, report)
	}
	for _, edges := range spec.Edges {
		tables, more, err := edges.read(files, names, spec.UnknownGenes)
		if err == nil {
			err = Report(more).checkKept("check its gene names and the weight that an edge needs, or omit this edge type (in ingest biogrid: with --types)")
		}
		if err != nil {
			return nil, nil, err
		}
		graph.Edges, reports = append(graph.Edges, tables...), append(reports, more...)
	}
	if spec.GEM.File != "" {
		more, err := addMetabolism(files, graph, names, spec.GEM, spec.UnknownGenes)
		if err != nil {
			return nil, nil, err
		}
		reports = append(reports, more...)
	}
	graph.Sort()
	return graph, reports, nil
}

// read reads one source of edges.
func (e EdgesSpec) read(files *inputfile.Files, names *Names, unknown ingest.UnknownGenes) ([]*ingest.Edges, []SourceReport, error) {
	var file *edgeFile
	var err error
	switch {
	case e.STRING != nil:
		file, err = e.STRING.open(files, e.SelfLoops)
	case e.Table != nil:
		file, err = e.Table.open(files, e.SelfLoops)
	case e.BioGRID != nil:
		file, err = e.BioGRID.open(files, e.SelfLoops)
	default:
		edges, report, err := e.TFMatrix.read(files, names, e.SelfLoops, unknown)
		return []*ingest.Edges{edges}, []SourceReport{report}, err
	}
	if err != nil {
		return nil, nil, err
	}
	file.unknown = unknown
	reports, err := file.read(names)
	if err != nil {
		return nil, nil, err
	}
	var tables []*ingest.Edges
	for _, r := range file.relations {
		tables = append(tables, r.edges())
	}
	return tables, reports, nil
}

// Files returns the paths of the files that BuildGraph reads, sorted.
func (s GraphSpec) Files() []string {
	files := []string{s.Genes.SGDFeatures, s.Aliases.SGDFeatures, s.GEM.File}
	if s.Genes.Table != nil {
		files = append(files, s.Genes.Table.File)
	}
	for _, e := range s.Edges {
		if e.STRING != nil {
			files = append(files, e.STRING.File)
		}
		if e.Table != nil {
			files = append(files, e.Table.File, e.Table.IDs)
		}
		if e.BioGRID != nil {
			files = append(files, e.BioGRID.File)
		}
		if e.TFMatrix != nil {
			files = append(files, e.TFMatrix.File)
		}
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(file string) bool { return file == "" })
}
