package inspect

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/page"
)

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
	// genes listed more than once in their sample
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
// graph or, if genes is nil, whatever genes the set names that are not among controls. A file is read twice, a store once. Memory
// takes 16 bytes for each sample: duplicates are found by 64-bit hashes. Rows that a build would
// refuse are a fault.Input, except for unknown genes and empty genotypes, which are counted.
func Perturbations(ctx context.Context, path string, genes *ingest.Nodes, controls []string) (*PerturbationSummary, error) {
	set, err := samples.OpenFile(path, genes, samples.PerturbationOptions{AllowWildtype: true, AllowDuplicateIDs: true, Controls: controls})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	names, err := set.PerturbedGenes(ctx)
	if err != nil {
		return nil, err
	}
	known := len(names)
	if genes != nil {
		unknown := slices.DeleteFunc(names, func(name string) bool {
			_, known := genes.Index(name)
			return known
		})
		names, known = slices.Concat(genes.IDs, unknown), genes.Len()
	}
	all, _ := ingest.NewNodes(ingest.Gene, names, nil) // distinct
	set = set.Of(all)
	c := newSampleCounter(all, set.Columns())
	c.known = known
	kinds := ingest.NewKindCounter(set.Columns())
	var ids, genotypes []uint64 // hashes
	var scratch []byte
	affected := 0 // samples that delete an unknown gene
	counts, err := set.Scan(func(samples *ingest.Samples) error {
		kinds.Add(samples)
		for i := range samples.Len() {
			c.add(samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
			scratch = scratch[:0]
			for _, gene := range samples.Genes(i) {
				scratch = binary.LittleEndian.AppendUint32(scratch, gene)
			}
			ids, genotypes = append(ids, xxhash.Sum64(samples.ID(i))), append(genotypes, xxhash.Sum64(scratch))
			if slices.ContainsFunc(samples.Genes(i), func(gene uint32) bool { return int(gene) >= known }) {
				affected++
			}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	s := &PerturbationSummary{
		Samples: counts.Samples, Wildtypes: counts.Wildtypes, Controls: counts.Controls, Kinds: kinds.Counts(), RepeatedGenes: counts.RepeatedGenes,
		DuplicateGenotypes: repeats(genotypes), DuplicateIDs: repeats(ids),
		SampleSummary: c.summary(), IgnoredColumns: append([]string{}, set.IgnoredColumns()...), // not null in JSON
	}
	if genes != nil {
		s.Unknown = &UnknownSummary{Samples: affected, Genes: []NameCount{}}
		for i, name := range all.IDs[known:] {
			s.Unknown.Genes = append(s.Unknown.Genes, NameCount{name, c.deletions[known+i]})
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
	table := page.Section{Title: "Samples", Header: []string{"what", "number", "which"}, Rows: [][]string{
		{"samples", count(s.Samples), ""},
		{"that delete no gene", count(s.Wildtypes), ""},
		{"with the genotype of an earlier one", count(s.DuplicateGenotypes), ""},
		{"with the id of an earlier one", count(s.DuplicateIDs), ""},
		{"genes that their sample lists again", count(s.RepeatedGenes), ""},
	}}
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		table.Rows = append(table.Rows, []string{"perturbations of kind " + kind, count(s.Kinds[kind]), ""})
	}
	if s.Controls > 0 {
		table.Rows = append(table.Rows, []string{"names of controls", count(s.Controls), ""})
	}
	if s.Unknown == nil {
		table.Rows = append(table.Rows, []string{"unknown genes", "?", "give the graph with --graph"})
	} else {
		table.Rows = append(table.Rows,
			[]string{"unknown genes", count(len(s.Unknown.Genes)), counted(s.Unknown.Genes)},
			[]string{"samples that delete one of them", count(s.Unknown.Samples), ""})
	}
	table.Rows = append(table.Rows, []string{"columns that are left out", count(len(s.IgnoredColumns)), listed(s.IgnoredColumns)})
	return table.WithoutEmptyColumns()
}
