package samples

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/combinations"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/ingest/synth"
	"tcbuild/ingest/table"
)

// Spec names a perturbation set and says how it is read. Settings, flags, manifests and the
// fingerprints of rebuild all have this struct. Its zero value with a File is the project's own
// layout: columns genes, sample_id and phenotypes.
//
// File is one of:
//
//	FILE                             a table
//	FOLDER                           a torchcell store
//	synth:SCALE:SAMPLES:SEED         the samples of a synthetic graph of that scale and seed
//	combinations:FILE:K[:FIRST:END]  every K genes of a list, or those numbered FIRST to END-1
//
// The tag forms names the forms of sets that a field is for; without it, all are. docs/SETTINGS.md
// and conf/tcbuild.schema.json are generated from the comments here and in build.Spec.
type Spec struct {
	// public source, such as costanzo2016; the other keys override its settings. 'tcbuild ingest
	// sources' lists the sources and prints their settings
	Source         conf.SourceName `yaml:"source" section:"perturbations"`
	table.TextSpec `yaml:",inline" forms:"table strain-table matrix"`

	// columns with the deleted genes; if several are named, each holds one gene (default: genes or
	// gene)
	GenesColumns []string `yaml:"genes_columns" forms:"table"`
	// separator between genes that share a field: in a column that lists all genes, or in a row
	// name of a matrix (default: "|")
	GeneDelimiter string `yaml:"gene_delimiter" forms:"table matrix" default:"|"`
	// columns of the strains that a row crosses; replaces genes_columns
	Strains []StrainSpec `yaml:"strains"`
	// read a wide table with a row per deleted gene and a sample per value; replaces genes_columns
	Matrix     bool `yaml:"matrix"`
	MatrixSpec `yaml:",inline" forms:"matrix"`
	// read names as yeast strains and alleles, such as YAL001C_tsq508, act1-129, ost3Δ and TFC3 -
	// DAMP; leave it off for genes such as NKX2-1 (default: false)
	YeastAlleles bool `yaml:"yeast_alleles" forms:"strain-table matrix"`

	// column of sample ids (default: sample_id, or the row number)
	IDColumn string `yaml:"id_column" forms:"table strain-table"`
	// columns of phenotypes (default: every other column of numbers)
	Phenotypes []string `yaml:"phenotypes" forms:"table strain-table store"`
	// columns of numbers to ignore
	NotPhenotypes []string `yaml:"not_phenotypes" forms:"table strain-table store"`
	// columns of text or numbers to keep as attributes (default: every other column of text)
	Attributes []string `yaml:"attributes" forms:"table strain-table store"`
	// column of the kinds of perturbations, such as deletion and overexpression: one per gene in
	// the same order, or one for all genes; - to read no kinds (default: kinds,
	// perturbation_type or kind, if there is such a column)
	KindsColumn string `yaml:"kinds_column" forms:"table"`
	// kinds of perturbations that remove a gene from the graph, such as deletion; all, as in
	// torchcell; or none (default: losses; a set with other kinds is an error)
	RemovingKinds RemovingKinds `yaml:"removing_kinds" forms:"table store matrix"`
	// kinds of alleles that count as deletions in a screen: deletion, damp, ts, other (default:
	// [deletion])
	Alleles []AlleleKind `yaml:"alleles" forms:"strain-table matrix" words:"deletion damp ts other"`

	// names that appear in place of a gene but delete nothing, such as ctrl or negative_control_*;
	// in tables of yeast's strains, also genes replaced by a marker
	Controls []string `yaml:"controls" forms:"table strain-table matrix store"`
	// regular expression that matches whole names of further controls, such as nt[0-9]+
	ControlPattern string `yaml:"control_pattern" forms:"table strain-table matrix store"`
	// regular expression whose first group is the gene or strain in a name, such as ^(.+)_g[0-9]+$
	// for guides; in a matrix, in names of rows and of columns that are genes (default: the whole
	// name)
	GenePattern string `yaml:"gene_pattern" forms:"table strain-table matrix store"`
	// file SGD_features.tab, for other names of genes: the first of alias_tables
	Aliases string `yaml:"aliases" forms:"table strain-table matrix store"`
	// tables of other gene names
	AliasTables []names.AliasTable `yaml:"alias_tables" forms:"table strain-table matrix store"`
	// what to do with names that match no gene of the graph, or several: error, drop-sample or
	// drop-gene; drops are counted (default: error)
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes" words:"error drop-sample drop-gene" default:"error"`
	// largest share of the rows to drop because a name matches no gene, or several, or, unless
	// alleles is set, for its allele; more is an error (default: 0.5)
	MaxDropped *float64 `yaml:"max_dropped"`
	// what to do with a sample that lists one gene under two names: error, or drop-sample, which
	// drops and counts it (default: error)
	Synonyms      ingest.Synonyms `yaml:"synonyms" forms:"table strain-table matrix store" words:"error drop-sample" default:"error"`
	AllowWildtype bool            `yaml:"allow_wildtype"` // accept samples that delete no gene
	// accept duplicate and empty sample ids; in a matrix, rows or columns with the same name.
	// Without it, finding them costs 8 bytes of memory per sample
	AllowDuplicateIDs bool `yaml:"allow_duplicate_ids"`
	// keep rows of a screen that have no phenotype; by default they are dropped and counted
	KeepUnmeasured bool `yaml:"keep_unmeasured" forms:"strain-table matrix"`
	// keep only the samples for which this expression is true, such as 'fitness > 0.5'
	// (docs/input.md, Filters)
	Where           string `yaml:"where"`
	duplicates.Rule `yaml:",inline"`
}

// Named is the spec of a set in the project's own layout.
func Named(file string) Spec { return Spec{TextSpec: table.TextSpec{File: file}} }

// StrainSpec names the columns that say what is mutated in a strain: strain, gene or alleles.
// Upper and lower case of a column's name do not matter.
type StrainSpec struct {
	// column of strain ids, such as YAL001C_tsq508 or YBR150C+YDR034C_tm1234
	Strain string `yaml:"strain"`
	// with strain: column of the strain's alleles, joined by + in the same order, for details that
	// the id lacks
	Allele string `yaml:"allele"`
	Gene   string `yaml:"gene"` // column with one gene per field
	// with gene: column that says DELETION, DAMP, an allele, or delta FRAME (default: all are
	// deletions)
	Mutation string `yaml:"mutation"`
	Alleles  string `yaml:"alleles"` // column of all allele names, such as act1-129_hoΔ_ost3Δ
	Split    string `yaml:"split"`   // separator between names in alleles (default: _)
}

// MatrixSpec is for wide tables. Each value becomes a sample with the id "row: column", the
// phenotype value and, unless both are genes, the name of the one that is not as the attribute
// condition. The names of rows are in the first column, whose own name may be missing from the
// header, as in tables from R.
type MatrixSpec struct {
	// what the columns of a matrix are: conditions, or genes, so that each value is of a double
	// mutant (default: conditions; an error if the columns are named like genes)
	ColumnsAre MatrixColumns `yaml:"columns_are" words:"conditions genes"`
	// what the rows of a matrix are: genes, or conditions, such as the cell lines of DepMap, if
	// columns are genes (default: genes)
	RowsAre MatrixRows `yaml:"rows_are" words:"genes conditions" default:"genes"`
	// what to do with conditions of strains that keep part of the gene's function (heterozygous,
	// DAmP): drop them, keep them as deletions, or only, which drops all other columns (default: an
	// error)
	PartialLoss PartialLoss `yaml:"partial_loss" words:"drop keep only"`
	// keep both cells, (a, b) and (b, a), in a matrix of genes. By default, a matrix with equal
	// cells is symmetric: the second cell of each pair is dropped, and a pair that differs is an
	// error
	BothHalves bool `yaml:"both_halves"`
	// kind of all perturbations of a matrix, such as activation, if they are not deletions
	Kind string `yaml:"kind"`
	// cells to read from a matrix of genes: the upper triangle (to the right of the gene's own
	// column), the lower one, or both (default: both, but a triangle with one value in all its
	// cells, as np.triu and fillna(0) make it, is an error)
	Triangle Triangle `yaml:"triangle" words:"upper lower both"`
}

// MatrixColumns says what the columns of a matrix are.
type MatrixColumns string

const (
	Conditions MatrixColumns = "conditions" // a sample deletes the gene of its row
	// a sample deletes the genes of its row and of its column
	SecondGenes MatrixColumns = "genes"
)

// MatrixRows says what the rows of a matrix are.
type MatrixRows string

const (
	FirstGenes    MatrixRows = "genes"      // a sample deletes the gene of its row, or several
	RowConditions MatrixRows = "conditions" // a sample deletes the gene of its column
)

// PartialLoss says what to do with columns of strains with partial loss of function.
type PartialLoss string

const (
	DropPartialLoss PartialLoss = "drop" // their cells are dropped and counted
	KeepPartialLoss PartialLoss = "keep" // they count as deletions, and are counted
	OnlyPartialLoss PartialLoss = "only" // so they do, and all other cells are dropped and counted
)

// Triangle says which cells of a matrix of genes are samples.
type Triangle string

const (
	UpperTriangle Triangle = "upper" // those to the right of the diagonal
	LowerTriangle Triangle = "lower" // those to its left
	BothTriangles Triangle = "both"
)

// AlleleKind is the kind of change to a gene in a strain: one of the constants below.
type AlleleKind = string

const (
	DeletionAllele AlleleKind = "deletion"
	DAmPAllele     AlleleKind = "damp" // decreased abundance by mRNA perturbation
	// temperature-sensitive, or another named allele
	TSAllele AlleleKind = "ts"
	// suppressor strains, alleles that name another gene, and unknown kinds
	OtherAllele AlleleKind = "other"
)

// AlleleKinds are all kinds of alleles.
var AlleleKinds = []AlleleKind{DeletionAllele, DAmPAllele, TSAllele, OtherAllele}

// The forms of perturbation sets. Each has its own reader.
const (
	TableForm    = "table" // of genes
	StrainsForm  = "strain-table"
	MatrixForm   = "matrix"
	StoreForm    = "store" // of torchcell
	ComputedForm = "computed-set"
)

// isScreen reports whether names may be names of strains and alleles.
func (s *Spec) isScreen() bool { return s.Matrix || s.Strains != nil }

func (s *Spec) countsAsDeletion(allele AlleleKind) bool {
	if s.Alleles == nil {
		return allele == DeletionAllele
	}
	return slices.Contains(s.Alleles, allele)
}

// otherAllele is the reason to drop a record for an allele. It counts towards max_dropped unless
// the settings choose alleles.
func (s *Spec) otherAllele() ingest.Reason {
	if s.Alleles == nil {
		return ingest.OtherAllele
	}
	return ingest.AlleleNotChosen
}

// Form is the form of the set.
func (s *Spec) Form() string {
	switch {
	case synth.IsName(s.File), combinations.IsName(s.File):
		return ComputedForm
	case s.Strains != nil:
		return StrainsForm
	case s.Matrix:
		return MatrixForm
	case isFolder(s.File):
		return StoreForm
	}
	return TableForm
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Prepare checks the spec by the tags of its fields, and fills in defaults; see conf.Check. It
// opens no file. An error is a fault.Usage.
func (s *Spec) Prepare() error {
	return conf.Check(s)
}

// Check returns an error for what the tags of the fields do not say; see conf.Check.
func (s *Spec) Check() error {
	ext := filepath.Ext(s.File)
	switch {
	case ext == ".yaml" || ext == ".yml":
		return fault.New(fault.Usage,
			"all pairs of the genes in a file are combinations:genes.txt:2, "+
				"the first thousand of them combinations:genes.txt:2:0:1000",
			"%s: found a settings file, expected a table, a torchcell store or a computed set",
			s.File)
	case s.Strains != nil && s.Matrix:
		return fault.New(fault.Usage, "remove one of them", "found both strains and matrix")
	case s.MaxDropped != nil && !(*s.MaxDropped >= 0 && *s.MaxDropped <= 1):
		return fault.New(fault.Usage, "a half is 0.5",
			"max_dropped: found %v, expected a share from 0 to 1", *s.MaxDropped)
	case combinations.IsName(s.File):
		_, err := combinations.ParseName(s.File)
		return err
	}
	return nil
}

// Given returns the keys of the settings that have a value, but for the file's, in order.
func (s *Spec) Given() []string {
	given := conf.Encode(s, func(text string) string { return text })
	return slices.DeleteFunc(conf.Keys(s), func(key string) bool {
		_, has := given[key]
		return !has || key == "file"
	})
}

// Record returns what the samples depend on, for manifests and fingerprints: the settings that
// have a value, including a public source's, with the base names of files. It omits defaults, and
// max_dropped, which decides only whether there is a set. redact removes secrets from texts.
func (s *Spec) Record(redact func(text string) string) map[string]any {
	recorded := *s
	recorded.Source, recorded.MaxDropped = "", nil
	recorded.File = baseName(s.File)
	recorded.Aliases = baseName(s.Aliases)
	recorded.AliasTables = slices.Clone(s.AliasTables)
	for i := range recorded.AliasTables {
		table := &recorded.AliasTables[i]
		table.Source, table.File = "", baseName(table.File)
	}
	return conf.Encode(&recorded, redact)
}

// baseName takes the folder out of the name of a file or set.
func baseName(name string) string {
	if spec, err := combinations.ParseName(name); err == nil && combinations.IsName(name) {
		return strings.Replace(name, spec.Genes, filepath.Base(spec.Genes), 1)
	}
	if name == "" || synth.IsName(name) {
		return name
	}
	return filepath.Base(name)
}

// Files returns the paths of the files that the set is read from: its own, then tables of names.
func (s *Spec) Files() []string {
	var files []string
	switch s.Form() {
	case StoreForm:
		files = torchcell.Files(s.File)
	case ComputedForm:
		if spec, err := combinations.ParseName(s.File); err == nil {
			files = []string{spec.Genes}
		}
	default:
		if s.File != "" {
			files = []string{s.File}
		}
	}
	if s.Aliases != "" {
		files = append(files, s.Aliases)
	}
	for _, table := range s.AliasTables {
		files = append(files, table.File)
	}
	return files
}
