package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tcbuild/internal/disk"
	"tcbuild/internal/variants"
	"tcbuild/store"
)

// Overview is what an operator wants to know about a dataset.
type Overview struct {
	Path     string           `json:"path"`
	Version  string           `json:"version"` // the current one; "" without
	Since    time.Time        `json:"since,omitzero"`
	Samples  int              `json:"samples"`
	Record   *variants.Record `json:"record"` // nil: unreadable, or no version
	Held     bool             `json:"held"`
	Running  bool             `json:"running"` // a process is at work
	State    *State           `json:"state"`
	Problems []string         `json:"problems"` // empty if all is well
}

// Overviews describes a named dataset, or all of them in a folder. It changes nothing.
func Overviews(ctx context.Context, path string) (all []Overview, err error) {
	if isNamed(path) {
		o, err := overview(ctx, path)
		return []Overview{o}, err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) { // perhaps a dataset under construction
		return nil, nil
	}
	for _, entry := range entries {
		dir := filepath.Join(path, entry.Name())
		if err != nil || !entry.IsDir() || !isNamed(dir) {
			continue
		}
		var o Overview
		o, err = overview(ctx, dir)
		all = append(all, o)
	}
	return all, err
}

// isNamed reports whether a folder is a named dataset's.
func isNamed(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		name := entry.Name()
		return name == lockName || name == currentName || variants.IsKey(name)
	})
}

func overview(ctx context.Context, dir string) (o Overview, err error) {
	r := Rebuild{Dir: dir}
	o = Overview{Path: dir, Problems: []string{}, Running: disk.IsLocked(r.path(lockName)),
		Held: disk.Exists(r.path(holdName))}
	problem := func(format string, args ...any) {
		o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
	}
	if o.State, err = ReadState(dir); err != nil {
		return o, err
	}
	if o.Version, err = r.current(); err != nil {
		problem("%v", err)
	}
	versions, _ := filepath.Glob(filepath.Join(dir, "[0-9a-f]*", variants.RecordName))
	if o.Version == "" && len(versions) > 0 {
		problem("there are versions, but no current one: run the rebuild again")
	}
	if o.Version != "" {
		version := r.path(o.Version)
		if err := variants.Check(ctx, version, variants.SizesOnly); err != nil {
			problem("%v", err)
		}
		if info, err := os.Stat(filepath.Join(version, variants.RecordName)); err == nil {
			o.Since = info.ModTime().UTC().Truncate(time.Second)
		}
		if o.Record, err = variants.ReadRecord(version); err != nil || len(o.Record.Variants) == 0 {
			o.Record = nil
		} else if m, err := store.ReadManifest(
			filepath.Join(version, string(o.Record.Variants[0]))); err == nil {
			o.Samples = m.Samples
		}
	}
	if f := o.State.Failure; f != nil {
		problem("%s failed with %d", f.Task, f.ExitCode)
	}
	if s := o.State; !s.Begin.IsZero() && s.End.IsZero() && !o.Running {
		problem("%s (process %d on %s) was killed, or its machine was lost: run it again",
			s.Task, s.PID, s.Host)
		s.ExitCode = -1
	}
	return o, nil
}

// MetricsBegin is the first line of every file with metrics.
const MetricsBegin = "# Written by tcbuild status --metrics-file.\n"

// Metrics describes datasets for node_exporter's textfile collector, which rejects time stamps.
func Metrics(all []Overview) string {
	text := &strings.Builder{}
	text.WriteString(MetricsBegin)
	for _, metric := range []struct {
		name, help string
		value      func(o Overview) float64
	}{
		{"problems", "What is wrong with the dataset, as 'tcbuild status' lists it.",
			func(o Overview) float64 { return float64(len(o.Problems)) }},
		{"last_success_timestamp_seconds", "When a run last brought the dataset up to date.",
			func(o Overview) float64 { return float64(max(0, o.State.Success.Unix())) }},
		{"last_exit_code", "Of the last failure since, or of the last run; -1 if it was killed.",
			func(o Overview) float64 {
				last := cmp.Or(o.State.Failure, &Failure{ExitCode: o.State.ExitCode})
				return float64(last.ExitCode)
			}},
		{"samples", "Samples of the current version.",
			func(o Overview) float64 { return float64(o.Samples) }},
		{"held", "1 while the file hold keeps current where it is.",
			func(o Overview) float64 { return map[bool]float64{true: 1}[o.Held] }},
	} {
		name := "tcbuild_rebuild_" + metric.name
		fmt.Fprintf(text, "# HELP %s %s\n# TYPE %s gauge\n", name, metric.help, name)
		for _, o := range all {
			fmt.Fprintf(text, "%s{dataset=%q} %.15g\n", name, filepath.Base(o.Path),
				metric.value(o))
		}
	}
	return text.String()
}
