package bench

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
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
	if in.samples, err = samples.Open(o.Spec, in.graph); err != nil {
		return nil, err
	}
	var account ingest.Account
	for _, err := range in.samples.Batches(ctx, &account) {
		if err != nil {
			return nil, err
		}
	}
	if in.total = account.Kept; in.total < 2 {
		return nil, fault.New(fault.Input, "give a table with at least two rows",
			"read perturbations %s: samples: found %d, expected at least 2", o.File, in.total)
	}
	return in, nil
}

// optionsOf returns the options of a build with some samples, evenly spaced. If those are not all,
// they are in a file of their own, without what the user's options leave out.
func (in *inputs) optionsOf(ctx context.Context, keep int) (tcbuild.Options, error) {
	o := in.Options.Options
	if keep == in.total {
		return o, nil
	}
	subset := filepath.Join(in.dir, fmt.Sprintf("samples-%d.arrow", keep))
	o.Spec = samples.Spec{
		File:              subset,
		AllowWildtype:     true,
		AllowDuplicateIDs: in.AllowDuplicateIDs,
		// it has only genes that the user's options remove
		KindsColumn: samples.IgnoreKindsColumn,
	}
	if disk.Exists(subset) {
		return o, nil
	}
	return o, samples.Write(ctx, subset, spread{in.samples, in.total, keep}, in.graph.Genes)
}

// spread is a perturbation set of keep evenly spaced samples of another set's total.
type spread struct {
	ingest.SampleSource
	total, keep int
}

// Batches implements ingest.SampleSource. The account covers the samples up to the last one kept.
func (s spread) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		kept := 0
		for batch, err := range s.SampleSource.Batches(ctx, account) {
			if err != nil {
				yield(nil, err)
				return
			}
			part := ingest.NewSamples(kept, s.Columns(), 0)
			for i := range batch.Len() {
				if kept < s.keep && batch.First+i == kept*s.total/s.keep {
					part.Append(batch.ID(i), batch.Genes(i), batch.Phenotypes(i),
						batch.Attributes(i))
					kept++
				}
			}
			if part.Len() > 0 && !yield(part, nil) || kept == s.keep {
				return
			}
		}
	}
}
