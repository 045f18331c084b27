package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/duplicates"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/source"
)

type ingestPerturbationsOptions struct {
	graph, out string
	table      source.PerturbationSpec
	duplicates duplicates.Rule
}

func newIngestPerturbations(e *env) *cobra.Command {
	var o ingestPerturbationsOptions
	cmd := &cobra.Command{
		Use:   "perturbations FILE|DIR --graph DIR --out FILE",
		Short: "Turn a table of genotypes and phenotypes into a perturbation set",
		Long: `Turn a table (text, Arrow or Parquet) or the lmdb folder of a torchcell build into a
perturbation set whose genes are ids of the graph. Prints the number of samples, and what
was dropped or merged.`,
		Example: `  tcbuild ingest perturbations pairs.tsv --graph yeast/graph --out pairs.arrow \
      --genes-columns gene_a,gene_b --phenotypes score --unknown-genes drop-sample
  tcbuild ingest perturbations build/processed/lmdb --graph yeast/graph --out build.arrow`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "", "graph folder: `DIR`")
	flags.StringVar(&o.out, "out", "", "perturbation set to make, .arrow or .tsv: `FILE`")
	flags.StringSliceVar(&o.table.GenesColumns, "genes-columns", []string{"genes"},
		"`COLUMNS` with the deleted genes; if several, one gene in each")
	flags.StringVar(&o.table.GeneDelimiter, "gene-delimiter", "|", "`CHARACTERS` between the genes in a single column")
	flags.StringVar(&o.table.IDColumn, "id-column", "", "`COLUMN` with the sample ids (default: sample_id, or the row number)")
	columnFlags(flags, &o.table.Phenotypes, &o.table.NotPhenotypes, &o.table.Attributes)
	textFlags(flags, &o.table.TextSpec)
	flags.StringVar(&o.table.Aliases.SGDFeatures, "aliases", "", "SGD_features.tab `FILE` with other names of genes")
	flags.StringVar((*string)(&o.table.UnknownGenes), "unknown-genes", string(ingest.RefuseUnknownGenes),
		"what to do about genes that are not in the graph: error, drop-sample or drop-gene (both counted)")
	o.table.MaxDropped = new(float64)
	maxDroppedFlag(flags, o.table.MaxDropped)
	flags.BoolVar(&o.table.AllowWildtype, "allow-wildtype", false, "accept samples that delete no gene")
	duplicateIDsFlag(flags, &o.table.AllowDuplicateIDs)
	whereFlag(flags, &o.table.Where)
	duplicatesFlags(flags, &o.duplicates)
	require(cmd, "graph", "out")
	return configured(e, cmd, func(ctx context.Context, args []string, settings *conf.Settings) error {
		o.table.File = args[0]
		if err := readNameSettings(settings, &o.table.Aliases, &o.table.Synonyms); err != nil {
			return err
		}
		return runIngestPerturbations(ctx, e, o)
	}, conf.Keys(&source.NameSettings{})...)
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

// convertPerturbations writes the perturbation set to path. The report is lines to print.
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
	defer func() { err = inputfile.Explain(err, perturbations) }()
	bar := newProgress(e, "perturbations", 0)
	defer bar.Done()
	kept, err := duplicates.Apply(ctx, perturbations, o.duplicates, o.table.File)
	if err != nil {
		return nil, err
	}
	samples := &watched{SampleSource: kept, ctx: ctx, progress: bar, unmeasured: ingest.NewUnmeasured(kept.Columns())}
	if err := ingest.WritePerturbations(path, samples, graph.Genes); err != nil {
		return nil, err
	}
	if err := perturbations.Unchanged(); err != nil {
		return nil, err
	}
	report = append(report, perturbations.Report().String())
	report = append(report, describeRepeats(samples.counts.Repeats, o.duplicates)...)
	report = append(report, "phenotypes: "+listOrNone(kept.Columns().PhenotypeNames()),
		"attributes: "+listOrNone(kept.Columns().AttributeNames()),
		"columns left out: "+listOrNone(perturbations.IgnoredColumns()))
	if statistics := duplicates.Pooled(kept); len(statistics) > 0 {
		report = append(report, "statistics, pooled: "+fault.List(statistics))
	}
	if names := samples.unmeasured.Names(); len(names) > 0 {
		report = append(report, "phenotypes without a value: "+fault.List(names))
	}
	return report, nil
}

// describeRepeats describes how genotypes repeat, and what became of their samples. If none does,
// it is worth a line only to who asks.
func describeRepeats(repeats ingest.Repeats, rule duplicates.Rule) []string {
	if repeats.RepeatedGenotypes == 0 && rule.Duplicates == duplicates.Keep && len(rule.GroupBy) == 0 {
		return nil
	}
	text := fmt.Sprintf("genotypes: %s, of which %s repeat, in %s samples",
		humanCount(repeats.Genotypes), humanCount(repeats.RepeatedGenotypes), humanCount(repeats.RepeatedSamples))
	if len(rule.GroupBy) > 0 {
		text += fmt.Sprintf(", under %s conditions", humanCount(repeats.Conditions))
	}
	if rule.Duplicates == duplicates.Keep {
		return []string{text + "; all are kept"}
	}
	return []string{text + fmt.Sprintf("; %s samples merged (%s)", humanCount(repeats.MergedSamples), rule.Duplicates)}
}

func listOrNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return fault.List(words)
}
