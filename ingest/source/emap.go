package source

import "tcbuild/ingest"

// EMAPSpec names a table of an epistatic miniarray profile: each row has two genes and the score of
// their double mutant.
type EMAPSpec struct {
	StrainsSpec  `yaml:",inline"`
	GenesColumns []string `yaml:"genes_columns"` // nil is gene_a and gene_b
	// nil is mutation_or_name_a and _b if the table has them; otherwise all mutations are deletions
	MutationColumns []string `yaml:"mutation_columns"`
}

// Open finds the layout of the table; see SGASpec.Open. A mutation is DELETION, DAMP, an allele's
// name, or "delta NAME" for the deletion of the frame NAME, which is of kind other if NAME is
// another gene.
func (s EMAPSpec) Open(genes *ingest.Nodes) (*Screen, error) {
	return s.open(genes, "E-MAP samples", s.columns, func(r *alleleReader, id, mutation string) ([]locus, error) {
		return []locus{r.ofMutation(id, mutation)}, nil
	})
}

func (s EMAPSpec) columns(header []string) ([]strainColumns, error) {
	genes, mutations := s.GenesColumns, s.MutationColumns
	if genes == nil {
		genes = []string{"gene_a", "gene_b"}
	}
	if mutations == nil {
		mutations = []string{"mutation_or_name_a", "mutation_or_name_b"}
		if _, err := columnNamed(s.File, header, mutations[0]); err != nil {
			mutations = nil
		}
	}
	if len(mutations) > 0 && len(mutations) != len(genes) {
		return nil, badSetting("name a mutation column for each gene column",
			"found %d gene columns and %d mutation columns, expected the same number", len(genes), len(mutations))
	}
	strains := make([]strainColumns, len(genes))
	var err error
	for k := range strains {
		strains[k].allele = -1
		if strains[k].id, err = columnNamed(s.File, header, genes[k]); err != nil {
			return nil, err
		}
		if k < len(mutations) {
			if strains[k].allele, err = columnNamed(s.File, header, mutations[k]); err != nil {
				return nil, err
			}
		}
	}
	return strains, nil
}
