package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/store"
)

// input is a graph folder and a perturbation set to build from.
type input struct{ graph, perturbations string }

// inputs makes subsets of the user's input, each once.
type inputs struct {
	Options
	dir     string // of the parts
	graph   *ingest.Graph
	read    []ingest.Input // the files of the graph
	samples ingest.SampleSource
	total   int // samples in the set
}

// readInputs reads the graph, counts the samples, and makes dir for their parts.
func readInputs(ctx context.Context, o Options, dir string) (*inputs, error) {
	in := &inputs{Options: o, dir: dir}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	var err error
	if in.graph, in.read, err = graph.Read(o.Graph); err != nil {
		return nil, err
	}
	if in.samples, err = samples.Open(o.Perturbations, in.graph.Genes, o.PerturbationOptions); err != nil {
		return nil, err
	}
	if in.samples, err = duplicates.Apply(ctx, in.samples, o.Rule, o.Perturbations); err != nil {
		return nil, err
	}
	counts, err := in.samples.Scan(func(*ingest.Samples) error { return nil })
	if err != nil {
		return nil, err
	}
	if in.total = counts.Samples; in.total == 0 {
		return nil, fault.New(fault.Input, "give a table with at least one row",
			"read perturbations %s: found no samples, expected at least one", o.Perturbations)
	}
	return in, nil
}

// part returns the input of a variation. If that is everything, it is the user's own files.
func (in *inputs) part(v Variation) (input, error) {
	part := input{in.Graph, in.Perturbations}
	if v.EveryNth > 1 {
		part.graph = filepath.Join(in.dir, fmt.Sprintf("graph-every-%d", v.EveryNth))
		if err := once(part.graph, func() error { return graph.Write(part.graph, thin(in.graph, v.EveryNth)) }); err != nil {
			return part, err
		}
	}
	if v.Samples < in.total {
		part.perturbations = filepath.Join(in.dir, fmt.Sprintf("samples-%d.arrow", v.Samples))
		source := spread{in.samples, in.total, v.Samples}
		return part, once(part.perturbations, func() error {
			return samples.Write(part.perturbations, source, in.graph.Genes)
		})
	}
	return part, nil
}

// checkRead checks that a dataset was built from the user's files as they were read here.
func (in *inputs) checkRead(from input, m *store.Manifest) error {
	why := ""
	if from.graph == in.Graph {
		why = inputfile.Difference(in.read, m.Inputs.Graph)
	}
	if from.perturbations == in.Perturbations {
		why = cmp.Or(why, inputfile.Difference(in.samples.Inputs(), m.Inputs.Perturbations))
	}
	if why != "" {
		return fault.New(fault.Busy, "run the same command again", "bench: while it ran, %s", why)
	}
	return in.samples.Unchanged()
}

// once calls write unless path exists.
func once(path string, write func() error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return write()
}

// removals counts what a set of samples removes, per sample: perturbation indices and mask
// positions.
func (in *inputs) removals(samples int) (genes, removed float64, err error) {
	rules, err := incidence.ReadRules(in.graph, in.ReactionRule)
	if err != nil {
		return 0, 0, err
	}
	remover := incidence.NewRemover(in.graph, incidence.Build(in.graph), rules)
	_, err = spread{in.samples, in.total, samples}.Scan(func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			genes += float64(len(batch.Genes(i)))
			removed += float64(len(remover.Removed(batch.Genes(i))))
		}
		return nil
	})
	return genes / float64(samples), removed / float64(samples), err
}

// thin keeps every nth edge of each edge type, which preserves the order and the shape of the
// degree distribution. It drops edge columns: no mask depends on them.
func thin(graph *ingest.Graph, nth int) *ingest.Graph {
	thinned := *graph
	thinned.Edges = nil
	for _, edges := range graph.Edges {
		thinned.Edges = append(thinned.Edges, &ingest.Edges{Type: edges.Type, Src: everyNth(edges.Src, nth), Dst: everyNth(edges.Dst, nth)})
	}
	return &thinned
}

// everyNth returns values 0, n, 2n, ….
func everyNth(values []uint32, n int) []uint32 {
	kept := make([]uint32, 0, (len(values)+n-1)/n)
	for i := 0; i < len(values); i += n {
		kept = append(kept, values[i])
	}
	return kept
}

// spread is a perturbation set of keep evenly spaced samples of another set's total.
type spread struct {
	ingest.SampleSource
	total, keep int
}

var errComplete = errors.New("no more samples are needed")

// Scan implements ingest.SampleSource. Its counts cover the samples that it visited.
func (s spread) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	kept := 0
	counts, err := s.SampleSource.Scan(func(batch *ingest.Samples) error {
		part := ingest.NewSamples(kept, s.Columns(), 0)
		for i := range batch.Len() {
			if kept < s.keep && batch.First+i == kept*s.total/s.keep {
				part.Append(batch.ID(i), batch.Genes(i), batch.Phenotypes(i), batch.Attributes(i))
				kept++
			}
		}
		if part.Len() > 0 {
			if err := yield(part); err != nil {
				return err
			}
		}
		if kept == s.keep {
			return errComplete
		}
		return nil
	})
	if errors.Is(err, errComplete) {
		err = nil
	}
	return counts, err
}

// allCases are the incidence variant and every codec of the other variants, each variant's default
// first.
func allCases() []Case {
	cases := []Case{{Variant: store.Incidence}}
	for _, variant := range []store.Variant{store.Indices, store.FullMasks} {
		for _, codec := range encode.Codecs(encode.Mode(variant)) {
			cases = append(cases, Case{variant, codec})
		}
	}
	return cases
}

func (c Case) isDefault() bool {
	return c.Variant == store.Incidence || c.Codec == encode.Codecs(encode.Mode(c.Variant))[0]
}

// folder is the name of a case's dataset.
func (c Case) folder() string {
	if c.Codec == "" {
		return string(c.Variant)
	}
	return string(c.Variant) + "-" + c.Codec
}

// The axes of the variations, limited by the size of the perturbation set.
const (
	baseSamples = 10_000
	mostSamples = 100_000
)

// baseVariation is the point that the variations start from.
func baseVariation(total, workers int) Variation {
	return Variation{Workers: workers, Samples: min(baseSamples, total), EveryNth: 1}
}

// variations differ from the base along one axis each: fewer workers, fewer or more samples, fewer
// edges.
func variations(total, workers int) []Variation {
	base := baseVariation(total, workers)
	all := []Variation{base}
	for w := 1; w < workers; w *= 2 {
		v := base
		v.Workers = w
		all = append(all, v)
	}
	for _, samples := range []int{base.Samples / 10, min(mostSamples, total)} {
		if v := base; samples > 0 && samples != base.Samples {
			v.Samples = samples
			all = append(all, v)
		}
	}
	for _, nth := range []int{4, 2} {
		v := base
		v.EveryNth = nth
		all = append(all, v)
	}
	return all
}
