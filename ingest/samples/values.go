package samples

import (
	"cmp"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// tableValues reads what a row of a table says of a sample besides its genes.
type tableValues struct {
	layout     *layout
	phenotypes []float64
	attributes []ingest.Value
}

// readID reads a row's number and its id. Without a column of ids it is the number, whichever rows
// are dropped.
func (v *tableValues) readID(b *table.Batch, i int, r *Record) {
	r.Row = b.First + int64(i)
	if !v.layout.hasID {
		r.ID = strconv.AppendInt(r.ID[:0], r.Row, 10)
	} else {
		r.ID = append(r.ID[:0], b.Text(v.layout.id, i)...)
	}
}

// readValues reads the phenotypes and attributes of a row. Texts are views of the batch.
func (v *tableValues) readValues(b *table.Batch, i int, r *Record) (err error) {
	columns := &v.layout.columns
	if r.Trimmed = 0; v.phenotypes == nil {
		v.phenotypes = make([]float64, len(v.layout.phenotypes))
		v.attributes = make([]ingest.Value, len(v.layout.attributes))
	}
	for k, column := range v.layout.phenotypes {
		if v.phenotypes[k], err = b.Finite(column, i); err != nil {
			hint := cmp.Or(fault.HintOf(err), emptyHint) +
				"; or name the phenotypes without it: --phenotypes"
			return fault.New(fault.Input, hint, "phenotype %s: %w",
				fault.Quote(columns.Phenotypes[k].Name), err)
		}
	}
	for k, from := range v.layout.attributes {
		if from.origin == fromColumn {
			v.attributes[k], err = readAttribute(b, from.column, i, columns.Attributes[k], r)
		}
		if err != nil {
			return err
		}
	}
	r.Phenotypes, r.Attributes = v.phenotypes, v.attributes
	return nil
}

const emptyHint = "correct the value, or empty the field if it is missing"

// readAttribute reads the value of an attribute.
func readAttribute(
	b *table.Batch, column, i int, attribute ingest.Attribute, r *Record,
) (value ingest.Value, err error) {
	hint := "correct the value, or leave the column out of --attributes"
	if attribute.Type == ingest.NumberAttribute {
		value.Number, err = b.Finite(column, i)
	} else if !b.Missing(column, i) {
		var trimmed int
		value.Text, trimmed = ingest.TrimText(b.Text(column, i))
		r.Trimmed += trimmed
		err = table.CheckUTF8(value.Text)
		hint = fault.HintOf(err)
	}
	if err != nil {
		name := fault.Quote(attribute.Name)
		return value, fault.New(fault.Input, hint, "attribute %s: %w", name, err)
	}
	return value, nil
}
