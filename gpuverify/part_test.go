package gpuverify

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// inParts verifies a dataset part by part; of each only the JSON is left.
func inParts(t *testing.T, dataset *store.Dataset, method Method, parts []Part) (*Report, []Part) {
	t.Helper()
	reference := &Reference{}
	for i, begun := range parts {
		verified, err := VerifyPart(t.Context(), dataset, begun, Options{Method: method, Workers: 2}, reference)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := json.Marshal(verified)
		if err != nil {
			t.Fatal(err)
		}
		parts[i] = Part{}
		if err := json.Unmarshal(saved, &parts[i]); err != nil || !parts[i].Verifies(begun) || begun.Verifies(begun) {
			t.Fatalf("%s does not verify %+v: %v", saved, begun, err)
		}
	}
	backwards := slices.Clone(parts)
	slices.Reverse(backwards)
	report, err := Gather(t.Context(), dataset, backwards, Options{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, part := range parts {
		sum += part.Report.Seconds
	}
	if report.Seconds < sum || report.SamplesPerSecond*sum > float64(report.Samples)*1.001 {
		t.Errorf("got %g s, %g samples/s of parts of %g s", report.Seconds, report.SamplesPerSecond, sum)
	}
	return report, parts
}

// Parts cover all samples, and none is longer than a minute's work or of two shards.
func TestParts(t *testing.T) {
	m := &store.Manifest{Variant: store.Indices, Samples: 5*partSamples + 7}
	m.Cut(2)
	for variant, count := range map[store.Variant]int{store.Indices: 6, store.Incidence: 8} {
		m.Variant = variant
		parts := Parts(&store.Dataset{Manifest: m}, "", 4)
		next := 0
		for _, part := range parts {
			if half := m.Shards[1].First; part.First != next || part.End-part.First > partSamples ||
				variant == store.Indices && part.First < half && half < part.End {
				t.Errorf("%s: got part %+v after sample %d", variant, part, next)
			}
			next = part.End
		}
		if next != m.Samples || len(parts) != count {
			t.Errorf("%s: got %d parts up to %d, want %d up to %d", variant, len(parts), next, count, m.Samples)
		}
	}
}

// What parts of a dataset give together is what the dataset gives, right or wrong.
func TestPartsAreTheWhole(t *testing.T) {
	wrong := func(p plan) plan {
		p.plantRemoved = func(sample int, removed []uint32) []uint32 {
			if sample%11 == 0 {
				return removed[1:]
			}
			return removed
		}
		return p
	}
	list := plans(incidence.RuleAll, 129)
	list = append(list[:testrun.Cases(len(list), 3)], wrong(list[1]), wrong(list[len(list)-1]))
	for _, p := range list {
		dataset := p.build(t)
		for _, method := range methods {
			whole := verify(t, dataset, method, 2)
			whole.Seconds, whole.SamplesPerSecond = 0, 0
			half := func(first, end int) Part { // across the dataset's shards
				return Part{
					Dataset: dataset.Manifest.Checksum, Method: methodFor(dataset, method),
					First: first, End: end,
				}
			}
			for _, parts := range [][]Part{Parts(dataset, method, 3), {half(0, 64), half(64, 129)}} {
				report, _ := inParts(t, dataset, method, parts)
				report.Seconds, report.SamplesPerSecond = 0, 0
				if !reflect.DeepEqual(whole, report) || report.Samples != 129 {
					t.Errorf("%s %s by %s in %d parts: got\n%+v\nwant\n%+v", p.variant, p.codec, method, len(parts), report, whole)
				}
			}
		}
	}
}

// What does not belong together is not gathered, and nothing is taken on trust.
func TestPartsThatAreNotTheWhole(t *testing.T) {
	p := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: 129, shards: 3}
	dataset := p.build(t)
	_, parts := inParts(t, dataset, Both, Parts(dataset, Both, 3))
	for name, c := range map[string]struct {
		change func(parts []Part) []Part
		want   string
	}{
		"one is missing":     {func(parts []Part) []Part { return append(parts[:1], parts[2:]...) }, "samples 43 to 85 are not verified"},
		"the last":           {func(parts []Part) []Part { return parts[:2] }, "samples 86 to 128 are not verified"},
		"none":               {func(parts []Part) []Part { return nil }, "samples 0 to 128 are not verified"},
		"one is not whole":   {func(parts []Part) []Part { parts[1].Report = nil; return parts }, "samples 43 to 85 are not verified"},
		"one twice":          {func(parts []Part) []Part { parts[1] = parts[0]; return parts }, "samples 0 to 42 are in several parts"},
		"overlapping":        {func(parts []Part) []Part { parts[1].First--; return parts }, "samples 42 to 85 are in several parts"},
		"beyond the last":    {func(parts []Part) []Part { parts[2].End++; return parts }, "samples 86 to 129 are beyond"},
		"of another dataset": {func(parts []Part) []Part { parts[1].Dataset = "0"; return parts }, "samples 43 to 85 is of another dataset"},
		"not digested":       {func(parts []Part) []Part { parts[0].Digests = nil; return parts }, "samples 0 to 42 has 0 digests, expected 1"},
		"an empty digest":    {func(parts []Part) []Part { parts[0].Digests = []string{""}; return parts }, `samples 0 to 42 has the digest "", expected`},
		"a short digest":     {func(parts []Part) []Part { parts[0].Digests = []string{"0a"}; return parts }, `samples 0 to 42 has the digest "0a", expected`},
		"a digest not hex": {func(parts []Part) []Part {
			parts[0].Digests = []string{strings.Repeat("x", 64)}
			return parts
		}, "samples 0 to 42 has the digest \"xx"},
		"by another method": {func(parts []Part) []Part { parts[2].Method = ByEdges; return parts }, "samples 86 to 128 were verified by edges"},
	} {
		_, err := Gather(t.Context(), dataset, c.change(slices.Clone(parts)), Options{})
		if !errors.Is(err, fault.Input) || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	for name, found := range map[string]string{"samples/part-00000.arrow": "", "samples/_checksums": "samples/_checksums", "shard-00001-of-00003/data.mdb": "", "graph/nodes/gene.arrow": "gene.arrow"} {
		dataset := p.build(t)
		_, parts := inParts(t, dataset, Both, Parts(dataset, Both, 3))
		path := filepath.Join(dataset.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if dataset, err = store.Open(dataset.Dir); err != nil {
			t.Fatal(err)
		}
		if found == "" { // it is read by its part alone
			if report, _ := inParts(t, dataset, Both, Parts(dataset, Both, 3)); report.Passed() {
				t.Errorf("a damaged %s passes", name)
			}
			continue
		}
		report, err := Gather(t.Context(), dataset, parts, Options{})
		if err != nil || report.Passed() || !strings.Contains(strings.Join(report.Findings(), "\n"), found) {
			t.Errorf("a damaged %s: got %v, %v", name, report, err)
		}
	}
}

// A part that is interrupted by its context saves nothing that it has not verified.
func TestPartIsInterrupted(t *testing.T) {
	dataset := plan{variant: store.FullMasks, codec: "zstd", rule: incidence.RuleAll, samples: 129, shards: 1}.build(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	part, err := VerifyPart(ctx, dataset, Parts(dataset, Both, 1)[0], Options{Workers: 1}, &Reference{})
	if part.Report != nil {
		t.Errorf("got %+v", part)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
