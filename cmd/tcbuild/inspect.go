package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/internal/disk"
	"tcbuild/internal/inspect"
	"tcbuild/internal/page"
	"tcbuild/store"
)

type inspectOptions struct {
	samples, graph, html string
	gene                 string
	set                  samples.Spec
	json                 bool
}

func newInspect(e *env) *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect DATASET|GRAPH|PERTURBATIONS",
		Short: "Show what a dataset, a cell graph or a perturbation set holds",
		Long: `Show what a dataset, a cell graph or a perturbation set holds.

For a dataset: its variant, inputs and sizes, histograms of its phenotypes, and the most
frequent values of its attributes. --samples A:B shows samples A to B-1 with their stored
masks, or, in the incidence variant, the masks that follow from the cache. --json prints
the manifest with a summary of the samples, or with --samples one JSON object per line;
missing values are null.

For a graph: nodes, edges, duplicates and self loops of each type, the distribution of
edges per node, and the genes of reaction rules that the graph lacks.

For a perturbation set, which is a table or the lmdb folder of a torchcell build: genotype
sizes, samples per gene, duplicates, phenotypes, attributes and, with --graph, the genes
that the graph lacks.

--gene NAME shows one gene of a dataset or a graph, which it finds by any of its names.

--html FILE writes the same as a page with plots.`,
		Example: `  tcbuild inspect demo/indices
  tcbuild inspect demo/indices --samples 0:3 --json
  tcbuild inspect demo/indices --html indices.html
  tcbuild inspect yeast/graph --gene VPS8
  tcbuild inspect demo/perturbations.arrow --graph demo/graph`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.samples, "samples", "",
		"samples of a dataset to show, counted from 0: `A:B`, A:, :B or A")
	flags.StringVar(&o.gene, "gene", "",
		"show a gene of a dataset or a graph, by any of its `NAME`s")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.graph, "graph", "", "cell graph to compare a perturbation set with: `DIR`")
	set := perturbationFlags(cmd)
	pageFlag(flags, &o.html, inspectPage, "also write an HTML page with plots: `FILE`")
	return set.configured(e, cmd, &o.set, func(ctx context.Context, args []string) error {
		return runInspect(ctx, e, args[0], o, flags)
	})
}

// runInspect finds out what path holds, and shows it. What is neither a graph nor a perturbation
// set is taken for a dataset.
func runInspect(ctx context.Context, e *env, path string, o inspectOptions,
	given *pflag.FlagSet) error {
	info, err := os.Stat(path)
	if fault.System(err) {
		return fmt.Errorf("inspect %s: %w", path, err)
	}
	if err != nil {
		return fault.New(fault.Failed, "check the path",
			"inspect %s: there is no such file or folder", path)
	}
	kind, describe := "a dataset", inspectDataset
	switch {
	case !info.IsDir(), !isDataset(path) && isStore(path):
		kind, describe = "a perturbation set", inspectPerturbations
	case !isDataset(path) && isGraph(path, o.samples != ""):
		kind, describe = "a graph", inspectGraph
	}
	for _, flag := range []struct{ name, of string }{
		{"samples", "a dataset"}, {"graph", "a perturbation set"},
		{"gene", "a dataset or a graph"},
	} {
		if given.Changed(flag.name) && !strings.Contains(flag.of, kind) {
			return fault.New(fault.Usage, "omit --"+flag.name, "inspect %s: --%s is for %s", path,
				flag.name, flag.of)
		}
	}
	if keys := o.set.Given(); len(keys) > 0 && kind != "a perturbation set" {
		return fault.New(fault.Usage, "omit it", "inspect %s: %s is for a perturbation set", path,
			keys[0])
	}
	return describe(ctx, e, path, o)
}

func inspectGraph(ctx context.Context, e *env, path string, o inspectOptions) error {
	graph, _, err := graph.Read(path)
	if err != nil {
		return err
	}
	if o.gene != "" {
		return inspectGene(ctx, e, graph, nil, o)
	}
	summary := inspect.Graph(graph)
	return show(e, summary, summary.Page("Cell graph "+path), o)
}

func inspectGene(ctx context.Context, e *env, cell *ingest.Graph, dataset *store.Dataset,
	o inspectOptions) error {
	summary, err := inspect.Gene(ctx, cell, dataset, o.gene)
	if err != nil {
		return err
	}
	return show(e, summary, summary.Page(), o)
}

func inspectPerturbations(ctx context.Context, e *env, path string, o inspectOptions) error {
	var cell *ingest.Graph
	if o.graph != "" {
		read, _, err := graph.Read(o.graph)
		if err != nil {
			return err
		}
		cell = read
	}
	summary, err := inspect.Perturbations(ctx, o.set, cell)
	if err != nil {
		return err
	}
	return show(e, summary, summary.Page("Perturbation set "+path), o)
}

// show prints a summary, and writes its page if asked to.
func show(e *env, summary any, p *page.Page, o inspectOptions) error {
	if o.html != "" {
		if err := writePage(p, o.html, inspectPage); err != nil {
			return err
		}
	}
	if o.json {
		return e.json(summary)
	}
	return p.Print(e.stdout)
}

// The kinds of pages, as they say themselves.
const (
	inspectPage = "tcbuild inspect"
	diffPage    = "tcbuild diff"
	splitPage   = "tcbuild split"
)

// pageFlag declares the flag for a page of some kind.
func pageFlag(flags *pflag.FlagSet, path *string, kind, usage string) {
	fileFlag(flags, path, "html", beginsWith(page.Begin(kind)), usage)
}

// writePage writes a page, in place of an earlier one of the same kind.
func writePage(p *page.Page, path, kind string) error {
	text, err := p.HTML(kind)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return replace(path, text, page.Begin(kind))
}

// isDataset reports whether a folder claims to be a dataset.
func isDataset(path string) bool { return disk.Exists(filepath.Join(path, "manifest.json")) }

// isGraph reports whether a folder, or its subfolder graph, holds a cell graph, as graph.Read
// finds it. Where a dataset is asked for, one with a subfolder graph is a dataset that lacks its
// manifest.
func isGraph(path string, dataset bool) bool {
	return disk.Exists(filepath.Join(path, "nodes")) ||
		!dataset && disk.Exists(filepath.Join(path, "graph", "nodes"))
}

// isStore reports whether a folder is a torchcell store, which is read as a perturbation set.
func isStore(path string) bool { return disk.Exists(filepath.Join(path, "data.mdb")) }

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
	if o.gene != "" {
		cell, err := dataset.Graph()
		if err != nil {
			return err
		}
		return inspectGene(ctx, e, cell, dataset, o)
	}
	summary, err := inspect.Dataset(ctx, dataset)
	if err != nil {
		return err
	}
	return show(e, summary, summary.Page(path), o)
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
