package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// matrix is a wide table of samples.
type matrix struct {
	spec opener
	*table.Matrix
}

// openMatrix finds the layout of a wide table.
func (s opener) openMatrix(screen *screen) error {
	err := cmp.Or(checkPattern("gene_pattern", s.GenePattern), checkKind(s.Kind))
	if err == nil && s.Triangle != "" && s.ColumnsAre != samples.SecondGenes {
		err = badSetting("set columns_are=genes",
			"triangle: it applies only to a matrix whose columns are genes")
	}
	if err != nil {
		return err
	}
	layout, err := table.OpenMatrix(screen.file, screen.text)
	if err != nil {
		return err
	}
	m := &matrix{s, layout}
	if err := m.checkColumns(screen.genes); err != nil {
		return err
	}
	screen.text, screen.reader = m.Options, m.reader
	screen.columns.Phenotypes = ingest.NamedPhenotypes("value")
	if s.ColumnsAre != samples.SecondGenes {
		screen.columns.Attributes = []ingest.Attribute{{Name: "condition", Type: ingest.TextAttribute}}
	}
	if s.Kind != "" {
		screen.columns.Attributes = append(screen.columns.Attributes,
			ingest.Attribute{Name: ingest.KindsAttribute, Type: ingest.TextAttribute})
		screen.columns.Kinds, screen.columns.KindsApart = ingest.KindsAttribute, true
	}
	if s.Merges() {
		screen.columns.Attributes = append(screen.columns.Attributes, ingest.RowAttribute)
		screen.columns.Compared = 1
	}
	columnsOf := samples.Spec{TextSpec: s.TextSpec, KindsColumn: samples.NoKinds,
		GenesColumns: m.Options.Columns[:1], Phenotypes: []string{}, Attributes: []string{},
		Controls: s.controlNames()}
	screen.Table, err = samples.NewTable(screen.file, screen.genes.Nodes(), columnsOf,
		screen.genes, m.Options)
	return err
}

// checkKind checks the kind of a matrix's perturbations.
func checkKind(kind string) error {
	if kind == "" {
		return nil
	}
	if err := samples.CheckKind(kind); err != nil || strings.TrimSpace(kind) != kind {
		return badSetting("name one kind, such as activation",
			"kind: found %s, expected a kind", fault.Quote(kind))
	}
	return nil
}

// attributes returns the attributes of a cell of a column, whose sample deletes that many genes.
func (m *matrix) attributes(column *matrixColumn, genes int) (values []ingest.Value) {
	if m.spec.ColumnsAre != samples.SecondGenes {
		values = append(values, column.condition)
	}
	if m.spec.Kind == "" {
		return values
	}
	var kinds []byte
	for range genes {
		kinds = ingest.AppendKind(kinds, []byte(m.spec.Kind))
	}
	return append(values, ingest.Value{Text: kinds})
}

const duplicateNameHint = "rename or remove one, or set allow_duplicate_ids=true: samples are named by row and column"

const columnsAreHint = "set columns_are=genes if the values are of double mutants, or columns_are=conditions if they are of the row's gene only"

// checkColumns returns an error for a matrix whose columns may not be conditions for whole
// deletions, unless the settings say what they are.
func (m *matrix) checkColumns(known *names.Resolver) error {
	var genes, partial []string
	at := make(map[string]int)
	for k, name := range m.Names {
		if first, again := at[name]; again && !m.spec.AllowDuplicateIDs {
			return fault.New(fault.Input, duplicateNameHint,
				"read matrix %s: value columns %d and %d are both named %s, expected unique names",
				m.spec.File, first+1, k+1, fault.Quote(name))
		}
		at[name] = k
		if strings.TrimSpace(name) != name {
			return fault.New(fault.Input, "remove the spaces from the header",
				"read matrix %s: found column %s, expected a name without spaces around it", m.spec.File, fault.Quote(name))
		}
		if namesGene(name, known) {
			genes = append(genes, name)
		}
		if m.partialLoss(name) {
			partial = append(partial, name)
		}
	}
	switch {
	case m.spec.ColumnsAre == "" && 2*len(genes) > len(m.Names):
		return fault.New(fault.Input, columnsAreHint,
			"read matrix %s: %s of its %s are named like genes, such as %s, expected conditions",
			m.spec.File, ingest.Grouped(len(genes)), ingest.Plural(len(m.Names), "column", ""), fault.Quote(genes[0]))
	case m.spec.PartialLoss == "" && len(partial) > 0:
		return fault.New(fault.Input, "set partial_loss=drop to omit these columns",
			"read matrix %s: found %s of %s whose names say that the strains keep part of the gene's function, such as %s, expected deletions",
			m.spec.File, ingest.Grouped(len(partial)), ingest.Plural(len(m.Names), "column", ""), fault.Quote(partial[0]))
	}
	return nil
}

// partialLoss reports whether the strains of a column keep part of the gene's function. Where
// columns are genes, their names and alleles say so.
func (m *matrix) partialLoss(name string) bool {
	return saysPartialLoss(m.First) || m.spec.ColumnsAre != samples.SecondGenes && saysPartialLoss(name)
}

// systematicName matches the start of systematic names of nuclear open reading frames, such as
// YAL016C-B.
var systematicName = regexp.MustCompile(`^Y[A-P][LR][0-9]{3}[WC]`)

// namesGene reports whether a column is named after a gene, an allele or a strain.
func namesGene(column string, known *names.Resolver) bool {
	name, _, _ := strings.Cut(column, "_")
	reader := alleleReader{genes: known, yeast: true}
	isAllele := reader.ofAllele(column).Known() || reader.ofAllele(name).Known()
	return isAllele || systematicName.MatchString(column)
}

// partialLossWords are the words in screens' names that say that a strain keeps part of the gene's
// function.
var partialLossWords = []string{"het", "hets", "hetero", "heterozygous", "heterozygote", "heterozygotes", "heterozygosity",
	"hip", "haploinsufficiency", "haploinsufficient", "damp", "hypomorph", "hypomorphs", "hypomorphic"}

// saysPartialLoss reports whether a name has one of these words, such as "het | growth (pooled
// culture) | glycerol".
func saysPartialLoss(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(partialLossWords, word) })
}

// matrixReader is one Scan of a matrix.
type matrixReader struct {
	*matrix
	*screenReader
	columns []matrixColumn
	isRow   map[string]bool // the rows so far
	deleted map[uint32]bool // genes of the rows so far
	pairs   *pairs.Set      // double mutants so far
	alleles alleleReader
	geneIn  func(name []byte) ([]byte, error)
	halves  *halves // of a matrix of genes

	rows int // so far

	loci []locus // of the cell at hand
}

// matrixColumn is a column: its gene, if columns are genes, and whether its name says that its
// strains keep part of the gene's function.
type matrixColumn struct {
	name        string
	condition   ingest.Value // the name, as an attribute
	locus       locus
	partialLoss bool
}

func (m *matrix) reader(r *screenReader) rowReader {
	reader := &matrixReader{
		matrix: m, screenReader: r, isRow: make(map[string]bool), deleted: make(map[uint32]bool),
		pairs: pairs.New(true), alleles: m.spec.alleleReader(r.screen.genes), geneIn: nameIn(m.spec.GenePattern),
	}
	for _, name := range m.Names {
		reader.columns = append(reader.columns, matrixColumn{
			name: name, condition: ingest.Value{Text: []byte(name)}, partialLoss: m.partialLoss(name),
		})
	}
	r.sample.Phenotypes = make([]float64, 1)
	r.end = func() error {
		if reader.halves == nil {
			return nil
		}
		return reader.halves.filled()
	}
	return reader.readRow
}

// locusOf is the locus that a name of a row or column means.
func (r *matrixReader) locusOf(name []byte) (locus, error) {
	part, err := r.geneIn(name)
	if err != nil {
		return locus{}, fault.New(fault.Input, "check gene_pattern", "%w", err)
	}
	return r.alleles.ofName(string(part)), nil
}

// readRow turns the cells of a row into samples.
func (r *matrixReader) readRow(batch *table.Batch, i int) (err error) {
	r.account.Add(ingest.MatrixRow, "", 1)
	if r.rows++; r.rows == 1 && r.screen.spec.ColumnsAre == samples.SecondGenes {
		for k := range r.columns {
			if r.columns[k].locus, err = r.locusOf([]byte(r.columns[k].name)); err != nil {
				return err
			}
		}
		r.halves = newHalves(r.columns, r.screen.spec.Triangle)
	}
	name := batch.Text(0, i)
	switch {
	case r.screen.spec.ColumnsAre == "" && slices.Contains(r.Matrix.Names, string(name)):
		return fault.New(fault.Input, columnsAreHint,
			"found row %s, which is also a column, expected columns that are not genes", fault.Quote(name))
	case r.isRow[string(name)] && !r.screen.spec.AllowDuplicateIDs:
		return fault.New(fault.Input, duplicateNameHint, "found a second row %s, expected unique names", fault.Quote(name))
	}
	r.isRow[string(name)] = true
	row, err := r.locusOf(name)
	if err != nil {
		return err
	}
	if row.Meaning == names.Gene {
		if r.deleted[row.Gene] {
			r.account.Add(ingest.MatrixRowAgain, "", 1)
		}
		r.deleted[row.Gene] = true
	}
	if r.halves != nil {
		r.halves.startRow(string(name), row)
	}
	for k := range r.columns {
		r.account.Rows++
		if err := r.cell(batch, i, name, row, k); err != nil {
			return err
		}
	}
	return nil
}

// repeats reports whether a cell of a matrix of genes is left out because of the other half, and
// counts it: it is in the triangle that is not read, or equals the other cell of its pair.
func (r *matrixReader) repeats(name []byte, column string) (bool, error) {
	equal := r.halves.addValue(string(name), column, r.sample.Phenotypes[0])
	spec := &r.screen.spec
	switch {
	case spec.Triangle == samples.UpperTriangle || spec.Triangle == samples.LowerTriangle:
		if !r.halves.leavesOut(column) {
			return false, nil
		}
		r.account.Add(ingest.OtherTriangle, "", 1)
		return true, nil
	case spec.BothHalves || spec.AllowDuplicateIDs:
		return false, nil
	}
	if equal {
		r.account.Add(ingest.OtherHalf, "", 1)
	}
	return equal, r.halves.asymmetric()
}

// cell turns a row's cell in column k into a sample, or counts why it is not one.
func (r *matrixReader) cell(batch *table.Batch, i int, name []byte, row locus, k int) (err error) {
	column := &r.columns[k]
	ofGenes := r.screen.spec.ColumnsAre == samples.SecondGenes
	r.loci = append(r.loci[:0], row)
	if ofGenes {
		r.loci = append(r.loci, column.locus)
	}
	switch {
	case column.partialLoss && r.screen.spec.PartialLoss == samples.DropPartialLoss:
		r.account.Add(ingest.PartialLoss, "", 1)
		return nil
	case !column.partialLoss && r.screen.spec.PartialLoss == samples.OnlyPartialLoss:
		r.account.Add(ingest.WholeLoss, "", 1)
		return nil
	case ofGenes && row.Meaning == names.Gene && column.locus.Meaning == names.Gene && row.Gene == column.locus.Gene:
		r.account.Add(ingest.SelfPair, "", 1)
		return nil
	}
	sample := &r.sample
	if ok, err := r.genotype(r.loci); err != nil || !ok {
		return err
	}
	if sample.Phenotypes[0], err = batch.Finite(1+k, i); err != nil {
		return fault.New(fault.Input, cmp.Or(fault.HintOf(err), "correct the value, or empty the field if it is missing"),
			"phenotype %s: %w", fault.Quote(column.name), err)
	}
	if ofGenes {
		if repeated, err := r.repeats(name, column.name); repeated || err != nil {
			return err
		}
	}
	sample.ID = append(append(append(sample.ID[:0], name...), ": "...), column.name...)
	sample.Attributes = r.attributes(column, len(sample.Genes))
	if r.screen.spec.Merges() {
		row := float64(batch.First + int64(i)) // ingest.RowAttribute
		sample.Attributes = append(sample.Attributes, ingest.Value{Number: row})
	}
	before := r.Samples
	if err := r.add(); err != nil || r.Samples == before {
		return err
	}
	if column.partialLoss {
		r.account.Add(ingest.PartialLossKept, "", 1)
	}
	if len(sample.Genes) == 2 {
		if _, meeting := r.pairs.Meet(sample.Genes[0], sample.Genes[1]); meeting != pairs.First {
			r.account.Add(ingest.PairAgain, "", 1)
		}
	}
	return nil
}
