package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
)

func newClean(e *env) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean [PATH]",
		Short: "Remove what killed runs left behind",
		Long: `Remove what killed runs left behind: temporary folders (.NAME.tcbuild-…), datasets under
construction (NAME.building), unfinished versions of a rebuild (.build-…) and locks of copies
(.NAME.staging.lock). PATH is a folder, searched without its subfolders, or the --out of a
killed run; the default is the working directory. Files in use by a running process, and
files of other users, are kept.

Running the same command again could still resume an unfinished dataset or version, so
look at the list first, with --dry-run. Parts of a plan whose unfinished version is gone
exit with 75.`,
		Example: `  tcbuild clean --dry-run
  tcbuild clean data/yeast`,
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false,
		"print what would be removed, without removing it")
	return configured(e, cmd, func(_ context.Context, args []string) error {
		path, err := disk.Resolve(strings.Join(args, ""))
		if err != nil {
			return fmt.Errorf("clean: %w", err)
		}
		found, err := rebuild.Leftovers(path)
		if err != nil {
			return err
		}
		said := "removed "
		if dryRun {
			said = "would remove "
		}
		removed := 0
		for _, left := range found {
			free, err := left.Remove(dryRun)
			if err != nil {
				return err
			}
			if free {
				e.say(said + left.Path + ": " + left.What)
				removed++
			}
		}
		if removed == 0 {
			e.say(path + ": nothing to remove")
		}
		return nil
	})
}

// publish makes a file or folder that appears at path complete or not at all: build makes it at
// another path, with the same base name, in a temporary folder beside it. Missing parents of path
// are created. It is a fault.Usage if path exists.
func publish(path string, build func(path string) error) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return alreadyExists(path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(path)), 0o777); err != nil {
		return err
	}
	temporary, err := disk.NewTemporary(path)
	if err != nil {
		return err
	}
	if err := build(temporary.Path); err != nil {
		return errors.Join(temporary.Naming(err), temporary.Discard())
	}
	err = temporary.PublishNew(path)
	if errors.Is(err, fs.ErrExist) {
		return alreadyExists(path)
	}
	return err
}
