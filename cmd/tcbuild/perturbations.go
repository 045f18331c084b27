package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
)

// perturbations is how a command is told of a perturbation set: by flags, by settings of the same
// names, by key=value for the other keys of samples.Spec, and by the section perturbations. No key
// may be given twice.
type perturbations struct {
	flags   *pflag.FlagSet
	given   samples.Spec // values of the flags
	source  string
	share   float64
	section *conf.Entry // nil if perturbations is not a section
	keys    []string    // of samples.Spec that are no flags
}

// perturbationKey is the key of the section, and of the flag that names the set.
const perturbationKey = "perturbations"

// setName is the value of the flag --perturbations: a name, or a section of the settings.
type setName struct{ *perturbations }

func (s setName) String() string {
	if s.perturbations == nil { // as the flag library makes one
		return ""
	}
	return s.given.File
}

func (s setName) Type() string { return "string" }

func (s setName) Set(name string) error {
	s.given.File = name
	return nil
}

// SetSection takes the section. A file in it is the flag's value.
func (s setName) SetSection(entry conf.Entry, flag *pflag.Flag) error {
	s.section = &entry
	var section samples.Spec
	if err := entry.Decode(&section); err != nil {
		return err
	}
	if section.File != "" && flag.Changed {
		return fault.New(fault.Usage, "remove one of them",
			"read settings %s: found file in the section perturbations beside --perturbations %s",
			conf.Where(entry.Value), s.given.File)
	}
	if section.File != "" {
		flag.Changed, s.given.File = true, section.File
	}
	return nil
}

// perturbationFlags declares the flags of a perturbation set.
func perturbationFlags(cmd *cobra.Command) *perturbations {
	flags := cmd.Flags()
	p := &perturbations{flags: flags}
	spec := &p.given
	flags.Var(setName{p}, perturbationKey,
		"perturbation set: `FILE`, the lmdb folder of a torchcell build, "+
			"or a computed set: synth:SCALE:SAMPLES:SEED or combinations:GENES:K[:FIRST:END]")
	flags.StringVar(&p.source, "source", "",
		"`NAME` of the public source that the set comes from; 'tcbuild ingest sources' lists them")
	flags.StringSliceVar(&spec.GenesColumns, "genes-columns", nil,
		"`COLUMNS` with the deleted genes; if several are named, each holds one gene "+
			"(default: genes)")
	flags.StringVar(&spec.Aliases, "aliases", "",
		"`FILE` SGD_features.tab, for other names of genes")
	choiceFlag(cmd, &spec.UnknownGenes, "unknown-genes", ingest.RefuseUnknownGenes,
		ingest.UnknownGenesChoices,
		"what to do with names that match no gene of the graph, or several: error, "+
			"drop-sample or drop-gene; drops are counted")
	flags.Float64Var(&p.share, "max-dropped", ingest.DefaultMaxDropped,
		"largest `SHARE` of the rows to drop because a name matches no gene, or several, "+
			"or, unless alleles is set, for its allele; more is an error")
	flags.StringSliceVar(&spec.Controls, "controls", nil,
		"`NAMES` that appear in place of a gene but delete nothing, "+
			"such as ctrl,non-targeting; in tables of yeast's strains, "+
			"also genes replaced by a marker")
	flags.BoolVar(&spec.AllowWildtype, "allow-wildtype", false,
		"accept samples that delete no gene")
	flags.BoolVar(&spec.AllowDuplicateIDs, "allow-duplicate-ids", false,
		"accept duplicate and empty sample ids")
	flags.StringSliceVar(&spec.Phenotypes, "phenotypes", nil,
		"phenotype `COLUMNS` (default: every numeric column without another use)")
	flags.StringSliceVar(&spec.NotPhenotypes, "not-phenotypes", nil, "numeric `COLUMNS` to ignore")
	flags.StringSliceVar(&spec.Attributes, "attributes", nil,
		"`COLUMNS` of text or numbers to keep as attributes (default: "+
			"every text column without another use)")
	whereFlag(flags, &spec.Where)
	choiceFlag(cmd, &spec.Duplicates, "duplicates", duplicates.Keep, duplicates.Choices,
		"what to do with samples that delete the same genes: keep, error, first, last, or mean, "+
			"which also adds phenotypes NAME_n and NAME_sd")
	flags.StringSliceVar(&spec.GroupBy, "group-by", nil,
		"`ATTRIBUTES` that duplicates must share; with --duplicates keep, only for counting them")
	flags.StringSliceVar(&spec.Ignore, "ignore", nil,
		"`COLUMNS` that may differ between duplicates merged into one sample; "+
			"all others but phenotypes must agree")
	flags.StringSliceVar((*[]string)(&spec.RemovingKinds), "removing-kinds", nil,
		"`KINDS` of perturbations that remove a gene from the graph, such as deletion,knockdown; "+
			"all, as in torchcell; or none (default: losses; a set with other kinds is an error)")
	hide(flags, "max-dropped", "allow-duplicate-ids", "removing-kinds")
	isKey := conf.Keys(spec)
	flags.VisitAll(func(flag *pflag.Flag) {
		key := strings.ReplaceAll(flag.Name, "-", "_")
		if key == "source" || slices.Contains(isKey, key) {
			_ = flags.SetAnnotation(flag.Name, tableFlag, nil)
		}
	})
	isFlag, _ := settableFlags(flags)
	p.keys = slices.DeleteFunc(conf.Keys(spec), func(key string) bool {
		return key == "file" || isFlag[key] != nil
	})
	return p
}

// whereFlag declares the filter of samples.
func whereFlag(flags *pflag.FlagSet, where *string) {
	flags.StringVar(where, "where", "",
		"keep only the samples for which `EXPR` is true, such as 'fitness > 0.5 and medium == "+
			"\"YPD\"' ('tcbuild docs input' describes the language)")
}

// configured is the function configured for a command with such flags. Before run, it stores the
// specification that was given. An argument, if the command has one, is a name of the set.
func (p *perturbations) configured(e *env, cmd *cobra.Command, spec *samples.Spec,
	run func(context.Context, []string) error, sections ...string) *cobra.Command {
	read := func(ctx context.Context, args []string) (err error) {
		if len(args) > 0 && p.given.File != "" {
			return fault.New(fault.Usage, "name it once",
				"read perturbations: found %s and %s, expected one set", args[0], p.given.File)
		}
		if len(args) > 0 {
			p.given.File = args[0]
		}
		if *spec, err = p.spec(e.settings); err != nil {
			return err
		}
		return run(ctx, args)
	}
	return configured(e, cmd, read, slices.Concat(sections, p.keys, []string{perturbationKey})...)
}

// spec reads the specification that was given: the public source's, changed by the section, by
// settings and by flags.
func (p *perturbations) spec(settings *conf.Settings) (spec samples.Spec, err error) {
	if p.source != "" {
		if err := conf.DecodeSource(p.source, perturbationKey, &spec); err != nil {
			return spec, err
		}
		spec.Place = "" // not the source's
	}
	if p.section != nil {
		if err := p.checkOnce(settings); err != nil {
			return spec, err
		}
		if err := p.section.Decode(&spec); err != nil {
			return spec, err
		}
	}
	place := spec.Place // of the section
	if err := settings.Decode(&spec); err != nil {
		return spec, err
	}
	spec.Place = cmp.Or(place, spec.Place)
	p.given.MaxDropped, p.given.Source = &p.share, conf.SourceName(p.source)
	p.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed { // also by a setting
			conf.CopyKey(&spec, &p.given, settingOf(flag))
		}
	})
	spec.File = p.given.File
	// who says what becomes of samples of one genotype means both halves of a matrix
	spec.BothHalves = spec.BothHalves || spec.Matrix && spec.Duplicates != ""
	return spec, nil
}

// checkOnce returns an error for a key that is in the section and given otherwise, too.
func (p *perturbations) checkOnce(settings *conf.Settings) error {
	beside := make(map[string]bool)
	p.flags.VisitAll(func(flag *pflag.Flag) { beside[settingOf(flag)] = flag.Changed })
	for _, key := range p.keys {
		_, beside[key] = settings.Entry(key)
	}
	for _, key := range p.section.Keys() {
		if beside[key] {
			return fault.New(fault.Usage, "remove one of them",
				"read settings %s: found %s both in the section perturbations and beside it",
				conf.Where(p.section.Value), key)
		}
	}
	return nil
}
