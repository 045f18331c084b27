package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/source"
)

type ingestPerturbationsOptions struct {
	graph, out string
	table      source.PerturbationSpec
}

func newIngestPerturbations(e *env) *cobra.Command {
	var o ingestPerturbationsOptions
	cmd := &cobra.Command{
		Use:   "perturbations FILE|DIR --graph DIR --out FILE",
		Short: "Turn a table of genotypes and phenotypes into a perturbation set",
		Long: `Turn a table - text, Arrow or Parquet - or the lmdb folder of a torchcell build into a
perturbation set whose genes are ids of the graph. Prints how many samples it has, and what was dropped or merged.`,
		Example: `  tcbuild ingest perturbations pairs.tsv --graph yeast/graph --out pairs.arrow \
      --genes-columns gene_a,gene_b --phenotypes score --unknown-genes drop-sample
  tcbuild ingest perturbations build/processed/lmdb --graph yeast/graph --out build.arrow`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "", "graph folder: `DIR`")
	flags.StringVar(&o.out, "out", "", "perturbation set to make, .arrow or .tsv: `FILE`")
	flags.StringSliceVar(&o.table.GenesColumns, "genes-columns", []string{"genes"}, "`COLUMNS` with the deleted genes; of several, each holds one gene")
	flags.StringVar(&o.table.GeneDelimiter, "gene-delimiter", "|", "`CHARACTERS` between the genes of a single column")
	flags.StringVar(&o.table.IDColumn, "id-column", "", "`COLUMN` with the sample ids (default sample_id, or the row's number)")
	phenotypeFlags(flags, &o.table.Phenotypes, &o.table.NotPhenotypes)
	flags.StringVar(&o.table.Delimiter, "delimiter", "", "`CHARACTER` between columns, or tab, comma, space (default by the file's name)")
	flags.StringSliceVar(&o.table.Columns, "columns", nil, "`NAMES` of the columns of a text file without a header line")
	flags.StringVar(&o.table.Aliases.SGDFeatures, "aliases", "", "SGD_features.tab `FILE` with further names of genes")
	flags.StringVar((*string)(&o.table.UnknownGenes), "unknown-genes", string(ingest.RefuseUnknownGenes), "genes that the graph lacks: error, drop-sample or drop-gene (both counted)")
	flags.BoolVar(&o.table.AllowWildtype, "allow-wildtype", false, "accept samples without a deleted gene")
	duplicateIDsFlag(flags, &o.table.AllowDuplicateIDs)
	_ = cmd.MarkFlagRequired("graph")
	_ = cmd.MarkFlagRequired("out")
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		o.table.File = args[0]
		return runIngestPerturbations(ctx, e, o)
	})
}

func runIngestPerturbations(ctx context.Context, e *env, o ingestPerturbationsOptions) error {
	var report []string
	err := publish(o.out, func(path string) (err error) {
		report, err = convertPerturbations(ctx, e, o, path)
		return err
	})
	if err != nil {
		return err
	}
	e.say(report...)
	return nil
}

// convertPerturbations writes the perturbation set to path and reports, in lines for people, what
// it holds.
func convertPerturbations(ctx context.Context, e *env, o ingestPerturbationsOptions, path string) (report []string, err error) {
	graph, _, err := ingest.ReadGraph(o.graph)
	if err != nil {
		return nil, err
	}
	logGraph(e, "read graph", graph)

	perturbations, err := o.table.Open(graph.Genes)
	if err != nil {
		return nil, err
	}
	defer perturbations.Close()
	bar := newProgress(e, "perturbations", 0)
	defer bar.Done()
	samples := &watched{SampleSource: perturbations, ctx: ctx, progress: bar, unmeasured: ingest.NewUnmeasured(perturbations.PhenotypeNames())}
	if err := ingest.WritePerturbations(path, samples, graph.Genes); err != nil {
		return nil, err
	}
	if err := perturbations.Unchanged(); err != nil {
		return nil, err
	}
	report = []string{
		filepath.Base(o.table.File) + ": " + describeCounts(samples.counts),
		"phenotypes: " + listOrNone(perturbations.PhenotypeNames()),
		"columns left out: " + listOrNone(perturbations.IgnoredColumns()),
	}
	if names := samples.unmeasured.Names(); len(names) > 0 {
		report = append(report, "phenotypes without a value: "+fault.List(names))
	}
	return report, nil
}

// describeCounts says what a pass over a perturbation set found; what did not occur is left out.
func describeCounts(counts ingest.Counts) string {
	text := humanCount(counts.Samples) + " samples"
	for _, count := range []struct {
		n    int
		what string
	}{
		{counts.Wildtypes, "of them without a deleted gene"},
		{counts.UnknownGenes, "unknown gene names dropped"},
		{counts.DroppedSamples, "samples dropped for an unknown gene"},
		{counts.EmptiedSamples, "samples dropped as all their genes are unknown"},
		{counts.RepeatedGenes, "genes listed again in their sample and merged"},
		{counts.InfiniteValues, "infinite phenotype values taken as missing"},
	} {
		if count.n > 0 {
			text += fmt.Sprintf(", %s %s", humanCount(count.n), count.what)
		}
	}
	return text
}

func listOrNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return fault.List(words)
}
