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
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// Names finds genes by the names in public files. It reads whole tables, with the features that are
// not in the graph, so that their names match no other gene. Once read, it is safe for concurrent
// use.
type Names struct {
	nodes    *ingest.Nodes         // genes, or nodes of another type, which have no other names
	kinds    []string              // labels of the columns of ids and names, by precedence
	features []string              // ids: of the genes in their order, then of others
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
	kind   int16 // of the name; -1 for a gene id, or a name that no table has
}

// known reports whether the name is a feature's, in the graph or not.
func (m meaning) known() bool { return m.result != unknown || m.kind >= 0 }

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
// precedence over the names of each table, and these over the next table's. Within a table, ids
// take precedence over names, and earlier columns of names over later ones.
func ReadNames(files *inputfile.Files, tables []names.AliasTable, genes *ingest.Nodes) (*Names, Report, error) {
	names := newNames(genes, genes.Len()*(1+3*min(1, len(tables))))
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
func (n *Names) readTable(files *inputfile.Files, spec names.AliasTable) (SourceReport, error) {
	report := SourceReport{Made: "aliases", File: spec.File}
	rows, columns, err := openRows(files, spec.TextSpec, spec.RowsSpec, append([]string{spec.ID}, spec.Names...)...)
	if err != nil {
		return report, err
	}
	ids := int16(len(n.kinds)) // the kind of the table's ids
	if spec.Kinds == nil {
		label := "name in " + filepath.Base(spec.File)
		n.kinds = append(n.kinds, slices.Repeat([]string{label}, len(columns))...)
	}
	n.kinds = append(n.kinds, spec.Kinds...)
	split := []byte(cmp.Or(spec.Split, "\x00"))
	named := make([][]featureName, len(columns)) // names get their meaning after the last row
	empty, outside, ambiguousIDs, dates := 0, 0, 0, 0
	err = rows.each("aliases", &report, func(batch *table.Batch, i int) error {
		id := string(batch.Text(columns[0], i))
		if batch.Missing(columns[0], i) || id == "" { // a Parquet file can have empty texts
			empty++
			return nil
		}
		features := n.featuresOf(id)
		if features == nil {
			features = []uint32{n.newFeature(id, ids)}
		}
		switch n.find([]byte(id)).result {
		case gene:
			report.Kept++
		case unknown:
			outside++
		case ambiguous:
			ambiguousIDs++
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
					return fault.New(fault.Input, ingest.QuotesHint, "found name %s, expected one without quotes around it", fault.Quote(name))
				}
				if ingest.IsDate(name) {
					dates++ // the set may mean another gene by it
					continue
				}
				for _, feature := range features {
					named[k] = append(named[k], featureName{string(name), feature})
				}
			}
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	for k := range named {
		for _, f := range named[k] {
			n.add(f.name, f.feature, ids+int16(k))
		}
	}
	report.drop(Count{"without an id", empty}, Count{"of genes that are not in the graph", outside},
		Count{"of ambiguous names", ambiguousIDs})
	report.note(Count{"names that Excel made dates, which mean no gene", dates})
	n.noteAmbiguous(&report, ids)
	return report, report.check("check "+string(spec.Place)+": no id of the table is a gene's", n, 1)
}

func inQuotes(text []byte) bool {
	last := len(text) - 1
	return last > 0 && text[0] == '"' && text[last] == '"'
}

// featuresOf returns the numbers of the features that have a name, nil if no table has it.
func (n *Names) featuresOf(name string) []uint32 {
	m, known := n.get([]byte(name))
	switch several := n.several[name]; {
	case several != nil:
		return several
	case known:
		return []uint32{m.gene}
	}
	return nil
}

// newFeature makes a feature that is not in the graph, with an id of a kind.
func (n *Names) newFeature(id string, kind int16) uint32 {
	number := uint32(len(n.features))
	n.features = append(n.features, id)
	n.add(id, number, kind)
	return number
}

// add adds a name of a kind, unless it has a meaning as an earlier kind.
func (n *Names) add(name string, feature uint32, kind int16) {
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
	const drop = "; or drop its edges with unknown_genes: drop-gene"
	if hint := n.hint(name, "gene list"); hint != "" {
		return hint + drop
	}
	if n.nodes.Type != ingest.Gene {
		return "add it to the nodes" + drop
	}
	return "add the gene to the gene list, or its other names with " + n.otherNames() + drop
}

// hint says what to do about a name that means no gene, but is in the tables, is a date, or
// resembles an id; "" for any other. genes says what to add a gene to.
func (n *Names) hint(name, genes string) string {
	switch owners := n.owners(name); {
	case len(owners) == 1:
		return "add " + owners[0] + " to the " + genes
	case owners != nil:
		return "write the id of the gene that is meant"
	case n.nodes.Type == ingest.Gene && ingest.IsDate(name):
		return ingest.DateHint
	}
	return n.nodes.Alike(name)
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

// owners returns the ids of the features that have a name.
func (n *Names) owners(name string) (ids []string) {
	for _, number := range n.featuresOf(name) {
		ids = append(ids, n.features[number])
	}
	return ids
}

// missing is the error, in a source of a graph, of a name for which find found no node.
func (n *Names) missing(name string) error {
	return fault.New(fault.Input, n.unknownHint(name), "%s", n.describe(name, name))
}

// describe says, for an error, why a name means no gene. spelled is the name as tables spell it.
func (n *Names) describe(name, spelled string) string {
	owners, ids := n.owners(spelled), plural(n.nodes.Len(), n.nodes.Type, "")
	switch {
	case n.find([]byte(spelled)).result == ambiguous:
		return fmt.Sprintf("name %s is ambiguous: it is a name of %s",
			fault.Quote(name), strings.Join(owners, " and "))
	case n.nodes.Type != ingest.Gene:
		return fmt.Sprintf("%s %s is not among the nodes of this type (%s)", n.nodes.Type, fault.Quote(name), plural(n.nodes.Len(), "node", ""))
	case owners != nil && !slices.Equal(owners, []string{name}):
		return fmt.Sprintf("gene %s (%s) is not in the graph (%s)",
			fault.Quote(name), strings.Join(owners, " or "), ids)
	}
	return fmt.Sprintf("gene %s is not in the gene list (%s)", ingest.QuoteGene(name), ids)
}
