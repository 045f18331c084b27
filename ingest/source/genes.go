package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// readGenes reads the gene list.
func readGenes(files *inputfile.Files, spec GenesSpec) (*ingest.Nodes, SourceReport, error) {
	if spec.GEM != "" {
		return genesOfModel(files, spec.GEM)
	}
	return readNodes(files, NodesSpec{Type: ingest.Gene, TextSpec: spec.TextSpec, RowsSpec: spec.RowsSpec, Column: spec.Column})
}

// nodeID is an id and where it was read.
type nodeID struct {
	id    string
	where place
}

// readNodes reads a table of nodes: genes ascending bytewise, others in the order of their rows.
func readNodes(files *inputfile.Files, spec NodesSpec) (*ingest.Nodes, SourceReport, error) {
	report := SourceReport{Made: spec.Type, File: spec.File}
	if spec.Type == ingest.Gene {
		report.Made = "genes"
	}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, append([]string{spec.Column}, slices.Sorted(maps.Keys(spec.Keep))...)...)
	if err != nil {
		return nil, report, err
	}
	kept, err := keptColumns(rows.Reader, columns[1:], spec.Keep, spec.Place, "id")
	if err != nil {
		rows.Close()
		return nil, report, err
	}
	builders := make([]array.Builder, len(kept))
	for k := range kept {
		builders[k] = kept[k].builder()
	}
	var read []nodeID
	err = rows.each(report.Made, &report, func(batch *table.Batch, i int) error {
		id := batch.Text(columns[0], i)
		read = append(read, nodeID{string(id), place{rows.Reader, batch.First + int64(i)}})
		for k, column := range kept {
			c, err := column.read(batch, i)
			if err != nil {
				return fmt.Errorf("column %s: %w", fault.Quote(column.name), err)
			}
			c.appendTo(builders[k])
		}
		if len(id) == 0 {
			return fmt.Errorf("column %q is empty, expected an id of a %s", spec.Column, spec.Type)
		}
		return cmp.Or(checkNodeID(spec.Type, id), checkUTF8(id))
	})
	if err != nil {
		return nil, report, err
	}
	if len(read) == 0 {
		return nil, report, fault.New(fault.Input, "",
			"read %s %s: found no %s in %s, expected at least one", report.Made, spec.File, report.Made, plural(report.Rows, "row", ""))
	}
	if spec.Type == ingest.Gene {
		slices.SortStableFunc(read, func(a, b nodeID) int { return strings.Compare(a.id, b.id) })
	}
	ids := make([]string, len(read))
	for k := range read {
		ids[k] = read[k].id
	}
	var carried []ingest.Column
	for k, column := range kept {
		carried = append(carried, ingest.Column{Name: column.name, Values: builders[k].NewArray()})
	}
	nodes, duplicate := ingest.NewNodes(spec.Type, ids, carried)
	if duplicate >= 0 {
		return nil, report, fault.New(fault.Input, "remove one of them", "read %s %s: found %s %q twice, first at %s",
			report.Made, read[duplicate].where, spec.Type, ids[duplicate], read[slices.Index(ids, ids[duplicate])].where)
	}
	report.Kept = nodes.Len()
	return nodes, report, nil
}

// checkNodeID returns an error for a text that is not the id of a node, or of a gene that a
// perturbation set could name.
func checkNodeID(nodeType string, id []byte) error {
	if nodeType == ingest.Gene {
		return ingest.CheckGeneName(id)
	}
	if wrong, hint := graph.WrongID(nodeType, string(id)); wrong != "" {
		return fault.New(fault.Input, hint, "id %s %s", fault.Quote(id), wrong)
	}
	return nil
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
