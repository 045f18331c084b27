package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/conf"
	"tcbuild/fault"
)

// usageError gives an error of the command line library its kind and a hint.
func usageError(cmd *cobra.Command, err error) error {
	return fault.New(fault.Usage, fmt.Sprintf("run '%s --help'", cmd.CommandPath()), "%s%w", prefix(cmd), err)
}

// flagError is usageError for flags: for an unknown one the hint is the nearest.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		if nearest := conf.Nearest(unknown.GetSpecifiedName(), flagNames(cmd)); nearest != "" {
			return fault.New(fault.Usage, fmt.Sprintf("did you mean --%s?", nearest), "%s%w", prefix(cmd), err)
		}
	}
	return usageError(cmd, err)
}

// noArgs refuses positional arguments.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("found argument %q, expected flags and key=value alone", args[0])
	}
	return nil
}

// prefix begins the message of a usage error with the command, without the
// program's name, which begins every message.
func prefix(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") + ": "
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// missingFlags refuses a run in which a required flag got no value from the command line or the
// settings.
func missingFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, required := flag.Annotations[cobra.BashCompOneRequiredFlag]; required && !flag.Changed && err == nil {
			err = fault.New(fault.Usage, fmt.Sprintf("add --%s, or see '%s --help'", flag.Name, cmd.CommandPath()),
				"%s--%s is missing", prefix(cmd), flag.Name)
		}
	})
	return err
}
