package source

import (
	"errors"
	"maps"
	"slices"

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
	Synonyms      ingest.Synonyms     `yaml:"synonyms"`      // "" is error
	UnknownGenes  ingest.UnknownGenes `yaml:"unknown_genes"` // "" is error
	MaxDropped    *float64            `yaml:"max_dropped"`   // as GraphSpec.MaxDropped
	AllowWildtype bool                `yaml:"allow_wildtype"`

	AllowDuplicateIDs bool   `yaml:"allow_duplicate_ids"`
	Where             string `yaml:"where"` // as SampleSpec.Where
}

// Perturbations is a published table of perturbations, or a torchcell store. It is a SampleSource.
type Perturbations struct {
	ingest.SampleSource // filtered
	set                 *ingest.Perturbations
	spec                PerturbationSpec
	names               *Names
	report              SourceReport
}

// Open opens the perturbation set; see ingest.OpenPerturbations. An ambiguous name counts as
// unknown.
func (s PerturbationSpec) Open(genes *ingest.Nodes) (*Perturbations, error) {
	text, err := s.options()
	if err != nil {
		return nil, err
	}
	if s.MaxDropped == nil {
		s.MaxDropped = new(DefaultMaxDropped)
	}
	if err := checkMaxDropped(*s.MaxDropped); err != nil {
		return nil, err
	}
	names, err := s.Aliases.names(genes)
	if err != nil {
		return nil, err
	}
	set, err := ingest.OpenPerturbations(s.File, genes, ingest.PerturbationOptions{
		UnknownGenes: s.UnknownGenes, AllowWildtype: s.AllowWildtype, AllowDuplicateIDs: s.AllowDuplicateIDs,
		GenesColumns: s.GenesColumns, GeneDelimiter: s.GeneDelimiter,
		IDColumn: s.IDColumn, Phenotypes: s.Phenotypes, NotPhenotypes: s.NotPhenotypes, Attributes: s.Attributes,
		FilterColumns: where.Names(s.Where),
		Text:          text, Aliases: names.Aliases(), Synonyms: s.Synonyms,
	})
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(set, s.File, s.Where, genes)
	if err != nil {
		set.Close()
		return nil, err
	}
	return &Perturbations{SampleSource: filtered, set: set, spec: s, names: names}, nil
}

// IgnoredColumns are the names of the columns that are not part of the samples, in file order.
func (p *Perturbations) IgnoredColumns() []string { return p.set.IgnoredColumns() }

// Report accounts for the rows that the latest Scan read.
func (p *Perturbations) Report() SourceReport { return p.report }

// Scan reads the samples. A set of which more than MaxDropped is dropped for names of no gene, or
// of several, is an error.
func (p *Perturbations) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	counts, err := p.SampleSource.Scan(yield)
	p.report = p.account(counts)
	if err == nil || errors.Is(err, ingest.ErrNoneRemains) {
		err = p.report.check("give the genes' other names with "+p.names.genes.AliasSetting(), *p.spec.MaxDropped)
	}
	return counts, err
}

// account makes the report of one Scan.
func (p *Perturbations) account(counts ingest.Counts) SourceReport {
	var unknownRows, ambiguousRows int
	missing := p.set.Missing()
	for name, samples := range missing {
		if p.names.find([]byte(name)).result == ambiguous {
			ambiguousRows += samples
		} else {
			unknownRows += samples
		}
	}
	if p.spec.UnknownGenes != ingest.DropSample {
		unknownRows, ambiguousRows = 0, 0
	}
	report := SourceReport{Made: "samples", File: p.spec.File, Kept: counts.Samples, Rows: counts.Samples,
		Unknown: slices.Sorted(maps.Keys(missing)), Unnamed: unknownRows + ambiguousRows + counts.EmptiedSamples}
	for _, c := range []Count{
		{"of unknown genes", unknownRows},
		{"of ambiguous names", ambiguousRows},
		{"left without a gene, as theirs are unknown", counts.EmptiedSamples},
		{twoNamesReason, counts.SynonymSamples},
		{"for which --where is not true", counts.LeftOutSamples},
	} {
		report.Rows += c.N
		report.Dropped = appendCount(report.Dropped, c.What, c.N)
	}
	for _, c := range []Count{
		{"that delete no gene", counts.Wildtypes},
		{"unknown genes left out", counts.UnknownGenes},
		{"genes listed again in their sample and merged", counts.RepeatedGenes},
		{"infinite phenotype values, which count as missing", counts.InfiniteValues},
	} {
		report.Noted = appendCount(report.Noted, c.What, c.N)
	}
	return report
}
