// Package samples opens perturbation sets by name, a table, a torchcell store or a computed set,
// reads their samples, and writes them as a table.
package samples

import (
	"path/filepath"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/combinations"
	"tcbuild/ingest/synth"
	"tcbuild/ingest/where"
)

// Set is a perturbation set that is not yet open.
type Set struct {
	// Files are the paths of the files that Open reads, in the order of the source's Inputs.
	Files []string
	// Recipe determines a computed set together with its files; "" for other sets.
	Recipe string

	name string
	open func(genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error)
}

// Parse reads the name of a set:
//
//	FILE                             a table
//	FOLDER                           a torchcell store
//	synth:SCALE:SAMPLES:SEED         the samples of a synthetic graph of that scale and seed
//	combinations:FILE:K[:FIRST:END]  every K genes of a list, or those numbered FIRST to END-1
//
// It opens no file. A wrong name is a fault.Usage.
func Parse(name string) (Set, error) {
	switch {
	case synth.IsName(name):
		return Set{
			Recipe: name, name: name,
			open: func(genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error) {
				if err := checkComputed(name, options); err != nil {
					return nil, err
				}
				return synth.Named(name, genes)
			},
		}, nil
	case combinations.IsName(name):
		return parseCombinations(name)
	case filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml":
		return Set{}, fault.New(fault.Usage, "all pairs of the genes in a file are combinations:genes.txt:2, the first thousand of them combinations:genes.txt:2:0:1000",
			"read perturbations %s: found a settings file, expected a table, a torchcell store or a computed set", name)
	}
	return Set{
		Files: Files(name), name: name,
		open: func(genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error) {
			return OpenFile(name, genes, options)
		},
	}, nil
}

func parseCombinations(name string) (Set, error) {
	spec, err := combinations.ParseName(name)
	if err != nil {
		return Set{}, err
	}
	return Set{
		Files: []string{spec.Genes}, Recipe: name, name: name,
		open: func(genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error) {
			if err := checkComputed(name, options); err != nil {
				return nil, err
			}
			return combinations.Open(spec, options.resolver(genes), options.UnknownGenes)
		},
	}, nil
}

// checkComputed returns an error for options that only tables have.
func checkComputed(name string, options PerturbationOptions) error {
	if Removing(options.RemovingKinds) != nil {
		return fault.New(fault.Usage, "omit removing_kinds", "read perturbations %s: a computed set deletes all its genes", name)
	}
	if options.Controls != nil {
		return fault.New(fault.Usage, "omit --controls", "read perturbations %s: a computed set has no controls", name)
	}
	if options.Phenotypes == nil && options.NotPhenotypes == nil && options.Attributes == nil {
		return nil
	}
	return fault.New(fault.Usage, "omit --phenotypes, --not-phenotypes and --attributes",
		"read perturbations %s: a computed set has no columns to choose from", name)
}

// Open opens the set for the genes of a graph, and filters it by options.Where. Its kinds must be
// losses, unless options.RemovingKinds says which remove genes. The source must be closed.
func (s Set) Open(genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error) {
	options.FilterColumns = where.Names(options.Where)
	removing, err := prepareRemoving(options.RemovingKinds)
	if err != nil {
		return nil, err
	}
	source, err := s.open(genes, options)
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(source, s.name, options.Where, options.resolver(genes))
	if err != nil {
		source.Close()
		return nil, err
	}
	return checkKinds(filtered, s.name, removing), nil
}

// Open opens the set with a name, as in Parse.
func Open(name string, genes *ingest.Nodes, options PerturbationOptions) (ingest.SampleSource, error) {
	set, err := Parse(name)
	if err != nil {
		return nil, err
	}
	return set.Open(genes, options)
}
