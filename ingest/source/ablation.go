package source

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
)

// Ablation thins or randomizes the edges that the other settings keep: first top, then sample, then
// rewire. Self loops that are appended come after it.
type Ablation struct {
	// number of edges to keep per target: the heaviest, and of equal weights the earlier row; missing
	// weights rank last. In an undirected source both genes are targets, and an edge stays if either
	// keeps it
	Top *int `yaml:"top"`
	// share of the edges to keep, above 0 and at most 1, chosen at random and kept in order; with the
	// same seed, a smaller share is a subset of a larger one
	Sample *float64 `yaml:"sample"`
	// randomize the edges: swap the targets of random pairs, with ten attempts per edge. Each gene
	// keeps its degree (in a directed source, its in-degree and out-degree). Swaps that would make a
	// self loop or repeat an edge are skipped; self loops, weights and other columns stay in place
	Rewire bool `yaml:"rewire"`
	Seed   int  `yaml:"seed"` // random seed of sample and rewire
}

func (a Ablation) check(place conf.Place, weighted bool) error {
	switch {
	case a.Top != nil && *a.Top < 1:
		return usage("omit top to keep all edges", "%s.top: found %d, expected at least 1", place, *a.Top)
	case a.Top != nil && !weighted:
		return usage("name the weight column", "%s.weight: missing, although top is set", place)
	case a.Sample != nil && !(*a.Sample > 0 && *a.Sample <= 1):
		return usage("write half of the edges as sample: 0.5", "%s.sample: found %v, expected a share above 0 and at most 1", place, *a.Sample)
	case a.Seed != 0 && a.Sample == nil && !a.Rewire:
		return usage("remove it, or set sample or rewire", "%s.seed: found %d without sample or rewire, which use it", place, a.Seed)
	}
	return nil
}

// ablated counts what an ablation did to a relation.
type ablated struct{ belowTop, notSampled, rewired int }

// ablate applies the ablation to the edges of a relation. rows are those that it keeps, nil for
// all.
func (r *relation) ablate(a Ablation, undirected bool) (rows []int, done ablated, err error) {
	keep := func(some []int) (dropped int) {
		dropped = len(r.src) - len(some)
		r.src, r.dst = chosen(r.src, some), chosen(r.dst, some)
		if r.weight >= 0 {
			r.weights = chosen(r.weights, some)
		}
		if rows != nil {
			some = chosen(rows, some)
		}
		rows = some
		return dropped
	}
	if a.Top != nil {
		done.belowTop = keep(topEdges(r.src, r.dst, r.weights, *a.Top, undirected))
	}
	if a.Sample != nil {
		done.notSampled = keep(sampleEdges(len(r.src), *a.Sample, a.Seed))
	}
	if a.Rewire && len(r.src) > 0 {
		done.rewired = rewireEdges(r.src, r.dst, undirected, r.kind.Source == r.kind.Target, a.Seed)
		if done.rewired == 0 {
			err = fault.New(fault.Input, "remove rewire, or choose another seed if there are few edges",
				"rewire edge type %s: found no other graph of these degrees for its %s", r.kind, ingest.Plural(len(r.src), "edge", ""))
		}
	}
	return rows, done, err
}

func chosen[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for k, row := range rows {
		some[k] = all[row]
	}
	return some
}

// account adds to a report what the ablation did.
func (d ablated) account(report *ingest.Account, a Ablation) {
	if a.Top != nil {
		report.Add(ingest.BelowTop, strconv.Itoa(*a.Top), d.belowTop)
	}
	if a.Sample != nil {
		share := fmt.Sprintf("share %v, seed %d", *a.Sample, a.Seed)
		report.Add(ingest.NotSampled, share, d.notSampled)
	}
	report.Add(ingest.Rewired, fmt.Sprintf("seed %d", a.Seed), d.rewired)
}

// topEdges returns the ascending rows of the edges among the top ones of a target.
func topEdges(src, dst []uint32, weights []float64, top int, undirected bool) []int {
	rows := []int{}
	byWeight := make([]int, len(dst))
	for i := range byWeight {
		byWeight[i] = i
	}
	key := func(i int) float64 { // missing weights are below all others
		if math.IsNaN(weights[i]) {
			return math.Inf(-1)
		}
		return weights[i]
	}
	slices.SortStableFunc(byWeight, func(a, b int) int { return cmp.Compare(key(b), key(a)) })
	met := make(map[uint32]int)
	for _, i := range byWeight {
		stays := met[dst[i]] < top
		met[dst[i]]++
		if undirected && src[i] != dst[i] {
			stays = stays || met[src[i]] < top
			met[src[i]]++
		}
		if stays {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}

// sampleEdges returns the ascending rows of a random share of n edges, rounded.
func sampleEdges(n int, share float64, seed int) []int {
	rows := rand.New(rand.NewPCG(uint64(seed), 0)).Perm(n)[:int(math.Round(share*float64(n)))]
	slices.Sort(rows)
	return rows
}

// swapsPerEdge is how many swaps are tried per edge: enough to forget where the edges began.
const swapsPerEdge = 10

// rewireEdges randomizes edges by double edge swaps: a-b and c-d become a-d and c-b. It returns how
// many of the edges did not exist before. Between two node types there are no self loops.
func rewireEdges(src, dst []uint32, undirected, oneType bool, seed int) (rewired int) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	key := func(a, b uint32) uint64 {
		if undirected && a > b {
			a, b = b, a
		}
		return uint64(a)<<32 | uint64(b)
	}
	edges := make(map[uint64]int, len(src)) // how often each exists
	var rows []int                          // of the edges that are no self loops
	for i := range src {
		edges[key(src[i], dst[i])]++
		if !oneType || src[i] != dst[i] {
			rows = append(rows, i)
		}
	}
	before := maps.Clone(edges)
	for range swapsPerEdge * len(rows) {
		i, j := rows[random.IntN(len(rows))], rows[random.IntN(len(rows))]
		a, b, c, d := src[i], dst[i], src[j], dst[j]
		if undirected && random.IntN(2) == 1 { // otherwise, sources would remain sources
			c, d = d, c
		}
		if oneType && (a == d || c == b) || key(a, d) == key(c, b) || edges[key(a, d)] > 0 || edges[key(c, b)] > 0 {
			continue
		}
		for _, old := range []uint64{key(a, b), key(c, d)} {
			if edges[old]--; edges[old] == 0 {
				delete(edges, old)
			}
		}
		edges[key(a, d)]++
		edges[key(c, b)]++
		src[i], dst[i], src[j], dst[j] = a, d, c, b
	}
	for i := range src {
		if before[key(src[i], dst[i])] == 0 {
			rewired++
		}
	}
	return rewired
}
