package main

import (
	"context"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/source"
)

// The commands below build a graph of SGD's genes and one more source, to inspect a file or make
// part of a graph. To combine many sources, use tcbuild ingest graph.

func newIngestSGD(e *env) *cobra.Command {
	return ingestSource(e, &cobra.Command{
		Use:     "sgd FILE --out DIR",
		Short:   "Build the gene table from SGD_features.tab",
		Example: `  tcbuild ingest sgd SGD_features.tab --out genes`,
	}, func(spec *source.GraphSpec, file string) { spec.Genes.SGDFeatures = file })
}

func newIngestBioGRID(e *env) *cobra.Command {
	var organism string
	var types []string
	cmd := &cobra.Command{
		Use:   "biogrid FILE --genes FILE --out DIR",
		Short: "Build edges from a BioGRID file, tab2 or tab3",
		Long: `Build a graph of SGD's genes and the interactions of a BioGRID file: an edge type
biogrid_physical and one biogrid_genetic. Prints how many rows became edges, and why the others did not.`,
		Example: `  tcbuild ingest biogrid BIOGRID-ORGANISM-Saccharomyces_cerevisiae_S288c.tab3.txt --genes SGD_features.tab --out biogrid`,
	}
	cmd.Flags().StringVar(&organism, "organism", "559292", "`TAXON` of both genes")
	cmd.Flags().StringSliceVar(&types, "types", []string{"physical", "genetic"},
		"`TYPES` of experimental systems, one edge type each")
	return ingestSource(e, cmd, func(spec *source.GraphSpec, file string) {
		for _, kind := range types {
			spec.Edges = append(spec.Edges, source.EdgesSpec{BioGRID: &source.BioGRIDSpec{
				File: file, Relation: "biogrid_" + kind, Type: kind, Organism: organism,
			}})
		}
	})
}

func newIngestTFMatrix(e *env) *cobra.Command {
	var relation, rows string
	var least, most float64
	cmd := &cobra.Command{
		Use:   "tf-matrix FILE --genes FILE --out DIR",
		Short: "Build edges from a matrix of targets and transcription factors",
		Long: `Build a graph of SGD's genes and the regulations of a matrix, whose rows are targets and
whose columns are factors, or the other way round with --rows factors: an edge
factor -> target for each value but 0 or, with --min or --max, for each value in that
range, as p-values need it. Prints how many cells became edges, and why the others did
not.`,
		Example: `  tcbuild ingest tf-matrix YEASTRACT.tsv --genes SGD_features.tab --relation yeastract --out yeastract
  tcbuild ingest tf-matrix pvalues.tsv --max 0.001 --genes SGD_features.tab --relation binding --out binding`,
	}
	flags := cmd.Flags()
	flags.StringVar(&relation, "relation", "regulatory", "`NAME` of the edges")
	flags.StringVar(&rows, "rows", "", "what the rows are: targets or factors (default: targets, unless there are more columns)")
	flags.Float64Var(&least, "min", 0, "least `VALUE` of an edge, itself included (default: none)")
	flags.Float64Var(&most, "max", 0, "greatest `VALUE` of an edge, itself included (default: none)")
	return ingestSource(e, cmd, func(spec *source.GraphSpec, file string) {
		matrix := &source.TFMatrixSpec{TextSpec: source.TextSpec{File: file}, Relation: relation, Rows: source.MatrixRows(rows)}
		if flags.Changed("min") {
			matrix.Min = &least
		}
		if flags.Changed("max") {
			matrix.Max = &most
		}
		spec.Edges = []source.EdgesSpec{{TFMatrix: matrix}}
	})
}

func newIngestGEM(e *env) *cobra.Command {
	var nodes string
	cmd := &cobra.Command{
		Use:   "gem FILE --genes FILE --out DIR",
		Short: "Build the metabolic part from a genome-scale model",
		Long: `Build a graph of SGD's genes and the reactions and metabolites of a model: YAML of
cobrapy and RAVEN (.yml), SBML of level 3 with fbc or older with rules in notes
(.xml), or the table that yeast-GEM is released as (.txt). --reaction-nodes combinations makes
torchcell's nodes, one per combination of genes and direction. A rule may name a gene that
the file of --genes lacks: an error, unless --unknown-genes drops the gene's edges. The rule
keeps it; as nothing deletes it, it counts as present.`,
		Example: `  tcbuild ingest gem yeast-GEM.xml --genes SGD_features.tab --out yeast-gem --reaction-nodes combinations`,
	}
	cmd.Flags().StringVar(&nodes, "reaction-nodes", string(source.WholeReactions),
		"what a reaction becomes: whole or combinations")
	return ingestSource(e, cmd, func(spec *source.GraphSpec, file string) {
		spec.GEM = source.GEMSpec{File: file, ReactionNodes: source.ReactionNodes(nodes)}
	})
}

// ingestSource makes cmd build a graph from the source that add adds to the settings. The genes
// come from --genes, unless that source is the gene list.
func ingestSource(e *env, cmd *cobra.Command, add func(spec *source.GraphSpec, file string)) *cobra.Command {
	var o ingestGraphOptions
	var features string
	spec := source.GraphSpec{}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "", "folder to make: `DIR`")
	require(cmd, "out")
	flags.StringVar((*string)(&spec.UnknownGenes), "unknown-genes", string(ingest.RefuseUnknownGenes),
		"what to do about names that match no gene, or several: error, drop-sample or drop-gene (both drop the name's edges, and count them)")
	spec.MaxDropped = new(float64)
	maxDroppedFlag(flags, spec.MaxDropped)
	if cmd.Name() != "sgd" {
		flags.StringVar(&features, "genes", "", "SGD_features.tab `FILE` with the genes and their other names")
		flags.StringVar((*string)(&spec.SelfLoops), "self-loops", string(source.LoopsKeep),
			"self loops of genes: keep, none or append")
		require(cmd, "genes")
	}
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		spec.Genes.SGDFeatures, spec.Aliases.SGDFeatures = features, features
		add(&spec, args[0])
		_, err := runIngestGraph(ctx, e, o, spec)
		return err
	})
}
