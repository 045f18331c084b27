package inspect

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/page"
	"tcbuild/store"
)

// Sample is a sample with its masks. What is missing is null in JSON.
type Sample struct {
	Number     int      `json:"sample"`
	ID         string   `json:"sample_id"`
	Genes      []string `json:"genes"`
	Indices    []uint32 `json:"perturbation_indices"`
	Phenotypes Object   `json:"phenotypes"`
	Attributes Object   `json:"attributes"`
	Masks      Object   `json:"masks"` // each a Mask
}

// Object is a JSON object whose keys stay in their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, member := range o {
		name, err := json.Marshal(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(member.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// Mask is a mask of a sample.
type Mask struct {
	Size    int      `json:"size"`
	Removed []uint32 `json:"removed"` // positions in the mask
}

// SampleReader reads samples of a dataset.
type SampleReader struct {
	*store.MaskReader
	genes   []string // ids by index
	columns ingest.Columns
	layout  incidence.Layout
}

// NewSampleReader makes a reader, which the caller closes.
func NewSampleReader(dataset *store.Dataset) (*SampleReader, error) {
	graph, err := dataset.Graph()
	if err != nil {
		return nil, err
	}
	reader, err := dataset.NewMaskReader()
	return &SampleReader{reader, graph.Genes.IDs, dataset.Manifest.Columns(), dataset.Layout()}, err
}

// Read reads a sample.
func (r *SampleReader) Read(number int) (*Sample, error) {
	sample, removed, err := r.Sample(number)
	if err != nil {
		return nil, err
	}
	s := &Sample{Number: number, ID: string(sample.ID), Genes: []string{},
		Indices: append([]uint32{}, sample.Genes...)}
	for _, gene := range sample.Genes {
		s.Genes = append(s.Genes, r.genes[gene])
	}
	for i, phenotype := range r.columns.Phenotypes {
		s.Phenotypes = append(s.Phenotypes,
			Member{phenotype.Name, numberOrNil(sample.Phenotypes[i])})
	}
	for i, attribute := range r.columns.Attributes {
		var value any
		if text := sample.Attributes[i].Text; attribute.Type == ingest.NumberAttribute {
			value = numberOrNil(sample.Attributes[i].Number)
		} else if text != nil {
			value = string(text)
		}
		s.Attributes = append(s.Attributes, Member{attribute.Name, value})
	}
	for mask, part := range r.layout.Split(removed) {
		s.Masks = append(s.Masks, Member{mask.Name, Mask{int(mask.Size), within(part, mask.Start)}})
	}
	return s, nil
}

func numberOrNil(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return value
}

// String describes the sample in some lines.
func (s *Sample) String() string {
	var genes, masks []string
	for _, gene := range s.Genes {
		genes = append(genes, page.Cell(gene))
	}
	for _, member := range s.Masks {
		if mask := member.Value.(Mask); len(mask.Removed) > 0 {
			masks = append(masks, fmt.Sprintf("%s %s of %s", page.Cell(member.Name),
				count(len(mask.Removed)), count(mask.Size)))
		}
	}
	text := fmt.Sprintf("sample %d (id %s)\n  deletes %s\n  phenotypes %s\n", s.Number,
		page.Cell(s.ID), strings.Join(genes, ", "), s.Phenotypes)
	if len(s.Attributes) > 0 {
		text += "  attributes " + s.Attributes.String() + "\n"
	}
	return text + "  removes " + strings.Join(masks, ", ") + "\n"
}

func (o Object) String() string {
	var texts []string
	for _, member := range o {
		text := "missing"
		if member.Value != nil {
			text = page.Cell(fmt.Sprint(member.Value))
		}
		texts = append(texts, page.Cell(member.Name)+" "+text)
	}
	return strings.Join(texts, ", ")
}

// within returns positions, counted from 0 in the mask space, as positions in the mask that begins
// at start.
func within(positions []uint32, start int) []uint32 {
	inside := make([]uint32, len(positions))
	for i, position := range positions {
		inside[i] = position - uint32(start)
	}
	return inside
}
