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
	layout *layout
	named  bool // the phenotypes are named in the settings

	phenotypes []float64
	attributes []ingest.Value
}

// readID reads a row's number and its id. Without a column of ids it is the number, whichever rows
// are dropped.
func (v *tableValues) readID(b *tableRows, i int, r *Record) {
	r.Row = b.First + int64(i)
	if !v.layout.hasID {
		r.ID = strconv.AppendInt(r.ID[:0], r.Row, 10)
	} else {
		r.ID = append(r.ID[:0], b.Text(v.layout.id, i)...)
	}
}

// readValues reads the phenotypes and attributes of a row. Texts are views of the batch.
func (v *tableValues) readValues(b *tableRows, i int, r *Record) (err error) {
	columns := &v.layout.columns
	if r.Trimmed = 0; v.phenotypes == nil {
		v.phenotypes = make([]float64, len(v.layout.phenotypes))
		v.attributes = make([]ingest.Value, len(v.layout.attributes))
	}
	for k, column := range v.layout.phenotypes {
		if v.phenotypes[k], err = b.Finite(column, i); err != nil {
			name := columns.Phenotypes[k].Name
			exclude := "; or exclude the column with --not-phenotypes " + fault.List([]string{name})
			if v.named {
				exclude = "; or leave the column out of --phenotypes"
			}
			hint := cmp.Or(fault.HintOf(err), emptyHint) + exclude
			return fault.New(fault.Input, hint, "phenotype %s: %w", fault.Quote(name), err)
		}
	}
	for k, from := range v.layout.attributes {
		switch from.origin {
		case fromRow:
			v.attributes[k].Number = float64(r.Row)
		case fromColumn:
			v.attributes[k], err = readAttribute(b, from.column, i, columns.Attributes[k], r)
		}
		if isCompared := k >= len(columns.Attributes)-columns.Compared; err != nil && isCompared {
			hint := "correct the value, or name the column in --ignore"
			return fault.New(fault.Input, hint, "%w", err)
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
	b *tableRows, column, i int, attribute ingest.Attribute, r *Record,
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
