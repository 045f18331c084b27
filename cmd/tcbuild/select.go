package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/internal/selection"
	"tcbuild/store"
)

func newSelect(e *env) *cobra.Command {
	var expression, out string
	cmd := &cobra.Command{
		Use:   "select DATASET --where EXPR --out FILE",
		Short: "Write the numbers of a dataset's samples for which an expression is true",
		Long: `Write the numbers of a dataset's samples for which an expression is true, as an Arrow
file that names the dataset's content and the expression. It fits every variant of the
same input, and readers refuse it for any other dataset. 'tcbuild docs input' describes
the language of expressions.`,
		Example: `  tcbuild select demo/indices --where 'fitness < 0.8 and deletions() == 3' --out demo/sick.arrow
  tcbuild select demo/indices --where 'deletes_any("YAL001C", "YBR010W")' --out demo/two.arrow`,
	}
	whereFlag(cmd.Flags(), &expression)
	cmd.Flags().StringVar(&out, "out", "", "selection to make: `FILE`")
	require(cmd, "where", "out")
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		dataset, err := store.Open(args[0])
		if err != nil {
			return err
		}
		selected := 0
		err = publish(out, func(path string) error {
			selected, err = selection.Where(ctx, dataset, expression, path)
			return err
		})
		if err != nil {
			return err
		}
		e.say(fmt.Sprintf("%s: %s of %s samples of %s", out, humanCount(selected), humanCount(dataset.Manifest.Samples), args[0]))
		return nil
	})
}

func newSplit(e *env) *cobra.Command {
	var o selection.SplitOptions
	var fractions []string
	var out string
	cmd := &cobra.Command{
		Use:   "split DATASET --fractions PART=FRACTION,… --by sample|genotype|gene --out DIR",
		Short: "Split a dataset's samples at random into parts, such as train, val and test",
		Long: `Split a dataset's samples at random, and write a selection for each part: an Arrow file
with the numbers of its samples, the dataset's content and the options of the split. The
same dataset, options and seed give the same bytes on every machine.

--by sample draws each sample separately. --by genotype keeps samples that delete the same
genes in one part. --by gene draws genes: a gene deleted in one part is deleted in no other.
Samples whose genes belong to several parts, and samples that delete no gene, are in no
part; they are counted and listed in DIR/unplaced.arrow. With three genes per sample and
parts of 0.8, 0.1 and 0.1, 0.8³ + 2 · 0.1³ = 51 % of the samples are placed.

Each part gets its fraction to within one sample, genotype or gene; with --stratify, within
one for each value of the column (missing values count as a value). An error is a column
with more than 1,000 values, or with --by genotype one in which samples of a genotype differ.

--pin FILE fixes samples in parts, and with them their genotype or genes. Pinned samples
count towards the part's fraction. A part with more pinned samples than its fraction keeps
them, and the other parts share the rest. An unknown or repeated id, an unknown part,
contradictory pins and a part without samples are errors.`,
		Example: `  tcbuild split demo/indices --fractions train=0.8,val=0.1,test=0.1 --by genotype --seed 1 --out demo/split
  tcbuild split demo/indices --fractions train=0.9,test=0.1 --by sample --stratify perturbation-count --out demo/strata`,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&fractions, "fractions", nil,
		"`PARTS` with the fraction of samples, genotypes or genes that each gets; they add up to 1")
	flags.StringVar((*string)(&o.By), "by", "", "what stays together in one part: sample, genotype or gene")
	flags.StringVar(&o.Stratify, "stratify", "",
		"`COLUMN` whose values are each split by the same fractions, or perturbation-count for the number of deleted genes")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the random numbers")
	flags.StringVar(&o.Pin, "pin", "", "table `FILE` with columns sample_id and part, which fixes samples in parts")
	flags.StringVar(&out, "out", "", "folder to make: `DIR`")
	require(cmd, "fractions", "by", "out")
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		var err error
		if o.Fractions, err = selection.ParseFractions(fractions); err != nil {
			return err
		}
		return runSplit(ctx, e, args[0], o, out)
	})
}

func runSplit(ctx context.Context, e *env, path string, o selection.SplitOptions, out string) error {
	dataset, err := store.Open(path)
	if err != nil {
		return err
	}
	var report *selection.SplitReport
	err = publish(out, func(dir string) error {
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			report, err = selection.Split(ctx, dataset, o, dir)
		}
		return err
	})
	if err != nil || e.quiet {
		return err
	}
	rows := [][]string{{"selection", "samples"}}
	for _, part := range report.Parts {
		rows = append(rows, []string{filepath.Join(out, part.Name+".arrow"), humanCount(part.Samples)})
	}
	if o.By != selection.BySample {
		rows[0] = append(rows[0], string(o.By)+"s")
		for i, part := range report.Parts {
			rows[i+1] = append(rows[i+1], humanCount(part.Units))
		}
	}
	if report.Unplaced > 0 {
		rows = append(rows, []string{filepath.Join(out, "unplaced.arrow"), humanCount(report.Unplaced)})
	}
	return e.table(rows...)
}
