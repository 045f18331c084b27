package rebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/internal/disk"
	"tcbuild/store"
)

// Overview is what an operator wants to know about a dataset.
type Overview struct {
	Path     string       `json:"path"`
	Current  *CurrentInfo `json:"current"`   // nil: none yet
	HeldBack bool         `json:"held_back"` // current is at an older version, as somebody chose
	State    *State       `json:"state"`
	Problems []string     `json:"problems"` // empty if all is well
}

// CurrentInfo describes the current version.
type CurrentInfo struct {
	Version string    `json:"version"`
	Made    time.Time `json:"made"`
	Samples int       `json:"samples"`
	Inputs  []string  `json:"inputs"`
	Program string    `json:"program"`
}

// Overviews describes a named dataset, or all of them in a folder.
func Overviews(path string) (all []Overview, err error) {
	if isNamed(path) {
		o, err := overview(path)
		return []Overview{o}, err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) { // perhaps a dataset under construction
		return nil, nil
	}
	for _, entry := range entries {
		if dir := filepath.Join(path, entry.Name()); entry.IsDir() && isNamed(dir) {
			o, err := overview(dir)
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
	}
	return all, err
}

// isNamed reports whether a folder is a named dataset's.
func isNamed(dir string) bool {
	_, finished, _ := Folders(dir)
	return len(finished) > 0 || disk.Exists(filepath.Join(dir, StateName))
}

func overview(dir string) (Overview, error) {
	o := Overview{Path: dir, Problems: []string{}}
	var err error
	if o.State, err = ReadState(dir); err != nil {
		return o, err
	}
	problem := func(format string, args ...any) {
		o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
	}
	if link, err := os.Readlink(filepath.Join(dir, Current)); err == nil {
		if o.Current, err = currentInfo(filepath.Join(dir, link)); err != nil {
			problem("current cannot be read: %v", err)
		}
		o.HeldBack = o.State.IsHeldBack(filepath.Base(link))
	} else if !errors.Is(err, fs.ErrNotExist) {
		problem("current is not a symbolic link: remove it, and run the rebuild again")
	} else if _, finished, _ := Folders(dir); len(finished) > 0 {
		problem("there are versions, but no current: run the rebuild again")
	}
	if o.State.Damage != "" {
		problem("the current version is damaged: %s", o.State.Damage)
	}
	code := o.State.ExitCode()
	failed := code != 0 && code != exitBusy
	inProgress := o.State.Run != nil && len(o.State.Run.Failures) > 0
	switch {
	case failed && inProgress:
		problem("a step of the run in progress failed with %d", code)
	case failed:
		problem("the last run failed with %d", code)
	}
	dead := len(o.State.Working) > 0 && !isLocked(dir)
	for _, p := range o.State.Working {
		silent := time.Since(p.Seen).Round(time.Second)
		switch where := fmt.Sprintf("%s (process %d on %s)", p.Task, p.PID, p.Host); {
		case dead:
			problem("%s was killed, or its machine was lost, after %s: run it again", where,
				p.Seen.Format(time.RFC3339))
		case silent > longestSilence:
			problem("%s has been silent for %s: it was killed or is frozen, or its machine is",
				where, silent)
		}
	}
	return o, nil
}

// longestSilence is how old the last heartbeat of a process may be before something is wrong.
const longestSilence = 8 * heartbeatEvery

// isLocked reports whether a process is at work on a dataset. It changes nothing.
func isLocked(dir string) bool {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // not ours to test
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

func currentInfo(path string) (*CurrentInfo, error) {
	v := readVersion(path)
	info, err := os.Stat(filepath.Join(path, RecordName))
	if err != nil {
		return nil, err
	}
	if v == nil || len(v.Stages) == 0 {
		return nil, fmt.Errorf("%s holds no record of a version", filepath.Join(path, RecordName))
	}
	c := &CurrentInfo{Version: filepath.Base(path),
		Made:    info.ModTime().UTC().Truncate(time.Second),
		Program: v.Stages[0].Program, Inputs: []string{}}
	tables := 0
	for _, stage := range v.Stages {
		for _, input := range stage.Inputs {
			if strings.HasPrefix(input.Name, graphSource) {
				tables++
				continue
			}
			c.Inputs = append(c.Inputs, input.Name)
		}
		if stage.Stage != string(store.Incidence) && stage.Stage != surveyFolder {
			continue
		}
		m, err := store.ReadManifest(filepath.Join(path, stage.Output))
		if err != nil {
			return nil, err
		}
		c.Samples = m.Samples
	}
	if tables > 0 {
		c.Inputs = append([]string{fmt.Sprintf("a graph of %d tables", tables)}, c.Inputs...)
	}
	if len(c.Inputs) == 0 {
		c.Inputs = append(c.Inputs, "synthetic input")
	}
	return c, nil
}
