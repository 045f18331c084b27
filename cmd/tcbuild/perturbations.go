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
		"perturbation set: `FILE`, or a torchcell build's lmdb folder")
	flags.StringSliceVar(&spec.GenesColumns, "genes-columns", nil,
		"`COLUMNS` of deleted genes; of several, each holds one gene (default: genes)")
	flags.StringVar(&spec.GeneDelimiter, "gene-delimiter", "|",
		"`TEXT` between the genes of a field")
	flags.StringVar(&spec.IDColumn, "id-column", "",
		"`COLUMN` of sample ids (default: sample_id, or the row number)")
	flags.StringSliceVar(&spec.Phenotypes, "phenotypes", nil,
		"measured `COLUMNS` (default: all numbers without another use)")
	flags.StringSliceVar(&spec.Attributes, "attributes", nil,
		"other `COLUMNS` to keep (default: all texts without another use)")
	flags.StringVar(&spec.KindsColumn, "kinds-column", "",
		"`COLUMN` of the kinds of perturbations, such as deletion: one per gene, or one for all; - "+
			"for none (default: kinds, perturbation_type or kind)")
	flags.StringSliceVar((*[]string)(&spec.RemovingKinds), "removing-kinds", nil,
		"`KINDS` that remove a gene, such as deletion,knockdown; all, as in torchcell; or none "+
			"(default: losses; others are an error)")
	flags.StringSliceVar(&spec.Controls, "controls", nil,
		"`NAMES` in place of a gene that delete nothing, such as ctrl,non-targeting")
	choiceFlag(cmd, &spec.UnknownGenes, "unknown-genes", ingest.RefuseUnknownGenes,
		ingest.UnknownGenesChoices,
		"names that match no gene, or several: error, drop-sample or drop-gene")
	spec.MaxDropped = new(float64)
	shareFlag(flags, spec.MaxDropped, "max-dropped", ingest.DefaultMaxDropped,
		"largest `SHARE` of rows that unknown-genes may drop; more is an error")
	flags.BoolVar(&spec.AllowWildtype, "allow-wildtype", false,
		"accept samples that delete no gene")
	flags.BoolVar(&spec.AllowDuplicateIDs, "allow-duplicate-ids", false,
		"accept repeated and empty sample ids")
	choiceFlag(cmd, &spec.Duplicates, "duplicates", duplicates.Keep, duplicates.Choices,
		"samples that delete the same genes: keep or error")
	flags.VisitAll(func(flag *pflag.Flag) {
		if !declared[flag.Name] && flag.Name != perturbationKey {
			_ = flags.SetAnnotation(flag.Name, tableFlag, nil)
			flag.Hidden = slices.Contains(rareFlags, flag.Name)
		}
	})
}
