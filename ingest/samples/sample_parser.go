package samples

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// sampleParser turns rows of a table into samples. It allocates nothing per row.
type sampleParser struct {
	*Table
	genotype  genotypeParser
	delimiter []byte

	// Of the rows that parseRows is given: the first, the next one and the end, in their batch.
	first, next, end int
	// What it makes of them. After an error, next is the row that has it.
	samples *ingest.Samples
	account ingest.Account
	// rows whose names are all controls
	controls []int
	err      error

	sample ingest.Sample // of the current row, but for its genes
}

func newSampleParser(p *Table) *sampleParser {
	s := &sampleParser{Table: p, delimiter: []byte(p.options.GeneDelimiter), sample: p.NewSample()}
	s.genotype = p.genotypeParser(&s.account)
	if p.layout.kinds >= 0 {
		s.genotype.kinds = &kindParser{removing: p.options.RemovingKinds}
	}
	return s
}

// parseRows parses some rows of a batch.
func (p *sampleParser) parseRows(b *table.Batch) {
	p.samples = ingest.NewSamples(0, p.layout.columns, p.end-p.next)
	p.account, p.controls = ingest.Account{}, p.controls[:0]
	p.err = fault.Catch(func() error {
		for ; p.next < p.end; p.next++ {
			p.account.Rows++
			if err := p.parse(b, p.next); err != nil {
				return err
			}
			if p.genotype.onlyControls() {
				p.controls = append(p.controls, p.next)
			}
		}
		return nil
	})()
}

// parse appends row i of a batch to the samples, unless it is dropped because of unknown genes. Its
// errors do not name the row.
func (p *sampleParser) parse(b *table.Batch, i int) error {
	genotype, keep, err := p.parseGenotype(b, i)
	if err != nil {
		return err
	}
	sample := &p.sample
	if err := p.ReadValues(b, i, sample, &p.account); err != nil {
		return err
	}
	if at := p.layout.kindsAt; at >= 0 {
		sample.Attributes[at] = ingest.Value{}
		if kinds := p.genotype.kinds; len(kinds.perturbed) > 0 {
			sample.Attributes[at].Text = kinds.text
		}
	}
	p.ReadID(b, i, sample)
	if err := CheckID(sample.ID); err != nil || !keep {
		return err
	}
	p.samples.Append(sample.ID, genotype, sample.Phenotypes, sample.Attributes)
	return nil
}

// NewSample makes a sample with room for the values of a row. With the methods below, another
// reader of the table, which finds the genes in its own way, reads the rest.
func (p *Table) NewSample() ingest.Sample {
	return ingest.Sample{Phenotypes: make([]float64, len(p.layout.phenotypes)), Attributes: make([]ingest.Value, len(p.layout.attributes))}
}

// ReadValues reads the phenotypes and attributes of a row. Texts are views of the batch. It counts
// the trimmed ones in the account.
func (p *Table) ReadValues(b *table.Batch, i int, sample *ingest.Sample,
	account *ingest.Account) (err error) {
	columns := &p.layout.columns
	for k, column := range p.layout.phenotypes {
		if sample.Phenotypes[k], err = b.Finite(column, i); err != nil {
			name := p.layout.columns.Phenotypes[k].Name
			exclude := "; or exclude the column with --not-phenotypes " + fault.List([]string{name})
			if p.options.Phenotypes != nil {
				exclude = "; or leave the column out of --phenotypes"
			}
			return fault.New(fault.Input, cmp.Or(fault.HintOf(err), "correct the value, or empty the field if it is missing")+exclude,
				"phenotype %s: %w", fault.Quote(name), err)
		}
	}
	for k, column := range p.layout.attributes {
		compared := k >= len(columns.Attributes)-columns.Compared
		switch {
		case column == rowColumn:
			sample.Attributes[k].Number = float64(b.First + int64(i))
		case column >= 0:
			trimmed := 0
			sample.Attributes[k], trimmed, err = readAttribute(b, column, i, columns.Attributes[k])
			account.Add(ingest.TrimmedText, "", trimmed)
		}
		if err != nil && compared {
			hint := "correct the value, or name the column in --ignore"
			return fault.New(fault.Input, hint, "%w", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readAttribute reads the value of an attribute; trimmed is as in ingest.TrimText.
func readAttribute(b *table.Batch, column, i int,
	attribute ingest.Attribute) (value ingest.Value, trimmed int, err error) {
	hint := "correct the value, or leave the column out of --attributes"
	if attribute.Type == ingest.NumberAttribute {
		value.Number, err = b.Finite(column, i)
	} else if !b.Missing(column, i) {
		value.Text, trimmed = ingest.TrimText(b.Text(column, i))
		if !utf8.Valid(value.Text) {
			hint, err = "save the file as UTF-8 text", fmt.Errorf("found %s, expected UTF-8 text", fault.Quote(value.Text))
		}
	}
	if err != nil {
		name := fault.Quote(attribute.Name)
		return value, 0, fault.New(fault.Input, hint, "attribute %s: %w", name, err)
	}
	return value, trimmed, nil
}

// ReadID reads a row's sample id. Without a column of ids it is the row's number in the table,
// whichever rows are dropped.
func (p *Table) ReadID(b *table.Batch, i int, sample *ingest.Sample) {
	if p.layout.id < 0 {
		sample.ID = strconv.AppendInt(sample.ID[:0], b.First+int64(i), 10)
	} else {
		sample.ID = append(sample.ID[:0], b.Text(p.layout.id, i)...)
	}
}

// CheckID returns an error for a sample id that is not UTF-8.
func CheckID(id []byte) error {
	if !utf8.Valid(id) {
		return fault.New(fault.Input, "save the file as UTF-8 text", "sample id %s is not valid UTF-8", fault.Quote(id))
	}
	return nil
}

// parseGenotype returns the genotype and whether to keep the sample, as genotypeParser.end does.
func (p *sampleParser) parseGenotype(b *table.Batch, i int) (genotype []uint32, keep bool, err error) {
	p.genotype.begin()
	if column := p.layout.kinds; column >= 0 {
		var text []byte
		if !b.Missing(column, i) {
			text = b.Text(column, i)
		}
		p.genotype.kinds.begin(b.List(column, i), text, p.delimiter)
	}
	switch {
	case p.layout.list:
		for _, name := range b.List(p.layout.genes[0], i) {
			if err == nil {
				err = p.genotype.add(name)
			}
		}
	case len(p.layout.genes) == 1:
		rest := b.Text(p.layout.genes[0], i)
		for more := len(rest) > 0; more && err == nil; {
			var name []byte
			name, rest, more = p.options.Names.Cut(rest)
			err = p.genotype.add(name)
		}
	default:
		for _, column := range p.layout.genes {
			if name := b.Text(column, i); len(name) > 0 && err == nil {
				err = p.genotype.add(name)
			}
		}
	}
	if p.genotype.kinds != nil && err == nil {
		err = p.genotype.addKept()
	}
	if err != nil {
		return nil, false, err
	}
	return p.genotype.end()
}
