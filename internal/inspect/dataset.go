package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"tcbuild/ingest"
	"tcbuild/internal/page"
	"tcbuild/store"
)

// DatasetSummary is a dataset's manifest, and what its samples hold.
type DatasetSummary struct {
	*store.Manifest
	Summary *SampleSummary `json:"summary,omitempty"` // none without samples
}

// Dataset describes a dataset. It reads the sample table once, no masks, in memory that does not
// grow with the samples.
func Dataset(ctx context.Context, dataset *store.Dataset) (*DatasetSummary, error) {
	s := &DatasetSummary{Manifest: dataset.Manifest}
	if s.Samples == 0 {
		return s, nil
	}
	genes, err := dataset.Names()
	if err != nil {
		return nil, err
	}
	counter := newSampleCounter(genes.Nodes(), s.Columns())
	err = dataset.EachSample(ctx, func(_ int, row *ingest.Sample) error {
		counter.add(row.Genes, row.Phenotypes, row.Attributes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	summary := counter.summary()
	s.Summary = &summary
	return s, nil
}

// Page returns the summary as a page about the dataset in dir.
func (s *DatasetSummary) Page(dir string) *page.Page {
	p := &page.Page{Title: "Dataset " + filepath.Base(filepath.Clean(dir)),
		Lead: []string{s.Description()}, Sections: []page.Section{s.facts(dir)}}
	if s.Summary != nil {
		p.Sections = append(p.Sections, s.Summary.tables()...)
	}
	p.Sections = append(p.Sections, s.masks(), s.inputs(), s.files())
	return p
}

// facts are what the set is and how it was made.
func (s *DatasetSummary) facts(dir string) page.Section {
	table := page.Section{}
	add := func(what, value string) {
		if value != "" {
			table.Add(what, value)
		}
	}
	number := func(what string, n int) {
		if n > 0 {
			add(what, count(n))
		}
	}
	add("folder", dir)
	add("variant", strings.TrimSpace(string(s.Variant)+" "+s.Codec))
	add("samples", count(s.Samples))
	number("genotypes", s.Account.Repeats.Genotypes)
	number("genotypes of several samples", s.Account.Repeats.RepeatedGenotypes)
	number("samples of these", s.Account.Repeats.RepeatedSamples)
	if s.Kinds != nil {
		add("perturbations", kindCounts(s.Kinds.Perturbations))
		add("that remove a node", cmp.Or(strings.Join(s.Kinds.Removing, ", "), "all"))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Options.Perturbations)) {
		add("perturbations: "+key, settingText(s.Options.Perturbations[key]))
	}
	for _, c := range s.Account.Dropped {
		number("samples dropped: "+c.Reason.Text(), c.Rows)
	}
	for _, c := range s.Account.Noted {
		number("noted: "+c.Reason.Text(), c.Rows)
	}
	add("reaction rule", string(s.Options.ReactionRule))
	add("size", humanize.BytesN(uint64(s.DataBytes()), 3))
	if s.Samples > 0 {
		add("per sample", humanize.BytesN(uint64(s.SampleBytes()/int64(s.Samples)), 3))
	}
	number("shards", len(s.Shards))
	add("built by", s.Program)
	add("logical content", s.LogicalContent)
	return table
}

func kindCounts(counts map[string]int) string {
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, kind+" "+count(counts[kind]))
	}
	return strings.Join(texts, ", ")
}

func (s *DatasetSummary) masks() page.Section {
	table := page.Section{Title: "Masks", Header: []string{"of", "positions"}}
	for _, mask := range s.Masks {
		table.Add(mask.Name, mask.Size)
	}
	return table
}

func (s *DatasetSummary) inputs() page.Section {
	table := page.Section{Title: "Built from", Header: []string{"file", "of", "bytes", "sha256"}}
	for _, input := range s.Inputs.Perturbations {
		table.Add(input.Name, "perturbation set", int(input.Bytes), input.SHA256)
	}
	for _, input := range s.Inputs.Graph {
		table.Add(input.Name, "graph", int(input.Bytes), input.SHA256)
	}
	return table
}

// files are the sizes of the data files; a folder and all shards count together.
func (s *DatasetSummary) files() page.Section {
	table := page.Section{Title: "Files", Header: []string{"name", "files", "bytes"}}
	var names []string
	numbers, sizes := make(map[string]int), make(map[string]int)
	for _, file := range s.Files { // sorted by name
		name, _, isFolder := strings.Cut(file.Name, "/")
		switch {
		case strings.HasPrefix(name, "shard-"):
			name = "shard-*/"
		case isFolder:
			name += "/"
		}
		if numbers[name] == 0 {
			names = append(names, name)
		}
		numbers[name]++
		sizes[name] += int(file.Bytes)
	}
	for _, name := range names {
		table.Add(name, numbers[name], sizes[name])
	}
	return table
}

// settingText is the text of a setting: of lists and sections, as JSON.
func settingText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, _ := json.Marshal(value) // it comes from JSON
	return string(text)
}
