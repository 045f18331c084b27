package source

import (
	"bytes"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// biogridColumns are the columns that are read from tab2 and tab3, in that order where the formats
// differ. Systematic names come first, because symbols change.
var biogridColumns = [][]string{
	{"Systematic Name Interactor A"}, {"Systematic Name Interactor B"},
	{"Official Symbol Interactor A"}, {"Official Symbol Interactor B"},
	{"Experimental System Type"},
	{"Organism Interactor A", "Organism ID Interactor A"}, {"Organism Interactor B", "Organism ID Interactor B"},
}

const (
	biogridA = iota
	biogridB
	biogridSymbolA
	biogridSymbolB
	biogridType
	biogridOrganismA
	biogridOrganismB
)

// open prepares a BioGRID file for reading.
func (b *BioGRIDSpec) open(files *inputfile.Files, loops SelfLoops) (*edgeFile, error) {
	reader, err := openTable(files, b.File, table.TextOptions{Delimiter: '\t', Member: b.Member})
	if err != nil {
		return nil, err
	}
	columns := make([]int, len(biogridColumns))
	for k, names := range biogridColumns {
		columns[k] = slices.IndexFunc(reader.Columns(), func(column string) bool { return slices.Contains(names, column) })
		if columns[k] < 0 {
			reader.Close()
			return nil, fault.New(fault.Input, "use a file in BioGRID's tab2 or tab3 format",
				"read edges %s: found no column %q", b.File, strings.Join(names, " or "))
		}
	}
	organism := b.Organism
	if organism == "" {
		organism = "559292"
	}
	taxon, kind := []byte(organism), []byte(b.Type)
	return &edgeFile{
		path: b.File, reader: reader, source: columns[biogridA], target: columns[biogridB], undirected: true,
		name: func(batch *table.Batch, column, i int) ([]byte, error) {
			name := batch.Text(column, i)
			if len(name) > 0 && string(name) != "-" {
				return name, nil
			}
			symbol := columns[biogridSymbolA]
			if column == columns[biogridB] {
				symbol = columns[biogridSymbolB]
			}
			return batch.Text(symbol, i), nil
		},
		refused: []Count{{What: "of an organism other than " + organism}, {What: "of an experimental system type other than " + b.Type}},
		refuse: func(batch *table.Batch, i int) (int, error) {
			switch {
			case !bytes.Equal(batch.Text(columns[biogridOrganismA], i), taxon) ||
				!bytes.Equal(batch.Text(columns[biogridOrganismB], i), taxon):
				return 0, nil
			case !bytes.EqualFold(batch.Text(columns[biogridType], i), kind):
				return 1, nil
			}
			return -1, nil
		},
		groupBy: -1,
		groups:  []*edgeGroup{{relations: []*relation{{name: b.Relation, weight: -1, loops: loops, keep: func(float64) bool { return true }}}}},
	}, nil
}

func (b *BioGRIDSpec) check(place string) error {
	if err := required(place, setting{"file", b.File}, setting{"relation", b.Relation}); err != nil {
		return err
	}
	if b.Type != "physical" && b.Type != "genetic" {
		return usage("", "%s.type: found %q, expected physical or genetic", place, b.Type)
	}
	return nil
}
