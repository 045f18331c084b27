package source

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// Names finds genes by the names that public files use. It is immutable and
// safe for concurrent use.
type Names struct {
	genes    *ingest.Nodes
	features map[string][]string // a name that is no gene id -> the systematic names it can mean
}

// NewNames makes a look-up that knows the ids of genes alone.
func NewNames(genes *ingest.Nodes) *Names { return &Names{genes: genes} }

// ReadNames makes a look-up that also knows the names in a file
// SGD_features.tab. A systematic name means its own feature before a standard
// name does, and that before an alias. Features that are not among genes take
// part, so that their names are not mistaken for those of a gene.
func ReadNames(files *inputfile.Files, sgdFeatures string, genes *ingest.Nodes) (*Names, SourceReport, error) {
	names := &Names{genes: genes, features: make(map[string][]string)}
	report := SourceReport{Made: "aliases", File: sgdFeatures}
	standard, aliases := make(map[string][]string), make(map[string][]string)
	err := readFeatures(files, sgdFeatures, func(f feature) error {
		report.Rows++
		if f.systematic == "" {
			return nil
		}
		report.Kept++
		names.features[f.systematic] = []string{f.systematic}
		addMeaning(standard, f.standard, f.systematic)
		for _, alias := range f.aliases {
			addMeaning(aliases, alias, f.systematic)
		}
		return nil
	})
	if err != nil {
		return nil, report, err
	}
	for _, level := range []map[string][]string{standard, aliases} {
		for name, meanings := range level {
			if _, taken := names.features[name]; !taken {
				names.features[name] = meanings
			}
		}
	}
	report.Dropped = appendCount(nil, "without a systematic name", report.Rows-report.Kept)
	report.Noted = appendCount(nil, "names of several features, which mean none of them", names.ambiguous())
	return names, report, report.checkKept("give SGD_features.tab as SGD publishes it")
}

func (n *Names) ambiguous() int {
	count := 0
	for _, meanings := range n.features {
		if len(meanings) > 1 {
			count++
		}
	}
	return count
}

func addMeaning(meanings map[string][]string, name, systematic string) {
	if name != "" && !slices.Contains(meanings[name], systematic) {
		meanings[name] = append(meanings[name], systematic)
	}
}

// found says what became of a look-up.
type found uint8

const (
	gene found = iota
	unknown
	ambiguous // several features have the name, a gene of the graph among them
)

// find returns the row of the gene that has the name. It does not allocate.
func (n *Names) find(name []byte) (row uint32, result found) {
	if row, ok := n.genes.IndexBytes(name); ok {
		return row, gene
	}
	result = unknown
	meanings := n.features[string(name)]
	for _, systematic := range meanings {
		if candidate, ok := n.genes.Index(systematic); ok {
			row, result = candidate, gene
		}
	}
	if result == gene && len(meanings) > 1 {
		return 0, ambiguous
	}
	return row, result
}

// namedGene is a name and what find makes of it.
type namedGene struct {
	name   string
	gene   uint32 // when result is gene
	result found
}

func (n *Names) named(name []byte) namedGene {
	row, result := n.find(name)
	return namedGene{string(name), row, result}
}

// unknownGenesHint is what to do about a name that a source of a graph has for no gene.
const unknownGenesHint = "add the gene to the gene list, or drop its edges by unknown_genes: drop-gene, which is the flag --unknown-genes"

// describe says, for an error, why find found no gene.
func (n *Names) describe(name string, result found) string {
	if result == ambiguous {
		return fmt.Sprintf("name %s is ambiguous: it is an alias of %s", fault.Quote(name), strings.Join(n.features[name], " and "))
	}
	return fmt.Sprintf("gene %s is not in the gene list (%s genes)", fault.Quote(name), grouped(n.genes.Len()))
}
