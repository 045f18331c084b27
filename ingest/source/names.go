package source

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// Names finds genes by the names in public files. It is immutable and safe for concurrent use.
type Names struct {
	genes *ingest.Nodes
	// a name that is not a gene id -> the systematic names that it can mean
	features map[string][]string
}

// NewNames makes a look-up that knows only gene ids.
func NewNames(genes *ingest.Nodes) *Names { return &Names{genes: genes} }

// ReadNames makes a look-up that also knows the names in a file SGD_features.tab. Systematic names
// take precedence over standard names, and those over aliases. Names of features outside the gene
// list count too, so that they are not mistaken for a gene's.
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
	return names, report, report.checkKept("use SGD_features.tab as SGD publishes it")
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

// found is the result of a look-up.
type found uint8

const (
	gene found = iota
	unknown
	ambiguous // several features have the name, including a gene of the graph
)

// find returns the row of the gene with this name. It does not allocate.
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

// namedGene is a name and the result of its look-up.
type namedGene struct {
	name   string
	gene   uint32 // if result is gene
	result found
}

func (n *Names) named(name []byte) namedGene {
	row, result := n.find(name)
	return namedGene{string(name), row, result}
}

// unknownGenesHint is the hint for an unknown gene name in a source of a graph.
const unknownGenesHint = "add the gene to the gene list, or drop its edges with unknown_genes: drop-gene, which is also the flag --unknown-genes"

// describe says, for an error, why find found no gene.
func (n *Names) describe(name string, result found) string {
	if result == ambiguous {
		return fmt.Sprintf("name %s is ambiguous: it is an alias of %s", fault.Quote(name), strings.Join(n.features[name], " and "))
	}
	return fmt.Sprintf("gene %s is not in the gene list (%s genes)", fault.Quote(name), grouped(n.genes.Len()))
}
