package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tcbuild/internal/rebuild"
	"tcbuild/store"
)

func newStage(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage DATASET DIR",
		Short: "Copy a dataset to node-local disk or memory, with checks, unless it is there",
		Long: `Make DIR a copy of a dataset, on a node's own disk or in /dev/shm. Every file is checked
against its checksum while it is copied. If DIR is a copy already, it is checked and kept.
Another version of the dataset in DIR is replaced at the end, in one step. If several
processes stage to the same DIR, one copies and the others wait. An interrupted copy
starts again.`,
		Example: `  tcbuild stage data/yeast/current/full-masks /dev/shm/yeast`,
	}
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		path, dir := args[0], args[1]
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved // current may change while files are copied
		}
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		copied, err := dataset.Stage(ctx, dir)
		if err != nil {
			return err
		}
		what := "copied"
		if !copied {
			what = "were there"
		}
		e.say(fmt.Sprintf("%s: %s %s", dir, humanBytes(dataset.Manifest.DataBytes()), what))
		if version := filepath.Base(filepath.Dir(path)); rebuild.IsVersion(version) {
			e.say(fmt.Sprintf("%s: it holds version %s", dir, version))
		}
		return nil
	})
}
