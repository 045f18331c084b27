package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
)

type ingestPerturbationsOptions struct {
	graph, out, dropped string
	set                 samples.Spec
}

func newIngestPerturbations(e *env) *cobra.Command {
	var o ingestPerturbationsOptions
	cmd := &cobra.Command{
		Use:   "perturbations [FILE|DIR] --graph DIR --out FILE",
		Short: "Turn a table of genotypes and phenotypes, or a screen, into a perturbation set",
		Long: `Turn a table (text, Arrow or Parquet), a published screen or the lmdb folder of a
torchcell build into a perturbation set that names genes by their ids in the graph. Prints how
many rows became samples, and why the others did not.

--source names a published screen, such as a table of strains with their alleles, or a matrix.
'tcbuild ingest sources NAME' prints its settings: the columns with strains, the alleles that
count as deletions, the genes used as markers. key=value changes them. 'tcbuild docs settings'
lists every key.`,
		Example: `  tcbuild ingest perturbations pairs.tsv --graph yeast/graph --out pairs.arrow \
      --genes-columns gene_a,gene_b --phenotypes score --unknown-genes drop-sample
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 alleles=[deletion,ts] \
      --graph yeast/graph --aliases SGD_features.tab --out sga.arrow
  tcbuild ingest perturbations scores.tsv --source matrix columns_are=genes \
      --graph yeast/graph --out scores.arrow
  tcbuild ingest perturbations build/processed/lmdb --graph yeast/graph --out build.arrow`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "", "cell graph: `DIR`")
	outFlag(flags, &o.out, "out", newOutput, "perturbation set to create, .arrow or .tsv: `FILE`")
	fileFlag(flags, &o.dropped, "dropped-names", beginsWith(ingest.DroppedNamesHeader),
		"also write a tab-separated list of the dropped names, with the reason and the number of "+
			"samples: `FILE`")
	set := perturbationFlags(cmd)
	require(cmd, "graph", "out")
	return set.configured(e, cmd, &o.set, func(ctx context.Context, _ []string) error {
		if o.set.File == "" {
			return usageError(cmd, errors.New("FILE or DIR is missing"))
		}
		return runIngestPerturbations(ctx, e, o)
	})
}

func runIngestPerturbations(ctx context.Context, e *env, o ingestPerturbationsOptions) (err error) {
	cell, _, err := graph.Read(o.graph)
	if err != nil {
		return err
	}
	logGraph(e, "read graph", cell)
	set, err := samples.Open(o.set, cell)
	if err != nil {
		return err
	}
	defer set.Close()
	defer func() { err = inputfile.Explain(err, set) }()
	bar := newProgress(e, "perturbations", 0)
	defer bar.Done()
	shown := &watched{SampleSource: set, progress: bar,
		unmeasured: ingest.NewSuspectPhenotypes(set.Columns())}
	err = publish(o.out, func(path string) error {
		if err := samples.Write(ctx, path, shown, cell.Genes); err != nil {
			return err
		}
		if err := set.Unchanged(); err != nil || o.dropped == "" {
			return err
		}
		return replace(o.dropped, set.DroppedNames(), ingest.DroppedNamesHeader)
	})
	if err != nil {
		return err
	}
	e.say(set.Account().String())
	e.say(describeRepeats(shown.account, o.set.Rule)...)
	e.say("phenotypes: "+listOrNone(set.Columns().PhenotypeNames()),
		"attributes: "+listOrNone(set.Columns().AttributeNames()),
		"columns left out: "+listOrNone(set.Columns().Ignored))
	if names := set.Columns().ByName; len(names) > 0 {
		e.say("attributes by their names (name those that were measured in --phenotypes): " +
			fault.List(names))
	}
	if statistics := duplicates.Pooled(set.SampleSource); len(statistics) > 0 {
		e.say("statistics, pooled: " + fault.List(statistics))
	}
	if names := shown.unmeasured.Constant(); len(names) > 0 {
		e.say("phenotypes with one value in all samples, which may be none (--not-phenotypes): " +
			fault.List(names))
	}
	if names := shown.unmeasured.Indices(); len(names) > 0 {
		e.say("phenotypes that number the samples, which may be none (--not-phenotypes): " +
			fault.List(names))
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
	keeps := cmp.Or(rule.Duplicates, duplicates.Keep) == duplicates.Keep
	if repeats.RepeatedGenotypes == 0 && keeps && len(rule.GroupBy) == 0 {
		return nil
	}
	text := fmt.Sprintf("genotypes: %s; repeated: %s, in %s samples",
		humanCount(repeats.Genotypes), humanCount(repeats.RepeatedGenotypes),
		humanCount(repeats.RepeatedSamples))
	if len(rule.GroupBy) > 0 {
		text += fmt.Sprintf(", under %s conditions", humanCount(repeats.Conditions))
	}
	if keeps {
		return []string{text + "; all are kept"}
	}
	return []string{text + fmt.Sprintf("; %s samples merged (%s)",
		humanCount(account.Sum(ingest.Merged)), rule.Duplicates)}
}

func listOrNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return fault.List(words)
}
