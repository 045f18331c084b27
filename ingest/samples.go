package ingest

import (
	"bytes"
	"slices"
	"unicode"
)

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

// IsFull reports whether a batch of at most size samples has no room for another.
func (s *Samples) IsFull(size int) bool {
	n := s.Len()
	return n >= size || s.TextBytes(0, n) >= BatchTexts
}
