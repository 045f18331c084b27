package ingest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"tcbuild/ingest/table"
	"tcbuild/ingest/torchcell"
	"tcbuild/internal/fault"
)

// PerturbedGenes returns the names of the genes that a perturbation set deletes, ascending: of a table with a column genes, or
// of a torchcell store. It reads the set whole. Empty names are left to Scan, which says where they are.
func PerturbedGenes(ctx context.Context, path string) ([]string, error) {
	names := make(map[string]bool)
	note := func(name []byte) {
		if len(name) > 0 && !names[string(name)] {
			names[string(name)] = true
		}
	}
	read := genesOfTable
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		read = genesOfStore
	}
	if err := read(ctx, path, note); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func genesOfStore(ctx context.Context, path string, note func(name []byte)) error {
	store, err := torchcell.Open(path)
	if err != nil {
		return err
	}
	return store.Records(func(r *torchcell.Record) error {
		for i := range r.Experiments {
			for _, name := range r.Experiments[i].Genes {
				note(name)
			}
		}
		return context.Cause(ctx)
	})
}

func genesOfTable(ctx context.Context, path string, note func(name []byte)) error {
	r, err := table.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	column := slices.Index(r.Columns(), defaultGenesColumn)
	if column < 0 {
		return fault.New(fault.Input, "turn the table into a perturbation set with 'tcbuild ingest perturbations'",
			"read perturbations %s: there is no column genes, found %s", path, strings.Join(r.Columns(), ", "))
	}
	for {
		b, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		for i := range b.Len {
			for _, name := range b.List(column, i) {
				note(name)
			}
			for name := range bytes.SplitSeq(b.Text(column, i), []byte(defaultGeneDelimiter)) { // of a list there is no text
				note(name)
			}
		}
	}
}
