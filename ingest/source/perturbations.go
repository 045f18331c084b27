package source

import (
	"tcbuild/ingest"
	"tcbuild/ingest/where"
)

// PerturbationSpec names a published table of perturbations and says what its columns hold.
type PerturbationSpec struct {
	TextSpec `yaml:",inline"`
	// nil is genes; if several, each holds at most one gene
	GenesColumns []string `yaml:"genes_columns"`
	// between the genes of a single column; "" is |
	GeneDelimiter string `yaml:"gene_delimiter"`
	// "" is sample_id or, without that column, the sample's index
	IDColumn string `yaml:"id_column"`
	// nil is every other column of numbers
	Phenotypes    []string `yaml:"phenotypes"`
	NotPhenotypes []string `yaml:"not_phenotypes"` // columns to ignore
	// columns to keep besides phenotypes; nil is every other column of text
	Attributes    []string            `yaml:"attributes"`
	Aliases       AliasesSpec         `yaml:"aliases"`
	UnknownGenes  ingest.UnknownGenes `yaml:"unknown_genes"` // "" is error
	AllowWildtype bool                `yaml:"allow_wildtype"`

	AllowDuplicateIDs bool   `yaml:"allow_duplicate_ids"`
	Where             string `yaml:"where"` // as SampleSpec.Where
}

// Open opens the perturbation set; see ingest.OpenPerturbations. An ambiguous name counts as
// unknown. It does not filter: see where.NewSource.
func (s PerturbationSpec) Open(genes *ingest.Nodes) (*ingest.Perturbations, error) {
	text, err := s.options()
	if err != nil {
		return nil, err
	}
	names, err := s.Aliases.names(genes)
	if err != nil {
		return nil, err
	}
	return ingest.OpenPerturbations(s.File, genes, ingest.PerturbationOptions{
		UnknownGenes: s.UnknownGenes, AllowWildtype: s.AllowWildtype, AllowDuplicateIDs: s.AllowDuplicateIDs,
		GenesColumns: s.GenesColumns, GeneDelimiter: s.GeneDelimiter,
		IDColumn: s.IDColumn, Phenotypes: s.Phenotypes, NotPhenotypes: s.NotPhenotypes, Attributes: s.Attributes,
		FilterColumns: where.Names(s.Where),
		Text:          text, Aliases: names.Aliases(),
	})
}
