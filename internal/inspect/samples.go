package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize/english"

	"tcbuild/ingest"
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
	columns    ingest.Columns
	deletions  []int       // by gene
	sizes      map[int]int // samples by the number of their genes
	phenotypes []numberCounter
	attributes []attributeCounter
}

func newSampleCounter(genes *ingest.Nodes, columns ingest.Columns) *sampleCounter {
	c := &sampleCounter{genes: genes, columns: columns,
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
		Genes:      distribute(c.deletions, func(i int) string { return c.genes.IDs[i] })}
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
