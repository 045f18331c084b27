package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tcbuild/conf"
)

func newVersion(e *env) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print the version and the commit it was built from"}
	return configured(e, cmd, func(context.Context, []string, *conf.Settings) error {
		_, err := fmt.Fprintln(e.stdout, "tcbuild", buildVersion())
		return err
	})
}

// buildVersion is the module's version and commit, as the Go toolchain recorded them in the binary.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	commit := "unknown"
	modified := ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = ", modified"
		}
	}
	return info.Main.Version + " (commit " + commit + modified + ", " + info.GoVersion + ")"
}
