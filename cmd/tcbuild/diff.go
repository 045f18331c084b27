package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/internal/inspect"
	"tcbuild/store"
)

func newDiff(e *env) *cobra.Command {
	var limit int
	var html string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "List what differs between two datasets or graphs, by name",
		Long: `List what differs between two datasets or two cell graphs, by name: nodes, edges
and their other columns; the reaction rule; and, for two datasets, the samples, matched
by id: deleted genes, phenotypes and stored masks. If only the order of rows differs,
diff reports only that the content differs. Variant, codec and shards do not count as
differences. If A or B is a graph, only graphs are compared. The exit code is 0 if
nothing differs, and 4 otherwise.`,
		Example: `  tcbuild diff demo/indices demo/full-masks
  tcbuild diff old/graph new/graph --limit 0
  tcbuild diff old/graph new/graph --html differences.html`,
	}
	intFlag(cmd.Flags(), &limit, "limit", 20, 0,
		"number of differences of each kind to list (0 for all)")
	pageFlag(cmd.Flags(), &html, diffPage, "also write an HTML page: `FILE`")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		return runDiff(ctx, e, args[0], args[1], limit, html)
	})
}

func runDiff(ctx context.Context, e *env, a, b string, limit int, html string) error {
	report, compared, err := compareFolders(ctx, e, a, b, limit)
	if err != nil {
		return err
	}
	if html != "" {
		if err := writePage(report.Page(a, b, compared), html, diffPage); err != nil {
			return err
		}
	}
	if report.Same() {
		e.say(fmt.Sprintf("%s and %s are the same: %s", a, b, compared))
		return nil
	}
	for _, finding := range report.Findings {
		fmt.Fprintf(e.stdout, "%s: %s\n", oneLine(finding.What), humanCount(finding.Count))
		for _, example := range finding.Examples {
			fmt.Fprintf(e.stdout, "  %s\n", oneLine(example))
		}
		if more := finding.Count - len(finding.Examples); more > 0 {
			fmt.Fprintf(e.stdout, "  and %s more\n", humanCount(more))
		}
	}
	hint := ""
	if report.Cut {
		hint = "pass --limit 0 to list every difference"
	}
	first := report.Findings[0]
	return fault.New(fault.Damaged, hint, "compare A = %s with B = %s: found %s; first: %s: %s",
		a, b, english.Plural(len(report.Findings), "kind of difference", "kinds of differences"),
		oneLine(first.What), humanCount(first.Count))
}

// compareFolders compares two datasets, or the graphs of two folders. It also returns, in words,
// what was compared.
func compareFolders(ctx context.Context, e *env, a, b string,
	limit int) (report *inspect.Differences, compared string, err error) {
	if isDataset(a) && isDataset(b) {
		return compareDatasets(ctx, e, a, b, limit)
	}
	var graphs [2]*ingest.Graph
	for i, dir := range []string{a, b} {
		if graphs[i], _, err = graph.Read(dir); err != nil {
			return nil, "", err
		}
	}
	return inspect.CompareGraphs(graphs[0], graphs[1], limit), describeGraph(graphs[0]), nil
}

func compareDatasets(ctx context.Context, e *env, a, b string,
	limit int) (report *inspect.Differences, compared string, err error) {
	var datasets [2]*store.Dataset
	for i, dir := range []string{a, b} {
		if datasets[i], err = store.Open(dir); err != nil {
			return nil, "", err
		}
	}
	samples := max(datasets[0].Manifest.Samples, datasets[1].Manifest.Samples)
	bar := newProgress(e, "diff", samples)
	defer bar.Done()
	report, err = inspect.CompareDatasets(ctx, datasets[0], datasets[1], limit, bar)
	return report, fmt.Sprintf("%s samples x %d masks", humanCount(samples),
		len(datasets[0].Manifest.Masks)), err
}

// describeGraph counts the nodes and edges of a graph.
func describeGraph(graph *ingest.Graph) string {
	nodes, edges := graph.Size()
	return fmt.Sprintf("%s nodes, %s edges", humanCount(nodes), humanCount(edges))
}
