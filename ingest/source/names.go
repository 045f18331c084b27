package source

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// readNames adds the names of genes in tables, and reports on each. Gene ids take precedence over
// the names of each table, and these over the next table's. Within a table, ids take precedence
// over names, and earlier columns of names over later ones.
func readNames(files *inputfile.Files, tables []names.AliasTable, known *names.Builder) (reports ingest.Accounts, err error) {
	for k, table := range tables {
		if column := table.NameColumn(); column > 0 && k == 0 {
			known.NamesAt(known.Levels() + column)
		}
		report, err := readTable(files, table, known)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// geneName is a name of a gene.
type geneName struct {
	name string
	gene uint32
}

// readTable adds the names in a table. Its ids are gene ids or names that are known before it, or
// ids of further genes.
func readTable(files *inputfile.Files, spec names.AliasTable, known *names.Builder) (*ingest.Account, error) {
	report := &ingest.Account{Made: "aliases", File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, append([]string{spec.ID}, spec.Names...)...)
	if err != nil {
		return report, err
	}
	labels := spec.Kinds
	if labels == nil {
		labels = slices.Repeat([]string{"name in " + filepath.Base(spec.File)}, len(columns))
	}
	ids := known.AddLevels(labels...)
	split := []byte(cmp.Or(spec.Split, "\x00"))
	named := make([][]geneName, len(columns)) // names get their meaning after the last row
	empty, outside, ambiguousIDs, dates := 0, 0, 0, 0
	err = rows.each("aliases", report, func(batch *table.Batch, i int) error {
		id := batch.Text(columns[0], i)
		if batch.Missing(columns[0], i) || len(id) == 0 { // a Parquet file can have empty texts
			empty++
			return nil
		}
		genes := known.Genes(id)
		if genes == nil {
			genes = []uint32{known.AddGene(ids, string(id))}
		}
		switch known.Exact(id).Meaning {
		case names.Gene:
			report.Kept++
		case names.Ambiguous:
			ambiguousIDs++
		default:
			outside++
		}
		for k := 1; k < len(columns); k++ {
			if batch.Missing(columns[k], i) {
				continue
			}
			field := batch.Text(columns[k], i)
			if spec.Split != "" && inQuotes(field) && bytes.Contains(field, []byte(spec.Split)) {
				field = field[1 : len(field)-1] // as HGNC writes several names
			}
			for name := range bytes.SplitSeq(field, split) {
				name = bytes.TrimPrefix(bytes.TrimSpace(name), []byte(spec.StripPrefix))
				if inQuotes(name) {
					return fault.New(fault.Input, names.QuotesHint, "found name %s, expected one without quotes around it", fault.Quote(name))
				}
				if names.IsDate(name) {
					dates++ // the set may mean another gene by it
					continue
				}
				for _, gene := range genes {
					named[k] = append(named[k], geneName{string(name), gene})
				}
			}
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	for k := range named {
		for _, n := range named[k] {
			known.Add(ids+k, n.name, n.gene)
		}
	}
	report.Add(ingest.WithoutID, "", empty)
	report.Add(ingest.OutsideGraph, "", outside)
	report.Add(ingest.AmbiguousName, "", ambiguousIDs)
	report.Add(ingest.DateAlias, "", dates)
	for _, name := range known.Shared(ids) {
		report.AddName(name, 1)
	}
	report.Add(ingest.SharedAlias, "", len(report.Names))
	hint := "check " + string(spec.Place) + ": no id of the table is a gene's"
	return report, check(report, hint, known.Resolver(false), 1)
}

func inQuotes(text []byte) bool {
	last := len(text) - 1
	return last > 0 && text[0] == '"' && text[last] == '"'
}

// nodeNames finds the nodes of one type by their names. Without a table of nodes, a type grows by
// the ids in edges.
type nodeNames struct {
	*names.Resolver
	grows bool
	rows  map[string]uint32 // of the ids so far
	ids   []string
}

func (n *nodeNames) find(name []byte) names.Answer {
	if row, known := n.rows[string(name)]; known {
		return names.Answer{Gene: row, Level: -1, Meaning: names.Gene}
	}
	return n.Find(name)
}

// grow makes a node of an id, unless it is one.
func (n *nodeNames) grow(id string) names.Answer {
	row, known := n.rows[id]
	if !known {
		row = uint32(len(n.ids))
		n.rows[id], n.ids = row, append(n.ids, id)
	}
	return names.Answer{Gene: row, Level: -1, Meaning: names.Gene}
}

// unknownName is the error, in a source of a graph, of a name that means no node.
func unknownName(nodes *names.Resolver, name []byte) error {
	err := nodes.Explain(name)
	return fault.New(fault.Input, fault.HintOf(err)+"; or drop its edges with unknown_genes: drop-gene", "%w", err)
}
