package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/fault"
)

// configured makes cmd a command that runs with its positional arguments. Before run, it takes the
// overrides out of the arguments, checks the others against the usage line, reads the settings
// file, sets every flag that was not given to the setting of its name, and only then requires the
// required flags.
func configured(
	e *env, cmd *cobra.Command, run func(context.Context, []string) error,
) *cobra.Command {
	var args []string
	cmd.Args = cobra.ArbitraryArgs
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = completeSettings
	}
	cmd.PreRunE = func(cmd *cobra.Command, mixed []string) (err error) {
		var overrides []string
		args, overrides = splitOverrides(mixed)
		if err := checkArguments(cmd, args); err != nil {
			if nearest, _ := nearestCommand(cmd, strings.Join(args, " ")); nearest != "" {
				return unknownCommand(cmd, args[0])
			}
			return usageError(cmd, err)
		}
		if e.settings, err = conf.Load(e.config, overrides); err != nil {
			return err
		}
		unread, err := setFlags(cmd, e.settings)
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
			e.log.Info("settings of other commands are ignored",
				"keys", strings.Join(unread, ","))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return run(cmd.Context(), args)
	}
	return cmd
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

// completeSettings makes shells complete settings once the positional arguments are given.
func completeSettings(
	cmd *cobra.Command, mixed []string, _ string,
) (words []string, then cobra.ShellCompDirective) {
	args, _ := splitOverrides(mixed)
	if _, required := arguments(cmd); len(args) < required {
		return nil, cobra.ShellCompDirectiveDefault
	}
	_, keys := settableFlags(cmd.Flags())
	for _, key := range keys {
		words = append(words, key+"=")
	}
	return words, cobra.ShellCompDirectiveNoSpace
}

// setFlags sets the flags that the command line did not set. A setting must be a flag. A file may
// also have flags of other commands, which are returned.
func setFlags(cmd *cobra.Command, settings *conf.Settings) (unread []string, err error) {
	byKey, keys := settableFlags(cmd.Flags())
	onCommandLine := make(map[string]bool)
	for key, flag := range byKey {
		onCommandLine[key] = flag.Changed
	}
	set := make(map[string]conf.Setting)
	for _, setting := range settings.List {
		key, flag := findFlag(byKey, setting.Key)
		earlier, again := set[key]
		switch {
		case again && !setting.IsOverride:
			return nil, fault.New(fault.Usage, "remove one of them",
				"read settings %s: found %s, which is also given as %s in %s", setting.Place,
				setting.Key, earlier.Key, earlier.Place)
		case flag == nil && !setting.IsOverride && isFlag(cmd.Root(), setting.Key):
			unread = append(unread, key)
			continue
		case flag == nil:
			return nil, fault.New(fault.Usage, fault.DidYouMean(setting.Key, keys,
				"the command's settings are "+strings.Join(keys, ", ")),
				"read settings %s: unknown setting %q", setting.Place, setting.Key)
		}
		if set[key] = setting; onCommandLine[key] {
			continue
		}
		if err := setFlag(cmd.Flags(), flag, setting); err != nil {
			return nil, err
		}
	}
	return unread, nil
}

// findFlag finds the flag that a setting sets, and its key. Only settings of a perturbation set may
// be in a section, where its file is called file. If no flag has the key, findFlag returns nil.
func findFlag(byKey map[string]*pflag.Flag, setting string) (key string, flag *pflag.Flag) {
	key, isInside := strings.CutPrefix(setting, perturbationKey+".")
	if isInside && key == "file" {
		return perturbationKey, byKey[perturbationKey]
	}
	if flag = byKey[key]; flag != nil && isInside {
		if _, ofSet := flag.Annotations[tableFlag]; !ofSet {
			return setting, nil
		}
	}
	return key, flag
}

// isFlag reports whether a setting sets a flag of any command.
func isFlag(cmd *cobra.Command, setting string) bool {
	flags, _ := settableFlags(cmd.Flags())
	inSub := func(sub *cobra.Command) bool { return isFlag(sub, setting) }
	_, flag := findFlag(flags, setting)
	return flag != nil || slices.ContainsFunc(cmd.Commands(), inSub)
}

// settableFlags returns the flags that settings can set, by key, and the sorted keys.
func settableFlags(flags *pflag.FlagSet) (byKey map[string]*pflag.Flag, keys []string) {
	byKey = make(map[string]*pflag.Flag)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "config" || flag.Name == "help" {
			return
		}
		key := strings.ReplaceAll(flag.Name, "-", "_")
		byKey[key] = flag
		keys = append(keys, key)
	})
	return byKey, keys
}

func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, setting conf.Setting) error {
	list, takesList := flag.Value.(pflag.SliceValue)
	if setting.IsList && takesList {
		flag.Changed = true
		return list.Replace(setting.Values)
	}
	found := "a list"
	if !setting.IsList {
		value := setting.Values[0]
		isSwitch := flag.Value.Type() == "bool" // the library also takes 1, t and the like
		isWord := slices.Contains([]string{"true", "false"}, strings.ToLower(value))
		if (isWord || !isSwitch) && flags.Set(flag.Name, value) == nil {
			return nil
		}
		found = strconv.Quote(value)
	}
	return fault.New(fault.Usage, flagHint(flag, strings.Join(setting.Values, ",")),
		"read settings %s: %s: found %s, expected %s", setting.Place, setting.Key, found,
		expectedOf(flag))
}
