package build

import (
	"path/filepath"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
)

// Graph reads the sources of a graph. A source without any node or edge is an error. The same files
// and spec give the same graph. Errors are of kind fault.Usage for a wrong spec and fault.Input,
// with file and line, for bad data. The files stay open in files, to be checked before the graph is
// published. It takes about as long as reading the files; memory holds the graph and the pairs of
// one edge source.
func Graph(files *inputfile.Files, spec Spec) (*ingest.Graph, ingest.Accounts, error) {
	spec, err := spec.prepared()
	if err != nil {
		return nil, nil, err
	}
	b := &builder{Spec: spec, files: files, cell: &ingest.Graph{}}
	for _, add := range []func() error{
		b.addGenes, b.addNames, b.addNodes, b.addGeneEdges, b.addModel, b.addOntology,
		b.addOtherEdges, // whose nodes may be of all sections
	} {
		if err := add(); err != nil {
			return nil, nil, err
		}
	}
	b.types.AddNodes()
	b.cell.Sort()
	return b.cell, b.accounts, nil
}

// builder is a graph under construction.
type builder struct {
	Spec
	files    *inputfile.Files
	cell     *ingest.Graph
	accounts ingest.Accounts
	names    *names.Resolver // of genes
	types    *networks.Types
	model    *models.Model // that names the genes, or nil
}

// dropsUnknown reports whether unknown names are dropped; otherwise they are errors.
func (b *builder) dropsUnknown() bool { return b.UnknownGenes == ingest.DropGene }

// check keeps the accounts of a source, and returns an error if it keeps too few rows.
func (b *builder) check(hint string, accounts ...*ingest.Account) error {
	b.accounts = append(b.accounts, accounts...)
	for _, account := range accounts {
		if err := account.Check(*b.MaxDropped, hint, b.names.Advice(account.Names)); err != nil {
			return err
		}
	}
	return nil
}

// addGenes reads the gene list, or the model whose rules name the genes.
func (b *builder) addGenes() (err error) {
	account := &ingest.Account{Made: "genes", File: b.Genes.File}
	if b.Genes.GEM == "" {
		table := NodesSpec{
			Type: ingest.Gene, TextSpec: b.Genes.TextSpec, RowsSpec: b.Genes.RowsSpec,
			Column: b.Genes.Column,
		}
		b.cell.Genes, err = readNodes(b.files, table, account)
	} else if b.model, err = models.Read(b.files, b.Genes.GEM); err == nil {
		b.cell.Genes, account, err = b.model.Genes()
	}
	if err != nil {
		return err
	}
	b.accounts = append(b.accounts, account)
	return nil
}

// addNames reads the names of the genes, and gives them to the graph.
func (b *builder) addNames() error {
	known := names.NewBuilder(b.cell.Genes, b.cell.Genes.Len()*(1+3*min(1, len(b.Aliases))))
	accounts, err := known.ReadTables(b.files, b.Aliases)
	if err != nil {
		return err
	}
	b.accounts = append(b.accounts, accounts...)
	columns, others := known.Columns()
	b.cell.Genes.Columns = append(b.cell.Genes.Columns, columns...)
	b.cell.OtherGenes, b.cell.IgnoreCase = others, b.IgnoreCase
	for _, table := range b.Aliases {
		file, err := b.files.Open(table.File)
		if err != nil {
			return err
		}
		source := ingest.NameSource{
			Input: file.Input(filepath.Base(table.File)), Source: string(table.Source),
		}
		for _, download := range b.Downloads {
			if download.File == table.File {
				source.Address = download.Address
			}
		}
		b.cell.NameSources = append(b.cell.NameSources, source)
	}
	b.names = known.Resolver(b.IgnoreCase)
	b.types = networks.NewTypes(b.cell, b.names, b.dropsUnknown())
	return b.files.Failed()
}

// addNodes reads the tables of further types.
func (b *builder) addNodes() error {
	for _, table := range b.Nodes {
		account := &ingest.Account{Made: table.Type, File: table.File}
		nodes, err := readNodes(b.files, table, account)
		if err != nil {
			return err
		}
		b.cell.Others = append(b.cell.Others, nodes)
		b.accounts = append(b.accounts, account)
	}
	return nil
}

func (b *builder) addGeneEdges() error  { return b.addEdges(true) }
func (b *builder) addOtherEdges() error { return b.addEdges(false) }

// addEdges reads the edges between genes, or all others.
func (b *builder) addEdges(ofGenes bool) error {
	for _, source := range b.Edges {
		if source.OfGenes() != ofGenes {
			continue
		}
		tables, accounts, err := source.Read(b.files, b.types)
		if err != nil {
			return err
		}
		const hint = "check its gene names and the weight that an edge needs, " +
			"or omit this edge type"
		if err := b.check(hint, accounts...); err != nil {
			return err
		}
		for _, edges := range tables {
			if b.cell.EdgesOf(edges.Type) != nil {
				return fault.New(fault.Usage, "give every edge type its own name",
					"read settings: %s: an earlier source also makes edge type %s",
					source.Place, edges.Type)
			}
			b.cell.Edges = append(b.cell.Edges, edges)
		}
	}
	return nil
}

// addModel adds the metabolic part.
func (b *builder) addModel() (err error) {
	if b.GEM.File == "" {
		return nil
	}
	if b.model == nil || b.GEM.File != b.Genes.GEM {
		if b.model, err = models.Read(b.files, b.GEM.File); err != nil {
			return err
		}
	}
	accounts, err := b.model.AddTo(b.cell, b.GEM.ReactionNodes, b.names, b.dropsUnknown())
	if err != nil {
		return err
	}
	const hint = "check the names of its genes: none is in the gene list or its aliases"
	return b.check(hint, accounts...)
}

// addOntology adds the terms of an ontology, and the genes that they annotate.
func (b *builder) addOntology() error {
	if b.Ontology.File == "" {
		return nil
	}
	accounts, err := b.Ontology.AddTo(b.cell, b.files, b.names, b.dropsUnknown())
	if err != nil {
		return err
	}
	return b.check("check the settings of gene_ontology: namespaces, relations, terms, "+
		"and gene and where of annotations", accounts...)
}
