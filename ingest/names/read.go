package names

import (
	"bytes"
	"cmp"
	"iter"
	"path/filepath"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// ReadTables adds the names of genes in tables, and accounts for the rows of each. Gene ids take
// precedence over the names of each table, and these over the next table's. Within a table, ids
// take precedence over names, and earlier columns of names over later ones.
func (b *Builder) ReadTables(
	files *inputfile.Files, tables []AliasTable,
) (accounts ingest.Accounts, err error) {
	for k, table := range tables {
		if column := table.NameColumn(); column > 0 && k == 0 && b.nameLevel == 0 {
			b.NamesAt(b.Levels() + column)
		}
		account := &ingest.Account{Made: "aliases", File: table.File}
		if err := b.read(files, table, account); err != nil {
			return nil, err
		}
		hint := "check " + string(table.Place) + ": no id of the table is a gene's"
		if err := account.Check(1, hint, b.r.Advice(account.Names)); err != nil {
			return nil, err
		}
		accounts = append(accounts, account)
	}
	return accounts, nil
}

// read adds the names in a table. Its ids are gene ids or names that are known before it, or ids of
// further genes. Names get their meaning after the last row.
func (b *Builder) read(files *inputfile.Files, spec AliasTable, account *ingest.Account) error {
	rows, columns, err := where.OpenTable(files, spec.TextSpec, spec.RowsSpec,
		append([]string{spec.ID}, spec.Names...)...)
	if err != nil {
		return err
	}
	labels := spec.Kinds
	if labels == nil {
		labels = slices.Repeat([]string{"name in " + filepath.Base(spec.File)}, len(columns))
	}
	ids := b.AddLevels(labels...)
	named := make([][]geneName, len(columns))
	err = rows.Each("aliases", account, func(batch *table.Batch, i int) error {
		genes := b.genesOf(batch, columns[0], i, ids, account)
		if genes == nil {
			return nil
		}
		for k, column := range columns[1:] {
			if batch.Missing(column, i) {
				continue
			}
			for name := range spec.namesIn(batch.Text(column, i)) {
				switch {
				case inQuotes(name):
					return fault.New(fault.Input, QuotesHint,
						"found name %s, expected one without quotes around it", fault.Quote(name))
				case IsDate(name): // the set may mean another gene by it
					account.Add(ingest.DateAlias, "", 1)
					continue
				}
				for _, gene := range genes {
					named[1+k] = append(named[1+k], geneName{gene, string(name)})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k := range named {
		for _, n := range named[k] {
			b.Add(ids+k, n.name, n.gene)
		}
	}
	for _, name := range b.Shared(ids) {
		account.AddName(name, 1)
		account.Add(ingest.SharedAlias, "", 1)
	}
	return nil
}

// genesOf returns the genes of a row's id, and makes one if it is new. It counts the row.
func (b *Builder) genesOf(
	batch *table.Batch, column, i, level int, account *ingest.Account,
) (genes []uint32) {
	id, row := batch.Text(column, i), batch.First+int64(i)
	if batch.Missing(column, i) || len(id) == 0 { // a Parquet file can have empty texts
		account.Drop(ingest.WithoutID, "", row, nil)
		return nil
	}
	if genes = b.Genes(id); genes == nil {
		genes = []uint32{b.AddGene(level, string(id))}
	}
	switch b.Exact(id).Meaning {
	case Gene:
		account.Kept++
	case Ambiguous:
		account.Drop(ingest.AmbiguousName, "", row, id)
	default:
		account.Drop(ingest.OutsideGraph, "", row, id)
	}
	return genes
}

// namesIn yields the names in a field. HGNC quotes a field with several.
func (t *AliasTable) namesIn(field []byte) iter.Seq[[]byte] {
	split := []byte(cmp.Or(t.Split, "\x00"))
	if inQuotes(field) && bytes.Contains(field, split) {
		field = field[1 : len(field)-1]
	}
	return func(yield func([]byte) bool) {
		for name := range bytes.SplitSeq(field, split) {
			name = bytes.TrimPrefix(bytes.TrimSpace(name), []byte(t.StripPrefix))
			if !yield(name) {
				return
			}
		}
	}
}

func inQuotes(text []byte) bool {
	last := len(text) - 1
	return last > 0 && text[0] == '"' && text[last] == '"'
}

// Advice is the hint for a source that has lost many rows to names.
func (r *Resolver) Advice(lost map[string]int) string {
	known := 0
	for name := range lost {
		if r.Exact([]byte(name)).Known() {
			known++
		}
	}
	if 2*known > len(lost) {
		return "add the genes to the graph: the tables of names have them"
	}
	return "give the genes' other names with aliases"
}
