// Package variants builds the variants of one dataset in a folder, and verifies them: all in one
// process, or in parts, as processes on any nodes that see the folder, in any order. Parts that are
// done are skipped, and both ways leave the same data.
//
//	DIR/incidence/            a folder per variant
//	DIR/survey/               where nobody wants the incidence variant, takes its place as the
//	                          dataset that is made of the input, and that others are made of
//	DIR/incidence.reports/    of pieces of a variant that are verified
//	DIR/verify-incidence.json what Gather made of them
//	DIR/checked-incidence.json when files were compared with their digests
//	DIR/key.json              Record: everything that determines the variants
package variants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// Set is the variants of a dataset.
type Set struct {
	Names  []store.Variant
	Build  tcbuild.Options   // of each, without Variant, Out, Part and Resume
	Verify gpuverify.Options // without Progress
	// Progress begins to show a stage; samples is 0 if their number is not known.
	Progress func(stage string, samples int) tcbuild.Progress

	reference gpuverify.Reference
}

// Part is one of the parts, from 1 to Count; Number 0 is all of them.
type Part struct{ Number, Count int }

// ReportName is the name of a variant's report.
func ReportName(variant store.Variant) string { return "verify-" + string(variant) + ".json" }

// First is the name of the dataset that is made of the input.
func (s *Set) First() string {
	if slices.Contains(s.Names, store.Incidence) {
		return string(store.Incidence)
	}
	return "survey"
}

// BuildPart builds the shards of a part in all variants. The first process to come makes the first
// dataset; the others wait.
func (s *Set) BuildPart(ctx context.Context, dir string, part Part) error {
	options := s.Build
	options.Resume = store.ResumeIfPossible
	options.Progress = func(samples int) tcbuild.Progress {
		if samples == 0 {
			return s.Progress("survey", 0)
		}
		return s.Progress("build", samples)
	}
	options.Variant, options.Out = store.Incidence, filepath.Join(dir, s.First())
	if !disk.Exists(options.Out) {
		if err := buildWhenFree(ctx, options); err != nil {
			return err
		}
	}
	base, err := store.Open(options.Out)
	if err != nil {
		return err
	}
	if samples := base.Manifest.Samples; part.Count > max(samples, 1) {
		return fault.New(fault.Usage, "give fewer",
			"build %s: found %d parts, expected at most %d, one per sample", dir, part.Count,
			samples)
	}
	options.Base, options.Parts = base, part.Count
	if part.Number > 0 {
		options.Part = new(int)
		*options.Part = part.Number - 1
		options.Scratch = os.Getenv("SLURM_TMPDIR") // the node's own folder, if there is one
	}
	for _, variant := range s.Names {
		if variant == store.Incidence {
			continue
		}
		options.Variant, options.Out = variant, filepath.Join(dir, string(variant))
		if err := buildWhenFree(ctx, options); err != nil {
			return err
		}
	}
	return nil
}

// buildWhenFree builds a dataset, and waits while another process builds it.
func buildWhenFree(ctx context.Context, options tcbuild.Options) error {
	for {
		_, err := tcbuild.Build(ctx, options)
		if err == nil || fault.KindOf(err) != fault.Busy ||
			errors.Is(err, inputfile.ErrChanged) || ctx.Err() != nil {
			return err
		}
		options.Log.Info("waiting", "why", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// VerifyPart verifies a part of all variants, which must be built.
func (s *Set) VerifyPart(ctx context.Context, dir string, part Part) error {
	for _, variant := range s.Names {
		dataset, err := s.open(ctx, dir, variant, part.Count)
		if err == nil {
			err = snapshot(dataset)
		}
		if err == nil {
			err = os.MkdirAll(reportsOf(dataset), 0o777)
		}
		if err != nil {
			return err
		}
		for _, piece := range s.pieces(dataset, part.Count) {
			isOurs := part.Number == 0 || part.Number == partOf(piece, dataset, part.Count)
			if !isOurs || piece.Report != nil {
				continue
			}
			if err := s.verifyPiece(ctx, dataset, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Set) verifyPiece(
	ctx context.Context, dataset *store.Dataset, piece gpuverify.Part,
) error {
	options := s.Verify
	bar := s.Progress("verify", piece.End-piece.First)
	defer bar.Done()
	options.Progress = bar
	piece, err := gpuverify.VerifyPart(ctx, dataset, piece, options, &s.reference)
	if err == nil {
		err = passed(piece.Report)
	}
	if err != nil {
		return err
	}
	return disk.WriteJSON(piecePath(dataset, piece), piece)
}

// Gather adds up the reports of all parts, and leaves nothing in the folder but the variants, their
// reports and records.
func (s *Set) Gather(ctx context.Context, dir string, parts int) error {
	for _, variant := range s.Names {
		dataset, err := s.open(ctx, dir, variant, parts)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, ReportName(variant))
		if disk.Exists(path) {
			continue // this was interrupted before
		}
		pieces := s.pieces(dataset, parts)
		var missing []int
		for _, piece := range pieces {
			if piece.Report == nil {
				missing = append(missing, partOf(piece, dataset, parts))
			}
		}
		if len(missing) > 0 {
			return incomplete(dataset.Dir, "verified", "verify", missing, parts)
		}
		report, err := gpuverify.Gather(ctx, dataset, pieces, s.Verify)
		if err == nil {
			err = passed(report)
		}
		if err == nil {
			err = disk.WriteJSON(path, report)
		}
		if err != nil {
			return err
		}
	}
	return s.removeOthers(dir)
}

func (s *Set) removeOthers(dir string) error {
	known := []string{RecordName}
	for _, variant := range s.Names {
		known = append(known, string(variant), ReportName(variant),
			filepath.Base(comparisonPath(filepath.Join(dir, string(variant)))))
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !slices.Contains(known, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// passed returns the error of a dataset that failed its verification.
func passed(report *gpuverify.Report) error {
	if report.Passed() {
		return nil
	}
	return fault.New(fault.Damaged, "look for a failing disk or memory, and run it again",
		"verify %s: %d differences, %d damaged; first: %s",
		report.Dataset, report.Differences, report.Damaged, report.Findings()[0])
}

// open opens a variant whose parts must all be built. It publishes the variant if the last part
// was killed before it could.
func (s *Set) open(
	ctx context.Context, dir string, variant store.Variant, parts int,
) (*store.Dataset, error) {
	path := filepath.Join(dir, string(variant))
	if disk.Exists(path) {
		return store.Open(path)
	}
	shards, err := store.Status(path)
	if fault.System(err) {
		return nil, err
	}
	var missing []int
	for part := 1; part <= parts && len(shards) == 0; part++ { // none has begun
		missing = append(missing, part)
	}
	for i, shard := range shards {
		if shard.State != store.ShardDone {
			missing = append(missing, i*parts/len(shards)+1)
		}
	}
	if len(missing) > 0 {
		return nil, incomplete(path, "built", "build", missing, parts)
	}
	if err := s.BuildPart(ctx, dir, Part{1, parts}); err != nil {
		return nil, err
	}
	return store.Open(path)
}

// incomplete returns the error that lists the parts, in order, that nobody has done.
func incomplete(dataset, done, step string, missing []int, parts int) error {
	missing = slices.Compact(missing)
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(missing), " ", ", "), "[]")
	return fault.New(fault.Failed,
		fmt.Sprintf("run 'tcbuild rebuild %s --part %d/%d' and each that is missing, "+
			"or the whole workflow again", step, missing[0], parts),
		"gather %s: found %d of %d parts that are not %s: %s", dataset, len(missing), parts, done,
		list)
}

// partOf returns the part that a piece belongs to. No piece belongs to two.
func partOf(piece gpuverify.Part, dataset *store.Dataset, parts int) int {
	for part := 1; part < parts; part++ {
		if piece.First < part*dataset.Manifest.Samples/parts {
			return part
		}
	}
	return parts
}

// pieces returns the pieces in which parts verify a dataset, with the reports that exist.
func (s *Set) pieces(dataset *store.Dataset, parts int) []gpuverify.Part {
	pieces := gpuverify.Parts(dataset, s.Verify.Method, parts)
	for i := range pieces {
		var saved gpuverify.Part
		err := disk.ReadJSON(piecePath(dataset, pieces[i]), &saved)
		if err == nil && saved.Verifies(pieces[i]) {
			pieces[i] = saved
		}
	}
	return pieces
}

func reportsOf(dataset *store.Dataset) string { return dataset.Dir + ".reports" }

func piecePath(dataset *store.Dataset, piece gpuverify.Part) string {
	name := fmt.Sprintf("%s-%d-%d.json", piece.Method, piece.First, piece.End)
	return filepath.Join(reportsOf(dataset), name)
}
