package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newStatus(e *env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "status ROOT|ROOT/NAME|DATASET",
		Short: "Show which datasets are up to date, what failed, and what runs",
		Long: `Show the dataset ROOT/NAME of 'tcbuild rebuild', or all datasets in ROOT: the current
version, when and from what it was made, how the last run ended, and what runs now. The
exit code is 0 if all is well, 4 if something failed, was killed, is silent, or is
damaged. An interrupted run (75) is not a failure: the next one continues.

For a DATASET of another command, published or unfinished, show its shards. A shard is
done, running or waiting (not started, queued in the running build, or interrupted).`,
		Example: `  tcbuild status data
  tcbuild status data/yeast --json
  tcbuild status demo/indices`,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return configured(e, cmd, func(_ context.Context, args []string) error {
		return runStatus(e, args[0], asJSON)
	})
}

func runStatus(e *env, path string, asJSON bool) error {
	overviews, err := rebuild.Overviews(path)
	if err != nil {
		return err
	}
	if len(overviews) == 0 {
		shards, err := store.Status(path)
		if err != nil {
			return fmt.Errorf("read status of %s: %w", path, err)
		}
		return printShards(e, path, shards)
	}
	bad := false
	for i, o := range overviews {
		bad = bad || len(o.Problems) > 0
		if asJSON {
			continue
		}
		if i > 0 {
			e.say("")
		}
		e.say(describe(o, time.Now())...)
	}
	if asJSON {
		if err := e.json(map[string]any{"datasets": overviews}); err != nil {
			return err
		}
	}
	if bad {
		return exitCode(4)
	}
	return nil
}

// describe returns the lines that status prints for a dataset.
func describe(o rebuild.Overview, now time.Time) []string {
	ago := func(at time.Time) string { return humanize.RelTime(at, now, "ago", "from now") }
	clock := func(at time.Time) string { return at.Local().Format(time.DateTime) }
	lines := []string{o.Path}
	line := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("  %-9s ", name)+oneLine(fmt.Sprintf(format, args...)))
	}
	switch c := o.Current; {
	case c == nil:
		line("current", "none yet")
	default:
		line("current", "%s, made %s (%s), %s samples",
			c.Version, ago(c.Made), clock(c.Made), humanCount(c.Samples))
		inputs := slices.Clone(c.Inputs)
		if more := len(inputs) - shownInputs; more > 0 {
			inputs = append(inputs[:shownInputs], fmt.Sprintf("%d more", more))
		}
		line("from", "%s; by %s", strings.Join(inputs, ", "), c.Program)
	}
	if !o.State.UpToDate.IsZero() {
		scrubbed := "never"
		if !o.State.Scrubbed.IsZero() {
			scrubbed = ago(o.State.Scrubbed)
		}
		line("verified", "up to date %s; files compared with their digests %s",
			ago(o.State.UpToDate), scrubbed)
	}
	if last := o.State.Last; last != nil {
		how := fmt.Sprintf("done, %d stages run", last.Ran)
		if len(last.Failures) > 0 {
			how = fmt.Sprintf("ended with %d", last.Failures[0].ExitCode)
		}
		line("last run", "%s; began %s (%s), took %s",
			how, ago(last.Begin), clock(last.Begin), last.End.Sub(last.Begin).Round(time.Second))
		for _, f := range last.Failures {
			failure(line, f)
		}
	}
	if run := o.State.Run; run != nil && run.Parts > 0 {
		line("now", "run %s began %s: %d of %d parts built, %d verified",
			run.ID, ago(run.Begin), len(run.Built), run.Parts, len(run.Verified))
	}
	if run := o.State.Run; run != nil {
		for _, f := range run.Failures {
			failure(line, f)
		}
	}
	for i, p := range o.State.Working {
		if i == shownProcesses {
			line("", "and %d more", len(o.State.Working)-i)
			break
		}
		doing := cmp.Or(p.Stage, "begins")
		if p.Total > 0 {
			share := 100 * float64(p.Done) / float64(p.Total)
			doing += fmt.Sprintf(" %.0f%% of %s samples", share, humanCount(p.Total))
		}
		line("runs", "%s on %s, process %d of %s, since %s: %s; seen %s",
			p.Task, p.Host, p.PID, p.User, clock(p.Begin), doing, ago(p.Seen))
	}
	if o.HeldBack && o.Current != nil {
		line("held back", "current stays at %s in place of %s, as somebody chose; "+
			"'tcbuild rebuild --forward' ends this", o.Current.Version, o.State.Current)
	}
	for _, problem := range o.Problems {
		line("PROBLEM", "%s", problem)
	}
	return lines
}

const shownProcesses, shownInputs = 5, 4

func failure(line func(name, format string, args ...any), f rebuild.Failure) {
	line("failed", "%s with %d: %s", f.Task, f.ExitCode, f.Error)
	if f.Hint != "" {
		line("hint", "%s", f.Hint)
	}
}

// printShards prints one line per shard, and their counts; for a dataset of the incidence variant,
// which has no shards, a single line.
func printShards(e *env, path string, shards []store.ShardStatus) error {
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
