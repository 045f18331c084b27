package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/internal/page"
	"tcbuild/internal/selection"
	"tcbuild/store"
)

func newSelect(e *env) *cobra.Command {
	var expression, out string
	cmd := &cobra.Command{
		Use:   "select DATASET --where EXPR --out FILE",
		Short: "Write the numbers of the samples for which an expression is true",
		Long: `Write the numbers of the samples for which an expression is true to an Arrow file,
which also records the expression and the dataset's content digest. The selection works with
every variant of the same input; readers refuse it for any other dataset. 'tcbuild docs input'
describes the language of expressions.`,
		Example: `  tcbuild select demo/indices --where 'fitness < 0.8 and deletions() == 3' \
      --out demo/sick.arrow
  tcbuild select demo/indices --where 'deletes_any("YAL001C", "YBR010W")' --out demo/two.arrow`,
	}
	whereFlag(cmd.Flags(), &expression)
	outFlag(cmd.Flags(), &out, "out", newOutput, "selection to create: `FILE`")
	require(cmd, "where", "out")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
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
		e.say(fmt.Sprintf("%s: %s of %s samples of %s", out, humanCount(selected),
			humanCount(dataset.Manifest.Samples), args[0]))
		return nil
	})
}

func newSplit(e *env) *cobra.Command {
	var o selection.SplitOptions
	var fractions []string
	var out, html string
	cmd := &cobra.Command{
		Use: "split DATASET --fractions PART=FRACTION,… --by " +
			"sample|genotype|gene|component|COLUMN --out DIR",
		Short: "Split a dataset's samples into parts, such as train, val and test",
		Long: `Split a dataset's samples at random, and write a selection for each part: an Arrow
file with its sample numbers, the dataset's content digest and the options of the split. The
same dataset, options and seed give the same bytes on every machine.

--by sample assigns each sample separately. --by genotype keeps samples that perturb the same
genes together, and --by COLUMN those with the same value, such as a cell type. --by gene
assigns genes: a gene perturbed in one part is not perturbed in any other, whatever the kind of
perturbation. Samples whose genes belong to several parts are left out, counted, and listed in
DIR/unplaced.arrow. With three genes per sample and parts of 0.8, 0.1 and 0.1, 51 % of the
samples are placed (0.8³ + 2 · 0.1³), if most genes are in many samples. --straddling parts
puts the others into parts of their own: a sample in test_unseen1 has a gene of test, and 1
gene that is not seen in train. A gene is seen if a sample in train perturbs it. A gene that
was assigned to train, but that no sample in train perturbs, moves to the last part with which it
shares a sample: its pair with a gene of test is in test. Pairs of a gene of val and one of test
are in test_unseen2.

--by component keeps connected genes together: two genes are connected if a sample perturbs
both. All samples are placed and no two parts share a gene. Components are placed whole, the
largest first, each in the part that lacks the most samples; the seed decides between equal ones.
Where samples connect nearly all genes, there is one component, and only --by gene can split it.

Samples that perturb no gene, the wild types, are split by the fractions as samples, apart from
the others. --wildtypes whole keeps them together: by genotype or component as one more, by gene in
the first part. By column they belong to their value.

--hold-out moves samples to test, or another part, before the others are split: all samples of
a cell type (zero-shot), all that perturb a listed gene, or only the samples of a cell type that
do (few-shot). With --by gene, gene=FILE alone holds out the listed genes, and their samples may
straddle parts; samples held out by other conditions are in that part whatever their genes.

Each part gets its fraction to within one sample, genotype, gene (before any move) or value; by
component, as near as components allow; with --stratify, to within one for each value of the column
(missing values count as a value). Stratifying fails if the column has more than 1,000 values, or,
with --by genotype, if it differs between samples of a genotype.

--pin FILE assigns samples, and with them their genotype or genes, to parts. Pinned samples
count towards the part's fraction. A part with more pinned samples than its fraction keeps
them, and the other parts share the rest. Unknown or repeated ids, unknown parts,
contradictory pins and empty parts are errors.`,
		Example: `  tcbuild split demo/indices --fractions train=0.8,val=0.1,test=0.1 \
      --by genotype --seed 1 --out demo/split
  tcbuild split demo/indices --fractions train=0.9,test=0.1 --by sample \
      --stratify perturbation-count --out demo/strata
  tcbuild split demo/indices --fractions train=0.8,test=0.2 --by gene \
      --straddling parts --out demo/genes
  tcbuild split cells --fractions train=0.9,val=0.1 \
      --by genotype --hold-out cell_type=K562 --out zero_shot
  tcbuild split cells --by sample --hold-out cell_type=K562,gene=unseen.txt --out few_shot`,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&fractions, "fractions", nil,
		"`PARTS` and the fraction of samples, genotypes, genes or values that each gets; "+
			"fractions add up to 1 (default: train=1, with --hold-out)")
	flags.StringVar((*string)(&o.By), "by", "",
		"unit to split by: sample, genotype, gene, component or a `COLUMN` "+
			"(all samples of a unit go to the same part)")
	choiceFlag(cmd, &o.Straddling, "straddling", selection.DropStraddling,
		[]selection.Straddling{selection.DropStraddling, selection.SeparateStraddling},
		"with --by gene, what to do with samples whose genes belong to several parts: drop them, "+
			"or put them into extra parts (parts)")
	choiceFlag(cmd, &o.Wildtypes, "wildtypes", selection.SplitWildtypes,
		[]selection.Wildtypes{selection.SplitWildtypes, selection.WholeWildtypes},
		"with --by genotype, gene or component, what to do with samples that perturb no gene: "+
			"split them by the fractions, or keep them together (whole)")
	completes(cmd, "by", string(selection.BySample), string(selection.ByGenotype),
		string(selection.ByGene), string(selection.ByComponent))
	flags.StringArrayVar(&o.HoldOut, "hold-out", nil,
		"put these samples into test, or PART, before splitting: `[PART:]COLUMN=VALUE`, "+
			"[PART:]gene=FILE, or several conditions joined by commas, "+
			"which must all be true; repeatable")
	flags.StringVar(&o.Stratify, "stratify", "",
		"apply the fractions within each value of `COLUMN`, or of perturbation-count, "+
			"the number of perturbed genes")
	seedFlag(flags, &o.Seed)
	flags.StringVar(&o.Pin, "pin", "",
		"table `FILE` with columns sample_id and part, which assigns samples to parts")
	pageFlag(flags, &html, splitPage, "also write an HTML page about the parts: `FILE`")
	outFlag(flags, &out, "out", newOutput, "folder to create: `DIR`")
	require(cmd, "by", "out")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		var err error
		switch {
		case len(fractions) > 0:
			if o.Fractions, err = selection.ParseFractions(fractions); err != nil {
				return err
			}
		case len(o.HoldOut) == 0:
			return fault.New(fault.Usage,
				"add --fractions or --hold-out, or see 'tcbuild split --help'",
				"split: --fractions is missing")
		}
		return runSplit(ctx, e, args[0], o, out, html)
	})
}

func runSplit(ctx context.Context, e *env, path string, o selection.SplitOptions, out,
	html string) error {
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
		if err == nil && html != "" {
			err = writePage(describeSplit(path, out, o, report), html, splitPage)
		}
		return err
	})
	if err != nil || e.quiet {
		return err
	}
	parts := partsTable(out, o, report)
	if err := e.table(append([][]string{parts.Header}, parts.Rows...)...); err != nil {
		return err
	}
	if o.By != selection.ByGene && len(o.HoldOut) == 0 {
		return nil
	}
	e.say("")
	seen := seenTable(report)
	return e.table(append([][]string{seen.Header}, seen.Rows...)...)
}

// partsTable has a row per selection.
func partsTable(out string, o selection.SplitOptions, report *selection.SplitReport) page.Section {
	first := report.Parts[0].Name
	table := page.Section{Title: "Parts", Header: []string{"selection", "samples", "genotypes",
		"genes", "genotypes in " + first, "genes in " + first}}
	if o.By.IsColumn() {
		table.Header = append(table.Header, "values of "+string(o.By))
	}
	wildtypes := report.HasWildtypes()
	if wildtypes {
		table.Header = append(table.Header, "wild types")
	}
	plot := page.Plot{Title: "Samples of each part", X: "part", Counted: "samples"}
	for _, part := range report.Parts {
		row := []any{filepath.Join(out, part.Name+".arrow"), part.Samples, part.Genotypes,
			part.Genes, part.SharedGenotypes, part.SharedGenes}
		if o.By.IsColumn() {
			row = append(row, part.Units)
		}
		if wildtypes {
			row = append(row, part.Wildtypes)
		}
		table.Add(row...)
		plot.Columns = append(plot.Columns, page.Column{Label: part.Name, Value: part.Samples})
	}
	if report.Unplaced > 0 {
		row := make([]string, len(table.Header))
		row[0], row[1] = filepath.Join(out, "unplaced.arrow"), humanCount(report.Unplaced)
		table.Rows = append(table.Rows, row)
		plot.Columns = append(plot.Columns, page.Column{Label: "unplaced", Value: report.Unplaced})
	}
	table.Plots = []page.Plot{plot}
	return table
}

// seenTable has a row per part, number of perturbed genes, and number of these that the first part
// has.
func seenTable(report *selection.SplitReport) page.Section {
	table := page.Section{Title: "Genes seen in training",
		Header: []string{"part", "perturbed genes", "seen in " + report.Parts[0].Name, "samples"}}
	for _, seen := range report.Seen {
		table.Add(seen.Part, seen.Perturbed, seen.Seen, seen.Count)
	}
	return table
}

func describeSplit(
	path, out string, o selection.SplitOptions, report *selection.SplitReport,
) *page.Page {
	how := "by " + string(o.By)
	if len(o.Fractions) > 0 {
		how = selection.FormatFractions(o.Fractions) + " " + how + fmt.Sprintf(", seed %d", o.Seed)
	}
	for _, held := range o.HoldOut {
		how += "; held out: " + held
	}
	return &page.Page{Title: "Split of " + path, Lead: []string{how},
		Sections: []page.Section{partsTable(out, o, report), seenTable(report)}}
}
