package gpuverify

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tcbuild/incidence"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// inParts verifies a dataset part by part; of each only the JSON is left.
func inParts(t *testing.T, dataset *store.Dataset, method Method) (*Report, []Part) {
	t.Helper()
	parts, reference := Parts(dataset, method, 3), &Reference{}
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
	report, err := Gather(t.Context(), dataset, parts, Options{Method: method}, reference)
	if err != nil {
		t.Fatal(err)
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
			parts, _ := inParts(t, dataset, method)
			for _, report := range []*Report{whole, parts} {
				report.Seconds, report.SamplesPerSecond = 0, 0
			}
			if !reflect.DeepEqual(whole, parts) || parts.Samples != 129 {
				t.Errorf("%s %s by %s: got\n%+v\nwant\n%+v", p.variant, p.codec, method, parts, whole)
			}
		}
	}
}

// What does not belong together is not gathered, and nothing is taken on trust.
func TestPartsThatAreNotTheWhole(t *testing.T) {
	p := plan{variant: store.Indices, codec: "zstd", rule: incidence.RuleAll, samples: 129, shards: 3}
	dataset := p.build(t)
	_, parts := inParts(t, dataset, Both)
	for name, change := range map[string]func(parts []Part) []Part{
		"one is missing":     func(parts []Part) []Part { return append(parts[:1], parts[2:]...) },
		"the last":           func(parts []Part) []Part { return parts[:2] },
		"none":               func(parts []Part) []Part { return nil },
		"one is not whole":   func(parts []Part) []Part { parts[1].Report = nil; return parts },
		"one twice":          func(parts []Part) []Part { parts[1] = parts[0]; return parts },
		"of another dataset": func(parts []Part) []Part { parts[1].Dataset = "0"; return parts },
		"by another method":  func(parts []Part) []Part { parts[2].Method = ByEdges; return parts },
	} {
		if _, err := Gather(t.Context(), dataset, change(append([]Part{}, parts...)), Options{}, &Reference{}); err == nil || !strings.Contains(err.Error(), "are not verified") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, found := range map[string]string{"samples/part-00000.arrow": "samples/part-00000.arrow", "shard-00001-of-00003/data.mdb": "", "graph/nodes/gene.arrow": "gene.arrow"} {
		dataset := p.build(t)
		_, parts := inParts(t, dataset, Both)
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
		if found == "" { // a shard is read by its part alone
			if report, _ := inParts(t, dataset, Both); report.Passed() {
				t.Errorf("a damaged %s passes", name)
			}
			continue
		}
		report, err := Gather(t.Context(), dataset, parts, Options{}, &Reference{})
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
