package source

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
)

// Names finds genes by the names in public files. Once read, it is safe for concurrent use.
type Names struct {
	nodes    *ingest.Nodes         // genes, or nodes of another type, which have no other names
	kinds    []string              // of names, by precedence
	features []string              // systematic names: of the genes in their order, then of others
	short    map[shortName]meaning // of every name that fits
	long     map[string]meaning

	aliasesKey string              // of the setting that lists tables of names, for hints
	several    map[string][]uint32 // the features of a name that has more than one
	grows      bool                // of another type than genes: every id is a node
}

// meaning is what a name means.
type meaning struct {
	gene   uint32 // the number of the first feature that has the name; of a gene, its row
	result found
	kind   int16 // of the name; -1 for a gene id or an unknown name
}

// shortName is a name of up to 7 bytes, and its length: most are, and comparing them takes no look
// at memory elsewhere. One map of all names takes a tenth longer for the features of SGD.
type shortName [8]byte

func shorten(name []byte) (short shortName, ok bool) {
	short[7] = byte(copy(short[:7], name))
	return short, len(name) <= 7
}

func (n *Names) get(name []byte) (m meaning, known bool) {
	if short, ok := shorten(name); ok {
		m, known = n.short[short]
	} else {
		m, known = n.long[string(name)]
	}
	return m, known
}

func (n *Names) set(name string, m meaning) {
	if short, ok := shorten([]byte(name)); ok {
		n.short[short] = m
	} else {
		n.long[name] = m
	}
}

// newNames makes a look-up that knows only gene ids, with room for a number of names.
func newNames(genes *ingest.Nodes, room int) *Names {
	n := &Names{nodes: genes, aliasesKey: "aliases", features: slices.Clone(genes.IDs), short: make(map[shortName]meaning, room), long: make(map[string]meaning), several: make(map[string][]uint32)}
	for row, id := range genes.IDs {
		n.set(id, meaning{uint32(row), gene, -1})
	}
	return n
}

// ReadNames makes a look-up that also knows the names in tables, and reports on each. Gene ids take
// precedence over the names of each table, and these over the next table's.
func ReadNames(files *inputfile.Files, tables []AliasTable, genes *ingest.Nodes) (*Names, Report, error) {
	room := genes.Len()
	if len(tables) > 0 && tables[0].Features {
		room *= 4
	}
	names := newNames(genes, room)
	var reports Report
	for _, table := range tables {
		report, err := names.readTable(files, table)
		if err != nil {
			return nil, nil, err
		}
		reports = append(reports, report)
	}
	return names, reports, nil
}

// featureName is a name of a feature.
type featureName struct {
	name    string
	feature uint32
}

// readTable adds the names in a table. Its ids are gene ids or names that are known before it, or
// ids of further features.
func (n *Names) readTable(files *inputfile.Files, spec AliasTable) (SourceReport, error) {
	report := SourceReport{Made: "aliases", File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, append([]string{spec.ID}, spec.Names...)...)
	if err != nil {
		return report, err
	}
	first := int16(len(n.kinds))
	kinds := []string{"name in " + filepath.Base(spec.File)}
	if spec.Kinds != nil {
		n.kinds, kinds = append(n.kinds, spec.Kinds[0]), spec.Kinds[1:]
	}
	split := []byte(cmp.Or(spec.Split, "\x00"))
	var missing missingNames
	named := make([][]featureName, len(kinds)) // names get their meaning after the last row
	empty := 0
	err = rows.each("aliases", &report, func(batch *table.Batch, i int) error {
		if batch.Missing(columns[0], i) {
			empty++
			return nil
		}
		id := batch.Text(columns[0], i)
		m := n.find(id)
		if spec.Features {
			m.gene = n.feature(string(id))
		} else if m.result != gene {
			missing.lose(string(id), m.result)
			return nil
		}
		report.Kept++
		for k, column := range columns[1:] {
			if batch.Missing(column, i) {
				continue
			}
			of := &named[min(k, len(kinds)-1)]
			field := batch.Text(column, i)
			if spec.Split != "" && inQuotes(field) && bytes.Contains(field, []byte(spec.Split)) {
				field = field[1 : len(field)-1] // as HGNC writes several names
			}
			for name := range bytes.SplitSeq(field, split) {
				name = bytes.TrimPrefix(bytes.TrimSpace(name), []byte(spec.StripPrefix))
				if inQuotes(name) {
					return fault.New(fault.Input, ingest.QuotesHint, "found name %s, expected one without quotes around it", fault.Quote(name))
				}
				*of = append(*of, featureName{string(name), m.gene})
			}
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	for k, kind := range kinds {
		n.kinds = append(n.kinds, kind)
		for _, f := range named[k] {
			n.add(f.name, f.feature)
		}
	}
	report.drop(Count{"without an id", empty}, Count{"of unknown genes", missing.unknownRows}, Count{"of ambiguous names", missing.ambiguousRows})
	n.noteAmbiguous(&report, first)
	return report, report.check("check "+string(spec.Place)+": no id of the table is a gene's", n, 1)
}

func inQuotes(text []byte) bool {
	last := len(text) - 1
	return last > 0 && text[0] == '"' && text[last] == '"'
}

// feature returns the number of the feature with a systematic name, which is a name of it of the
// latest kind.
func (n *Names) feature(systematic string) uint32 {
	if known, ok := n.get([]byte(systematic)); ok {
		return known.gene
	}
	number := uint32(len(n.features))
	n.features = append(n.features, systematic)
	n.add(systematic, number)
	return number
}

// add adds a name of the latest kind, unless it has a meaning as another kind.
func (n *Names) add(name string, feature uint32) {
	kind := int16(len(n.kinds) - 1)
	m, taken := n.get([]byte(name))
	switch {
	case name == "" || taken && m.kind != kind:
		return
	case !taken:
		m = meaning{feature, unknown, kind}
		if n.isGene(feature) {
			m.result = gene
		}
	default:
		features, ok := n.several[name]
		if !ok {
			features = []uint32{m.gene}
		}
		if slices.Contains(features, feature) {
			return
		}
		n.several[name] = append(features, feature)
		if m.result != unknown || n.isGene(feature) {
			m.result = ambiguous
		}
	}
	n.set(name, m)
}

func (n *Names) isGene(feature uint32) bool { return int(feature) < n.nodes.Len() }

// noteAmbiguous notes the ambiguous names of the kinds from one on.
func (n *Names) noteAmbiguous(report *SourceReport, kind int16) {
	for name := range n.several {
		if n.find([]byte(name)).kind >= kind {
			report.Unknown = append(report.Unknown, name)
		}
	}
	slices.Sort(report.Unknown)
	report.note(Count{"names of several features, which mean none of them", len(report.Unknown)})
}

// found is the result of a look-up.
type found uint8

const (
	gene found = iota
	unknown
	ambiguous // several features have the name, including a gene of the graph
)

// find returns what a name means. It does not allocate.
func (n *Names) find(name []byte) meaning {
	if m, known := n.get(name); known {
		return m
	}
	return meaning{0, unknown, -1}
}

// gene returns the gene that a name means.
func (n *Names) gene(name []byte) (row uint32, ok bool) {
	m := n.find(name)
	return m.gene, m.result == gene
}

// namedGene is a name and the result of its look-up.
type namedGene struct {
	name string
	meaning
}

func unknownGene(name string) namedGene { return namedGene{name, meaning{0, unknown, -1}} }

func (n *Names) named(name []byte) namedGene {
	return namedGene{string(name), n.find(name)}
}

// unknownHint is the hint for an unknown gene name in a source of a graph.
func (n *Names) unknownHint(name string) string {
	const drop = "drop its edges with unknown_genes: drop-gene"
	if alike := n.nodes.Alike(name); alike != "" {
		return alike + "; or " + drop
	}
	if n.nodes.Type != ingest.Gene {
		return "add it to the nodes, or " + drop
	}
	if n.find([]byte(name)).result == ambiguous {
		return "write the id of the gene that is meant, or " + drop
	}
	return "add the gene to the gene list, or its other names with " + n.otherNames() + "; or " + drop
}

// otherNames says for hints where to give other names of the genes.
func (n *Names) otherNames() string {
	switch {
	case n.kinds != nil:
		return "another table in " + n.aliasesKey
	case n.aliasesKey == "alias_tables":
		return n.nodes.AliasSetting()
	}
	return n.aliasesKey + " in the settings file"
}

// featuresOf are the systematic names of the features with an ambiguous name, which yeast's alleles
// have in lower case.
func (n *Names) featuresOf(name string) (features []string) {
	numbers, ok := n.several[name]
	if !ok {
		numbers = n.several[strings.ToUpper(name)]
	}
	for _, number := range numbers {
		features = append(features, n.features[number])
	}
	return features
}

// missing is the error, in a source of a graph, of a name for which find found no node.
func (n *Names) missing(name string) error {
	return fault.New(fault.Input, n.unknownHint(name), "%s", n.describe(name, n.find([]byte(name)).result))
}

// describe says, for an error, why find found no gene.
func (n *Names) describe(name string, result found) string {
	if result == ambiguous {
		return fmt.Sprintf("name %s is ambiguous: it is an alias of %s", fault.Quote(name), strings.Join(n.featuresOf(name), " and "))
	}
	if n.nodes.Type != ingest.Gene {
		return fmt.Sprintf("%s %s is not among the nodes of this type (%s)", n.nodes.Type, fault.Quote(name), plural(n.nodes.Len(), "node", ""))
	}
	return fmt.Sprintf("gene %s is not in the gene list (%s)", samples.QuoteGene(name), plural(n.nodes.Len(), "gene", ""))
}
