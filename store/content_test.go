package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"tcbuild/incidence"
	"tcbuild/ingest"
)

func shardText(s ShardRange) string { return fmt.Sprintf("%d+%d", s.First, s.Samples) }

// The bytes that are hashed, written out by hand.
func TestContentDigestGolden(t *testing.T) {
	d := NewContentDigest("abcd", incidence.RuleAll, []string{"fitness", "tmi"})
	d.Add([]byte("s0"), []uint32{1, 300}, []float64{0.5, math.NaN()})
	d.Add(nil, nil, []float64{0, math.Copysign(0, -1)})
	text := "\x19\x00\x00\x00tcbuild logical content 1" +
		"\x04\x00\x00\x00abcd" +
		"\x03\x00\x00\x00all" +
		"\x02\x00\x00\x00" + "\x07\x00\x00\x00fitness" + "\x03\x00\x00\x00tmi" +
		"\x02\x00\x00\x00s0" + "\x02\x00\x00\x00" + "\x01\x00\x00\x00" + "\x2c\x01\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\xe0\x3f" + "\x01\x00\x00\x00\x00\x00\xf8\x7f" +
		"\x00\x00\x00\x00" + "\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x80"
	sum := sha256.Sum256([]byte(text))
	if want := hex.EncodeToString(sum[:]); d.Sum() != want {
		t.Errorf("digest %s, want %s", d.Sum(), want)
	}
	if want := "6fbede2a"; d.Sum()[:8] != want {
		t.Errorf("digest %s, want %s…; it may not change without a new format version", d.Sum(), want)
	}
}

// The digest does not depend on how samples come in batches, and every NaN is one missing value.
func TestContentDigestOfBatches(t *testing.T) {
	const count = 5000 // more than the digest holds back
	one, all := NewContentDigest("g", incidence.RuleGPR, []string{"x"}), NewContentDigest("g", incidence.RuleGPR, []string{"x"})
	batch := ingest.NewSamples(0, 1, count)
	for i := range count {
		id, genes := fmt.Append(nil, i), []uint32{uint32(i)}
		one.Add(id, genes, []float64{math.NaN()})
		batch.Append(id, genes, []float64{math.Float64frombits(0xFFF8_0000_0000_0000 + uint64(i))})
	}
	all.AddAll(batch)
	if one.Sum() != all.Sum() {
		t.Errorf("digest %s of single samples, %s of a batch", one.Sum(), all.Sum())
	}
}

// Whatever differs in a dataset's content differs in its digest.
func TestContentDigestTellsApart(t *testing.T) {
	seen := make(map[string]string)
	for _, test := range []struct {
		name       string
		graph      string
		rule       incidence.ReactionRule
		phenotypes []string
		samples    []string // ids
		genes      []uint32
		value      float64
	}{
		{"plain", "g", incidence.RuleAll, []string{"x"}, []string{"a"}, []uint32{1}, 1},
		{"graph", "h", incidence.RuleAll, []string{"x"}, []string{"a"}, []uint32{1}, 1},
		{"rule", "g", incidence.RuleGPR, []string{"x"}, []string{"a"}, []uint32{1}, 1},
		{"phenotype", "g", incidence.RuleAll, []string{"y"}, []string{"a"}, []uint32{1}, 1},
		{"id", "g", incidence.RuleAll, []string{"x"}, []string{"b"}, []uint32{1}, 1},
		{"gene", "g", incidence.RuleAll, []string{"x"}, []string{"a"}, []uint32{2}, 1},
		{"no gene", "g", incidence.RuleAll, []string{"x"}, []string{"a"}, nil, 1},
		{"value", "g", incidence.RuleAll, []string{"x"}, []string{"a"}, []uint32{1}, 2},
		{"missing value", "g", incidence.RuleAll, []string{"x"}, []string{"a"}, []uint32{1}, math.NaN()},
		{"no sample", "g", incidence.RuleAll, []string{"x"}, nil, []uint32{1}, 1},
		{"twice", "g", incidence.RuleAll, []string{"x"}, []string{"a", "a"}, []uint32{1}, 1},
	} {
		d := NewContentDigest(test.graph, test.rule, test.phenotypes)
		for _, id := range test.samples {
			d.Add([]byte(id), test.genes, []float64{test.value})
		}
		if other, ok := seen[d.Sum()]; ok {
			t.Errorf("%s and %s have the same digest", test.name, other)
		}
		seen[d.Sum()] = test.name
	}
}
