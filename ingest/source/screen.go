package source

import (
	"errors"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// SampleSpec is what the settings of all published perturbation tables have in common.
type SampleSpec struct {
	TextSpec      `yaml:",inline"`
	Aliases       AliasesSpec         `yaml:"aliases"`
	UnknownGenes  ingest.UnknownGenes `yaml:"unknown_genes"` // "" is error; see ingest.UnknownGenes
	AllowWildtype bool                `yaml:"allow_wildtype"`
}

// Screen is a published perturbation table, read as samples. It is a
// SampleSource: every Scan reads the file anew, in memory that grows with
// the number of different strains alone.
type Screen struct {
	*ingest.Perturbations // of the file's layout
	spec                  SampleSpec
	text                  table.TextOptions
	names                 *Names
	made                  string
	phenotypes            []string
	reader                func(*screenReader) rowReader // makes what reads the rows of one Scan
	report                SourceReport
}

// rowReader turns row i of a batch into samples, or counts why it does not.
type rowReader func(batch *table.Batch, i int) error

// PhenotypeNames are the names of the values that every sample carries.
func (s *Screen) PhenotypeNames() []string { return s.phenotypes }

// Report accounts for the rows - of a matrix, the cells - that the latest Scan read.
func (s *Screen) Report() SourceReport { return s.report }

// Scan reads the samples. Batches hold up to 4096 of them, and each is the receiver's.
func (s *Screen) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	in, err := table.OpenText(s.spec.File, s.text)
	if err != nil {
		return ingest.Counts{}, err
	}
	defer in.Close()
	r := &screenReader{Screen: s, yield: yield}
	read := s.reader(r)
	for {
		batch, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r.counts, err
		}
		for i := range batch.Len {
			err := read(batch, i)
			if r.failed != nil {
				return r.counts, r.failed
			}
			if err != nil {
				return r.counts, fault.New(fault.KindOf(err), fault.HintOf(err), "read perturbations %s: %w", in.Where(batch.First+int64(i)), err)
			}
		}
	}
	err = r.flush()
	s.report = r.account()
	return r.counts, err
}

// screenReader is one Scan of a Screen.
type screenReader struct {
	*Screen
	yield    func(*ingest.Samples) error
	failed   error // of yield
	samples  *ingest.Samples
	counts   ingest.Counts
	id       []byte
	rows     int
	missing  missingNames
	geneless int     // rows that drop-gene left without a gene
	dropped  []Count // reasons of the kind's own, each also when it is zero
	noted    []Count
}

const screenBatch = 4096

// add makes a sample; an empty id stands for its index. genes is strictly ascending.
func (r *screenReader) add(id []byte, genes []uint32, phenotypes []float64) error {
	if len(genes) == 0 {
		if !r.spec.AllowWildtype {
			return fault.New(fault.Input, "pass --allow-wildtype if training is to see the unperturbed graph",
				"the sample deletes no gene, expected at least one")
		}
		r.counts.Wildtypes++
	}
	if len(id) == 0 {
		r.id = strconv.AppendInt(r.id[:0], int64(r.counts.Samples), 10)
		id = r.id
	}
	if !utf8.Valid(id) {
		return fault.New(fault.Input, "save the file as UTF-8 text", "sample id %q is not valid UTF-8", id)
	}
	if r.samples == nil {
		r.samples = ingest.NewSamples(r.counts.Samples, len(r.phenotypes), screenBatch)
	}
	r.samples.Append(id, genes, phenotypes)
	r.counts.Samples++
	if r.samples.Len() == screenBatch {
		return r.flush()
	}
	return nil
}

func (r *screenReader) flush() error {
	if r.samples == nil || r.failed != nil {
		return r.failed
	}
	r.failed = r.yield(r.samples)
	r.samples = nil
	return r.failed
}

// lost counts n rows whose gene was not found, or refuses them.
func (r *screenReader) lost(name string, result found, n int) error {
	if r.spec.UnknownGenes == ingest.RefuseUnknownGenes {
		return fault.New(fault.Input, "add the gene to the graph, name its aliases by --aliases, or pass --unknown-genes drop-sample",
			"%s", r.names.describe(name, result))
	}
	r.missing.add(name)
	switch {
	case r.spec.UnknownGenes == ingest.DropGene:
		r.geneless += n
	case result == ambiguous:
		r.missing.ambiguousRows += n
	default:
		r.missing.unknownRows += n
	}
	return nil
}

// account makes the report of the rows read.
func (r *screenReader) account() SourceReport {
	report := SourceReport{Made: r.made, File: r.spec.File, Rows: r.rows, Kept: r.counts.Samples, Unknown: sortedNames(r.missing.names)}
	report.Dropped = appendCount(report.Dropped, "of unknown genes", r.missing.unknownRows)
	report.Dropped = appendCount(report.Dropped, "of ambiguous names", r.missing.ambiguousRows)
	report.Dropped = appendCount(report.Dropped, "left without a gene, as theirs are unknown", r.geneless)
	for _, c := range r.dropped {
		report.Dropped = appendCount(report.Dropped, c.What, c.N)
	}
	report.Noted = appendCount(report.Noted, "that delete no gene", r.counts.Wildtypes)
	report.Noted = appendCount(report.Noted, "unknown genes left out of samples that are kept", r.counts.UnknownGenes)
	report.Noted = appendCount(report.Noted, "with a gene listed again and merged", r.counts.RepeatedGenes)
	for _, c := range r.noted {
		report.Noted = appendCount(report.Noted, c.What, c.N)
	}
	return report
}

// phenotype reads a finite number, or NaN for a missing one.
func phenotype(batch *table.Batch, column, i int, name string) (float64, error) {
	value, _, err := batch.Number(column, i)
	switch {
	case err != nil:
		return 0, fault.New(fault.Input, "correct the value, or name the columns that are phenotypes", "phenotype %q: %w", name, err)
	case math.IsInf(value, 0):
		return 0, fault.New(fault.Input, "", "phenotype %q: found an infinite value, expected a finite number or a missing one", name)
	}
	return value, nil
}

// prepare fills in what all kinds of screens take from their settings: the
// names of genes, and a check of the choices.
func (s *SampleSpec) prepare(genes *ingest.Nodes) (names *Names, text table.TextOptions, err error) {
	if s.UnknownGenes == "" {
		s.UnknownGenes = ingest.RefuseUnknownGenes
	}
	if err := s.UnknownGenes.Check(); err != nil {
		return nil, text, badSetting(fault.HintOf(err), "%w", err)
	}
	delimiter, err := ParseDelimiter(s.Delimiter)
	if err != nil {
		return nil, text, err
	}
	names = NewNames(genes)
	if s.Aliases.SGDFeatures != "" {
		names, _, err = ReadNames(s.Aliases.SGDFeatures, genes)
	}
	return names, table.TextOptions{Delimiter: delimiter, Columns: s.Columns}, err
}

// badSetting makes the error of a setting that cannot be meant.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}
