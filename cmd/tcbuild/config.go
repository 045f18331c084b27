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
)

// sectionsKey is the annotation of a command that lists the sections which it reads.
const sectionsKey = "sections"

// configured makes cmd a command that runs with e.settings and its positional arguments. Before
// run, it takes the overrides out of the arguments, checks the others against the usage line, reads
// the settings file, sets every flag that was not given to the setting of its name, and only then
// requires the required flags. sections are the top-level keys that run reads from the settings.
func configured(e *env, cmd *cobra.Command, run func(context.Context, []string) error,
	sections ...string) *cobra.Command {
	var args []string
	cmd.Annotations = map[string]string{sectionsKey: strings.Join(sections, " ")}
	cmd.Args = cobra.ArbitraryArgs
	cmd.PreRunE = func(cmd *cobra.Command, mixed []string) (err error) {
		var overrides []string
		args, overrides = splitOverrides(mixed)
		if err := checkArguments(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		if e.settings, err = conf.Load(e.config, overrides); err != nil {
			return err
		}
		unread, err := setFlags(cmd, e.settings, sections)
		if err != nil {
			return err
		}
		if err := missingFlags(cmd); err != nil {
			return err
		}
		if err := checkOutputs(cmd.Flags()); err != nil {
			return err
		}
		e.openLog()
		if len(unread) > 0 {
			e.log.Info("the settings file also has settings of other commands",
				"keys", strings.Join(unread, " "))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return run(cmd.Context(), args)
	}
	return cmd
}

// settingOf is the key of a flag's setting.
func settingOf(flag *pflag.Flag) string { return strings.ReplaceAll(flag.Name, "-", "_") }

// hide leaves flags out of the help, because few people set them by hand.
func hide(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flags.Lookup(name).Hidden = true
	}
}

// splitOverrides separates overrides, such as key=value, from positional arguments.
func splitOverrides(mixed []string) (args, overrides []string) {
	for _, arg := range mixed {
		if conf.IsOverride(arg) {
			overrides = append(overrides, arg)
		} else {
			args = append(args, arg)
		}
	}
	return args, overrides
}

// setFlags sets the flags that the command line did not set. A setting must be a flag, a section,
// or a name that another setting refers to. A file may also have flags of other commands, which are
// returned, but none of their sections: they say what it is for. A null setting leaves its flag at
// the default.
func setFlags(cmd *cobra.Command, settings *conf.Settings,
	sections []string) (unread []string, err error) {
	byKey, keys := settableFlags(cmd.Flags())
	for _, entry := range settings.Entries() {
		flag := byKey[entry.Key]
		switch {
		case flag == nil && slices.Contains(sections, entry.Key):
			continue
		case flag == nil && entry.Referenced:
			continue
		case flag == nil:
			isFlag, section := readers(cmd.Root(), entry.Key)
			switch {
			case entry.IsSection() && section != "":
				return nil, fault.New(fault.Usage,
					"give this command a file without it; rebuild refers to one as ingest: "+
						"{config: FILE}",
					"read settings %s: found the section %s of '%s', which '%s' does not read",
					conf.Where(entry.Value), entry.Key, section, cmd.CommandPath())
			case entry.IsSection() || entry.IsOverride() || !isFlag && section == "":
				return nil, unknownSetting(entry, settings, slices.Concat(keys, sections))
			}
			unread = append(unread, entry.Key)
			continue
		case entry.IsSection() && slices.Contains(sections, entry.Key):
			if err := flag.Value.(sectionValue).SetSection(entry, flag); err != nil {
				return nil, err
			}
			continue
		case flag.Changed || entry.IsNull():
			continue
		}
		if err := setFlag(cmd.Flags(), flag, entry); err != nil {
			return nil, err
		}
	}
	return unread, nil
}

// sectionValue is the value of a flag whose setting may be a section.
type sectionValue interface {
	SetSection(entry conf.Entry, flag *pflag.Flag) error
}

// readers reports whether any command has a flag of a key, and names the one that has a section of
// it.
func readers(cmd *cobra.Command, key string) (isFlag bool, section string) {
	if flags, _ := settableFlags(cmd.Flags()); flags[key] != nil {
		isFlag = true
	}
	if slices.Contains(strings.Fields(cmd.Annotations[sectionsKey]), key) {
		section = cmd.CommandPath()
	}
	for _, sub := range cmd.Commands() {
		subFlag, subSection := readers(sub, key)
		isFlag, section = isFlag || subFlag, cmp.Or(section, subSection)
	}
	return isFlag, section
}

// settableFlags returns the flags that settings can set, by key, and the sorted keys.
func settableFlags(flags *pflag.FlagSet) (byKey map[string]*pflag.Flag, keys []string) {
	byKey = make(map[string]*pflag.Flag)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "config" || flag.Name == "help" {
			return
		}
		key := settingOf(flag)
		byKey[key] = flag
		keys = append(keys, key)
	})
	return byKey, keys
}

func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, entry conf.Entry) error {
	list, isList := flag.Value.(pflag.SliceValue)
	if isList && !entry.IsScalar() {
		var words []string
		if err := entry.Decode(&words); err != nil {
			return err
		}
		flag.Changed = true
		return list.Replace(words)
	}
	word := entry.Value.Value // parsed as on the command line
	if !entry.IsScalar() || flags.Set(flag.Name, word) != nil {
		return conf.WrongValue(entry.Value, entry.Key, expectedOf(flag), flagHint(flag, word))
	}
	return nil
}

// unknownSetting is the error of a setting that nothing reads.
func unknownSetting(entry conf.Entry, settings *conf.Settings, valid []string) error {
	var unknown []string
	for _, other := range settings.Entries() {
		switch {
		case other.Referenced:
			valid = append(valid, other.Key)
		case other.Key != entry.Key && other.IsOverride() == entry.IsOverride() &&
			!slices.Contains(valid, other.Key):
			unknown = append(unknown, other.Key)
		}
	}
	hint := fault.DidYouMean(entry.Key, valid,
		"the command's settings are "+strings.Join(valid, ", "))
	return fault.New(fault.Usage, hint, "read settings %s: unknown setting %q%s",
		conf.Where(entry.Value), entry.Key, conf.AndMore(unknown))
}
