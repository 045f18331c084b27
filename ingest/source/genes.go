package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// readGenes reads the gene list.
func readGenes(files *inputfile.Files, spec GenesSpec) (*ingest.Nodes, SourceReport, error) {
	if spec.GEM != "" {
		return genesOfModel(files, spec.GEM)
	}
	report := SourceReport{Made: "genes", File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, at(spec.Place, "genes"), spec.Column)
	if err != nil {
		return nil, report, err
	}
	var ids geneIDs
	err = rows.each("genes", &report, func(batch *table.Batch, i int) error {
		id := string(batch.Text(columns[0], i))
		if id == "" {
			return fmt.Errorf("column %q is empty, expected a gene id", spec.Column)
		}
		return ids.add(id, place{rows.Reader, batch.First + int64(i)})
	})
	if err != nil {
		return nil, report, err
	}
	return ids.nodes(spec.File, report)
}

// genesOfModel are the genes that the rules of a model name.
func genesOfModel(files *inputfile.Files, path string) (*ingest.Nodes, SourceReport, error) {
	report := SourceReport{Made: "genes", File: path}
	model, err := readGEM(files, path)
	if err != nil {
		return nil, report, err
	}
	named := make(map[string]bool)
	for _, reaction := range model.reactions {
		for _, gene := range reaction.rule.Genes() {
			if err := ingest.CheckGeneName([]byte(gene)); err != nil {
				return nil, report, fmt.Errorf("read genes %s: %w", path, err)
			}
			named[gene] = true
		}
	}
	if report.Rows = len(named); report.Rows == 0 {
		return nil, report, fault.New(fault.Input, "name a gene list in place of gem", "read genes %s: found no rule with a gene, expected at least one", path)
	}
	report.Kept = report.Rows
	nodes, _ := ingest.NewNodes(ingest.Gene, slices.Sorted(maps.Keys(named)), nil)
	return nodes, report, nil
}

// geneIDs collects gene ids and where each was read.
type geneIDs []geneID

type geneID struct {
	id    string
	where place
}

// add returns an error for an id that a perturbation set could not name.
func (g *geneIDs) add(id string, where place) error {
	err := ingest.CheckGeneName([]byte(id))
	if err == nil && !utf8.ValidString(id) {
		err = fault.New(fault.Input, "save the file as UTF-8 text", "gene id %s is not valid UTF-8", fault.Quote(id))
	}
	*g = append(*g, geneID{id, where})
	return err
}

// nodes makes the node table, ids ascending bytewise.
func (g geneIDs) nodes(file string, report SourceReport) (*ingest.Nodes, SourceReport, error) {
	if len(g) == 0 {
		return nil, report, fault.New(fault.Input, "",
			"read genes %s: found no genes in %s, expected at least one", file, plural(report.Rows, "row", ""))
	}
	slices.SortFunc(g, func(a, b geneID) int {
		if order := strings.Compare(a.id, b.id); order != 0 {
			return order
		}
		return cmp.Compare(a.where.row, b.where.row)
	})
	ids := make([]string, len(g))
	for k := range g {
		ids[k] = g[k].id
	}
	nodes, duplicate := ingest.NewNodes(ingest.Gene, ids, nil)
	if duplicate >= 0 {
		return nil, report, fault.New(fault.Input, "remove one of them", "read genes %s: found gene %q twice, first at %s",
			g[duplicate].where, g[duplicate].id, g[duplicate-1].where)
	}
	report.Kept = nodes.Len()
	return nodes, report, nil
}
