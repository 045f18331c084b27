package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/internal/inspect"
)

func newDiff(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "diff A B",
		SuggestFor: []string{"compare"},
		Short:      "Say whether two datasets have the same content, and where they differ",
		Long: `Compare the content of two datasets: the graph, the reaction rule, and the samples with their
genes, phenotypes and attributes. If they differ, say in what, and in which sample first; the
exit code is then 4. Variant, codec and shards do not count; masks follow from the content,
which 'tcbuild verify' proves.`,
		Example: `  tcbuild diff demo/indices demo/full-masks`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		return runDiff(ctx, e, args[0], args[1])
	})
}

func runDiff(ctx context.Context, e *env, a, b string) error {
	datasetA, err := tcbuild.Open(a)
	if err != nil {
		return err
	}
	datasetB, err := tcbuild.Open(b)
	if err != nil {
		return err
	}
	samples := min(datasetA.Manifest.Samples, datasetB.Manifest.Samples)
	bar := newProgress(e, "diff", samples)
	differences, err := inspect.Differences(ctx, datasetA, datasetB, bar)
	bar.Done()
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		e.say(fmt.Sprintf("%s and %s have the same content: %s samples, logical content %.12s…",
			a, b,
			humanCount(samples), datasetA.Manifest.LogicalContent))
		return nil
	}
	for _, line := range differences {
		fmt.Fprintln(e.stdout, oneLine(line))
	}
	return fault.New(fault.Damaged, "", "compare A = %s with B = %s: found other content; first: %s",
		a, b, oneLine(differences[0]))
}
