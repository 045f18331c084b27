package source

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// PerturbationSpec says what the columns of a published table hold, or of a torchcell store. Its
// genes are in columns of ids, or it is a screen: a table of strains, or a matrix.
type PerturbationSpec struct {
	LayoutSpec `yaml:",inline"`

	GenesColumns  []string `yaml:"genes_columns"`  // if several, each has one gene; nil is genes
	Phenotypes    []string `yaml:"phenotypes"`     // nil is every other column of numbers
	NotPhenotypes []string `yaml:"not_phenotypes"` // columns that are no phenotypes
	Attributes    []string `yaml:"attributes"`     // nil is every other column of text
	// names that delete nothing: of controls; in a table of yeast's strains, also genes whose
	// replacement is a marker of all strains, and not a mutation
	Controls     []string            `yaml:"controls"`
	SGDFeatures  string              `yaml:"aliases"`       // a file SGD_features.tab with other names of genes
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes"` // "" is error
	MaxDropped   *float64            `yaml:"max_dropped"`   // as GraphSpec.MaxDropped
	Where        string              `yaml:"where"`         // an expression that is true for the samples to keep

	Compare   bool     `yaml:"-" json:"-"` // as in samples.PerturbationOptions
	MayDiffer []string `yaml:"-" json:"-"` // likewise
}

// LayoutSpec has the settings of a perturbation set that are not flags.
type LayoutSpec struct {
	table.TextSpec `yaml:",inline"`
	// separator between genes in a field, if all genes are in one column (default: "|")
	GeneDelimiter string `yaml:"gene_delimiter"`
	// columns of the strains that a row crosses; replaces genes_columns
	Strains []StrainSpec `yaml:"strains"`
	// read a wide table with a row per deleted gene and a sample per value; replaces genes_columns
	Matrix     bool `yaml:"matrix"`
	MatrixSpec `yaml:",inline"`
	// read names as yeast strains and alleles, such as YAL001C_tsq508, act1-129, ost3Δ and TFC3 -
	// DAMP; leave it off for genes such as NKX2-1 (default: false)
	YeastAlleles bool `yaml:"yeast_alleles"`
	// kinds of alleles that count as deletions in a screen: deletion, damp, ts, other (default:
	// [deletion])
	Alleles  []AlleleKind `yaml:"alleles"`
	IDColumn string       `yaml:"id_column"` // column of sample ids (default: sample_id, or the row number)

	// column of the kinds of perturbations, such as deletion and overexpression: one per gene in the
	// same order, or one for all genes; - to read no kinds (default: kinds or perturbation_type, if
	// there is such a column)
	KindsColumn string `yaml:"kinds_column"`

	AliasTables []names.AliasTable `yaml:"alias_tables"` // tables of other gene names; aliases takes precedence over them
	// what to do with a sample that lists one gene under two names: error, or drop-sample, which
	// drops and counts it (default: error)
	Synonyms      ingest.Synonyms `yaml:"synonyms"`
	AllowWildtype bool            `yaml:"allow_wildtype"` // accept samples that delete no gene
	// accept duplicate and empty sample ids; in a matrix, rows or columns with the same name
	AllowDuplicateIDs bool `yaml:"allow_duplicate_ids"`
	// keep rows of a screen that have no phenotype; by default they are dropped and counted
	KeepUnmeasured bool `yaml:"keep_unmeasured"`
}

// Perturbations is a published perturbation set: its samples have genes of a graph.
type Perturbations interface {
	ingest.SampleSource
	// Account is that of the rows (cells of a matrix) that the latest pass read.
	Account() *ingest.Account
	// DroppedNames returns a table of the names that the latest pass dropped: see
	// Account.DroppedNames.
	DroppedNames() []byte
}

// Open finds the layout of the table.
func (s PerturbationSpec) Open(cell *ingest.Graph) (Perturbations, error) {
	text, err := s.prepare()
	if err != nil {
		return nil, err
	}
	known, err := s.names(cell)
	switch {
	case err != nil:
		return nil, err
	case s.Matrix:
		return s.openScreen(known, text, s.openMatrix)
	case s.Strains != nil:
		return s.openScreen(known, text, s.openStrains)
	}
	return s.openPlain(known, text)
}

// prepare checks the settings and fills in their defaults.
func (s *PerturbationSpec) prepare() (text table.TextOptions, err error) {
	if err := s.checkLayout(); err != nil {
		return text, err
	}
	s.UnknownGenes = cmp.Or(s.UnknownGenes, ingest.RefuseUnknownGenes)
	if err := cmp.Or(s.UnknownGenes.Check(), s.Synonyms.Check()); err != nil {
		return text, badSetting(fault.HintOf(err), "%w", err)
	}
	if s.MaxDropped == nil {
		s.MaxDropped = new(ingest.DefaultMaxDropped)
	}
	if err := checkMaxDropped(*s.MaxDropped); err != nil {
		return text, err
	}
	if len(s.Alleles) == 0 {
		s.Alleles = []AlleleKind{DeletionAllele}
	}
	for _, kind := range s.Alleles {
		if err := fault.OneOf("read settings: alleles", kind, alleleKinds...); err != nil {
			return text, err
		}
	}
	text, err = s.Options()
	text.DelimiterSetting = "'delimiter=;'"
	return text, err
}

// checkLayout returns an error for settings of another layout than the table's.
func (s *PerturbationSpec) checkLayout() error {
	strains, plain := s.Strains != nil, s.Strains == nil && !s.Matrix
	if strains && s.Matrix {
		return badSetting("remove one of them", "found both strains and matrix")
	}
	for _, c := range []struct {
		key        string
		set, meant bool
	}{
		{"genes_columns", s.GenesColumns != nil, plain}, {"gene_delimiter", s.GeneDelimiter != "", plain},
		{"alleles", s.Alleles != nil, !plain}, {"keep_unmeasured", s.KeepUnmeasured, !plain},
		{"id_column", s.IDColumn != "", !s.Matrix}, {"kinds_column", s.KindsColumn != "", plain}, {"phenotypes", s.Phenotypes != nil, !s.Matrix},
		{"not_phenotypes", s.NotPhenotypes != nil, !s.Matrix}, {"attributes", s.Attributes != nil, !s.Matrix},
		{"columns_are", s.ColumnsAre != "", s.Matrix}, {"partial_loss", s.PartialLoss != "", s.Matrix},
		{"gene_pattern", s.GenePattern != "", s.Matrix}, {"kind", s.Kind != "", s.Matrix},
		{"triangle", s.Triangle != "", s.Matrix},
	} {
		if c.set && !c.meant {
			layout := map[bool]string{s.Matrix: "a matrix", strains: "a table of strains", plain: "a table of genes"}[true]
			return badSetting("omit it, or name another --source", "%s: it does not apply to %s", c.key, layout)
		}
	}
	return nil
}

// badSetting returns the error of an invalid setting.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}

// plainSet is a table with columns of genes, or a torchcell store.
type plainSet struct {
	ingest.SampleSource // filtered
	set                 samples.Perturbations
	spec                PerturbationSpec
	genes               *names.Resolver
	account             ingest.Account // of the latest pass
}

// openPlain opens the set; see samples.OpenFile. An ambiguous name counts as unknown.
func (s PerturbationSpec) openPlain(known *names.Resolver, text table.TextOptions) (Perturbations, error) {
	genes := known.Nodes()
	options := samples.PerturbationOptions{
		UnknownGenes: s.UnknownGenes, AllowWildtype: s.AllowWildtype, AllowDuplicateIDs: s.AllowDuplicateIDs,
		GenesColumns: s.GenesColumns, GeneDelimiter: s.GeneDelimiter,
		IDColumn: s.IDColumn, Phenotypes: s.Phenotypes, NotPhenotypes: s.NotPhenotypes, Attributes: s.Attributes,
		FilterColumns: where.Names(s.Where), Compare: s.Compare, MayDiffer: s.MayDiffer,
		Text: text, Names: known, Synonyms: s.Synonyms,
		Controls: s.Controls, KindsColumn: s.KindsColumn,
	}
	set, err := samples.OpenFile(s.File, genes, options)
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(set, s.File, s.Where, known)
	if err != nil {
		set.Close()
		return nil, err
	}
	return &plainSet{SampleSource: filtered, set: set, spec: s, genes: known}, nil
}

func (p *plainSet) Account() *ingest.Account { return &p.account }

// Batches reads the samples. A set that loses more than MaxDropped to names of no gene, or of
// several, is an error.
func (p *plainSet) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		p.account = ingest.Account{Made: "samples", File: p.spec.File}
		defer func() { account.Merge(&p.account) }()
		for batch, err := range p.SampleSource.Batches(ctx, &p.account) {
			if errors.Is(err, samples.ErrNoneRemains) {
				break
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
		p.account.Names = p.set.DroppedNames()
		for _, name := range p.spec.Controls {
			if p.genes.Exact([]byte(name)).Known() {
				p.account.Add(ingest.ControlAlias, "", 1)
			}
		}
		err := check(&p.account, "check the columns of genes", p.genes, *p.spec.MaxDropped)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (p *plainSet) DroppedNames() []byte {
	return p.account.DroppedNames((&alleleReader{genes: p.genes}).explainDropped)
}

// explainDropped says why a name was dropped.
func (r *alleleReader) explainDropped(name string) string {
	answer := r.find(name)
	switch {
	case !answer.Known() && names.IsDate([]byte(name)):
		return "a date, as Excel makes of names"
	case !answer.Known():
		return "unknown"
	}
	why := "not in the graph: "
	if answer.Meaning == names.Ambiguous {
		why = "ambiguous: "
	}
	return why + strings.Join(r.genes.Owners([]byte(r.spelling(name))), ", ")
}

// names makes the look-up of genes.
func (s PerturbationSpec) names(cell *ingest.Graph) (*names.Resolver, error) {
	tables := s.AliasTables
	if s.SGDFeatures != "" {
		var features names.AliasTable
		if err := conf.DecodeSource("sgd_features", "aliases", &features); err != nil {
			return nil, err
		}
		features.File = s.SGDFeatures
		tables = append([]names.AliasTable{features}, tables...)
	}
	tables, err := prepareAliases("alias_tables", tables)
	if err != nil {
		return nil, err
	}
	if s.SGDFeatures != "" {
		tables[0].Place = "--aliases"
	}
	var files inputfile.Files
	defer files.Close()
	known := names.BuilderOf(cell)
	_, err = readNames(&files, tables, known)
	return known.Resolver(cell.IgnoreCase), err
}
