package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/fault"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newStatus(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status DATASET",
		Short: "Show the progress of a dataset's shards",
		Long: `Show the shards of a published or unfinished dataset. A shard is done, running or waiting
(not started, queued in the running build, or interrupted). Running the same build again
builds the shards that are not done, each from its beginning. A dataset of the incidence
variant has no shards and takes one line.

For ROOT/DATASET, made by 'tcbuild rebuild', show the versions, the unfinished version's
shards and how much of it is verified, the jobs in SLURM's queue and why they wait, and the
last failure with its log.`,
		Example: `  tcbuild status demo/indices
  tcbuild status data/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		return runStatus(ctx, e, args[0])
	})
}

func runStatus(ctx context.Context, e *env, path string) error {
	shards, err := store.Status(path)
	if err == nil {
		return printShards(e, path, shards)
	}
	unfinished, finished, _ := rebuild.Folders(path)
	chains, chainsErr := rebuild.Chains(path)
	switch {
	case len(unfinished)+len(finished)+len(chains) == 0:
		return fmt.Errorf("read status of %s: %w", path, err)
	case chainsErr != nil:
		return chainsErr
	}
	current, err := os.Readlink(filepath.Join(path, rebuild.Current))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Failed, "remove it, and run the rebuild again",
			"read status of %s: found no symbolic link: %w", filepath.Join(path, rebuild.Current), err)
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
			if verified := rebuild.Verified(dataset); verified > 0 {
				e.say(fmt.Sprintf("%s: %s samples verified", dataset, humanCount(verified)))
			}
		}
	}
	if len(chains) == 0 {
		return nil
	}
	return printChain(ctx, e, path, chains[len(chains)-1])
}

// printChain prints the jobs of a dataset that are in the queue, and how its last chain failed.
func printChain(ctx context.Context, e *env, path string, last *rebuild.Submitted) error {
	queue, unknown := rebuild.Queue(ctx, path)
	if unknown != nil {
		e.log.Warn("SLURM cannot be asked", "error", unknown)
	}
	var rows [][]string
	for _, job := range queue {
		rows = append(rows, []string{job.Chain, job.Label, job.ID, job.State, job.User, job.Reason})
	}
	if err := e.table(rows...); err != nil {
		return err
	}
	failure := last.Failure()
	switch {
	case last.Published():
	case failure != nil:
		e.say(fmt.Sprintf("%s  failed in the job %s with exit code %d, see %s", filepath.Base(last.Folder), failure.Job, failure.ExitCode, failure.Log),
			"  "+failure.Error)
	case unknown == nil && len(queue) == 0:
		line, log := last.LastLine()
		e.say(fmt.Sprintf("%s  ended, see %s", filepath.Base(last.Folder), cmp.Or(log, last.Folder)), "  "+line)
	}
	return nil
}

// printShards prints one line per shard, and their counts; for a dataset of the incidence variant,
// which has no shards, a single line.
func printShards(e *env, path string, shards []store.ShardStatus) error {
	counts := make(map[store.ShardState]int)
	var rows [][]string
	for _, shard := range shards {
		if shard.Name == "" {
			e.say(fmt.Sprintf("%s: %s, without shards, %s samples", path, shard.State, humanCount(shard.Samples)))
			return nil
		}
		counts[shard.State]++
		rows = append(rows, []string{shard.Name, string(shard.State), humanCount(shard.Samples) + " samples"})
	}
	return e.table(append(rows, []string{fmt.Sprintf("%s: %d shards done, %d running, %d waiting", path,
		counts[store.ShardDone], counts[store.ShardRunning], counts[store.ShardWaiting])})...)
}
