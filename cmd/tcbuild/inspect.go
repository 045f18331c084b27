package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/internal/inspect"
	"tcbuild/internal/page"
	"tcbuild/store"
)

type inspectOptions struct {
	samples, html string
	json          bool
}

func newInspect(e *env) *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:        "inspect DATASET",
		SuggestFor: []string{"info", "show", "view", "stats"},
		Short:      "Show what a dataset holds",
		Long: `Show a dataset's variant, inputs and sizes, histograms of its phenotypes, and the most frequent
values of its attributes. With --samples, show samples with their masks. --json prints the
manifest with a summary, or of --samples an object per line; missing values are null. To see
what a table would become, build it with --dry-run.`,
		Example: `  tcbuild inspect demo/indices --html indices.html
  tcbuild inspect demo/indices --samples 0:3 --json`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.samples, "samples", "",
		"samples to show, counted from 0: `A:B`, A:, :B or A")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	fileFlag(flags, &o.html, "html", beginsWith(page.Begin(inspectPage)),
		"also write an HTML page with plots: `FILE`")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		return inspectDataset(ctx, e, args[0], o)
	})
}

// inspectPage is the kind of the page, as it says itself.
const inspectPage = "tcbuild inspect"

func inspectDataset(ctx context.Context, e *env, path string, o inspectOptions) error {
	dataset, err := tcbuild.Open(path)
	if err != nil {
		return err
	}
	if o.samples != "" {
		if o.html != "" {
			return fault.New(fault.Usage, "omit --samples",
				"inspect %s: --html shows all samples, found --samples %s", path, o.samples)
		}
		return inspectSamples(ctx, e, dataset, o.samples, o.json)
	}
	summary, err := inspect.Dataset(ctx, dataset)
	if err != nil {
		return err
	}
	p := summary.Page(path)
	if o.html != "" {
		text, err := p.HTML(inspectPage)
		if err == nil {
			err = replace(o.html, text, page.Begin(inspectPage))
		}
		if err != nil {
			return err
		}
	}
	if o.json {
		return e.json(summary)
	}
	return p.Print(e.stdout)
}

func inspectSamples(ctx context.Context, e *env, dataset *store.Dataset, text string,
	asJSON bool) error {
	first, next, err := parseRange(text, dataset.Manifest.Samples)
	if err != nil {
		return err
	}
	reader, err := inspect.NewSampleReader(dataset)
	if err != nil {
		return err
	}
	defer reader.Close()
	encoder := json.NewEncoder(e.stdout)
	for number := first; number < next; number++ {
		sample, err := reader.Read(number)
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if asJSON {
			err = encoder.Encode(sample)
		} else {
			_, err = io.WriteString(e.stdout, sample.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parseRange parses A:B, A:, :B or A like a Python slice, without negative numbers.
func parseRange(text string, samples int) (first, next int, err error) {
	from, to, isRange := strings.Cut(text, ":")
	first, next = 0, samples
	if from != "" {
		first, err = strconv.Atoi(from)
	}
	if to != "" && err == nil {
		next, err = strconv.Atoi(to)
	}
	if !isRange {
		next = first + 1
	}
	isOrdered := 0 <= first && first <= next
	if err != nil || !isOrdered || text == "" {
		return 0, 0, fault.New(fault.Usage, "for samples 10 to 19 write --samples 10:20",
			"read --samples: found %q, expected A:B with 0 <= A <= B", text)
	}
	if isRange {
		next = min(next, samples) // as slices are in Python
	}
	if first > samples || next > samples {
		return 0, 0, fault.New(fault.Usage, "samples are numbered from 0",
			"read --samples %s: the dataset has %s %s", text, humanCount(samples),
			english.PluralWord(samples, "sample", ""))
	}
	return first, next, nil
}
