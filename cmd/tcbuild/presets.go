package main

import (
	"context"

	"github.com/spf13/cobra"

	"tcbuild/conf"
)

func newPresets(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the settings files that the program carries, or print one",
		Long: `List the settings files that the program carries, or print one, to start settings of
your own. --config takes their names.`,
		Example: `  tcbuild presets
  tcbuild presets yeast > my.yaml`,
	}
	return configured(e, cmd, func(_ context.Context, args []string, _ *conf.Settings) error {
		if len(args) == 1 {
			text, err := conf.Preset(args[0])
			if err != nil {
				return err
			}
			_, err = e.stdout.Write(text)
			return err
		}
		rows := [][]string{{"preset", "about"}}
		for _, name := range conf.Presets() {
			rows = append(rows, []string{name, conf.AboutPreset(name)})
		}
		return e.table(rows...)
	})
}
