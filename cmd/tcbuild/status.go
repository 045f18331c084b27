package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/slurm"
	"tcbuild/internal/versions"
	"tcbuild/store"
)

func newStatus(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status DATASET",
		Short: "Show the progress of a dataset's shards",
		Long: `Show the shards of a published or unfinished dataset, and how many samples of each are
written. A shard is done; running; failed (begun, but no process is working on it); or
waiting (not begun, or queued in the running build). Running the same build again completes
the unfinished ones. A dataset of the incidence variant has no shards and is shown in one line.

For a dataset of 'tcbuild rebuild', ROOT/DATASET, show the versions, the shards of the
unfinished one, and the jobs of chains that have not published a version: which of them
wait or run, and the last failure.`,
		Example: `  tcbuild status demo/indices
  tcbuild status data/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		return runStatus(ctx, e, args[0])
	})
}

func runStatus(ctx context.Context, e *env, path string) error {
	shards, err := store.Status(path)
	if err == nil {
		return printShards(e, path, shards)
	}
	unfinished, finished, versionsErr := versions.Folders(path)
	for _, err := range []error{err, versionsErr} {
		if fault.System(err) || fault.KindOf(err) == fault.Damaged {
			return fmt.Errorf("read status of %s: %w", path, err)
		}
	}
	chains, err := rebuild.Submissions(path)
	if err != nil {
		return fmt.Errorf("read status of %s: %w", path, err)
	}
	if versionsErr != nil || len(unfinished)+len(finished)+len(chains) == 0 {
		kind := fault.Input
		if _, err := os.Lstat(path); err != nil {
			kind = fault.Failed
		}
		return fault.New(kind, "give the --out of a build, or ROOT/DATASET of a rebuild",
			"read status of %s: found no dataset, no unfinished dataset, and no version", path)
	}
	current, err := os.Readlink(filepath.Join(path, versions.Current))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Failed, "remove it, and run the rebuild again",
			"read status of %s: found no symbolic link: %w", filepath.Join(path, versions.Current), err)
	}
	for _, name := range finished {
		if name == current {
			name += "  current"
		}
		e.say(name)
	}
	for _, name := range unfinished {
		e.say(name + "  unfinished")
		for _, variant := range allVariants {
			dataset := filepath.Join(path, name, variant)
			shards, err := store.Status(dataset)
			if fault.System(err) {
				return fmt.Errorf("read status of %s: %w", path, err)
			}
			if err != nil {
				continue // not begun
			}
			if err := printShards(e, dataset, shards); err != nil {
				return err
			}
		}
	}
	for i, chain := range chains {
		if chain.Published() {
			continue
		}
		if err := printChain(ctx, e, chain, i == len(chains)-1); err != nil {
			return err
		}
	}
	return nil
}

// printChain prints the jobs of a chain that has not published anything, and its last failure. One
// that has ended is printed only if it is the last.
func printChain(ctx context.Context, e *env, chain *rebuild.Submission, last bool) error {
	ended := chain.Ended()
	var queue []slurm.State
	var unknown error
	if !ended {
		queue, unknown = slurm.Queue(ctx, chain.IDs())
		ended = unknown == nil && len(queue) == 0
	}
	if ended && !last {
		return nil
	}
	e.say(fmt.Sprintf("%s  submitted by %s at %s", chain.Folder, chain.User, chain.Time.Format(time.RFC3339)))
	var jobs []slurm.State
	if unknown == nil {
		jobs, _ = slurm.States(ctx, chain.IDs()) // of one that has ended it is known only where SLURM is
	}
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, job := range chain.Jobs {
		states := make(map[string][]string) // tasks by state
		for _, task := range jobs {
			if id, _, _ := strings.Cut(task.ID, "_"); id == job.ID {
				states[task.State] = append(states[task.State], task.ID)
			}
		}
		var what []string
		for _, state := range slices.Sorted(maps.Keys(states)) {
			what = append(what, state+" "+strings.Join(states[state], " "))
		}
		switch {
		case unknown != nil:
			what = []string{"unknown"}
		case len(what) == 0:
			what = []string{"ended"}
		}
		fmt.Fprintf(out, "  %s\t%s\t%s\n", job.Label, job.ID, strings.Join(what, ", "))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if unknown != nil {
		e.log.Warn("SLURM cannot be asked", "error", unknown)
	}
	line, log, err := chain.Failure(queue)
	if line != "" {
		e.say("  last failure, in "+log, "  "+line)
	}
	return err
}

// printShards prints one line per shard, and their counts; for a dataset of the incidence variant,
// which has no shards, a single line.
func printShards(e *env, path string, shards []store.ShardStatus) error {
	counts := make(map[store.ShardState]int)
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, shard := range shards {
		if shard.Name == "" {
			e.say(fmt.Sprintf("%s: %s, without shards, %s samples", path, shard.State, humanCount(shard.Samples)))
			return nil
		}
		counts[shard.State]++
		fmt.Fprintf(out, "%s\t%s\t%s of %s samples\n", shard.Name, shard.State, humanCount(shard.Written), humanCount(shard.Samples))
	}
	_, err := fmt.Fprintf(out, "%s: %d shards done, %d running, %d failed, %d waiting\n", path,
		counts[store.ShardDone], counts[store.ShardRunning], counts[store.ShardFailed], counts[store.ShardWaiting])
	return errors.Join(err, out.Flush())
}
