package source

import (
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// MatrixSpec names a wide table with a row per deleted gene. Each value becomes a sample with the
// id "row: column", the phenotype value and, unless columns are genes, the column's name as the
// attribute condition. The genes are in the first column, whose name may be
// missing from the header, as in tables from R.
type MatrixSpec struct {
	SampleSpec `yaml:",inline"`
	// ColumnsAre says what the columns are. "" means conditions, and is an error if the columns are
	// named like genes.
	ColumnsAre MatrixColumns `yaml:"columns_are"`
	// PartialLoss is for columns of conditions whose names say that their strains keep part of the
	// gene's function: heterozygous, DAmP. "" is an error if there are such columns.
	PartialLoss PartialLoss `yaml:"partial_loss"`
	// GenePattern has a group that matches the gene, or its strain, in the name of a row or, if
	// columns are genes, of a column. "" is all of the name.
	GenePattern string `yaml:"gene_pattern"`
	// kinds that count as a deletion of their gene; nil is only deletion
	Alleles []AlleleKind `yaml:"alleles"`
	// BothHalves keeps the cells of (a, b) and of (b, a). Otherwise the second of two equal ones is
	// dropped, as the matrix is symmetric; if other such cells differ, that is an error.
	BothHalves bool `yaml:"both_halves"`
}

// MatrixColumns says what the columns of a matrix are.
type MatrixColumns string

const (
	Conditions MatrixColumns = "conditions" // a sample deletes the gene of its row
	// a sample deletes the genes of its row and of its column
	SecondGenes MatrixColumns = "genes"
)

// PartialLoss says what to do with columns of strains with partial loss of function.
type PartialLoss string

const (
	DropPartialLoss PartialLoss = "drop" // their cells are dropped and counted
	KeepPartialLoss PartialLoss = "keep" // they count as deletions, and are counted
	OnlyPartialLoss PartialLoss = "only" // so they do, and all other cells are dropped and counted
)

// Open finds the layout of the table. Report counts its cells.
func (s MatrixSpec) Open(genes *ingest.Nodes) (*Screen, error) {
	if s.ColumnsAre != "" && s.ColumnsAre != Conditions && s.ColumnsAre != SecondGenes {
		return nil, badSetting("", "columns_are: found %q, expected conditions or genes", s.ColumnsAre)
	}
	if !slices.Contains([]PartialLoss{"", DropPartialLoss, KeepPartialLoss, OnlyPartialLoss}, s.PartialLoss) {
		return nil, badSetting("", "partial_loss: found %q, expected drop, keep or only", s.PartialLoss)
	}
	if err := checkPattern("gene_pattern", s.GenePattern); err != nil {
		return nil, err
	}
	kinds, err := checkAlleles(s.Alleles)
	if err != nil {
		return nil, err
	}
	s.Alleles = kinds
	return s.openScreen(genes, "matrix samples", func(screen *Screen) error {
		layout, err := openMatrix(screen.file, screen.text)
		if err != nil {
			return err
		}
		if err := s.checkColumns(layout, screen.names); err != nil {
			return err
		}
		screen.text, screen.reader = layout.text, (&matrix{s, layout}).reader
		screen.columns.Phenotypes = ingest.NamedPhenotypes("value")
		if s.ColumnsAre != SecondGenes {
			screen.columns.Attributes = []ingest.Attribute{{Name: "condition", Type: ingest.TextAttribute}}
		}
		screen.Perturbations, err = ingest.NewPerturbations(screen.file, genes, ingest.PerturbationOptions{
			GenesColumns: layout.text.Columns[:1], Phenotypes: []string{}, Attributes: []string{}, Text: layout.text,
		})
		return err
	})
}

// matrixLayout is the layout of a wide table. names is its header except for the first column's
// name.
type matrixLayout struct {
	// with unique column names, which the header need not have
	text  table.TextOptions
	first string // the first column's name, or "" if the header has none
	names []string
}

// openMatrix reads the header of a wide table.
func openMatrix(file *inputfile.File, text table.TextOptions) (*matrixLayout, error) {
	path := file.Path()
	rows, err := table.Head(file, 2, text)
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fault.New(fault.Input, "check that it is the right file", "read matrix %s: found %s, expected a header and a row per gene", path, plural(len(rows), "row", ""))
	}
	header, width := rows[0], len(rows[1])
	layout := &matrixLayout{text: text}
	if layout.text.Header = text.Columns == nil; !layout.text.Header {
		header = text.Columns
	}
	names := header
	switch {
	case len(header) == width:
		names, layout.first = header[1:], header[0]
	case len(header) != width-1:
		return nil, fault.New(fault.Input, "check the delimiters",
			"read matrix %s: found %s in the header and %d in the first row, expected the same number, or one fewer in the header",
			path, plural(len(header), "field", ""), width)
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Input, "check the delimiter",
			"read matrix %s: found a single column, expected one of names and at least one of numbers", path)
	}
	layout.names = names
	layout.text.Columns = make([]string, width)
	for k := range width {
		layout.text.Columns[k] = strconv.Itoa(k)
	}
	return layout, nil
}
