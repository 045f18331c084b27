package variants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// Depth says which files a check compares with their digests, after the sizes of all.
type Depth int

const (
	SizesOnly   Depth = iota // and writes nothing
	WhatChanged              // files that changed since they were compared
	WhatIsDue                // WhatChanged, and all after compareEvery
	AllFiles
)

const compareEvery = 30 * 24 * time.Hour

// comparison says when the files of a dataset were compared with their digests.
type comparison struct {
	Compared time.Time    `json:"compared"` // all of them
	Files    disk.Digests `json:"files"`
}

// comparisonPath is where the comparison of a variant, by its folder, lies.
func comparisonPath(dataset string) string {
	return filepath.Join(filepath.Dir(dataset), "checked-"+filepath.Base(dataset)+".json")
}

// snapshot records what the files of a dataset are that is about to be verified, unless another
// part has: whatever changes from now on is compared when the version is checked.
func snapshot(dataset *store.Dataset) error {
	path := comparisonPath(dataset.Dir)
	if disk.Exists(path) {
		return nil
	}
	now := time.Now().UTC()
	made := comparison{now, make(disk.Digests)}
	for _, file := range dataset.Manifest.Files {
		stamp, err := disk.StampOf(filepath.Join(dataset.Dir, file.Name))
		if err != nil {
			return err
		}
		made.Files.Remember(file.Name, disk.Known{Stamp: stamp, SHA256: file.SHA256}, now)
	}
	return disk.WriteJSON(path, made)
}

// ErrNotNoted is wrapped by the error of a check that found nothing wrong, and could not note which
// files it has compared.
var ErrNotNoted = errors.New("cannot note what was compared")

// Check checks that a version is complete, verified and, as far as depth says, what it was when it
// was verified. Otherwise it is a fault.Damaged.
func Check(ctx context.Context, dir string, depth Depth) error {
	err := checkVersion(ctx, dir, depth)
	// says nothing of the version
	wasHindered := fault.System(err) || fault.KindOf(err) == fault.Busy || ctx.Err() != nil
	if err == nil || wasHindered {
		return err
	}
	return fault.New(fault.Damaged, "run the rebuild again: it builds the version again",
		"check version %s: %w", dir, err)
}

func checkVersion(ctx context.Context, dir string, depth Depth) error {
	record, err := ReadRecord(dir)
	if err != nil {
		return err
	}
	// an unfinished version is checked before it gets its name
	if name := filepath.Base(dir); IsKey(name) && name != record.Key {
		return fmt.Errorf("%s has the key of another version, %s", RecordName, record.Key)
	}
	if len(record.Variants) == 0 {
		return fmt.Errorf("%s names no variants", RecordName)
	}
	content := "" // the same in all
	var notNoted error
	for _, variant := range record.Variants {
		dataset, err := store.Open(filepath.Join(dir, string(variant)))
		if err != nil {
			return err
		}
		var report gpuverify.Report
		reportName := ReportName(variant)
		if err := disk.ReadJSON(filepath.Join(dir, reportName), &report); err != nil {
			return err
		}
		m := dataset.Manifest
		content = cmp.Or(content, m.LogicalContent)
		switch {
		case m.Variant != variant || !record.sameInputs(m):
			return fmt.Errorf("%s is another dataset than %s says", variant, RecordName)
		case !report.Passed() || report.Samples != m.Samples:
			return fmt.Errorf("%s says that %s is not verified", reportName, variant)
		case m.LogicalContent != content || report.LogicalContent != content:
			return fmt.Errorf("%s has another logical content than others", variant)
		}
		err = checkFiles(ctx, dataset, depth)
		if errors.Is(err, ErrNotNoted) {
			notNoted = err
		} else if err != nil {
			return err
		}
	}
	return notNoted
}

// checkFiles checks the data files of a variant, and records what it has read.
func checkFiles(ctx context.Context, dataset *store.Dataset, depth Depth) error {
	path := comparisonPath(dataset.Dir)
	var last comparison
	if err := disk.ReadJSON(path, &last); fault.System(err) {
		return err
	}
	now := time.Now().UTC()
	isDue := now.Sub(last.Compared) > compareEvery || last.Compared.After(now)
	all := depth == AllFiles || depth == WhatIsDue && isDue
	if all || last.Files == nil {
		last.Files = make(disk.Digests)
	}
	hasRead := false
	for _, file := range dataset.Manifest.Files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		name := filepath.Join(dataset.Dir, filepath.FromSlash(file.Name))
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() != file.Bytes {
			return fmt.Errorf("found %s with %d bytes, expected a file with %d", name, info.Size(),
				file.Bytes)
		}
		if depth == SizesOnly {
			continue
		}
		found, read, err := last.Files.Of(file.Name, name)
		hasRead = hasRead || read
		if err != nil {
			return err
		}
		if found.SHA256 != file.SHA256 {
			_ = disk.WriteJSON(path, last) // which must not hide the damage
			return fmt.Errorf("found %s with the SHA-256 %s, expected %s", name, found.SHA256,
				file.SHA256)
		}
	}
	if !hasRead {
		return nil
	}
	if all {
		last.Compared = now
	}
	if err := disk.WriteJSON(path, last); err != nil {
		return fmt.Errorf("%w: %w", ErrNotNoted, err)
	}
	return nil
}
