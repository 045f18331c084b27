package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/conf"
	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newStage(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage DATASET DIR",
		Short: "Copy a dataset to node-local disk or memory, with checks, reusing earlier copies",
		Long: `Make DIR a copy of a dataset, on a node's own disk or in /dev/shm. Every file is checked
against its checksum while it is copied, and files that DIR already has with the right
checksum are not copied again. Another version of the dataset in DIR is replaced at the
end, in one step. If several processes stage to the same DIR, one copies and the others
wait. To continue an interrupted copy, run the same command again.`,
		Example: `  tcbuild stage data/yeast/current/full-masks /dev/shm/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string, _ *conf.Settings) error {
		return runStage(ctx, e, args[0], args[1])
	})
}

func runStage(ctx context.Context, e *env, path, dir string) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // current may change while files are copied
	}
	dataset, err := store.Open(path)
	if err != nil {
		return err
	}
	staged, err := dataset.Stage(ctx, dir)
	if err != nil {
		return err
	}
	e.say(fmt.Sprintf("%s: %s copied, %s reused", dir, humanBytes(staged.Copied), humanBytes(staged.Reused)))
	if version := filepath.Base(filepath.Dir(path)); rebuild.IsVersion(version) {
		e.say(fmt.Sprintf("%s: it holds version %s", dir, version))
	}
	return nil
}
