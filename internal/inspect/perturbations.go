package inspect

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
)

// PerturbationSummary is what a perturbation set holds. Genes are counted by the names that the set
// uses.
type PerturbationSummary struct {
	Samples int `json:"samples"`
	// samples that delete no gene
	Wildtypes int `json:"wildtypes"`
	// genes listed more than once in their sample
	RepeatedGenes int `json:"repeated_genes"`
	// samples with the same genotype as an earlier one
	DuplicateGenotypes int `json:"duplicate_genotypes"`
	// samples with the same id as an earlier one
	DuplicateIDs int `json:"duplicate_ids"`
	// genes that are not in the graph; nil without a graph
	Unknown       *UnknownSummary `json:"unknown,omitempty"`
	GenotypeSizes []SizeCount     `json:"genotype_sizes"` // ascending
	// in how many samples each gene is deleted
	Genes      Distribution       `json:"genes"`
	Phenotypes []PhenotypeSummary `json:"phenotypes"`
	// columns of the file that are not part of the samples
	Attributes     []string `json:"attributes"`
	IgnoredColumns []string `json:"ignored_columns"`
}

// UnknownSummary is the genes that are not in a graph.
type UnknownSummary struct {
	Samples int         `json:"samples"` // that delete at least one of them
	Genes   []NameCount `json:"genes"`   // by name, with the number of samples that delete it
}

// SizeCount is how many samples delete that many genes.
type SizeCount struct {
	Genes   int `json:"genes"`
	Samples int `json:"samples"`
}

// PhenotypeSummary is one phenotype. Without values, the numbers are 0.
type PhenotypeSummary struct {
	Name    string  `json:"name"`
	Values  int     `json:"values"`
	Missing int     `json:"missing"`
	Min     float64 `json:"min"`
	Mean    float64 `json:"mean"`
	Max     float64 `json:"max"`
}

// Perturbations describes the perturbation set in a file or a torchcell store. Genes are those of a
// graph or, if it is nil, whatever genes the set names. A file is read twice, a store once. Memory
// grows with the genes, not with the samples: beyond a quarter of a million samples, 16
// bytes each go to a temporary file. Duplicates are found by 64-bit hashes. Rows that a build would
// refuse are a fault.Input, except for unknown genes and empty genotypes, which are counted.
func Perturbations(ctx context.Context, path string, genes *ingest.Nodes) (*PerturbationSummary, error) {
	set, err := ingest.OpenPerturbations(path, nil, ingest.PerturbationOptions{AllowWildtype: true, AllowDuplicateIDs: true})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	names, err := set.PerturbedGenes(ctx)
	if err != nil {
		return nil, err
	}
	named, _ := ingest.NewNodes(ingest.Gene, names, nil) // distinct
	set = set.Of(named)
	c := newCounter(named, genes, set.Columns().PhenotypeNames())
	defer c.ids.close()
	defer c.genotypes.close()
	counts, err := set.Scan(func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			if err := c.add(samples.ID(i), samples.Genes(i), samples.Phenotypes(i)); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	s := c.summary(counts)
	if s.DuplicateGenotypes, err = c.genotypes.total(); err != nil {
		return nil, err
	}
	if s.DuplicateIDs, err = c.ids.total(); err != nil {
		return nil, err
	}
	s.Attributes = append(s.Attributes, set.Columns().AttributeNames()...)
	s.IgnoredColumns = append(s.IgnoredColumns, set.IgnoredColumns()...)
	return s, nil
}

// counter builds a summary, sample by sample.
type counter struct {
	named      *ingest.Nodes // the genes that the set names
	unknown    []bool        // by gene; nil without a graph
	deletions  []int         // by gene
	sizes      map[int]int   // samples by the number of their genes
	affected   int           // samples that delete an unknown gene
	phenotypes []PhenotypeSummary
	ids        repeats
	genotypes  repeats
	scratch    []byte
}

func newCounter(named, genes *ingest.Nodes, phenotypes []string) *counter {
	c := &counter{named: named, deletions: make([]int, named.Len()), sizes: make(map[int]int), phenotypes: []PhenotypeSummary{}}
	for _, name := range phenotypes {
		c.phenotypes = append(c.phenotypes, PhenotypeSummary{Name: name, Min: math.Inf(1), Max: math.Inf(-1)})
	}
	if genes != nil {
		c.unknown = make([]bool, named.Len())
		for i, name := range named.IDs {
			_, known := genes.Index(name)
			c.unknown[i] = !known
		}
	}
	return c
}

func (c *counter) add(id []byte, genes []uint32, phenotypes []float64) error {
	c.sizes[len(genes)]++
	affected := false
	c.scratch = c.scratch[:0]
	for _, gene := range genes {
		c.deletions[gene]++
		affected = affected || c.unknown != nil && c.unknown[gene]
		c.scratch = binary.LittleEndian.AppendUint32(c.scratch, gene)
	}
	if affected {
		c.affected++
	}
	for i, value := range phenotypes {
		p := &c.phenotypes[i]
		if math.IsNaN(value) {
			p.Missing++
			continue
		}
		p.Values++
		p.Min, p.Max = min(p.Min, value), max(p.Max, value)
		p.Mean += (value - p.Mean) / float64(p.Values)
	}
	if err := c.genotypes.add(xxhash.Sum64(c.scratch)); err != nil {
		return err
	}
	return c.ids.add(xxhash.Sum64(id))
}

// summary is the counts, without duplicates.
func (c *counter) summary(counts ingest.Counts) *PerturbationSummary {
	s := &PerturbationSummary{
		Samples: counts.Samples, Wildtypes: counts.Wildtypes, RepeatedGenes: counts.RepeatedGenes,
		GenotypeSizes: []SizeCount{}, Attributes: []string{}, IgnoredColumns: []string{}, Phenotypes: c.phenotypes,
		Genes: distribute(c.deletions, func(i int) string { return c.named.IDs[i] }),
	}
	for _, size := range slices.Sorted(maps.Keys(c.sizes)) {
		s.GenotypeSizes = append(s.GenotypeSizes, SizeCount{size, c.sizes[size]})
	}
	for i := range s.Phenotypes {
		if p := &s.Phenotypes[i]; p.Values == 0 {
			p.Min, p.Max = 0, 0
		}
	}
	if c.unknown != nil {
		s.Unknown = &UnknownSummary{Samples: c.affected, Genes: []NameCount{}}
		for gene, unknown := range c.unknown {
			if unknown {
				s.Unknown.Genes = append(s.Unknown.Genes, NameCount{c.named.IDs[gene], c.deletions[gene]})
			}
		}
	}
	return s
}
