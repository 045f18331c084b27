package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tcbuild/internal/croissant"
	"tcbuild/store"
)

func newCroissant(e *env) *cobra.Command {
	var about croissant.About
	cmd := &cobra.Command{
		Use:   "croissant DATASET",
		Short: "Describe a dataset for catalogues, as Croissant",
		Long: `Add two files to a dataset, so that its folder can be published as it is. croissant.json
describes the dataset in MLCommons' Croissant: every file with its size and SHA-256, the
masks, and a field for each column of the samples (its @id escapes characters that URLs cannot
have, its name does not). samples.parquet holds the samples in a
format that the library mlcroissant can load: sample id, names of the deleted genes,
phenotypes and attributes. With licence, citation and date, 'mlcroissant validate' prints
no warnings.

Earlier copies of the two files are replaced; no other file changes, and no other command
reads them. 'stage' does not copy them. A new version of 'rebuild' keeps them if the dataset
is the same as in the version before.`,
		Example: `  tcbuild croissant demo/indices --license CC-BY-4.0 --date 2026-01-31 \
      --citation "Doe, J. (2026). A screen."
  tcbuild croissant demo/indices --config demo.yaml`,
	}
	flags := cmd.Flags()
	flags.StringVar(&about.Name, "name", "",
		"`NAME` of the dataset (default: the name of its folder)")
	flags.StringVar(&about.License, "license", "",
		"`LICENCE` of the dataset: an address or an SPDX identifier")
	flags.StringVar(&about.Citation, "citation", "",
		"`TEXT` to cite the dataset by, preferably BibTeX")
	flags.Var(&flagValue{
		kind: "string", expected: "a date", hint: "write the 31st of January as 2026-01-31",
		set: func(text string) bool {
			_, err := time.Parse(time.DateOnly, text)
			about.Date = text
			return err == nil || text == "" // as other texts that are not given
		},
	}, "date", "`DATE` of publication, such as 2026-01-31")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		path := args[0]
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		if err := croissant.Write(ctx, dataset, about); err != nil {
			return err
		}
		var missing []string
		for _, field := range []struct{ flag, value string }{{"license", about.License},
			{"citation", about.Citation}, {"date", about.Date}} {
			if field.value == "" {
				missing = append(missing, "--"+field.flag)
			}
		}
		if len(missing) > 0 {
			e.log.Warn("catalogues ask for more", "not_given", strings.Join(missing, " "))
		}
		e.say(fmt.Sprintf("%s: describes %s samples",
			filepath.Join(path, croissant.DescriptionName), humanCount(dataset.Manifest.Samples)))
		return nil
	})
}
