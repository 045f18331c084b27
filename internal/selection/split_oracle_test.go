package selection

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// slowSplit finds the part of each sample, by definitions alone: none for unplaced.
func slowSplit(samples []sample, o SplitOptions, pinned map[int]int) []int {
	got := slices.Repeat([]int{none}, len(samples))
	unitsOf, wildtypes := make([][]string, len(samples)), make([][]string, len(samples))
	for i, s := range samples {
		switch {
		case o.By == BySample:
			unitsOf[i] = []string{fmt.Sprint(i)}
		case len(s.genes) == 0 && o.Wildtypes != WholeWildtypes:
			wildtypes[i] = []string{fmt.Sprint(i)}
		case o.By == ByGenotype:
			unitsOf[i] = []string{strings.Join(s.genes, "|")}
		case o.By == ByComponent:
			unitsOf[i] = []string{slowComponent(samples, s)}
		default:
			if unitsOf[i] = s.genes; len(s.genes) == 0 {
				got[i] = 0
			}
		}
	}
	number := func(at int, name string) (number int) {
		if number = at; o.By == ByGene {
			fmt.Sscanf(name, "G%d", &number)
		}
		return number
	}
	parts := slowParts(samples, unitsOf, number, o, pinned)
	if o.By == ByComponent {
		parts = slowLargest(unitsOf, o, pinned)
	}
	if o.By == ByGene {
		slowSeen(unitsOf, parts)
	}
	slowPlace(got, unitsOf, parts, len(o.Fractions))
	number = func(_ int, name string) (number int) {
		fmt.Sscan(name, &number)
		return number
	}
	slowPlace(got, wildtypes, slowParts(samples, wildtypes, number, o, pinned), len(o.Fractions))
	return got
}

// slowComponent names all genes that a sample's genes lead to.
func slowComponent(samples []sample, of sample) string {
	reached := slices.Clone(of.genes)
	for grown := true; grown; {
		grown = false
		for _, s := range samples {
			if slices.ContainsFunc(s.genes, func(gene string) bool {
				return slices.Contains(reached, gene)
			}) {
				for _, gene := range s.genes {
					if !slices.Contains(reached, gene) {
						reached, grown = append(reached, gene), true
					}
				}
			}
		}
	}
	slices.Sort(reached)
	return strings.Join(reached, "|")
}

// slowLargest places components one by one, each time the largest that has no part.
func slowLargest(unitsOf [][]string, o SplitOptions, pinned map[int]int) map[string]int {
	sizes, numbers, parts := make(map[string]int), make(map[string]int), make(map[string]int)
	all, got := 0.0, make([]float64, len(o.Fractions))
	for i, of := range unitsOf {
		for _, name := range of {
			if _, known := numbers[name]; !known {
				numbers[name] = len(numbers)
			}
			sizes[name]++
			all++
			if part, ok := pinned[i]; ok {
				parts[name] = part
			}
		}
	}
	for name, part := range parts {
		got[part] += float64(sizes[name])
	}
	for len(parts) < len(sizes) {
		best, found := "", false
		for name := range sizes {
			if _, placed := parts[name]; placed {
				continue
			}
			random := func(name string) *big.Int { return bigSplitMix(o.Seed, numbers[name]) }
			order := cmp.Compare(sizes[best], sizes[name])
			if order == 0 {
				order = random(name).Cmp(random(best))
			}
			if !found || order < 0 {
				best, found = name, true
			}
		}
		lacks := func(k int) float64 {
			return all*float64(o.Fractions[k].Billionths)/whole - got[k]
		}
		at := 0
		for k := range o.Fractions {
			if lacks(k) > lacks(at)+1e-6 {
				at = k
			}
		}
		parts[best] = at
		got[at] += float64(sizes[best])
	}
	return parts
}

// slowParts draws the part of each unit.
func slowParts(samples []sample, unitsOf [][]string, number func(at int, name string) int,
	o SplitOptions, pinned map[int]int) map[string]int {
	var names, strata []string
	var units []slowUnit
	for i, of := range unitsOf {
		for _, name := range of {
			at := slices.Index(names, name)
			if at < 0 {
				at = len(names)
				u := slowUnit{number: number(at, name), part: none}
				if o.Stratify != "" {
					stratum := map[string]string{
						"medium":          "m" + samples[i].medium,
						"batch":           "b" + samples[i].batch,
						"fitness":         strings.TrimPrefix(samples[i].fitness, "-"),
						PerturbationCount: fmt.Sprint(len(samples[i].genes)),
					}[o.Stratify]
					if u.stratum = slices.Index(strata, stratum); u.stratum < 0 {
						u.stratum = len(strata)
						strata = append(strata, stratum)
					}
				}
				names, units = append(names, name), append(units, u)
			}
			if part, ok := pinned[i]; ok {
				units[at].part = part
			}
		}
	}
	parts := make(map[string]int)
	for at, part := range slowAssign(units, max(len(strata), 1), o.Fractions, o.Seed) {
		parts[names[at]] = part
	}
	return parts
}

// slowSeen moves genes of part 0 that none of its samples has to the last part that they meet.
func slowSeen(genesOf [][]string, parts map[string]int) {
	moved := make(map[string]int)
	for gene, part := range parts {
		last, seen := 0, false
		for _, genes := range genesOf {
			if slices.Contains(genes, gene) {
				highest := 0
				for _, other := range genes {
					highest = max(highest, parts[other])
				}
				last, seen = max(last, highest), seen || highest == 0
			}
		}
		if part == 0 && !seen {
			moved[gene] = last
		}
	}
	maps.Copy(parts, moved)
}

// slowPlace puts samples into the part that has all of their units.
func slowPlace(got []int, unitsOf [][]string, parts map[string]int, count int) {
	for i, of := range unitsOf {
		for k := range count {
			all := len(of) > 0
			for _, name := range of {
				all = all && parts[name] == k
			}
			if all {
				got[i] = k
			}
		}
	}
}

// slowEmpty returns the error's words about the first part without samples, or with only drawn wild
// types; "" without one.
func slowEmpty(samples []sample, parts []int, o SplitOptions) string {
	anyWildtype := slices.ContainsFunc(samples, func(s sample) bool { return len(s.genes) == 0 })
	anyMutant := slices.ContainsFunc(samples, func(s sample) bool { return len(s.genes) > 0 })
	drawn := anyWildtype && anyMutant && o.By != BySample && o.Wildtypes != WholeWildtypes
	for k := range o.Fractions {
		mutants := 0
		for i, part := range parts {
			if part == k && len(samples[i].genes) > 0 {
				mutants++
			}
		}
		switch {
		case !slices.Contains(parts, k):
			return "gets none of"
		case drawn && mutants == 0:
			return "gets only wild types"
		}
	}
	return ""
}
