package inspect

import (
	"context"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/internal/page"
	"tcbuild/store"
)

// GeneSummary is a gene of a graph, found by one of its names.
type GeneSummary struct {
	ID      string   `json:"id"`
	Names   []string `json:"names"`             // others, first the one by which it is called
	Edges   []Count  `json:"edges"`             // of each type
	Samples *int     `json:"samples,omitempty"` // of a dataset, those that delete the gene
}

// Count is a number of things.
type Count struct {
	What string `json:"type"`
	N    int    `json:"edges"`
}

// Gene describes the gene that a name means in a graph, and how many samples of a dataset, which
// may be nil, delete it. A name that means no gene is a fault.Input.
func Gene(
	ctx context.Context, cell *ingest.Graph, dataset *store.Dataset, name string,
) (*GeneSummary, error) {
	row, err := names.Of(cell).Row(name)
	if err != nil {
		return nil, fault.New(fault.Input, fault.HintOf(err), "read --gene: %w", err)
	}
	s := &GeneSummary{ID: cell.Genes.IDs[row], Names: []string{}, Edges: []Count{}}
	for _, column := range []string{ingest.NameColumn, ingest.AliasesColumn} {
		if texts := cell.Genes.Texts(column); texts != nil {
			isEmpty := func(text string) bool { return text == "" }
			s.Names = append(s.Names, slices.DeleteFunc(texts[row], isEmpty)...)
		}
	}
	for _, edges := range cell.Edges {
		source, target := edges.Type.Ends()
		n := 0
		for i := range edges.Len() {
			isSource := source == ingest.Gene && edges.Src[i] == row
			isTarget := target == ingest.Gene && edges.Dst[i] == row
			if isSource || isTarget {
				n++
			}
		}
		if n > 0 {
			s.Edges = append(s.Edges, Count{edges.Type.String(), n})
		}
	}
	if dataset == nil || dataset.Manifest.Samples == 0 {
		return s, nil
	}
	s.Samples = new(int)
	return s, dataset.EachSample(ctx, func(_ int, sample *ingest.Sample) error {
		if _, deleted := slices.BinarySearch(sample.Genes, row); deleted {
			*s.Samples++
		}
		return nil
	})
}

// Page returns the summary as a page.
func (s *GeneSummary) Page() *page.Page {
	var table page.Section
	table.Add("other names", strings.Join(s.Names, ", "))
	for _, edges := range s.Edges {
		table.Add("edges of "+edges.What, edges.N)
	}
	if s.Samples != nil {
		table.Add("samples that delete it", *s.Samples)
	}
	return &page.Page{Title: "Gene " + s.ID, Sections: []page.Section{table}}
}
