package ingest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// notNumeric says that a column which began with numbers turned out to hold text.
type notNumeric struct{ column string }

func (e notNumeric) Error() string { return fmt.Sprintf("column %q holds text", e.column) }

// readCarried reads a table of a graph with read, which takes the required columns from
// each batch and hands the batch to carry, and returns the further columns. Whether one
// is numeric shows only at its last row: where that fails late, the table is read again.
func readCarried(path, what string, required []string, read func(r *table.Reader, carry func(*table.Batch) error) error) ([]Column, error) {
	texts := make(map[string]bool)
	for {
		columns, err := readOnce(path, what, required, texts, read)
		late, ok := err.(notNumeric)
		if !ok {
			return columns, err
		}
		texts[late.column] = true
	}
}

func readOnce(path, what string, required []string, texts map[string]bool, read func(*table.Reader, func(*table.Batch) error) error) ([]Column, error) {
	r, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for _, name := range required {
		if !slices.Contains(r.Columns(), name) {
			return nil, fault.New(fault.Input, fmt.Sprintf("add the column, or rename one to %s", name),
				"read %s %s: there is no column %s, found %s", what, path, name, strings.Join(r.Columns(), ", "))
		}
	}
	var carried []carriedColumn
	for i, name := range r.Columns() {
		kind := r.Kind(i)
		switch unreadable := kind == table.List || kind == table.Other; {
		case unreadable:
			return nil, fault.New(fault.Input, "remove the column, or store it as numbers or text",
				"read %s %s: column %q holds a type that a graph cannot carry, expected numbers or text", what, path, name)
		case !slices.Contains(required, name):
			carried = append(carried, carriedColumn{Column: Column{Name: name}, at: i, isText: kind == table.Text || texts[name]})
		}
	}
	err = read(r, func(b *table.Batch) error {
		for i := range carried {
			if err := carried[i].append(what, r, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	columns := make([]Column, len(carried))
	for i := range carried {
		columns[i] = carried[i].finish()
	}
	return columns, nil
}

// carriedColumn gathers a further column.
type carriedColumn struct {
	Column
	at     int // in the table
	isText bool
}

func (c *carriedColumn) append(what string, r *table.Reader, b *table.Batch) error {
	for i := 0; i < b.Len && !c.isText; i++ {
		value, _, err := b.Number(c.at, i)
		switch {
		case err == nil:
			c.Numbers = append(c.Numbers, value)
		case len(c.Numbers) > 0:
			return notNumeric{c.Name}
		default:
			c.isText = true
		}
	}
	if !c.isText {
		return nil
	}
	for i := range b.Len {
		if text := b.Text(c.at, i); !utf8.Valid(text) {
			return fault.New(fault.Input, "save the file as UTF-8 text", "read %s %s: %q in column %q is not valid UTF-8",
				what, r.Where(b.First+int64(i)), text, c.Name)
		}
	}
	c.Texts = appendTexts(c.Texts, b, c.at)
	return nil
}

// finish returns the column; in an empty table it is as its type says.
func (c *carriedColumn) finish() Column {
	switch {
	case c.isText && c.Texts == nil:
		c.Texts = []string{}
	case !c.isText && c.Numbers == nil:
		c.Numbers = []float64{}
	}
	return c.Column
}

// appendTexts appends a column's texts, with one allocation per batch for all their bytes.
func appendTexts(texts []string, b *table.Batch, column int) []string {
	var all strings.Builder
	for i := range b.Len {
		all.Write(b.Text(column, i))
	}
	joined := all.String()
	for i := range b.Len {
		length := len(b.Text(column, i))
		texts = append(texts, joined[:length])
		joined = joined[length:]
	}
	return texts
}
