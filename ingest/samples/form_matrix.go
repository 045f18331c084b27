package samples

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// matrix reads a wide table, with a record for each value:
//
//	      YPD  YPGal
//	TFC3  0.9  0.7
//
// gives TFC3: YPD, which mentions TFC3 and has the condition YPD, and TFC3: YPGal. If the columns
// are genes, they are mentioned, too, or instead, if the rows are conditions. A row may list
// several genes, TFC3|VPS8. It is shared by all workers, as is what it has of columns.
type matrix struct {
	*Spec
	*table.Matrix
	alleles alleles
	names   *names.Resolver
	columns []matrixColumn
}

// matrixColumn is a column: what it mentions, if columns are genes, and whether its name says that
// its strains keep part of the gene's function.
type matrixColumn struct {
	name        string
	mention     Mention
	partialLoss bool
	position    int // see triangles
}

// matrixForm is a matrix with what one worker needs.
type matrixForm struct {
	*matrix
	genotyper  *Genotyper
	record     Record
	phenotypes [1]float64
	attributes []ingest.Value
	kinds      []byte
}

// columnGenes reports whether the columns are genes.
func (m *matrix) columnGenes() bool { return m.ColumnsAre == SecondGenes }

// ofPairs reports whether rows and columns are genes.
func (m *matrix) ofPairs() bool { return m.columnGenes() && m.RowsAre != RowConditions }

// openMatrix finds out what a matrix has.
func openMatrix(spec *Spec, layout *table.Matrix, known *names.Resolver) (*matrix, error) {
	m := &matrix{Spec: spec, Matrix: layout, alleles: spec.allelesOf(known), names: known}
	if err := m.check(); err != nil {
		return nil, err
	}
	for len(m.Names) > 1 && m.Names[len(m.Names)-1] == "" {
		m.Names = m.Names[:len(m.Names)-1] // as Excel writes it; it has no values
	}
	if err := m.checkColumns(known); err != nil {
		return nil, err
	}
	for _, name := range m.Names {
		column := matrixColumn{name: name, partialLoss: m.partialLossOf(name)}
		if m.columnGenes() {
			var err error
			if column.mention, err = m.mention([]byte(name)); err != nil {
				return nil, fmt.Errorf("read matrix %s: %w", spec.File, err)
			}
		}
		m.columns = append(m.columns, column)
	}
	return m, nil
}

// check checks the settings that only matrices have.
func (m *matrix) check() error {
	switch {
	case m.RowsAre == RowConditions && !m.columnGenes():
		return badSetting("set columns_are=genes",
			"rows_are: found conditions, expected columns that are genes")
	case m.Triangle != "" && !m.ofPairs():
		return badSetting("set columns_are=genes",
			"triangle: it applies only to a matrix whose rows and columns are genes")
	case m.Kind == "":
		return nil
	case !isKind([]byte(m.Kind)) || strings.TrimSpace(m.Kind) != m.Kind:
		return badSetting("name one kind, such as activation",
			"kind: found %s, expected a kind", fault.Quote(m.Kind))
	}
	return nil
}

// samplesColumns are the columns of the samples.
func (m *matrix) samplesColumns() ingest.Columns {
	columns := ingest.Columns{Phenotypes: ingest.NamedPhenotypes("value")}
	text := func(name string) {
		attribute := ingest.Attribute{Name: name, Type: ingest.TextAttribute}
		columns.Attributes = append(columns.Attributes, attribute)
	}
	if !m.ofPairs() {
		text("condition")
	}
	if m.Kind != "" {
		text(ingest.KindsAttribute)
		columns.Kinds, columns.KindsApart = ingest.KindsAttribute, true
	}
	if m.Merges() {
		columns.Attributes = append(columns.Attributes, ingest.RowAttribute)
		columns.Compared = 1
	}
	return columns
}

// mention is what the name of a row or column mentions.
func (m *matrix) mention(name []byte) (Mention, error) {
	part, err := m.names.Part(name)
	if err != nil {
		return Mention{}, err
	}
	mention := m.alleles.ofName(string(part))
	mention.Kind = []byte(m.Kind)
	return mention, nil
}

func (m *matrixForm) strict() bool { return false }

func (m *matrixForm) Records(b *tableRows, i int, yield func(*Record) error) error {
	name := b.Text(0, i)
	if m.ColumnsAre == "" && slices.Contains(m.Names, string(name)) {
		return fault.New(fault.Input, columnsAreHint,
			"found row %s, which is also a column, expected columns that are not genes",
			fault.Quote(name))
	}
	rows, err := m.rowMentions(name)
	if err != nil {
		return err
	}
	b.mentions = append(b.mentions, rows)
	for k := 1 + len(m.columns); k < len(m.Options.Columns); k++ {
		if value := bytes.TrimSpace(b.Text(k, i)); len(value) > 0 {
			return fault.New(fault.Input, "name the column, or remove it",
				"found %s in column %d, which has no name", fault.Quote(value), k+1)
		}
	}
	r := &m.record
	r.Row = b.First + int64(i)
	for k := range m.columns {
		column := &m.columns[k]
		r.Column, r.Why = k, m.drops(rows, column)
		r.Mentions = append(r.Mentions[:0], rows...)
		if m.columnGenes() {
			r.Mentions = append(r.Mentions, column.mention)
		}
		r.ID = append(append(append(r.ID[:0], name...), ": "...), column.name...)
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// rowMentions is what the name of a row mentions: a gene, several that it lists, or nothing.
func (m *matrix) rowMentions(name []byte) (mentions []Mention, err error) {
	if m.RowsAre == RowConditions {
		return nil, nil
	}
	parts := [][]byte{name}
	if !m.columnGenes() && !m.alleles.isName(string(name)) {
		parts = bytes.Split(name, []byte(m.GeneDelimiter))
	}
	for _, part := range parts {
		if len(parts) > 1 {
			part = bytes.TrimSpace(part)
		}
		mention, err := m.mention(part)
		if err != nil {
			return nil, err
		}
		mentions = append(mentions, mention)
	}
	return mentions, nil
}

// drops says why a cell is no sample, whatever its genotype.
func (m *matrix) drops(rows []Mention, column *matrixColumn) ingest.Reason {
	isSelf := func(row Mention) bool {
		isPair := m.columnGenes() && row.isGene() && column.mention.isGene()
		return isPair && row.Answer.Gene == column.mention.Answer.Gene
	}
	switch {
	case column.partialLoss && m.PartialLoss == DropPartialLoss:
		return ingest.PartialLoss
	case !column.partialLoss && m.PartialLoss == OnlyPartialLoss:
		return ingest.WholeLoss
	case slices.ContainsFunc(rows, isSelf):
		return ingest.SelfPair
	}
	return ingest.Kept
}

func (m *matrixForm) Values(b *tableRows, i int, r *Record, genotype *Genotype) (err error) {
	column := &m.columns[r.Column]
	if m.phenotypes[0], err = b.Finite(1+r.Column, i); err != nil {
		hint := cmp.Or(fault.HintOf(err), emptyHint)
		return fault.New(fault.Input, hint, "phenotype %s: %w", fault.Quote(column.name), err)
	}
	m.attributes = m.attributes[:0]
	if !m.ofPairs() {
		condition := []byte(column.name)
		if m.RowsAre == RowConditions {
			condition = b.Text(0, i)
		}
		m.attributes = append(m.attributes, ingest.Value{Text: condition})
	}
	if m.Kind != "" {
		text := m.genotyper.kindsText(m.kinds[:0], r, r.Mentions, genotype)
		m.kinds, m.attributes = text.Text, append(m.attributes, text)
	}
	if m.Merges() { // ingest.RowAttribute
		m.attributes = append(m.attributes, ingest.Value{Number: float64(r.Row)})
	}
	r.Phenotypes, r.Attributes = m.phenotypes[:], m.attributes
	return nil
}

// matrixOrder is what depends on the order of a matrix's rows: names that repeat, and the two cells
// of each pair of genes.
type matrixOrder struct {
	*matrix
	rows      map[string]bool // so far
	deleted   map[uint32]bool // genes of the rows so far, if each has one
	pairs     *pairs.Set      // double mutants so far
	triangles *triangles      // nil unless rows and columns are genes
}

func (m *matrix) inOrder() *matrixOrder {
	o := &matrixOrder{matrix: m, rows: make(map[string]bool), deleted: make(map[uint32]bool),
		pairs: pairs.New(true)}
	if m.ofPairs() {
		o.triangles = newTriangles(m.columns, m.Triangle)
	}
	return o
}

func (o *matrixOrder) add(p *part[*tableRows]) (row int64, err error) {
	batch, cells := p.batch.Twin(), cellsOf(p)
	kept := ingest.NewSamples(0, o.samplesColumns(), 0)
	if o.triangles != nil {
		defer func() { p.samples = []*ingest.Samples{kept} }()
	}
	for i := p.from; i < p.to && p.includes(i); i++ {
		row = p.first + int64(i)
		name := batch.Text(0, i)
		if o.rows[string(name)] && !o.AllowDuplicateIDs {
			return row, fault.New(fault.Input, duplicateNameHint,
				"found a second row %s, expected unique names", fault.Quote(name))
		}
		o.rows[string(name)] = true
		if i-p.from == len(p.batch.mentions) {
			break // the row failed by its name
		}
		o.startRow(name, p.batch.mentions[i-p.from], &p.account)
		for s := cells.next(row); s != nil; s = cells.next(row) {
			why, err := o.cell(string(name), s, &o.columns[cells.column], &p.account)
			switch {
			case err != nil:
				return row, err
			case why != ingest.Kept:
				p.account.Drop(why, "", row, nil)
			case o.triangles != nil:
				kept.Append(s.ID, s.Genes, s.Phenotypes, s.Attributes)
			}
		}
	}
	return row, nil
}

func (o *matrixOrder) startRow(name []byte, mentions []Mention, account *ingest.Account) {
	account.Add(ingest.MatrixRow, "", 1)
	if len(mentions) == 1 && mentions[0].isGene() {
		if o.deleted[mentions[0].Answer.Gene] {
			account.Add(ingest.MatrixRowAgain, "", 1)
		}
		o.deleted[mentions[0].Answer.Gene] = true
	}
	if o.triangles != nil {
		o.triangles.startRow(string(name), &mentions[0])
	}
}

// cell says why the sample of a cell is left out: it is in the triangle that is not read, or equals
// the other cell of its pair.
func (o *matrixOrder) cell(
	name string, s *ingest.Sample, column *matrixColumn, account *ingest.Account,
) (ingest.Reason, error) {
	if t := o.triangles; t != nil {
		equal := t.add(name, column, s.Phenotypes[0])
		switch {
		case t.leavesOut(column):
			return ingest.OtherTriangle, nil
		case o.readsOneTriangle(), o.BothHalves, o.AllowDuplicateIDs:
		default:
			if err := t.asymmetric(); err != nil {
				return 0, err
			}
			if equal {
				return ingest.OtherHalf, nil
			}
		}
	}
	if column.partialLoss {
		account.Add(ingest.PartialLossKept, "", 1)
	}
	if len(s.Genes) == 2 {
		if _, meeting := o.pairs.Meet(s.Genes[0], s.Genes[1]); meeting != pairs.First {
			account.Add(ingest.PairAgain, "", 1)
		}
	}
	return ingest.Kept, nil
}

func (m *matrix) readsOneTriangle() bool {
	return m.Triangle == UpperTriangle || m.Triangle == LowerTriangle
}

func (o *matrixOrder) checkEnd(above int64) error {
	if o.triangles == nil || above < allRows {
		return nil
	}
	if err := o.triangles.filled(); err != nil {
		return fault.New(fault.KindOf(err), fault.HintOf(err), "read perturbations %s: %w", o.File,
			err)
	}
	return nil
}
