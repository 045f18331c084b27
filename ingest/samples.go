package ingest

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"

	"tcbuild/fault"
)

// MostSamples is the largest number of samples in a computed set. manifest.json lists a file per
// 65,536 samples, in 160 bytes, and is at most 64 MiB, which is enough for 2^34 samples and not for
// twice as many.
const MostSamples = 1 << 34

// Columns are what a perturbation set knows of each sample besides its id and deleted genes.
type Columns struct {
	Phenotypes []Phenotype
	Attributes []Attribute
	// FilterOnly is the number of attributes, the last ones, that are read for a filter and are no
	// part of the samples that it keeps.
	FilterOnly int `json:"-"`
	// Compared is the number of trailing attributes that only serve to compare samples of one
	// genotype: columns that are otherwise left out, then RowAttribute.
	Compared int `json:"-"`
	// Ignored are the names of the columns that are not part of the samples, in the order of the
	// file.
	Ignored []string `json:"-"`
	// Guessed names the columns that are phenotypes only because they hold numbers: neither the
	// options nor the file say that they were measured.
	Guessed []string `json:"-"`
	// ByName names the columns of numbers that are attributes because of their name.
	ByName []string `json:"-"`
	// Kinds is the attribute that says of what kind perturbations are (see KindsAttribute); "":
	// none.
	Kinds string `json:"-"`
	// KindsApart says that samples whose kinds differ have different genotypes.
	KindsApart bool `json:"-"`
}

// Kept are the columns of the samples that a filter keeps.
func (c Columns) Kept() Columns {
	kept := c
	kept.Attributes, kept.FilterOnly = c.Attributes[:len(c.Attributes)-c.FilterOnly], 0
	return kept
}

// Remaining returns the columns without those that are only compared.
func (c Columns) Remaining() Columns {
	remaining := c
	remaining.Attributes, remaining.Compared = c.Attributes[:len(c.Attributes)-c.Compared], 0
	return remaining
}

// RowAttribute is the last attribute of samples that are compared. It holds the sample's row in its
// source, for SampleSource.Place. No column has its empty name.
var RowAttribute = Attribute{Name: "", Type: NumberAttribute}

// Phenotype is a measured number.
type Phenotype struct {
	Name        string `json:"name"`
	Unit        string `json:"unit,omitempty"` // "" if the source does not say
	Description string `json:"description,omitempty"`
	// StatisticOf is the phenotype whose statistic this one is, such as its standard error; "" for
	// a measurement.
	StatisticOf string `json:"statistic_of,omitempty"`
}

// Attribute is something noted of a sample that is not measured, such as its medium.
type Attribute struct {
	Name string        `json:"name"`
	Type AttributeType `json:"type"`
}

// AttributeType is the type of an attribute's values.
type AttributeType string

const (
	TextAttribute   AttributeType = "text"
	NumberAttribute AttributeType = "number"
)

// PhenotypeNames are the names of the phenotypes, in order.
func (c Columns) PhenotypeNames() []string {
	names := make([]string, len(c.Phenotypes))
	for i, phenotype := range c.Phenotypes {
		names[i] = phenotype.Name
	}
	return names
}

// maxColumns bounds the memory of a batch.
const maxColumns = 1 << 16

// Check returns an error for columns that a table of samples cannot have.
func (c Columns) Check(path string) error {
	if found := len(c.Phenotypes) + len(c.Attributes); found > maxColumns {
		return fault.New(fault.Input, "select columns with --phenotypes and --attributes",
			"read perturbations %s: found %s phenotypes and attributes, expected at most %s",
			path, Grouped(found), Grouped(maxColumns))
	}
	for _, name := range append(c.PhenotypeNames(), c.AttributeNames()...) {
		if strings.TrimSpace(name) != name {
			return fault.New(fault.Input, "remove the spaces from the header",
				"read perturbations %s: found column %s, expected a name without spaces around it",
				path, fault.Quote(name))
		}
		if name == "sample_id" || name == "genes" || name == "perturbation_indices" {
			return fault.New(fault.Input,
				"rename the column, or leave it out: --not-phenotypes "+name,
				"read perturbations %s: found a phenotype or attribute named %s, "+
					"a name reserved for a column of tcbuild", path, name)
		}
	}
	return nil
}

// AttributeNames are the names of the attributes, in order.
func (c Columns) AttributeNames() []string {
	names := make([]string, len(c.Attributes))
	for i, attribute := range c.Attributes {
		names[i] = attribute.Name
	}
	return names
}

// NamedPhenotypes are phenotypes known only by name.
func NamedPhenotypes(names ...string) []Phenotype {
	phenotypes := make([]Phenotype, len(names))
	for i, name := range names {
		phenotypes[i].Name = name
	}
	return phenotypes
}

// Value is a sample's value of an attribute: Text of a text attribute, Number of another. A missing
// text is nil, a missing number is NaN.
type Value struct {
	Text   []byte
	Number float64
}

// TrimText removes the spaces around a text, including invisible ones such as a no-break space: YPD
// is one medium, however it was typed. trimmed is 1 if there were any, otherwise 0.
func TrimText(text []byte) (rest []byte, trimmed int) {
	rest = bytes.TrimFunc(text, isSpace)
	switch len(rest) {
	case len(text):
		return text, 0
	case 0:
		return text[:0], 1 // an empty text; nil would be a missing one
	}
	return rest, 1
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' }

// Samples is a batch of consecutive samples, stored in columns. The receiver owns it; slices
// returned by its methods are views that are valid as long as the batch.
type Samples struct {
	First int // index of the first sample in its perturbation set

	phenotypes      int // values per sample
	attributes      int
	ids             []byte
	idEnds          []int
	genes           []uint32
	geneEnds        []int
	phenotypeValues []float64
	attributeValues []attributeValue
	texts           []byte // of attributeValues
}

// attributeValue is a Value whose text is a part of Samples.texts.
type attributeValue struct {
	missing    bool // of a text
	start, end int
	number     float64
}

// NewSamples makes an empty batch that starts at sample first, with room for size samples.
func NewSamples(first int, columns Columns, size int) *Samples {
	phenotypes, attributes := len(columns.Phenotypes), len(columns.Attributes)
	return &Samples{
		First: first, phenotypes: phenotypes, attributes: attributes,
		ids: make([]byte, 0, 8*size), idEnds: make([]int, 0, size),
		genes: make([]uint32, 0, 3*size), geneEnds: make([]int, 0, size),
		phenotypeValues: make([]float64, 0, phenotypes*size),
		attributeValues: make([]attributeValue, 0, attributes*size),
		texts:           []byte{}, // not nil: a part of it is not a missing text
	}
}

// Append adds a sample; the arguments are copied. genes are perturbation
// indices, strictly ascending. phenotypes and attributes are as many as the
// columns given to NewSamples; a missing phenotype is NaN.
func (s *Samples) Append(id []byte, genes []uint32, phenotypes []float64, attributes []Value) {
	s.ids = append(s.ids, id...)
	s.idEnds = append(s.idEnds, len(s.ids))
	s.genes = append(s.genes, genes...)
	s.geneEnds = append(s.geneEnds, len(s.genes))
	s.phenotypeValues = append(s.phenotypeValues, phenotypes...)
	for _, value := range attributes {
		start := len(s.texts)
		s.texts = append(s.texts, value.Text...)
		s.attributeValues = append(s.attributeValues,
			attributeValue{value.Text == nil, start, len(s.texts), value.Number})
	}
}

// Sample is what is known of one sample. Who makes it says how long its slices live.
type Sample struct {
	ID         []byte    // UTF-8
	Genes      []uint32  // strictly ascending
	Phenotypes []float64 // a missing one is NaN
	Attributes []Value
}

// Clone returns a copy of the sample that shares no memory with its batch.
func (s Sample) Clone() Sample {
	s.ID, s.Genes = slices.Clone(s.ID), slices.Clone(s.Genes)
	s.Phenotypes, s.Attributes = slices.Clone(s.Phenotypes), slices.Clone(s.Attributes)
	for k, value := range s.Attributes {
		s.Attributes[k].Text = bytes.Clone(value.Text)
	}
	return s
}

// At makes sample First+i, as views of the batch. It uses the memory of the sample's attributes
// again.
func (s *Samples) At(i int, sample *Sample) {
	sample.ID, sample.Genes, sample.Phenotypes = s.ID(i), s.Genes(i), s.Phenotypes(i)
	sample.Attributes = sample.Attributes[:0]
	for k := range s.attributes {
		sample.Attributes = append(sample.Attributes, s.Attribute(i, k))
	}
}

// Len is the number of samples.
func (s *Samples) Len() int { return len(s.idEnds) }

// TextBytes returns the total length in bytes of the ids and texts of samples First+from to
// First+end-1.
func (s *Samples) TextBytes(from, end int) int {
	bytes := start(s.idEnds, end) - start(s.idEnds, from)
	if s.attributes > 0 && from < end {
		last := s.attributeValues[end*s.attributes-1].end
		bytes += last - s.attributeValues[from*s.attributes].start
	}
	return bytes
}

// ID returns the sample id of sample First+i.
func (s *Samples) ID(i int) []byte { return s.ids[start(s.idEnds, i):s.idEnds[i]] }

// Genes returns the perturbation indices of sample First+i, strictly ascending.
func (s *Samples) Genes(i int) []uint32 { return s.genes[start(s.geneEnds, i):s.geneEnds[i]] }

// Phenotypes returns the phenotype values of sample First+i; a missing value is NaN.
func (s *Samples) Phenotypes(i int) []float64 {
	return s.phenotypeValues[i*s.phenotypes : (i+1)*s.phenotypes]
}

// Attributes returns the attributes of sample First+i.
func (s *Samples) Attributes(i int) []Value {
	values := make([]Value, s.attributes)
	for k := range values {
		values[k] = s.Attribute(i, k)
	}
	return values
}

// Attribute returns the k-th attribute of sample First+i.
func (s *Samples) Attribute(i, k int) Value {
	value := s.attributeValues[i*s.attributes+k]
	if value.missing {
		return Value{Number: value.number}
	}
	return Value{s.texts[value.start:value.end:value.end], value.number}
}

func start(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// SampleSource is a perturbation set that can be read repeatedly, always with the same result, in
// memory that does not grow with its length.
type SampleSource interface {
	// Columns are the phenotypes and attributes of each sample, in order.
	Columns() Columns
	// Inputs identifies the files that the source reads. It waits until they are digested.
	Inputs() []Input
	// Batches reads all samples in order, in batches, which can be empty; the receiver owns each.
	// The account gets what became of the rows. The last pair may have an error, and no batch: bad
	// data is a fault.Input that names file and line. Once ctx is done it is the cause of that.
	Batches(ctx context.Context, account *Account) iter.Seq2[*Samples, error]
	// Place names a row, as in RowAttribute: "set.tsv:12". It reads the source up to there.
	Place(row int64) (string, error)
	// Unchanged returns a fault.Busy if a file changed since it was opened, as when it is still
	// being written. What was read is certain only then, errors about its content among it.
	Unchanged() error
	// Close closes the files.
	Close() error
}

// BatchSamples is the number of samples in a batch of a SampleSource. Batches of samples with
// many columns are smaller, about batchValues values, and so are those with long texts.
const (
	BatchSamples = 4096
	batchValues  = 1 << 21
	// BatchTexts is roughly the most bytes of ids and texts in a batch.
	BatchTexts = 32 << 20
)

// Batcher collects samples into batches, for the loop over the Batches of a source.
type Batcher struct {
	Samples int // that were added
	columns Columns
	size    int
	yield   func(*Samples, error) bool
	batch   *Samples // nil or not full
}

// BatchSize is how many samples a batch has at most.
func BatchSize(columns Columns) int {
	values := max(len(columns.Phenotypes)+len(columns.Attributes), 1)
	return max(min(BatchSamples, batchValues/values), 1)
}

// NewBatcher makes a Batcher that passes each full batch to yield. The sizes of batches depend on
// the columns only.
func NewBatcher(columns Columns, yield func(*Samples, error) bool) *Batcher {
	return &Batcher{columns: columns, size: BatchSize(columns), yield: yield}
}

// Add appends a sample, as Samples.Append does. It reports whether the loop goes on.
func (b *Batcher) Add(id []byte, genes []uint32, phenotypes []float64, attributes []Value) bool {
	if b.batch == nil {
		b.batch = NewSamples(b.Samples, b.columns, b.size)
	}
	b.batch.Append(id, genes, phenotypes, attributes)
	b.Samples++
	if n := b.batch.Len(); n == b.size || b.batch.TextBytes(0, n) >= BatchTexts {
		return b.Flush()
	}
	return true
}

// Flush passes on the last batch, if it has samples, and reports whether the loop goes on.
func (b *Batcher) Flush() bool {
	batch := b.batch
	if b.batch = nil; batch == nil || batch.Len() == 0 {
		return true
	}
	return b.yield(batch, nil)
}
