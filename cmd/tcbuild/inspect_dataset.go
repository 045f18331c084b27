package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/internal/inspect"
	"tcbuild/store"
)

func inspectDataset(ctx context.Context, e *env, path string, o inspectOptions) error {
	dataset, err := store.Open(path)
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
	return show(e, summary, summary.Page(path), o)
}

func inspectSamples(ctx context.Context, e *env, dataset *store.Dataset, text string, asJSON bool) error {
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
	if err != nil || first < 0 || next < first || from == "" && to == "" && !isRange {
		return 0, 0, fault.New(fault.Usage, "for samples 10 to 19 write --samples 10:20",
			"read --samples: found %q, expected A:B with 0 <= A <= B", text)
	}
	if isRange {
		next = min(next, samples) // as slices are in Python
	}
	if first > samples || next > samples {
		return 0, 0, fault.New(fault.Usage, "samples are numbered from 0",
			"read --samples %s: the dataset has %s %s", text, humanCount(samples), english.PluralWord(samples, "sample", ""))
	}
	return first, next, nil
}
