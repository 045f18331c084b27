package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
)

// These files of a graph's folder store the names of genes:
//
//	nodes/gene.tsv    id       name  aliases             name and aliases are optional
//	                  YAL001C  TFC3  FUN24|tau 138
//	names/gene.tsv    id       name  aliases             genes outside the graph
//	                  YAL011W  SWC3  SWC1
//	graph.json        {"ignore_case": true}

// propertiesName is the file of a graph's properties.
const propertiesName = "graph.json"

// properties are the content of graph.json.
type properties struct {
	IgnoreCase bool `json:"ignore_case"`
}

// readNames reads what a graph says of names, but for the columns of its genes.
func (f *Tables) readNames(g *ingest.Graph) error {
	for _, file := range f.properties {
		if err := readProperties(file.opened, g); err != nil {
			return err
		}
	}
	for _, file := range f.names {
		others, err := readNodes(file.opened, ingest.Gene)
		if err != nil {
			return err
		}
		isGene := func(id string) bool { _, known := g.Genes.Index(id); return known }
		if row := slices.IndexFunc(others.IDs, isGene); row >= 0 {
			return fault.New(fault.Input, "remove the row: a gene's names are in nodes/gene",
				"read graph %s: id %q of %s is also in nodes/gene", f.dir, others.IDs[row],
				file.name)
		}
		g.OtherGenes = others
	}
	return nil
}

func readProperties(file *inputfile.File, g *ingest.Graph) error {
	text, err := os.ReadFile(file.Path())
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var p properties
	if err := decoder.Decode(&p); err != nil {
		return fault.New(fault.Input, `write it as {"ignore_case": true}, or remove it`,
			"read graph properties %s: %w", file.Path(), err)
	}
	g.IgnoreCase = p.IgnoreCase
	return nil
}

// writeNames writes what readNames reads.
func writeNames(dir string, g *ingest.Graph) error {
	if g.IgnoreCase {
		err := disk.WriteJSON(filepath.Join(dir, propertiesName), properties{g.IgnoreCase})
		if err != nil {
			return fmt.Errorf("write graph: %w", err)
		}
	}
	if g.OtherGenes == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(dir, "names"), 0o777); err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	return writeNodes(filepath.Join(dir, "names"), g.OtherGenes)
}

// splitAliases turns a column of aliases that a table has as text, joined by |, into lists.
func splitAliases(nodes *ingest.Nodes) {
	for k, c := range nodes.Columns {
		if c.Name != ingest.AliasesColumn || !c.IsText() {
			continue
		}
		lists := nodes.Texts(c.Name)
		for row, texts := range lists {
			lists[row] = nil
			for name := range strings.SplitSeq(strings.Join(texts, "|"), "|") {
				if name = strings.TrimSpace(name); name != "" {
					lists[row] = append(lists[row], name)
				}
			}
		}
		nodes.Columns[k] = ingest.TextsColumn(c.Name, lists)
	}
}
