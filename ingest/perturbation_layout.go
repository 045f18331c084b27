package ingest

import (
	"io"
	"slices"
	"strings"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// perturbationLayout says which columns of a table hold what.
type perturbationLayout struct {
	genes          []int
	list           bool // the only genes column holds lists
	id             int  // -1: samples are named by their index
	phenotypes     []int
	phenotypeNames []string
	ignored        []string
}

func findPerturbationLayout(path string, r *table.Reader, options PerturbationOptions) (perturbationLayout, error) {
	layout := perturbationLayout{id: slices.Index(r.Columns(), "sample_id")}
	find := func(what, name string) (int, error) {
		column := slices.Index(r.Columns(), name)
		if column < 0 {
			return -1, fault.New(fault.Input, "rename the column, or name one that the table has in the settings",
				"read perturbations %s: there is no %s column %q, found %s", path, what, name, strings.Join(r.Columns(), ", "))
		}
		return column, nil
	}
	for _, name := range options.GenesColumns {
		column, err := find("genes", name)
		if err != nil {
			return layout, err
		}
		kind := r.Kind(column)
		layout.list = kind == table.List
		if kind == table.Number || kind == table.Other || kind == table.List && len(options.GenesColumns) > 1 {
			return layout, fault.New(fault.Input, "store a list of texts, or one text with a delimiter between the genes",
				"read perturbations %s: genes column %q is of the %s type", path, name, kind)
		}
		layout.genes = append(layout.genes, column)
	}
	if options.IDColumn != "" {
		column, err := find("sample id", options.IDColumn)
		if err != nil {
			return layout, err
		}
		layout.id = column
	}
	if layout.id >= 0 && (r.Kind(layout.id) == table.List || r.Kind(layout.id) == table.Other) {
		return layout, fault.New(fault.Input, "store the sample ids as text or integers",
			"read perturbations %s: column %q is of the %s type", path, r.Columns()[layout.id], r.Kind(layout.id))
	}
	if options.Phenotypes != nil {
		for _, name := range options.Phenotypes {
			column, err := find("phenotype", name)
			if err != nil {
				return layout, err
			}
			layout.phenotypes = append(layout.phenotypes, column)
		}
	} else {
		numeric, err := numericColumns(r)
		if err != nil {
			return layout, err
		}
		for column := range r.Columns() {
			if numeric[column] && column != layout.id && !slices.Contains(layout.genes, column) {
				layout.phenotypes = append(layout.phenotypes, column)
			}
		}
	}
	for _, column := range layout.phenotypes {
		layout.phenotypeNames = append(layout.phenotypeNames, r.Columns()[column])
	}
	for column, name := range r.Columns() {
		if column != layout.id && !slices.Contains(layout.genes, column) && !slices.Contains(layout.phenotypes, column) {
			layout.ignored = append(layout.ignored, name)
		}
	}
	return layout, nil
}

// numericColumns reads a table as far as it takes to know which columns are numeric:
// by type, or by the first value that is not missing.
func numericColumns(r *table.Reader) ([]bool, error) {
	numeric := make([]bool, len(r.Columns()))
	var open []int // text columns without a value so far
	for column := range numeric {
		kind := r.Kind(column)
		numeric[column] = kind == table.Number || kind == table.Unknown
		if kind == table.Unknown {
			open = append(open, column)
		}
	}
	for len(open) > 0 {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(open, func(column int) bool {
			for i := range b.Len {
				if _, missing, err := b.Number(column, i); !missing {
					numeric[column] = err == nil
					return true
				}
			}
			return false
		})
	}
	return numeric, nil
}
