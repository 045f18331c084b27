package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/fault"
)

// usageError gives an error from the command line library a kind, and the usage line as a hint.
func usageError(cmd *cobra.Command, err error) error {
	return fault.New(fault.Usage, "the usage is: "+cmd.UseLine(), "%s%w", prefix(cmd), err)
}

// flagError is usageError for flags: the hint for an unknown flag is the nearest one, the hint for
// a wrong value what the flag is for. A flag after an unknown command is not what is wrong.
func flagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return cmd.RunE(cmd, words)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok {
		found := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -graph
		if nearest := fault.Nearest(found, flagNames(cmd)); nearest != "" {
			return fault.New(fault.Usage, fmt.Sprintf("did you mean --%s?", nearest), "%s%w",
				prefix(cmd), err)
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		return fault.New(fault.Usage, flagHint(flag, invalid.GetValue()),
			"read --%s: found %q, expected %s", flag.Name, invalid.GetValue(), expectedOf(flag))
	}
	return usageError(cmd, err)
}

// arguments returns the positional arguments that a command's usage line names before its flags:
// DATASET is required, [PATH] is not.
func arguments(cmd *cobra.Command) (names []string, required int) {
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(strings.TrimPrefix(word, "["), "--") {
			break
		}
		if !strings.HasPrefix(word, "[") {
			required++
		}
		names = append(names, strings.ReplaceAll(strings.Trim(word, "[]"), "|", " or "))
	}
	return names, required
}

// checkArguments returns an error for positional arguments that the usage line does not allow.
func checkArguments(cmd *cobra.Command, args []string) error {
	names, required := arguments(cmd)
	switch {
	case len(args) < required:
		return fmt.Errorf("%s is missing", names[len(args)])
	case len(args) > len(names):
		return fmt.Errorf("found argument %q, expected only %s", args[len(names)],
			strings.Join(append(names, "flags and key=value"), ", "))
	}
	return nil
}

// prefix starts the message of a usage error with the command, without the program's name, which
// starts every message.
func prefix(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") + ": "
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	return names
}

// require makes flags required, see missingFlags.
func require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.MarkFlagRequired(name) // a flag that there is
	}
}

// missingFlags returns an error that names every required flag without a value from the command
// line or the settings.
func missingFlags(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, required := flag.Annotations[cobra.BashCompOneRequiredFlag]; required &&
			!flag.Changed {
			missing = append(missing, "--"+flag.Name)
		}
	})
	if len(missing) == 0 {
		return nil
	}
	are := english.PluralWord(len(missing), "is", "are")
	return usageError(cmd, fmt.Errorf("%s %s missing", strings.Join(missing, ", "), are))
}
