package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/internal/disk"
)

// inputs are the user's graph and perturbation set, and subsets of the set.
type inputs struct {
	Options
	dir     string // of the subsets
	graph   *ingest.Graph
	samples ingest.SampleSource
	total   int // samples in the set
}

// readInputs reads the graph, counts the samples, and makes a folder for subsets.
func readInputs(ctx context.Context, o Options) (*inputs, error) {
	in := &inputs{Options: o, dir: filepath.Join(o.Out, "inputs")}
	if err := os.Mkdir(in.dir, 0o777); err != nil {
		return nil, err
	}
	var err error
	if in.graph, _, err = graph.Read(o.Graph); err != nil {
		return nil, err
	}
	options := o.PerturbationOptions
	options.Compare, options.MayDiffer = o.Merges(), o.Ignore
	options.Names = names.Of(in.graph)
	if in.samples, err = samples.Open(o.Perturbations, in.graph.Genes, options); err != nil {
		return nil, err
	}
	in.samples, err = duplicates.Apply(ctx, in.samples, o.Rule, o.Perturbations, in.graph.Genes)
	if err != nil {
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

// optionsOf returns the options of a build with some samples, evenly spaced. If those are not all,
// they are in a file of their own, without what the user's options filter, merge and leave out.
func (in *inputs) optionsOf(keep int) (tcbuild.Options, error) {
	o := in.Options.Options
	if keep == in.total {
		return o, nil
	}
	o.Perturbations = filepath.Join(in.dir, fmt.Sprintf("samples-%d.arrow", keep))
	o.PerturbationOptions = samples.PerturbationOptions{
		AllowWildtype:     true,
		AllowDuplicateIDs: in.AllowDuplicateIDs,
		KindsColumn:       samples.NoKinds, // it has only genes that the user's options remove
	}
	o.Rule = duplicates.Rule{}
	if disk.Exists(o.Perturbations) {
		return o, nil
	}
	return o, samples.Write(o.Perturbations, spread{in.samples, in.total, keep}, in.graph.Genes)
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
