package source

import (
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// SampleSpec has the settings that all published perturbation tables share.
type SampleSpec struct {
	TextSpec      `yaml:",inline"`
	Aliases       AliasesSpec         `yaml:"aliases"`
	UnknownGenes  ingest.UnknownGenes `yaml:"unknown_genes"` // "" is error; see ingest.UnknownGenes
	MaxDropped    *float64            `yaml:"max_dropped"`   // as GraphSpec.MaxDropped
	Synonyms      ingest.Synonyms     `yaml:"synonyms"`      // "" is error; see ingest.Synonyms
	AllowWildtype bool                `yaml:"allow_wildtype"`
	// AllowDuplicateIDs allows empty and repeated sample ids: in a matrix, rows or columns of the
	// same name.
	AllowDuplicateIDs bool `yaml:"allow_duplicate_ids"`
	// KeepUnmeasured keeps rows whose phenotypes are all missing. Otherwise such rows are dropped
	// and counted.
	KeepUnmeasured bool `yaml:"keep_unmeasured"`
	// Where is an expression that is true for the samples to keep; see package where. "" keeps all.
	Where string `yaml:"where"`
}

// Screen is a published perturbation table, read as samples. It is a SampleSource. Every Scan reads
// the file again, in memory that grows with the number of different strains, of sample ids (about
// 20 bytes each), and of pairs in a matrix of genes x genes.
type Screen struct {
	*ingest.Perturbations // of the file's layout
	file                  *inputfile.File
	spec                  SampleSpec
	text                  table.TextOptions
	names                 *Names
	made                  string
	columns               ingest.Columns
	filter                *where.Filter // nil: all samples are kept
	ignored               []string
	reader                func(*screenReader) rowReader // makes the rowReader of one Scan
	report                SourceReport
}

// rowReader turns row i of a batch into samples, or counts why it does not.
type rowReader func(batch *table.Batch, i int) error

// Columns are the phenotypes and attributes of each sample.
func (s *Screen) Columns() ingest.Columns { return s.columns }

// IgnoredColumns are the names of the columns that are not part of the samples, in file order. A
// matrix has none, as it uses all its columns.
func (s *Screen) IgnoredColumns() []string { return s.ignored }

// Report accounts for the rows (cells of a matrix) that the latest Scan read.
func (s *Screen) Report() SourceReport { return s.report }

// Scan reads the samples. The receiver owns each batch. A table without any
// sample is an error.
func (s *Screen) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	in, err := table.OpenFile(s.file, s.text)
	if err != nil {
		return ingest.Counts{}, err
	}
	defer in.Close()
	r := &screenReader{Screen: s, kinds: make(map[int]int)}
	r.Batcher = ingest.NewBatcher(s.columns, func(samples *ingest.Samples) error {
		r.failed = yield(samples)
		return r.failed
	})
	read := s.reader(r)
	for batch, err := range in.Batches() {
		if err != nil {
			return r.Counts, err
		}
		for i := range batch.Len {
			err := read(batch, i)
			if r.failed != nil {
				return r.Counts, r.failed
			}
			if err != nil {
				return r.Counts, fault.New(fault.KindOf(err), fault.HintOf(err), "read perturbations %s: %w",
					in.Where(batch.First+int64(i)), err)
			}
		}
	}
	s.report = r.account()
	if err := s.report.check(r.emptyHint(), *s.spec.MaxDropped); err != nil {
		return r.Counts, err
	}
	return r.Counts, r.Flush()
}

// prepare checks the choices and fills in the settings that all kinds of screens share.
func (s *SampleSpec) prepare(genes *ingest.Nodes) (names *Names, text table.TextOptions, err error) {
	if s.UnknownGenes == "" {
		s.UnknownGenes = ingest.RefuseUnknownGenes
	}
	if err := s.UnknownGenes.Check(); err != nil {
		return nil, text, badSetting(fault.HintOf(err), "%w", err)
	}
	if err := s.Synonyms.Check(); err != nil {
		return nil, text, badSetting(fault.HintOf(err), "%w", err)
	}
	if s.MaxDropped == nil {
		s.MaxDropped = new(DefaultMaxDropped)
	}
	if err := checkMaxDropped(*s.MaxDropped); err != nil {
		return nil, text, err
	}
	if text, err = s.options(); err != nil {
		return nil, text, err
	}
	names, err = s.Aliases.names(genes)
	return names, text, err
}

// openScreen opens the file, and calls layout to find out how to read it. On an error it closes the
// file.
func (s SampleSpec) openScreen(genes *ingest.Nodes, made string, layout func(screen *Screen) error) (*Screen, error) {
	names, text, err := s.prepare(genes)
	if err != nil {
		return nil, err
	}
	file, err := inputfile.Open(s.File)
	if err != nil {
		return nil, err
	}
	screen := &Screen{file: file, spec: s, text: text, names: names, made: made}
	err = layout(screen)
	if err == nil && s.Where != "" {
		screen.filter, err = where.Compile(s.Where, screen.columns, genes, screen.ignored...)
		screen.columns = screen.columns.Kept()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return screen, nil
}

// badSetting returns the error of an invalid setting.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}
