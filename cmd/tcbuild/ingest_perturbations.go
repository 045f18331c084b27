package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/source"
)

type ingestPerturbationsOptions struct {
	graph, out, dropped string
	table               source.PerturbationSpec
	duplicates          duplicates.Rule
}

func newIngestPerturbations(e *env) *cobra.Command {
	var o ingestPerturbationsOptions
	var name string
	given := source.PerturbationSpec{MaxDropped: new(float64)}
	cmd := &cobra.Command{
		Use:   "perturbations FILE|DIR --graph DIR --out FILE",
		Short: "Turn a table of genotypes and phenotypes, or a screen, into a perturbation set",
		Long: `Turn a table (text, Arrow or Parquet), a published screen or the lmdb folder of a torchcell
build into a perturbation set that names genes by their ids in the graph. Prints how many
rows became samples, and why the others did not.

--source names a published screen, such as a table of strains with their alleles, or a matrix.
'tcbuild ingest sources NAME' prints its settings: the columns with strains, the alleles that
count as deletions, the genes used as markers. key=value changes them. 'tcbuild docs settings'
lists every key.`,
		Example: `  tcbuild ingest perturbations pairs.tsv --graph yeast/graph --out pairs.arrow \
      --genes-columns gene_a,gene_b --phenotypes score --unknown-genes drop-sample
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 alleles=[deletion,ts] \
      --graph yeast/graph --aliases SGD_features.tab --out sga.arrow
  tcbuild ingest perturbations scores.tsv --source matrix columns_are=genes --graph yeast/graph --out scores.arrow
  tcbuild ingest perturbations build/processed/lmdb --graph yeast/graph --out build.arrow`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "", "cell graph: `DIR`")
	outFlag(flags, &o.out, "out", newOutput, "perturbation set to create, .arrow or .tsv: `FILE`")
	fileFlag(flags, &o.dropped, "dropped-names", beginsWith(ingest.DroppedNamesHeader),
		"also write a tab-separated list of the dropped names, with the reason and the number of "+
			"samples: `FILE`")
	flags.StringVar(&name, "source", "", "`NAME` of the public source that FILE comes from; 'tcbuild ingest sources' lists them")
	flags.StringSliceVar(&given.GenesColumns, "genes-columns", nil,
		"`COLUMNS` with the deleted genes; if several are named, each holds one gene (default: genes)")
	columnFlags(flags, &given.Phenotypes, &given.NotPhenotypes, &given.Attributes)
	flags.StringSliceVar(&given.Controls, "controls", nil,
		"`NAMES` that delete nothing, such as ctrl,non-targeting; in tables of yeast's strains, also genes replaced by a marker")
	flags.StringVar(&given.SGDFeatures, "aliases", "", "`FILE` SGD_features.tab, for other names of genes")
	choiceFlag(cmd, &given.UnknownGenes, "unknown-genes", ingest.RefuseUnknownGenes, ingest.UnknownGenesChoices,
		"what to do with names that match no gene of the graph, or several: error, drop-sample or drop-gene; drops are counted")
	flags.Float64Var(given.MaxDropped, "max-dropped", ingest.DefaultMaxDropped,
		"largest `SHARE` of a source's rows to drop because a name matches no gene, or several, "+
			"or for its allele; more is an error")
	whereFlag(flags, &given.Where)
	duplicatesFlags(cmd, &o.duplicates)
	require(cmd, "graph", "out")
	keys := slices.DeleteFunc(conf.Keys(&given.LayoutSpec), func(key string) bool { return key == "file" })
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		if name != "" {
			if err := conf.DecodeSource(name, "perturbations", &o.table); err != nil {
				return err
			}
		}
		if err := e.settings.Decode(&o.table.LayoutSpec); err != nil {
			return err
		}
		flags.VisitAll(func(flag *pflag.Flag) {
			if flag.Changed { // also by a setting
				conf.CopyKey(&o.table, &given, settingOf(flag))
			}
		})
		o.table.BothHalves = o.table.BothHalves || flags.Changed("duplicates")
		o.table.File = args[0]
		o.table.Compare, o.table.MayDiffer = o.duplicates.Merges(), o.duplicates.Ignore
		return runIngestPerturbations(ctx, e, o)
	}, keys...)
}

func runIngestPerturbations(ctx context.Context, e *env, o ingestPerturbationsOptions) (err error) {
	graph, _, err := graph.Read(o.graph)
	if err != nil {
		return err
	}
	logGraph(e, "read graph", graph)
	perturbations, err := o.table.Open(graph)
	if err != nil {
		return err
	}
	defer perturbations.Close()
	defer func() { err = inputfile.Explain(err, perturbations) }()
	bar := newProgress(e, "perturbations", 0)
	defer bar.Done()
	kept, err := duplicates.Apply(perturbations, o.duplicates, o.table.File, graph.Genes)
	if err != nil {
		return err
	}
	shown := &watched{SampleSource: kept, progress: bar, unmeasured: ingest.NewUnmeasured(kept.Columns())}
	err = publish(o.out, func(path string) error {
		if err := samples.Write(ctx, path, shown, graph.Genes); err != nil {
			return err
		}
		if err := perturbations.Unchanged(); err != nil || o.dropped == "" {
			return err
		}
		return replace(o.dropped, perturbations.DroppedNames(), ingest.DroppedNamesHeader)
	})
	if err != nil {
		return err
	}
	e.say(perturbations.Account().String())
	e.say(describeRepeats(shown.account, o.duplicates)...)
	e.say("phenotypes: "+listOrNone(kept.Columns().PhenotypeNames()), "attributes: "+listOrNone(kept.Columns().AttributeNames()),
		"columns left out: "+listOrNone(perturbations.Columns().Ignored))
	if names := kept.Columns().ByName; len(names) > 0 {
		e.say("attributes by their names (name those that were measured in --phenotypes): " +
			fault.List(names))
	}
	if statistics := duplicates.Pooled(kept); len(statistics) > 0 {
		e.say("statistics, pooled: " + fault.List(statistics))
	}
	if names := shown.unmeasured.Constant(); len(names) > 0 {
		e.say("phenotypes with one value in all samples, which may be none (--not-phenotypes): " + fault.List(names))
	}
	if names := shown.unmeasured.Indices(); len(names) > 0 {
		e.say("phenotypes that number the samples, which may be none (--not-phenotypes): " + fault.List(names))
	}
	if names := shown.unmeasured.Names(); len(names) > 0 {
		e.say("phenotypes without a value: " + fault.List(names))
	}
	return nil
}

// describeRepeats describes how genotypes repeat, and what became of their samples. If none does,
// it is worth a line only to who asks.
func describeRepeats(account *ingest.Account, rule duplicates.Rule) []string {
	repeats := account.Repeats
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
	return []string{text + fmt.Sprintf("; %s samples merged (%s)", humanCount(account.Sum(ingest.Merged)), rule.Duplicates)}
}

func listOrNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return fault.List(words)
}
