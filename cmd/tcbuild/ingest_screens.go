package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/duplicates"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/source"
)

// screenOptions are the options common to all kinds of published perturbation tables.
type screenOptions struct {
	graph, out string
	table      source.SampleSpec
	duplicates duplicates.Rule
}

func newIngestSGA(e *env) *cobra.Command {
	var o screenOptions
	var spec source.SGASpec
	cmd := &cobra.Command{
		Use:   "sga FILE --graph DIR --out FILE",
		Short: "Turn a synthetic genetic array table into a perturbation set",
		Long: `Turn a table of strains, as published by Costanzo et al. and Kuzmin et al., into a
perturbation set. Only deletions are kept unless --alleles names more kinds.
Markers such as hoΔ are controls and delete nothing. Rows without any phenotype are
dropped unless --keep-unmeasured is given. Prints how many rows became samples, and why
the others did not.`,
		Example: `  tcbuild ingest sga SGA_NxN.txt --graph yeast/graph --aliases SGD_features.tab --out sga.arrow --alleles deletion,ts
  tcbuild ingest sga links.txt --delimiter space --allele-columns Triplete_Name --graph yeast/graph \
      --aliases SGD_features.tab --out kuzmin.arrow`,
	}
	flags := cmd.Flags()
	o.addFlags(cmd)
	addStrainsFlags(flags, &spec.StrainsSpec)
	flags.StringSliceVar(&spec.StrainColumns, "strain-columns", nil,
		"`COLUMNS` with strain ids (default: Query Strain ID and Array Strain ID)")
	flags.StringSliceVar(&spec.AlleleColumns, "allele-columns", nil,
		"`COLUMNS` with allele names (default: Query allele name and Array allele name)")
	flags.StringVar(&spec.AlleleDelimiter, "allele-delimiter", "_", "`CHARACTERS` between alleles, in tables without strain ids")
	flags.StringSliceVar(&spec.Controls, "controls", source.SGAControls, "`GENES` that are markers, not deletions")
	return o.command(e, cmd, func(genes *ingest.Nodes) (*source.Screen, error) {
		spec.SampleSpec = o.table
		if !flags.Changed("controls") {
			spec.Controls = nil
		}
		return spec.Open(genes)
	})
}

func newIngestEMAP(e *env) *cobra.Command {
	var o screenOptions
	var spec source.EMAPSpec
	cmd := &cobra.Command{
		Use:   "emap FILE --graph DIR --out FILE",
		Short: "Turn an E-MAP, pairs of genes with scores, into a perturbation set",
		Long: `Turn a table of gene pairs and scores into a perturbation set. Deletions alone are
kept unless --alleles names more kinds, and rows with a score unless --keep-unmeasured
keeps all. Prints how many rows became samples, and why the others did not.`,
		Example: `  tcbuild ingest emap pairs.tsv --graph yeast/graph --aliases SGD_features.tab --out emap.arrow --alleles deletion,damp`,
	}
	flags := cmd.Flags()
	o.addFlags(cmd)
	addStrainsFlags(flags, &spec.StrainsSpec)
	flags.StringSliceVar(&spec.GenesColumns, "genes-columns", []string{"gene_a", "gene_b"}, "`COLUMNS` with one gene each")
	flags.StringSliceVar(&spec.MutationColumns, "mutation-columns", nil,
		"`COLUMNS` with each gene's kind of mutation (default: mutation_or_name_a and _b, if present)")
	flags.StringSliceVar(&spec.Controls, "controls", nil, "`GENES` that are markers, not deletions")
	return o.command(e, cmd, func(genes *ingest.Nodes) (*source.Screen, error) {
		spec.SampleSpec = o.table
		return spec.Open(genes)
	})
}

func newIngestMatrix(e *env) *cobra.Command {
	var o screenOptions
	var spec source.MatrixSpec
	cmd := &cobra.Command{
		Use:   "matrix FILE --graph DIR --out FILE",
		Short: "Turn a wide table of genes x conditions into a perturbation set",
		Long: `Turn a wide table, a row per deleted gene and a column per condition, into a
perturbation set with a sample per value: the phenotype value, the attribute condition,
and the sample id "gene: condition". For a sample per gene with a phenotype per
condition, use tcbuild ingest perturbations --genes-columns FIRST.

Columns that are named as genes are refused unless --columns-are says what they are: of
genes, each value is of the double mutant. Of the equal halves of a symmetric matrix each
pair is kept once, unless --duplicates is given. Columns whose names say het, heterozygous,
HIP, DAmP or hypomorph are refused unless --partial-loss says what becomes of them. Rows
may be named by genes, strain ids or alleles; --alleles says which kinds count as deletions.`,
		Example: `  tcbuild ingest matrix galardini_value.txt --graph yeast/graph --aliases SGD_features.tab --out screens.arrow
  tcbuild ingest matrix scores.tsv --graph yeast/graph --columns-are genes --out pairs.arrow`,
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar((*string)(&spec.ColumnsAre), "columns-are", "",
		"what the columns are: conditions or genes (default: conditions, unless named like genes)")
	flags.StringVar((*string)(&spec.PartialLoss), "partial-loss", "",
		"what to do about columns of strains that keep part of the gene's function, such as heterozygous ones: drop, keep as deletions, or only, which drops the others (default: an error)")
	flags.StringVar(&spec.GenePattern, "gene-pattern", "",
		"`PATTERN` with a group that matches the gene or strain in the name of a row (default: all of it)")
	allelesFlag(flags, &spec.Alleles)
	return o.command(e, cmd, func(genes *ingest.Nodes) (*source.Screen, error) {
		spec.SampleSpec, spec.BothHalves = o.table, flags.Changed("duplicates")
		return spec.Open(genes)
	})
}

func (o *screenOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.graph, "graph", "", "graph folder: `DIR`")
	flags.StringVar(&o.out, "out", "", "perturbation set to make, .arrow or .tsv: `FILE`")
	textFlags(flags, &o.table.TextSpec)
	flags.StringVar(&o.table.Aliases.SGDFeatures, "aliases", "", "SGD_features.tab `FILE` with other names of genes")
	flags.StringVar((*string)(&o.table.UnknownGenes), "unknown-genes", string(ingest.RefuseUnknownGenes),
		"what to do about names that match no gene of the graph, or several: error, drop-sample or drop-gene (both counted)")
	o.table.MaxDropped = new(float64)
	maxDroppedFlag(flags, o.table.MaxDropped)
	flags.BoolVar(&o.table.AllowWildtype, "allow-wildtype", false, "accept samples that delete no gene")
	duplicateIDsFlag(flags, &o.table.AllowDuplicateIDs)
	whereFlag(flags, &o.table.Where)
	duplicatesFlags(flags, &o.duplicates)
	flags.BoolVar(&o.table.KeepUnmeasured, "keep-unmeasured", false,
		"keep rows without any phenotype (default: drop and count them)")
	require(cmd, "graph", "out")
}

// textFlags are about the layout of a text table.
func textFlags(flags *pflag.FlagSet, spec *source.TextSpec) {
	flags.StringVar(&spec.Delimiter, "delimiter", "",
		"`CHARACTER` between columns, or tab, comma, space; text may then have any ending (default: by the file's name)")
	flags.StringSliceVar(&spec.Columns, "columns", nil, "column `NAMES` of a text file without a header line")
	flags.StringVar(&spec.Member, "member", "", "`NAME` of the text table in a .zip, if it has several")
	flags.IntVar(&spec.SkipLines, "skip-lines", 0, "`NUMBER` of lines before the header")
	flags.StringVar(&spec.Comment, "comment", "", "`TEXT` that lines begin with that are no rows")
}

// readNameSettings reads the settings of names that are not flags.
func readNameSettings(settings *conf.Settings, aliases *source.AliasesSpec, synonyms *ingest.Synonyms) error {
	var names source.NameSettings
	err := settings.Decode(&names)
	aliases.Tables, *synonyms = names.Tables, names.Synonyms
	return err
}

func addStrainsFlags(flags *pflag.FlagSet, spec *source.StrainsSpec) {
	flags.StringVar(&spec.IDColumn, "id-column", "", "`COLUMN` with the sample ids (default: sample_id, or the sample's index)")
	columnFlags(flags, &spec.Phenotypes, &spec.NotPhenotypes, &spec.Attributes)
	allelesFlag(flags, &spec.Alleles)
}

func allelesFlag(flags *pflag.FlagSet, kinds *[]source.AlleleKind) {
	flags.StringSliceVar(kinds, "alleles", []string{source.DeletionAllele},
		"`KINDS` of alleles that count as deletions: deletion, damp, ts, other")
}

// command gives cmd its run function, which reads the screen that open returns.
func (o *screenOptions) command(e *env, cmd *cobra.Command, open func(genes *ingest.Nodes) (*source.Screen, error)) *cobra.Command {
	return configured(e, cmd, func(ctx context.Context, args []string, settings *conf.Settings) error {
		o.table.File = args[0]
		if err := readNameSettings(settings, &o.table.Aliases, &o.table.Synonyms); err != nil {
			return err
		}
		return runIngestScreen(ctx, e, o, open)
	}, conf.Keys(&source.NameSettings{})...)
}

func runIngestScreen(ctx context.Context, e *env, o *screenOptions, open func(genes *ingest.Nodes) (*source.Screen, error)) error {
	graph, _, err := ingest.ReadGraph(o.graph)
	if err != nil {
		return err
	}
	logGraph(e, "read graph", graph)
	screen, err := open(graph.Genes)
	if err != nil {
		return err
	}
	defer screen.Close()
	bar := newProgress(e, "perturbations", 0)
	defer bar.Done()
	var kept ingest.SampleSource
	var samples *watched
	err = publish(o.out, func(path string) error {
		if kept, err = duplicates.Apply(ctx, screen, o.duplicates, o.table.File); err != nil {
			return err
		}
		samples = &watched{SampleSource: kept, ctx: ctx, progress: bar}
		if err := ingest.WritePerturbations(path, samples, graph.Genes); err != nil {
			return err
		}
		return screen.Unchanged()
	})
	if err != nil {
		return inputfile.Explain(err, screen)
	}
	e.say(append([]string{screen.Report().String()}, describeRepeats(samples.counts.Repeats, o.duplicates)...)...)
	e.say("phenotypes: "+listOrNone(kept.Columns().PhenotypeNames()), "attributes: "+listOrNone(kept.Columns().AttributeNames()),
		"columns left out: "+listOrNone(screen.IgnoredColumns()))
	return nil
}
