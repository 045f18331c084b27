package rebuild

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tcbuild/fault"
	"tcbuild/store"
)

// Scrub compares all files of the current version with their digests if a run last did so at least
// so many days ago; 0: never. It records damage in the state: from then on, versions share no files
// with the damaged one. The caller holds the lock alone.
func (c *Chain) Scrub(ctx context.Context, days int) error {
	state, err := ReadState(c.Dir)
	if err != nil {
		return err
	}
	c.damage = state.Damage
	current, err := c.current()
	if current == nil || err != nil {
		return err
	}
	due := days > 0 && time.Since(state.Scrubbed) >= time.Duration(days)*24*time.Hour
	if c.damage != "" || !due {
		return nil
	}
	start := time.Now()
	bytes, err := scrub(ctx, current.path)
	if fault.KindOf(err) == fault.Damaged {
		c.damage = err.Error()
		c.Log.Error("the current version is damaged", "error", err)
		if err := c.sweep(""); err != nil { // unfinished versions may share the damaged file
			return err
		}
	} else if err != nil {
		return err
	}
	c.Log.Info("compared the current version with its digests", "version",
		filepath.Base(current.path), "bytes", bytes, "seconds", int(time.Since(start).Seconds()))
	return UpdateState(c.Dir, func(s *State) { s.Scrubbed, s.Damage = start.UTC(), c.damage })
}

// scrub reads all datasets of a version. The first damage is its error, a fault.Damaged.
func scrub(ctx context.Context, version string) (bytes int64, err error) {
	entries, err := os.ReadDir(version)
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		dataset, err := store.Open(filepath.Join(version, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) || !entry.IsDir() || entry.Name() == inputFolder {
			continue // the plan finds what is missing
		}
		if err != nil {
			return bytes, err
		}
		for _, file := range dataset.Manifest.Files {
			if err := context.Cause(ctx); err != nil {
				return bytes, err
			}
			if err := dataset.CheckFile(file); err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					err = fault.New(fault.Damaged, "", "%w", err)
				}
				return bytes, err
			}
			bytes += file.Bytes
		}
	}
	return bytes, nil
}

// clearDamage clears the damage in the state after a new version was published. If there was any,
// the run still ends with an error, so that somebody notices.
func (c *Chain) clearDamage(plan *Plan, version string) error {
	isLinked := func(step Step) bool { return step.Why == unchangedWhy }
	linked := slices.ContainsFunc(plan.Steps, isLinked)
	err := UpdateState(c.Dir, func(s *State) {
		s.Damage = ""
		if !linked {
			s.Scrubbed = time.Now().UTC()
		}
	})
	if c.damage == "" || err != nil {
		return err
	}
	hint := "look for a failing disk; older versions may share the damaged file"
	return fault.New(fault.Damaged, hint,
		"rebuild %s: version %s replaces a damaged one: %s", c.Dir, filepath.Base(version),
		c.damage)
}
