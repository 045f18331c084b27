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
file that names the dataset's content and the expression. Readers take it, and refuse one
of another dataset. docs/DESIGN.md, Filters, describes expressions.`,
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
		Long: `Split a dataset's samples at random, and write a selection per part: an Arrow file with
the numbers of its samples, the dataset's content and how it was split. The same dataset,
options and seed give the same bytes on every machine.

By sample, each sample is drawn alone. By genotype, samples that delete the same genes
are in one part. By gene, the genes are drawn: no gene that a part's samples delete is
deleted in another part. Samples whose genes are of several parts, and those that delete
none, are in no part: they are counted, and listed in DIR/unplaced.arrow.`,
		Example: `  tcbuild split demo/indices --fractions train=0.8,val=0.1,test=0.1 --by genotype --seed 1 --out demo/split
  tcbuild split demo/indices --fractions train=0.9,test=0.1 --by sample --stratify perturbation-count --out demo/strata`,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&fractions, "fractions", nil,
		"`PARTS` with the fraction of samples, genotypes or genes that each gets; they add up to 1")
	flags.StringVar((*string)(&o.By), "by", "", "what stays together in one part: sample, genotype or gene")
	flags.StringVar(&o.Stratify, "stratify", "",
		"`COLUMN` of which each value is split by the same fractions, or perturbation-count")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the random numbers")
	flags.StringVar(&o.Pin, "pin", "", "table `FILE` with columns sample_id and part: samples that are in a part already")
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
