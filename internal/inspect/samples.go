package inspect

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize/english"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/where"
	"tcbuild/internal/page"
)

// SampleSummary is what samples hold.
type SampleSummary struct {
	GenotypeSizes []SizeCount `json:"genotype_sizes"` // ascending
	// in how many samples each gene is deleted
	Genes      Distribution       `json:"genes"`
	Phenotypes []PhenotypeSummary `json:"phenotypes"`
	Attributes []AttributeSummary `json:"attributes"`
}

// SizeCount is how many samples delete that many genes.
type SizeCount struct {
	Genes   int `json:"genes"`
	Samples int `json:"samples"`
}

// sampleCounter builds a SampleSummary, sample by sample. Its memory does not grow with them.
type sampleCounter struct {
	genes      *ingest.Nodes
	known      int // the first genes are the graph's
	columns    ingest.Columns
	deletions  []int       // by gene
	sizes      map[int]int // samples by the number of their genes
	phenotypes []numberCounter
	attributes []attributeCounter
}

func newSampleCounter(genes *ingest.Nodes, columns ingest.Columns) *sampleCounter {
	c := &sampleCounter{genes: genes, known: genes.Len(), columns: columns,
		deletions: make([]int, genes.Len()), sizes: make(map[int]int),
		phenotypes: make([]numberCounter, len(columns.Phenotypes))}
	for _, attribute := range columns.Attributes {
		c.attributes = append(c.attributes, attributeCounter{Attribute: attribute,
			texts: make(map[string]*int), numbers: make(map[float64]*int)})
	}
	return c
}

func (c *sampleCounter) add(genes []uint32, phenotypes []float64, attributes []ingest.Value) {
	c.sizes[len(genes)]++
	for _, gene := range genes {
		c.deletions[gene]++
	}
	for i, value := range phenotypes {
		c.phenotypes[i].add(value)
	}
	for i, value := range attributes {
		c.attributes[i].add(value)
	}
}

func (c *sampleCounter) summary() SampleSummary {
	s := SampleSummary{GenotypeSizes: []SizeCount{}, Phenotypes: []PhenotypeSummary{},
		Attributes: []AttributeSummary{},
		Genes:      distribute(c.deletions[:c.known], func(i int) string { return c.genes.IDs[i] })}
	for _, size := range slices.Sorted(maps.Keys(c.sizes)) {
		s.GenotypeSizes = append(s.GenotypeSizes, SizeCount{size, c.sizes[size]})
	}
	for i, phenotype := range c.columns.Phenotypes {
		s.Phenotypes = append(s.Phenotypes, PhenotypeSummary{phenotype, c.phenotypes[i].summary()})
	}
	for i := range c.attributes {
		s.Attributes = append(s.Attributes, c.attributes[i].summary())
	}
	return s
}

// tables are the summary as tables of a page.
func (s *SampleSummary) tables() []page.Section {
	var tables []page.Section
	if len(s.Phenotypes) > 0 {
		tables = append(tables, s.phenotypeTable())
	}
	if len(s.Attributes) > 0 {
		tables = append(tables, s.attributeTable())
	}
	for _, a := range s.Attributes {
		// of ids there is nothing to tell
		if len(a.MostFrequent) > 0 && a.MostFrequent[0].Samples > 1 {
			tables = append(tables, a.valueTable())
		}
	}
	sizes := page.Section{Title: "Genotype sizes", Header: []string{"deleted genes", "samples"}}
	plot := page.Plot{Title: sizes.Title, X: "deleted genes", Counted: "samples"}
	for _, size := range s.GenotypeSizes {
		sizes.Add(size.Genes, size.Samples)
		plot.Columns = append(plot.Columns,
			page.Column{Label: strconv.Itoa(size.Genes), Value: size.Samples})
	}
	if len(s.GenotypeSizes) > 0 {
		sizes.Plots = []page.Plot{plot}
	}
	genes := page.Section{Title: "Samples that delete a gene",
		Header: append([]string{"genes"}, distributionHeader...),
		Rows:   [][]string{append([]string{count(s.Genes.Things)}, s.Genes.row()...)},
		Plots:  s.Genes.plots("Samples that delete a gene", "samples", "genes")}
	return append(tables, sizes, genes)
}

// mostPlots is how many phenotypes of a page have a plot: of each, one takes 10 kB.
const mostPlots = 100

func (s *SampleSummary) phenotypeTable() page.Section {
	table := page.Section{Title: "Phenotypes",
		Header: []string{"name", "unit", "statistic of", "values", "missing", "missing %",
			"min", "mean", "sd", "max", "description"}}
	for i, p := range s.Phenotypes {
		row := append([]string{p.Name, p.Unit, p.StatisticOf}, p.row()...)
		table.Rows = append(table.Rows, append(row, p.Description))
		table.Sketches = append(table.Sketches, sparkline(p.Bins))
		if i < mostPlots {
			table.Plots = append(table.Plots, p.plots(p.Name, p.Unit)...)
		}
	}
	if more := len(s.Phenotypes) - mostPlots; more > 0 {
		table.Note = fmt.Sprintf("The first %d phenotypes have a plot, %s more have none.",
			mostPlots, count(more))
	}
	return table.WithoutEmptyColumns()
}

// row is what there is of the numbers, below the titles from values to max.
func (s *NumberSummary) row() []string {
	row := []string{count(s.Values), count(s.Missing), percent(s.Missing, s.Values+s.Missing), "-",
		"-", "-", "-"}
	if s.Values > 0 {
		row = append(row[:3], number(s.Min), number(s.Mean), "-", number(s.Max))
	}
	if s.SD != nil {
		row[5] = number(*s.SD)
	}
	return row
}

func (s *SampleSummary) attributeTable() page.Section {
	table := page.Section{Title: "Attributes",
		Header: []string{"name", "type", "values", "missing", "missing %",
			"min", "mean", "sd", "max", "different values"}}
	for _, a := range s.Attributes {
		numbers, different, sketch := NumberSummary{Values: a.Values, Missing: a.Missing},
			"too many to count", ""
		if a.Different != nil {
			different = count(*a.Different)
		}
		row := numbers.row()
		if a.Numbers != nil {
			row, sketch = a.Numbers.row(), sparkline(a.Numbers.Bins)
			table.Plots = append(table.Plots, a.Numbers.plots(a.Name, "")...)
		} else {
			row = append(row[:3], "", "", "", "")
		}
		table.Rows = append(table.Rows,
			append(append([]string{a.Name, string(a.Type)}, row...), different))
		table.Sketches = append(table.Sketches, sketch)
	}
	table.Plots = table.Plots[:min(len(table.Plots), mostPlots)]
	return table.WithoutEmptyColumns()
}

// valueTable has the most frequent values. What is not a value is in parentheses.
func (s *AttributeSummary) valueTable() page.Section {
	table := page.Section{Title: "Values of " + page.Cell(s.Name),
		Header: []string{"value", "samples", "%"}}
	add := func(what string, samples int) {
		if samples > 0 {
			table.Add(what, samples, percent(samples, s.Values+s.Missing))
		}
	}
	others, more := s.Values, *s.Different-len(s.MostFrequent)
	for _, value := range s.MostFrequent {
		add(cmp.Or(fmt.Sprint(value.Value), `""`), value.Samples)
		others -= value.Samples
	}
	add("("+count(more)+" more "+english.PluralWord(more, "value", "")+")", others)
	add("(missing)", s.Missing)
	return table
}

// PerturbationSummary is what a perturbation set holds. Without a graph, genes are counted by the
// names that the set uses.
type PerturbationSummary struct {
	Samples int `json:"samples"`
	// samples that delete no gene
	Wildtypes int `json:"wildtypes"`
	// numbers of perturbations by kind
	Kinds map[string]int `json:"kinds,omitempty"`
	// names of controls, which delete nothing
	Controls int `json:"controls,omitempty"`
	// samples that list a gene twice, which are dropped
	SelfPairs int `json:"self_pairs"`
	// genes that a record of a torchcell store repeats
	RepeatedGenes int `json:"repeated_genes"`
	// samples with the same genotype as an earlier one
	DuplicateGenotypes int `json:"duplicate_genotypes"`
	// samples with the same id as an earlier one
	DuplicateIDs int `json:"duplicate_ids"`
	// genes that are not in the graph; nil without a graph
	Unknown *UnknownSummary `json:"unknown,omitempty"`
	SampleSummary
	// columns of the file that are not part of the samples
	IgnoredColumns []string `json:"ignored_columns"`
}

// UnknownSummary is the genes that are not in a graph.
type UnknownSummary struct {
	Samples int         `json:"samples"` // that delete at least one of them
	Genes   []NameCount `json:"genes"`   // by name, with the number of samples that delete it
}

// Perturbations describes the perturbation set in a file or a torchcell store. Genes belong to a
// graph or, if genes is nil, whatever genes the set names that are not among controls. A file is
// read twice, a store once. Memory takes 16 bytes for each sample: duplicates are found by 64-bit
// hashes. Rows that a build would refuse are a fault.Input, except for unknown genes and empty
// genotypes, which are counted.
func Perturbations(
	ctx context.Context, spec samples.Spec, cell *ingest.Graph,
) (*PerturbationSummary, error) {
	// in a matrix, duplicate names of rows and columns mean both halves
	spec.AllowWildtype, spec.AllowDuplicateIDs = true, spec.AllowDuplicateIDs || !spec.Matrix
	if err := spec.Prepare(); err != nil {
		return nil, err
	}
	known := cell
	if cell == nil {
		known = &ingest.Graph{Genes: &ingest.Nodes{Type: ingest.Gene}}
	}
	var tables inputfile.Files // of names
	defer tables.Close()
	resolver, err := spec.Resolver(&tables, names.BuilderOf(known), known.IgnoreCase)
	if err != nil {
		return nil, err
	}
	unknown, err := samples.UnknownNames(ctx, spec, resolver)
	if err != nil {
		return nil, err
	}
	resolver, err = spec.Resolver(&tables, names.Extend(known, unknown), known.IgnoreCase)
	if err != nil {
		return nil, err
	}
	all := resolver.Nodes()
	form, err := samples.OpenForm(spec, resolver)
	if err != nil {
		return nil, err
	}
	defer form.Close()
	set, err := where.NewSource(form, spec.File, spec.Where, resolver)
	if err != nil {
		return nil, err
	}
	c := newSampleCounter(all, set.Columns())
	c.known = all.Len()
	if cell != nil {
		c.known = cell.Genes.Len()
	}
	kinds := ingest.NewKindCounter(set.Columns())
	var ids, genotypes []uint64 // hashes
	var scratch []byte
	affected := 0 // samples that delete an unknown gene
	var account ingest.Account
	for samples, err := range set.Batches(ctx, &account) {
		if err != nil {
			return nil, err
		}
		kinds.Add(samples)
		for i := range samples.Len() {
			c.add(samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
			scratch = scratch[:0]
			for _, gene := range samples.Genes(i) {
				scratch = binary.LittleEndian.AppendUint32(scratch, gene)
			}
			ids, genotypes = append(ids, xxhash.Sum64(samples.ID(i))),
				append(genotypes, xxhash.Sum64(scratch))
			if slices.ContainsFunc(samples.Genes(i),
				func(gene uint32) bool { return int(gene) >= c.known }) {
				affected++
			}
		}
	}
	s := &PerturbationSummary{
		Samples:            account.Kept,
		Wildtypes:          account.Sum(ingest.Wildtype),
		Controls:           account.Sum(ingest.ControlName),
		Kinds:              kinds.Counts(),
		SelfPairs:          account.Sum(ingest.SelfPair),
		RepeatedGenes:      account.Sum(ingest.RepeatedGene),
		DuplicateGenotypes: repeats(genotypes),
		DuplicateIDs:       repeats(ids),
		SampleSummary:      c.summary(),
		IgnoredColumns:     append([]string{}, set.Columns().Ignored...), // not null in JSON
	}
	if cell != nil {
		s.Unknown = &UnknownSummary{Samples: affected, Genes: []NameCount{}}
		for i, name := range all.IDs[c.known:] {
			s.Unknown.Genes = append(s.Unknown.Genes, NameCount{name, c.deletions[c.known+i]})
		}
	}
	return s, nil
}

// repeats counts the hashes that are there before; it sorts them.
func repeats(hashes []uint64) int {
	slices.Sort(hashes)
	return len(hashes) - len(slices.Compact(hashes))
}

// Page returns the summary as a page.
func (s *PerturbationSummary) Page(title string) *page.Page {
	return &page.Page{Title: title, Sections: append([]page.Section{s.counts()}, s.tables()...)}
}

func (s *PerturbationSummary) counts() page.Section {
	table := page.Section{Title: "Samples", Header: []string{"what", "number", "which"}}
	table.Add("samples", s.Samples, "")
	table.Add("that delete no gene", s.Wildtypes, "")
	table.Add("with the genotype of an earlier one", s.DuplicateGenotypes, "")
	table.Add("with the id of an earlier one", s.DuplicateIDs, "")
	table.Add("dropped, as they list a gene twice", s.SelfPairs, "")
	table.Add("genes that their record has again", s.RepeatedGenes, "")
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		note := ""
		if !samples.IsLoss(kind) {
			note = "may leave their gene in place: a build needs removing_kinds"
		}
		table.Add("perturbations of kind "+kind, s.Kinds[kind], note)
	}
	if s.Controls > 0 {
		table.Add("names of controls", s.Controls, "")
	}
	if s.Unknown == nil {
		table.Add("unknown genes", "?", "give the graph with --graph")
	} else {
		table.Add("unknown genes", len(s.Unknown.Genes), counted(s.Unknown.Genes))
		table.Add("samples that delete one of them", s.Unknown.Samples, "")
	}
	table.Add("columns that are left out", len(s.IgnoredColumns), listed(s.IgnoredColumns))
	return table.WithoutEmptyColumns()
}
