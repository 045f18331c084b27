package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/synth"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/selection"
	"tcbuild/store"
)

// flagValues returns the values of the flags that take one of a few: shells complete them, and
// checkValues refuses others.
func flagValues() map[string][]string {
	return map[string][]string{
		"by":            {string(selection.BySample), string(selection.ByGenotype), string(selection.ByGene)},
		"device":        {"cpu", "cuda"},
		"duplicates":    duplicates.Choices,
		"if-busy":       {"fail", "ok"},
		"log-format":    {"text", "json"},
		"method":        {string(gpuverify.ByIncidence), string(gpuverify.ByEdges), string(gpuverify.Both)},
		"mode":          {string(store.Indices), string(store.FullMasks)},
		"reaction-rule": {string(incidence.RuleAll), string(incidence.RuleGPR)},
		"resume":        {string(store.ResumeNever), string(store.ResumeIfPossible), string(store.ResumeAlways)},
		"scale":         {synth.Tiny.Name, synth.Yeast.Name},
		"step":          rebuild.JobLabels,
		"straddling":    {string(selection.DropStraddling), string(selection.SeparateStraddling)},
		"unknown-genes": ingest.UnknownGenesChoices,
		"variants":      allVariants,
	}
}

// completeValues makes the shells complete flagValues, the presets and, by its mode, a dataset's
// codec.
func completeValues(root *cobra.Command) {
	values := flagValues()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if choices, ok := values[flag.Name]; ok {
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	_ = root.RegisterFlagCompletionFunc("config", cobra.FixedCompletions(conf.Presets(), cobra.ShellCompDirectiveDefault))
	dataset, _, _ := root.Find([]string{"dataset"})
	_ = dataset.RegisterFlagCompletionFunc("codec", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		codecs := encode.Codecs(encode.Mode(cmd.Flag("mode").Value.String()))
		if len(codecs) == 0 { // of any mode, until one is given
			codecs = append(encode.Codecs(encode.Indices), encode.Codecs(encode.FullMasks)...)
		}
		return slices.Compact(slices.Sorted(slices.Values(codecs))), cobra.ShellCompDirectiveNoFileComp
	})
}

// checkValues refuses a flag's value that is not one of its flagValues. A flag need not have a
// value unless it is required. --device and --by are checked where they are read: they take numbers
// of devices and columns, too.
func checkValues(cmd *cobra.Command) error {
	var errs []error
	choices := flagValues()
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if choices[flag.Name] == nil || flag.Name == "device" || flag.Name == "by" || !flag.Changed {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		_, required := flag.Annotations[cobra.BashCompOneRequiredFlag]
		for _, value := range values {
			if required || value != flag.DefValue {
				errs = append(errs, oneOf("--"+flag.Name, value, choices[flag.Name]...))
			}
		}
	})
	return errors.Join(errs...)
}

// oneOf returns an error unless value is one of the valid ones.
func oneOf(flag, value string, valid ...string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return fault.New(fault.Usage, fault.DidYouMean(value, valid, "choose one of them"),
		"read %s: found %q, expected %s", flag, value, strings.Join(valid, " or "))
}
