package networks

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Ablation thins or randomizes the edges that the other settings keep: first top, then sample, then
// rewire. Self loops that are appended come after it.
type Ablation struct {
	// number of edges to keep per target: the heaviest, and of equal weights the earlier row;
	// missing weights rank last. In an undirected source both genes are targets, and an edge stays
	// if either keeps it
	Top *int `yaml:"top"`
	// share of the edges to keep, above 0 and at most 1, chosen at random and kept in order; with
	// the same seed, a smaller share is a subset of a larger one
	Sample *float64 `yaml:"sample"`
	// randomize the edges: swap the targets of random pairs, with ten attempts per edge. Each gene
	// keeps its degree (in a directed source, its in-degree and out-degree). Swaps that would make
	// a self loop or repeat an edge are skipped; self loops, weights and other columns stay in
	// place
	Rewire bool `yaml:"rewire"`
	Seed   int  `yaml:"seed"` // random seed of sample and rewire
}

// Check returns an error for values that an ablation cannot have.
func (a Ablation) Check() error {
	switch {
	case a.Top != nil && *a.Top < 1:
		return fault.New(fault.Usage, "omit top to keep all edges",
			"top: found %d, expected at least 1", *a.Top)
	case a.Sample != nil && !(*a.Sample > 0 && *a.Sample <= 1):
		return fault.New(fault.Usage, "write half of the edges as sample: 0.5",
			"sample: found %v, expected a share above 0 and at most 1", *a.Sample)
	case a.Seed != 0 && a.Sample == nil && !a.Rewire:
		return fault.New(fault.Usage, "remove it, or set sample or rewire",
			"seed: found %d without sample or rewire, which use it", a.Seed)
	}
	return nil
}

// ablate applies the ablation to the edges of a relation. rows are those that it keeps, nil for
// all.
func (r *relation) ablate(a Ablation, undirected bool) (rows []int, err error) {
	if a.Top != nil {
		best := topEdges(r.src, r.dst, r.weights, *a.Top, undirected)
		r.account.Add(ingest.BelowTop, strconv.Itoa(*a.Top), len(r.src)-len(best))
		rows = r.choose(best, rows)
	}
	if a.Sample != nil {
		some := sampleEdges(len(r.src), *a.Sample, a.Seed)
		share := fmt.Sprintf("share %v, seed %d", *a.Sample, a.Seed)
		r.account.Add(ingest.NotSampled, share, len(r.src)-len(some))
		rows = r.choose(some, rows)
	}
	if a.Rewire && len(r.src) > 0 {
		rewired := rewireEdges(r.src, r.dst, undirected, r.kind.Source == r.kind.Target, a.Seed)
		if rewired == 0 {
			return nil, fault.New(fault.Input,
				"remove rewire, or choose another seed if there are few edges",
				"rewire edge type %s: found no other graph of these degrees for its %s",
				r.kind, ingest.Plural(len(r.src), "edge", ""))
		}
		r.account.Add(ingest.Rewired, fmt.Sprintf("seed %d", a.Seed), rewired)
	}
	return rows, nil
}

// choose keeps some of the edges. rows are the rows of the edges so far, nil for all.
func (r *relation) choose(some, rows []int) []int {
	r.src, r.dst = chosen(r.src, some), chosen(r.dst, some)
	if r.weightName != "" {
		r.weights = chosen(r.weights, some)
	}
	if rows != nil {
		return chosen(rows, some)
	}
	return some
}

func chosen[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for k, row := range rows {
		some[k] = all[row]
	}
	return some
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
		makesLoop := oneType && (a == d || c == b)
		repeats := edges[key(a, d)] > 0 || edges[key(c, b)] > 0 || key(a, d) == key(c, b)
		if makesLoop || repeats {
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
