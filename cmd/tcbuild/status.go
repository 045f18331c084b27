package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/fault"
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

For a dataset of 'tcbuild rebuild', ROOT/DATASET, show the versions, and the shards of
the unfinished one.`,
		Example: `  tcbuild status demo/indices
  tcbuild status data/yeast`,
		Args: cobra.ExactArgs(1),
	}
	return configured(e, cmd, func(_ context.Context, args []string, _ *conf.Settings) error {
		return runStatus(e, args[0])
	})
}

func runStatus(e *env, path string) error {
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
	if versionsErr != nil || len(unfinished)+len(finished) == 0 {
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
	return nil
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
