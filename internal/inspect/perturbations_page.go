package inspect

import (
	"fmt"
	"strconv"

	"tcbuild/internal/chart"
)

// Page returns the summary as a page.
func (s *PerturbationSummary) Page(title string) *Page {
	page := &Page{Title: title, Tables: []Table{s.counts()}}
	sizes := Table{Title: "Genotype sizes", Header: []string{"deleted genes", "samples"}}
	var bars []chart.Bar
	for _, size := range s.GenotypeSizes {
		sizes.Rows = append(sizes.Rows, []string{count(size.Genes), count(size.Samples)})
		bars = append(bars, chart.Bar{Label: strconv.Itoa(size.Genes), Value: size.Samples})
	}
	genes := Table{Title: "Samples that delete a gene", Header: append([]string{"genes"}, distributionHeader[1:]...),
		Rows: [][]string{append([]string{count(s.Genes.Things)}, s.Genes.row()[1:]...)}}
	page.Tables = append(page.Tables, sizes, genes,
		binTable("Genes by the number of samples that delete them", "samples", []string{"genes"}, []Distribution{s.Genes}))
	page.Plots = []Plot{{Title: "Genotype sizes", X: "deleted genes", Y: "samples", Bars: bars},
		{Title: "Samples that delete a gene", X: "samples, from … on", Y: "genes", Bars: s.Genes.bars()}}
	if len(s.Phenotypes) > 0 {
		page.Tables = append(page.Tables, s.phenotypes())
		var missing []chart.Bar
		for _, p := range s.Phenotypes {
			missing = append(missing, chart.Bar{Label: p.Name, Value: p.Missing})
		}
		page.Plots = append(page.Plots, Plot{Title: "Missing phenotypes", X: "phenotype", Y: "samples", Bars: missing})
	}
	return page
}

func (s *PerturbationSummary) counts() Table {
	table := Table{Title: "Samples", Header: []string{"what", "number", "which"}, Rows: [][]string{
		{"samples", count(s.Samples), ""},
		{"that delete no gene", count(s.Wildtypes), ""},
		{"with the genotype of an earlier one", count(s.DuplicateGenotypes), ""},
		{"with the id of an earlier one", count(s.DuplicateIDs), ""},
		{"genes that their sample lists again", count(s.RepeatedGenes), ""},
	}}
	if s.Unknown == nil {
		table.Rows = append(table.Rows, []string{"unknown genes", "?", "give the graph with --graph"})
	} else {
		table.Rows = append(table.Rows,
			[]string{"unknown genes", count(len(s.Unknown.Genes)), counted(s.Unknown.Genes)},
			[]string{"samples that delete one of them", count(s.Unknown.Samples), ""})
	}
	table.Rows = append(table.Rows, []string{"attributes", count(len(s.Attributes)), listed(s.Attributes)})
	table.Rows = append(table.Rows, []string{"columns that are left out", count(len(s.IgnoredColumns)), listed(s.IgnoredColumns)})
	return table
}

func (s *PerturbationSummary) phenotypes() Table {
	table := Table{Title: "Phenotypes", Header: []string{"name", "values", "missing", "missing %", "min", "mean", "max"}}
	for _, p := range s.Phenotypes {
		row := []string{p.Name, count(p.Values), count(p.Missing),
			fmt.Sprintf("%.1f", 100*float64(p.Missing)/float64(max(p.Values+p.Missing, 1))), "-", "-", "-"}
		if p.Values > 0 {
			row = append(row[:4], number(p.Min), number(p.Mean), number(p.Max))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
