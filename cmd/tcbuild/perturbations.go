package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
)

// perturbationKey is the flag that names the perturbation set, and the section of the settings
// that may hold it and the other settings of the set.
const perturbationKey = "perturbations"

// rareFlags are not in the help, because few people set them by hand.
var rareFlags = []string{"allow-duplicate-ids", "gene-delimiter", "id-column", "kinds-column",
	"max-dropped", "removing-kinds"}

// perturbationFlags declares the flags of a perturbation set.
func perturbationFlags(cmd *cobra.Command, spec *samples.Spec) {
	flags := cmd.Flags()
	declared := make(map[string]bool)
	flags.VisitAll(func(flag *pflag.Flag) { declared[flag.Name] = true })
	flags.StringVar(&spec.File, perturbationKey, "",
		"perturbation set: `FILE`, or the lmdb folder of a torchcell build")
	flags.StringSliceVar(&spec.GenesColumns, "genes-columns", nil,
		"`COLUMNS` with the deleted genes; if several are named, each holds one gene "+
			"(default: genes)")
	flags.StringVar(&spec.GeneDelimiter, "gene-delimiter", "|",
		"`TEXT` between the genes of a field")
	flags.StringVar(&spec.IDColumn, "id-column", "",
		"`COLUMN` of sample ids (default: sample_id, or the row number)")
	flags.StringSliceVar(&spec.Phenotypes, "phenotypes", nil,
		"phenotype `COLUMNS` (default: every numeric column without another use)")
	flags.StringSliceVar(&spec.Attributes, "attributes", nil,
		"`COLUMNS` of text or numbers to keep as attributes (default: "+
			"every text column without another use)")
	flags.StringVar(&spec.KindsColumn, "kinds-column", "",
		"`COLUMN` of the kinds of perturbations, such as deletion and overexpression: one per "+
			"gene in the same order, or one for all genes; - reads no kinds (default: kinds, "+
			"perturbation_type or kind)")
	flags.StringSliceVar((*[]string)(&spec.RemovingKinds), "removing-kinds", nil,
		"`KINDS` of perturbations that remove a gene from the graph, such as deletion,knockdown; "+
			"all, as in torchcell; or none (default: losses; a set with other kinds is an error)")
	flags.StringSliceVar(&spec.Controls, "controls", nil,
		"`NAMES` that appear in place of a gene but delete nothing, such as ctrl,non-targeting")
	choiceFlag(cmd, &spec.UnknownGenes, "unknown-genes", ingest.RefuseUnknownGenes,
		ingest.UnknownGenesChoices,
		"what to do with names that match no gene of the graph, or several: error, "+
			"drop-sample or drop-gene; drops are counted")
	spec.MaxDropped = new(float64)
	shareFlag(flags, spec.MaxDropped, "max-dropped", ingest.DefaultMaxDropped,
		"largest `SHARE` of the rows to drop because a name matches no gene, or several; "+
			"more is an error")
	flags.BoolVar(&spec.AllowWildtype, "allow-wildtype", false,
		"accept samples that delete no gene")
	flags.BoolVar(&spec.AllowDuplicateIDs, "allow-duplicate-ids", false,
		"accept duplicate and empty sample ids")
	choiceFlag(cmd, &spec.Duplicates, "duplicates", duplicates.Keep, duplicates.Choices,
		"what to do with samples that delete the same genes: keep or error")
	flags.VisitAll(func(flag *pflag.Flag) {
		if !declared[flag.Name] && flag.Name != perturbationKey {
			_ = flags.SetAnnotation(flag.Name, tableFlag, nil)
			flag.Hidden = slices.Contains(rareFlags, flag.Name)
		}
	})
}
