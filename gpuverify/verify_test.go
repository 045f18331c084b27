package gpuverify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

var reactionRules = []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR}

var methods = []Method{ByIncidence, ByEdges, Both}

// plans are one dataset for each variant and codec.
func plans(rule incidence.ReactionRule, samples int) []plan {
	list := []plan{{variant: store.Incidence, rule: rule, samples: samples}}
	for _, variant := range []store.Variant{store.Indices, store.FullMasks} {
		for _, codec := range encode.Codecs(encode.Mode(variant)) {
			list = append(list, plan{variant: variant, codec: codec, rule: rule, samples: samples, shards: min(samples, 2)})
		}
	}
	return list
}

// A right dataset passes, whatever its size against the batches; removals are counted for each
// mask.
func TestVerifyPasses(t *testing.T) {
	for _, rule := range reactionRules {
		for _, samples := range []int{1, 63, 64, 65, 129} {
			want := make(map[string]int64)
			graph, source := tinyGraph(), tinySamples(t, samples)
			layout := incidence.NewLayout(graph)
			for i := range samples {
				for mask, part := range layout.Split(oracle.Removed(graph, source.Genes(i), rule == incidence.RuleGPR)) {
					want[mask.Name] += int64(len(part))
				}
			}
			list := plans(rule, samples)
			if samples != 65 {
				list = list[:testrun.Cases(2, 1)]
			}
			for _, p := range list {
				dataset := p.build(t)
				for _, method := range methods {
					report := verify(t, dataset, method, 2)
					if !report.Passed() || report.Samples != samples || report.LogicalContent != dataset.Manifest.LogicalContent {
						t.Errorf("%s %s, %d samples, by %s: %s", p.variant, p.codec, samples, method, report.Findings())
					}
					for _, mask := range report.Masks {
						if mask.Removed != want[mask.Name] || mask.Differences != 0 {
							t.Errorf("%s %s, by %s: %+v, want %d removed", p.variant, p.codec, method, mask, want[mask.Name])
						}
					}
				}
			}
		}
	}
}

// A wrong position at either end of each mask, removed or kept by mistake, is found, counted and
// named.
func TestPlantedDifferences(t *testing.T) {
	const samples, planted = 70, 66 // in the second batch
	graph, source := tinyGraph(), tinySamples(t, samples)
	layout := incidence.NewLayout(graph)
	for _, rule := range reactionRules[:testrun.Cases(len(reactionRules), 1)] {
		right := oracle.Removed(graph, source.Genes(planted), rule == incidence.RuleGPR)
		var positions []uint32
		for mask, part := range layout.Split(right) {
			positions = append(positions, uint32(mask.Start), uint32(mask.Start+mask.Size-1))
			positions = append(positions, part[:min(len(part), 2)]...)
		}
		slices.Sort(positions)
		positions = slices.Compact(positions)
		for _, p := range plans(rule, samples)[1:] {
			p.plantRemoved = func(sample int, removed []uint32) []uint32 {
				if sample == planted {
					for _, position := range positions {
						removed = toggle(removed, position)
					}
				}
				return removed
			}
			dataset := p.build(t)
			for _, method := range methods {
				named := method
				if method == Both {
					named = ByIncidence // both agree, so what is stored is compared once
				}
				var want []Difference
				counts := make(map[string]int64)
				for _, position := range positions {
					mask, within := layout.At(int(position))
					expected := 1
					if slices.Contains(right, position) {
						expected = 0
					}
					counts[mask.Name]++
					want = append(want, Difference{planted, string(source.ID(planted)), mask.Name, within, expected, 1 - expected, named})
				}
				report := verify(t, dataset, method, 1)
				if report.Differences != int64(len(want)) || report.Damaged != 0 || report.Passed() {
					t.Errorf("%s %s by %s: %d differences, %d damaged records or files, want %d and 0", p.variant,
						p.codec, method, report.Differences, report.Damaged, len(want))
				}
				if !slices.Equal(report.FirstDifferences, want[:min(len(want), listed)]) {
					t.Errorf("%s %s by %s: differences %v, want %v", p.variant, p.codec, method, report.FirstDifferences, want)
				}
				for _, mask := range report.Masks {
					if mask.Differences != counts[mask.Name] {
						t.Errorf("%s %s by %s: %+v, want %d differences", p.variant, p.codec, method, mask, counts[mask.Name])
					}
				}
			}
		}
	}
}

// A wrong position in the incidence cache differs from the edges in every sample that deletes its
// gene.
func TestPlantedInCache(t *testing.T) {
	const samples = 70
	graph, source := tinyGraph(), tinySamples(t, samples)
	layout := incidence.NewLayout(graph)
	physical := slices.IndexFunc(graph.Edges, func(e *ingest.Edges) bool { return e.Type.Relation == "physical" })
	edges := graph.Edges[physical]
	start := uint32(layout.Masks[len(graph.NodeTables())+physical].Start)

	gene := source.Genes(0)[0]
	// The first entry of gene's row that is a physical edge.
	at := slices.IndexFunc(incidence.Build(graph).Row(gene), func(position uint32) bool { return position >= start })
	lost := incidence.Build(graph).Row(gene)[at] - start
	var added uint32 // an edge that does not touch the gene
	for edges.Src[added] == gene || edges.Dst[added] == gene {
		added++
	}
	p := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: samples, plantCache: func(cache *incidence.Cache) {
		cache.Row(gene)[at] = start + added
	}}
	var want []Difference
	for i := range samples {
		if !slices.Contains(source.Genes(i), gene) {
			continue
		}
		right := oracle.Removed(graph, source.Genes(i), false)
		var differences []Difference
		otherEnd := edges.Src[lost] + edges.Dst[lost] - gene
		if otherEnd == gene || !slices.Contains(source.Genes(i), otherEnd) {
			differences = append(differences, Difference{i, string(source.ID(i)), edges.Type.String(), int(lost), 0, 1, ByEdges})
		}
		if !slices.Contains(right, start+added) {
			differences = append(differences, Difference{i, string(source.ID(i)), edges.Type.String(), int(added), 1, 0, ByEdges})
		}
		slices.SortFunc(differences, func(a, b Difference) int { return a.Position - b.Position })
		want = append(want, differences...)
	}
	if len(want) < 2 {
		t.Fatalf("nothing planted: %v", want)
	}
	// an incidence dataset is checked by both whatever is asked
	report := verify(t, p.build(t), ByIncidence, 1)
	if report.Method != Both || report.Differences != int64(len(want)) ||
		!slices.Equal(report.FirstDifferences, want[:min(len(want), listed)]) {
		t.Errorf("by %s: %d differences %v, want %d: %v", report.Method, report.Differences, report.FirstDifferences, len(want), want)
	}
}

// A payload that cannot be decoded is one difference at the first position that is not there, and a
// damage.
func TestUndecodablePayload(t *testing.T) {
	for _, p := range plans(incidence.RuleAll, 20)[1:] {
		p.plantPayload = func(sample int, payload []byte) []byte {
			if sample == 3 {
				return payload[:len(payload)-1]
			}
			return payload
		}
		dataset := p.build(t)
		for _, method := range methods {
			report := verify(t, dataset, method, 1)
			last := len(report.FirstDifferences) - 1
			if report.Passed() || last < 0 || report.FirstDifferences[last].Found != -1 || report.FirstDifferences[last].Sample != 3 {
				t.Errorf("%s %s by %s: differences %v, want the last one of sample 3 with nothing found", p.variant,
					p.codec, method, report.FirstDifferences)
			}
			if report.Damaged != 1 || report.FirstDamaged[0].Sample != 3 ||
				!strings.HasPrefix(report.FirstDamaged[0].What, "sample 3: damaged: ") {
				t.Errorf("%s %s by %s: damaged %v", p.variant, p.codec, method, report.FirstDamaged)
			}
		}
	}
}

// Genes that cannot be looked up are a damage, and no panic; the sample's masks are not compared.
func TestGenesOutOfRange(t *testing.T) {
	for _, genes := range [][]uint32{{60}, {3, 3}, {4, 3}, {1 << 31}} {
		err := checkGenes(genes, 60)
		if err == nil || !strings.HasSuffix(err.Error(), ", expected ascending indices below 60") {
			t.Errorf("genes %d: error %v", genes, err)
		}
	}
	for _, p := range plans(incidence.RuleAll, 20)[:2] {
		p.plantGenes = func(sample int, genes []uint32) []uint32 {
			if sample == 5 {
				return []uint32{2, 60}
			}
			return genes
		}
		report := verify(t, p.build(t), Both, 1)
		want := []Damage{{5, "sample 5: found perturbation index 60, expected ascending indices below 60"}}
		if !slices.Equal(report.FirstDamaged, want) || report.Differences != 0 || report.Samples != 20 {
			t.Errorf("%s %s: %d samples, %s, want %v", p.variant, p.codec, report.Samples, report.Findings(), want)
		}
	}
}

// Each part of a dataset that differs from the manifest is damage that is reported by name.
func TestDamagedRecords(t *testing.T) {
	indices := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: 20, shards: 2}
	cached := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: 20}
	for name, test := range map[string]struct {
		plan   plan
		damage func(t *testing.T, d *store.Dataset)
		want   []string
	}{
		"logical content": {func() plan { p := indices; p.plantContent = "abc"; return p }(), nil,
			[]string{"its logical content is ", "(manifest: abc)"}},
		"masks": {func() plan {
			p := indices
			p.plantMasks = []store.MaskSize{{Name: "gene", Size: 60}}
			p.plantRemoved = func(int, []uint32) []uint32 { return nil }
			return p
		}(),
			nil, []string{"the manifest's masks differ from its graph's"}},
		"a shard's byte": {indices, func(t *testing.T, d *store.Dataset) {
			changeFile(t, filepath.Join(d.Dir, d.Manifest.Shards[1].Name, "data.mdb"), 8*1024)
		}, []string{"shard-00001-of-00002/data.mdb: its sha256 is "}},
		"a shard": {indices, func(t *testing.T, d *store.Dataset) {
			must(t, os.Remove(filepath.Join(d.Dir, d.Manifest.Shards[0].Name, "data.mdb")))
		}, []string{"shard-00000-of-00002/data.mdb: it is missing"}},
		"the graph": {indices, func(t *testing.T, d *store.Dataset) {
			must(t, os.Remove(filepath.Join(d.Dir, "graph", "nodes", "gene.arrow")))
		}, []string{"graph/nodes/gene.arrow: it is missing"}},
		"the incidence cache": {cached, func(t *testing.T, d *store.Dataset) {
			must(t, os.Remove(filepath.Join(d.Dir, "incidence.arrow")))
		}, []string{"incidence.arrow: it is missing"}},
		"the samples": {cached, func(t *testing.T, d *store.Dataset) {
			must(t, os.Truncate(filepath.Join(d.Dir, "samples/part-00000.arrow"), 100))
		}, []string{"samples/part-00000.arrow: it has 100 bytes (manifest: "}},
		"the codec": {indices, func(t *testing.T, d *store.Dataset) { d.Manifest.Codec = "lz" },
			[]string{`mode "indices" has no codec "lz"`}},
	} {
		dataset := test.plan.build(t)
		if test.damage != nil {
			test.damage(t, dataset)
		}
		report := verify(t, dataset, Both, 2)
		if report.Passed() {
			t.Errorf("%s: the dataset passes", name)
		}
		for _, want := range test.want {
			if !strings.Contains(strings.Join(report.Findings(), "\n"), want) {
				t.Errorf("%s: found %s, want %s", name, report.Findings(), want)
			}
		}
	}
}

// Files are checked while samples are compared; a damaged file comes first, however many samples
// are damaged.
func TestDamagedFileIsListedFirst(t *testing.T) {
	p := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: 65, shards: 1}
	p.plantPayload = func(_ int, payload []byte) []byte { return payload[:len(payload)-1] }
	dataset := p.build(t)
	changeFile(t, filepath.Join(dataset.Dir, dataset.Manifest.Shards[0].Name, "data.mdb"), 4000) // nothing reads it
	report := verify(t, dataset, Both, 2)
	first := report.FirstDamaged[0]
	if report.Damaged != 66 || len(report.FirstDamaged) != listed || first.Sample != -1 || !strings.Contains(first.What, "data.mdb: its sha256 is ") {
		t.Errorf("%d damaged, the first of %d is %v", report.Damaged, len(report.FirstDamaged), first)
	}
}

// Differences are listed up to a limit, and counted beyond it.
func TestManyDifferences(t *testing.T) {
	p := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 65, shards: 1}
	p.plantRemoved = func(_ int, removed []uint32) []uint32 { return toggle(removed, 90) }
	for _, workers := range []int{1, 3} {
		report := verify(t, p.build(t), Both, workers)
		if report.Differences != 65 || len(report.FirstDifferences) != listed || report.Samples != 65 {
			t.Errorf("%d differences of %d samples, %d listed", report.Differences, report.Samples, len(report.FirstDifferences))
		}
		lines := report.Findings()
		if len(lines) != listed {
			t.Errorf("findings:\n%s", strings.Join(lines, "\n"))
		}
	}
}

func TestDifferenceString(t *testing.T) {
	d := Difference{Sample: 3, SampleID: "s3", Mask: "gene", Position: 7, Expected: 1, Found: 0, Method: ByEdges}
	if got, want := d.String(), "sample 3 (id s3), mask gene, position 7: expected 1 by edges, found 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d.Found = -1
	if got, want := d.String(), "sample 3 (id s3), mask gene, position 7: expected 1 by edges, found nothing that can be decoded"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestInterruptedVerify(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("told to stop")
	cancel(why)
	dataset := plan{variant: store.Indices, codec: "raw", rule: incidence.RuleAll, samples: 5, shards: 1}.build(t)
	if report, err := Verify(ctx, dataset, Options{Method: Both, Workers: 2}); report != nil || !errors.Is(err, why) {
		t.Errorf("report %v, error %v, want %v", report, err, why)
	}
}

// The first entry of a stored incidence that is not the graph's is named, and rows that differ are
// counted.
func TestStoredIncidence(t *testing.T) {
	graph := tinyGraph()
	layout := incidence.NewLayout(graph)
	inRow := func(c *incidence.Cache) int { // of gene 5: its first physical edge
		return slices.IndexFunc(c.Row(5), func(position uint32) bool {
			mask, _ := layout.At(int(position))
			return mask.Name == "gene__physical__gene"
		})
	}
	for _, test := range []struct {
		name  string
		plant func(c *incidence.Cache)
		want  string // behind the file's name
	}{
		{"a position", func(c *incidence.Cache) { c.Row(5)[inRow(c)]++ },
			"1 row; first: gene " + graph.Genes.IDs[5] + ": entry 1 is gene__physical__gene "},
		{"no last position", func(c *incidence.Cache) {
			c.Positions = slices.Delete(c.Positions, int(c.Offsets[6])-1, int(c.Offsets[6]))
			for row := 6; row < len(c.Offsets); row++ {
				c.Offsets[row]--
			}
		}, "1 row; first: gene " + graph.Genes.IDs[5] + ": entry "},
		{"one position too many, which removes what is removed anyway", func(c *incidence.Cache) {
			at := c.Offsets[6]
			c.Positions = slices.Insert(c.Positions, int(at), c.Positions[at-1])
			for row := 6; row < len(c.Offsets); row++ {
				c.Offsets[row]++
			}
		}, "1 row; first: gene " + graph.Genes.IDs[5] + ": entry "},
	} {
		p := plan{variant: store.Incidence, rule: incidence.RuleAll, samples: 3, plantCache: test.plant}
		report := verify(t, p.build(t), ByEdges, 1)
		if report.Damaged != 1 || !strings.Contains(report.FirstDamaged[0].What,
			"incidence.positions: its incidence differs from the graph's edges in "+test.want) {
			t.Errorf("%s: %d damaged: %v, want %s", test.name, report.Damaged, report.FirstDamaged, test.want)
		}
	}
}
