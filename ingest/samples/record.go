package samples

import (
	"slices"

	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// A Record is what a row of a table, or a record of a store, says of one sample. Of the row
// s7  TFC3|ctrl  0.5 it is the row's number, the id s7, mentions of TFC3 and ctrl, and the value.
//
// A form makes it, and a Genotyper makes a genotype of its mentions. It is valid until the form
// makes the next one.
type Record struct {
	Row         int64 // in the table; of a store, the record's number
	ID          []byte
	Mentions    []Mention
	MissingGene bool // in one of several columns of genes
	// ListedKinds is the number of kinds that a row has for its ListedGenes, the first mentions. A
	// row has one for each gene or one for all; other numbers are an error if it perturbs a gene.
	ListedKinds, ListedGenes int

	Phenotypes []float64
	Attributes []ingest.Value
	Trimmed    int // texts of attributes that had spaces around them
	Infinite   int // values that count as missing
}

// mentionsOf returns the mentions of an experiment. Experiments ascend.
func (r *Record) mentionsOf(experiment int) []Mention {
	compare := func(m Mention, experiment int) int { return m.Experiment - experiment }
	start, _ := slices.BinarySearchFunc(r.Mentions, experiment, compare)
	end, _ := slices.BinarySearchFunc(r.Mentions, experiment+1, compare)
	return r.Mentions[start:end]
}

// A Mention is a name as it is written, with what it means.
type Mention struct {
	Text   []byte
	Answer names.Answer
	Kind   []byte // of the perturbation; nil if nothing says it
	// Experiment counts the experiments of a store's record. Two names of one gene in one
	// experiment are synonyms.
	Experiment int
	Stays      bool // written as GENE=KIND: the gene stays in the graph
	Repeated   bool // in an experiment of the same names as the first
}

func (m *Mention) isGene() bool { return m.Answer.Meaning == names.Gene }

func (m *Mention) isOf(gene uint32) bool { return m.isGene() && m.Answer.Gene == gene }

// A form reads the records of one layout from batches of a type. Each worker has its own.
type form[B any] interface {
	// Record reads the record of row i, without its values.
	Record(batch B, i int) (*Record, error)
	// Values adds the values of a record, which has a genotype if it becomes a sample. strict says
	// that a wrong value is an error even if it does not.
	Values(batch B, i int, r *Record, genotype *Genotype) error
	strict() bool
}
