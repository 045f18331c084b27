package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newStatus(e *env) *cobra.Command {
	asJSON, metrics := false, ""
	cmd := &cobra.Command{
		Use:        "status ROOT|ROOT/NAME|DATASET",
		SuggestFor: []string{"ls", "list"},
		Short:      "Show which datasets are up to date, what failed, and what runs",
		Long: `Show one dataset of 'tcbuild rebuild', or all in ROOT: the current version, since when and from
what, how the last run ended, and whether one is at work. Compare the sizes of all files. The
exit code is 4 if something failed since the last success, was killed, or is damaged; an
interrupted run (75) is no failure, as the next one continues.

Of another DATASET, published or unfinished, show the shards: done, running or waiting.`,
		Example: `  tcbuild status data/yeast --json
  tcbuild status data --metrics-file /var/lib/prometheus/node-exporter/tcbuild.prom`,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	fileFlag(cmd.Flags(), &metrics, "metrics-file", beginsWith(rebuild.MetricsBegin),
		"also write metrics to `FILE`, for node_exporter's textfile collector if it ends in .prom")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		overviews, err := rebuild.Overviews(ctx, args[0])
		if err == nil && metrics != "" {
			syscall.Umask(0o022) // node_exporter, which reads the file, is another user
			err = replace(metrics, []byte(rebuild.Metrics(overviews)), rebuild.MetricsBegin)
		}
		if err != nil {
			return err
		}
		if len(overviews) == 0 {
			return printShards(e, args[0])
		}
		return printOverviews(e, overviews, asJSON)
	})
}

func printOverviews(e *env, overviews []rebuild.Overview, asJSON bool) error {
	var lines []string
	bad := false
	for _, o := range overviews {
		bad = bad || len(o.Problems) > 0
		lines = append(append(lines, describe(o, time.Now())...), "")
	}
	if !asJSON {
		e.say(lines[:len(lines)-1]...)
	} else if err := e.json(map[string]any{"datasets": overviews}); err != nil {
		return err
	}
	if bad {
		return exitCode(4)
	}
	return nil
}

// describe returns the lines that status prints for a dataset.
func describe(o rebuild.Overview, now time.Time) []string {
	at := func(at time.Time) string {
		return fmt.Sprintf("%s (%s)", humanize.RelTime(at, now, "ago", "from now"),
			at.Local().Format(time.DateTime))
	}
	lines := []string{o.Path}
	line := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("  %-9s ", name)+oneLine(fmt.Sprintf(format, args...)))
	}
	switch {
	case o.Version == "":
		line("current", "none yet")
	case o.Since.IsZero():
		line("current", "%s, which is missing", o.Version)
	default:
		line("current", "%s, since %s, %s samples", o.Version, at(o.Since), humanCount(o.Samples))
	}
	if o.Record != nil {
		line("from", "%d inputs, by %s", len(o.Record.Inputs), o.Record.Program)
	}
	if s := o.State; !s.Begin.IsZero() {
		took := s.End.Sub(s.Begin).Round(time.Second)
		how := fmt.Sprintf("ended with %d, took %s", s.ExitCode, took)
		if s.End.IsZero() {
			how = fmt.Sprintf("process %d on %s", s.PID, s.Host)
		}
		line("last run", "%s, began %s: %s", s.Task, at(s.Begin), how)
	}
	if !o.State.Success.IsZero() {
		line("success", "%s", at(o.State.Success))
	}
	if f := o.State.Failure; f != nil {
		line("failed", "%s with %d, %s: %s", f.Task, f.ExitCode, at(f.At), f.Error)
		if f.Hint != "" {
			line("hint", "%s", f.Hint)
		}
	}
	if o.Running {
		line("runs", "somebody is at work")
	}
	if o.Held {
		line("held", "current stays where it is, until the file hold is removed")
	}
	for _, problem := range o.Problems {
		line("PROBLEM", "%s", problem)
	}
	return lines
}

// printShards prints one line per shard, and their counts; for a dataset of the incidence variant,
// which has no shards, a single line.
func printShards(e *env, path string) error {
	shards, err := store.Status(path)
	if err != nil {
		return fmt.Errorf("read status of %s: %w", path, err)
	}
	counts := make(map[store.ShardState]int)
	var rows [][]string
	for _, shard := range shards {
		if shard.Name == "" {
			e.say(fmt.Sprintf("%s: %s, without shards, %s samples", path, shard.State,
				humanCount(shard.Samples)))
			return nil
		}
		counts[shard.State]++
		rows = append(rows,
			[]string{shard.Name, string(shard.State), humanCount(shard.Samples) + " samples"})
	}
	return e.table(append(rows,
		[]string{fmt.Sprintf("%s: %d shards done, %d running, %d waiting", path,
			counts[store.ShardDone], counts[store.ShardRunning], counts[store.ShardWaiting])})...)
}
