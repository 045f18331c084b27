package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/source"
)

func newIngestFetch(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fetch --config FILE",
		Short: "Download the public files that settings name, and check their digests",
		Long: `Download the public files in the settings' section downloads, to the paths where
'tcbuild ingest graph' reads them, and check the SHA-256 of every file. Files that are there
already are checked and not downloaded again. A file whose content differs from its digest is
an error, unless the settings say that its publisher replaces it (changes: true). If the
settings have no digest, prints the one that was found: add it to them as sha256, and later
downloads must be the same.`,
		Example: `  tcbuild ingest fetch --config yeast
  tcbuild ingest fetch --config yeast data=downloads`,
	}
	return configured(e, cmd, func(ctx context.Context, _ []string, settings *conf.Settings) error {
		var spec source.GraphSpec
		if err := settings.Decode(&spec); err != nil {
			return err
		}
		if len(spec.Downloads) == 0 {
			return fault.New(fault.Usage, "'tcbuild presets yeast' shows one", "ingest fetch: found no section downloads in the settings")
		}
		for _, download := range spec.Downloads {
			fetched, err := download.Fetch(ctx)
			if err != nil {
				return err
			}
			verb := "downloaded"
			if fetched.Present {
				verb = "found"
			}
			line := fmt.Sprintf("%s: %s %s", fetched.File, verb, humanBytes(fetched.Bytes))
			switch fetched.SHA256 {
			case "":
				line += ", unchecked, sha256 " + fetched.Found
			case fetched.Found:
			default:
				line += ", another version than the settings have"
			}
			e.say(line)
		}
		return nil
	}, conf.Keys(&source.GraphSpec{})...)
}
