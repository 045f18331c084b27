package selection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// gears counts conditions as get_simulation_split of GEARS (Roohani et al. 2024) does, given the
// genes that are seen: single perturbations, and pairs by the number of their genes that are seen.
func gears(conditions []string, seen map[string]bool) (counts map[string]int) {
	counts = make(map[string]int)
	for _, condition := range conditions {
		n, genes := 0, strings.Split(strings.Trim(strings.ReplaceAll("+"+condition+"+", "+ctrl+",
			"+"),
			"+"),
			"+")
		for _, gene := range genes {
			if seen[gene] {
				n++
			}
		}
		switch {
		case len(genes) == 2:
			counts[fmt.Sprintf("combo_seen%d", n)]++
		case n == 0:
			counts["unseen_single"]++
		default:
			counts["train_single"]++
		}
	}
	return counts
}

func TestSeenCountsAreThoseOfGEARS(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(20, 5) {
		var conditions []string
		var samples []sample
		for a := range testGenes {
			for b := a; b < testGenes; b++ {
				if a != b && r.IntN(2) == 0 { // all singles: train has all genes not held out
					continue
				}
				s := sample{id: fmt.Sprint(len(samples)), genes: []string{geneID(a)}}
				condition := geneID(a) + "+ctrl"
				if a != b {
					s.genes, condition = append(s.genes, geneID(b)), geneID(a)+"+"+geneID(b)
				}
				samples, conditions = append(samples, s), append(conditions, condition)
			}
		}
		held := map[string]bool{}
		for len(held) < 3 { // of genes that samples delete
			held[samples[r.IntN(len(samples))].genes[0]] = true
		}
		seen, unseen := map[string]bool{}, []string{}
		for gene := range testGenes {
			if seen[geneID(gene)] = !held[geneID(gene)]; held[geneID(gene)] {
				unseen = append(unseen, geneID(gene))
			}
		}
		parts, report := split(t, build(t, samples), SplitOptions{
			By:         ByGene,
			Straddling: SeparateStraddling,
			HoldOut:    []string{"gene=" + genesFile(t, unseen)},
		})
		got := make(map[string]int)
		for i, part := range parts {
			switch key := fmt.Sprintf("%s %d", part, len(samples[i].genes)); key {
			case "train 1":
				got["train_single"]++
			case "train 2":
				got["combo_seen2"]++
			case "test_unseen1 2":
				got["combo_seen1"]++
			case "test 2":
				got["combo_seen0"]++
			case "test 1":
				got["unseen_single"]++
			default:
				t.Errorf("sample %v is in %s", samples[i].genes, part)
			}
		}
		want := gears(conditions, seen)
		fromReport := make(map[string]int)
		for _, s := range report.Seen {
			key := fmt.Sprintf("combo_seen%d", s.Seen)
			if s.Perturbed == 1 {
				key = map[int]string{0: "unseen_single", 1: "train_single"}[s.Seen]
			}
			fromReport[key] += s.Count
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(fromReport) != fmt.Sprint(want) {
			t.Errorf("got %v, the report %v, want %v", got, fromReport, want)
		}
	}
}

// No gene is perturbed in two parts, whatever is drawn or held out, and straddling samples are
// where their genes and the samples of train put them.
func TestStraddling(t *testing.T) {
	r := seed.Rand(t)
	for n := range testrun.Cases(60, 15) {
		samples := randomSamples(r, 200)
		if n%2 == 0 {
			samples = sparsePairs(r)
		}
		o := SplitOptions{
			Fractions:  []Fraction{{"train", 6e8}, {"val", 2e8}, {"test", 2e8}},
			By:         ByGene,
			Seed:       r.Uint64(),
			Straddling: SeparateStraddling,
		}
		if r.IntN(2) == 0 {
			o.Fractions = half
		}
		if r.IntN(2) == 0 {
			held := slices.Concat(samples[0].genes, []string{geneID(0), geneID(1)})
			o.HoldOut = []string{"gene=" + genesFile(t, held)}
		}
		dataset := build(t, samples)
		dir := t.TempDir()
		if _, err := Split(context.Background(), dataset, o, dir); err != nil {
			if !strings.Contains(err.Error(), " gets ") {
				t.Fatal(err)
			}
			continue
		}
		parts := readParts(t, dir, len(samples))
		checkStraddling(t, samples, parts, len(o.Fractions) == 2)
		o.Straddling = DropStraddling
		dir = t.TempDir()
		if _, err := Split(context.Background(), dataset, o, dir); err != nil {
			if !strings.Contains(err.Error(), " gets ") {
				t.Fatal(err)
			}
			continue
		}
		dropped := readParts(t, dir, len(samples))
		for i, part := range parts {
			if strings.Contains(part, "_unseen") {
				part = unplaced
			}
			if dropped[i] != part {
				t.Fatalf("sample %v is in %s, want %s", samples[i].genes, dropped[i], part)
			}
		}
	}
}

// sparsePairs makes samples of two genes; few genes are in two of them.
func sparsePairs(r *rand.Rand) (samples []sample) {
	for i := range 8 + r.IntN(10) {
		a, b := r.IntN(testGenes), r.IntN(testGenes-1)
		if b >= a {
			b++
		}
		genes := []string{geneID(min(a, b)), geneID(max(a, b))}
		samples = append(samples, sample{id: fmt.Sprint("s", i), genes: genes})
	}
	return samples
}

// checkStraddling checks a split by gene from its samples only: a gene is seen if a sample of train
// has it.
func checkStraddling(t *testing.T, samples []sample, parts []string, twoParts bool) {
	t.Helper()
	seen, partOf := make(map[string]bool), make(map[string]string)
	for i, s := range samples {
		for _, gene := range s.genes {
			seen[gene] = seen[gene] || parts[i] == "train"
			if strings.Contains(parts[i], "_unseen") {
				continue
			}
			if other, known := partOf[gene]; known && other != parts[i] {
				t.Fatalf("gene %s is perturbed in %s and %s", gene, other, parts[i])
			}
			partOf[gene] = parts[i]
		}
	}
	for i, s := range samples {
		unseen := 0
		for _, gene := range s.genes {
			if !seen[gene] {
				unseen++
			}
		}
		part, count, straddles := strings.Cut(parts[i], "_unseen")
		switch {
		case straddles && (count != fmt.Sprint(unseen) || part == "train"):
			t.Fatalf("sample %v is in %s, %d of its genes are unseen", s.genes, parts[i], unseen)
		case straddles && twoParts && unseen == len(s.genes):
			t.Fatalf("sample %v is in %s, want test: no gene of it is seen", s.genes, parts[i])
		case !straddles && part != "train" && unseen != len(s.genes):
			t.Fatalf("sample %v is in %s, %d of its genes are seen",
				s.genes, parts[i], len(s.genes)-unseen)
		}
	}
}

// Of six pairs in a ring, train has one or two. A gene drawn for train that is in none of them is
// not seen.
func TestRing(t *testing.T) {
	var samples []sample
	for i := range 6 {
		genes := []string{geneID(i), geneID((i + 1) % 6)}
		slices.Sort(genes)
		samples = append(samples, sample{id: fmt.Sprint("s", i), genes: genes})
	}
	dataset, moved := build(t, samples), 0
	for seed := range uint64(40) {
		dir := t.TempDir()
		o := SplitOptions{Fractions: half, By: ByGene, Seed: seed, Straddling: SeparateStraddling}
		report, err := Split(context.Background(), dataset, o, dir)
		if err != nil {
			continue // train has three genes that are not neighbours, and so no pair
		}
		checkStraddling(t, samples, readParts(t, dir, len(samples)), true)
		seen := map[string]int{"train": 2, "test": 0, "test_unseen1": 1}
		for _, s := range report.Seen {
			if want := seen[s.Part]; s.Seen != want {
				t.Errorf("seed %d: %+v, want %d seen", seed, s, want)
			}
		}
		if len(report.Parts) > 1 && report.Parts[1].Name == "test" && report.Parts[1].Samples > 2 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no seed puts a gene without a sample of train into train")
	}
}
