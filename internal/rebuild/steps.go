package rebuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// StepKind is a step of a rebuild that a scheduler runs as a process of its own.
type StepKind string

// The steps, in order. Build and Verify have parts, in any order, on any node.
const (
	Prepare StepKind = "prepare" // makes the input and the first dataset, and pins the plan
	Build   StepKind = "build"
	Verify  StepKind = "verify"
	Publish StepKind = "publish" // adds up the parts' reports, and publishes
)

// HasParts reports whether the step is run once per part.
func (k StepKind) HasParts() bool { return k == Build || k == Verify }

// Prepare makes what the parts need, and pins the plan for them. If there is nothing to do, the
// plan says so. The caller holds the lock alone.
func (r *Rebuild) Prepare(ctx context.Context, parts int) (*Result, error) {
	r.parts = parts
	result := &Result{}
	plan, err := r.Plan()
	if err != nil {
		return result, err
	}
	held, err := r.sweepLeftovers(plan)
	if err != nil {
		return result, err
	}
	if held {
		plan.Ready = plan.current.path
	}
	if plan.Ready == "" {
		err = r.runStages(ctx, plan, false, result)
	}
	if err == nil {
		err = r.checkUnchanged(plan)
	}
	var pinned *Pinned
	if err == nil {
		pinned, err = r.pin(plan)
	}
	if err != nil {
		return result, r.discardUnlessResumable(plan, err)
	}
	if plan.Ready != "" && plan.current != nil && plan.current.path == plan.Ready {
		result.Version, result.Unchanged = plan.Ready, true
	}
	r.Log.Info("plan pinned", "run", pinned.Run, "parts", pinned.Parts,
		"samples", pinned.Samples, "version", pinned.Version)
	return result, nil
}

// Part builds or verifies part I of N of every variant. A part that is done is skipped. The caller
// shares the lock with other parts.
func (r *Rebuild) Part(ctx context.Context, kind StepKind, part, parts int) error {
	pinned, plan, done, err := r.pinned()
	switch {
	case err != nil:
		return err
	case pinned.Parts != parts:
		return r.superseded("found part %d of %d, but the plan has %d parts",
			part, parts, pinned.Parts)
	case done:
		return nil
	}
	p := parted{Rebuild: r, plan: plan, version: plan.unfinished.path, part: part - 1}
	if kind == Build {
		err = p.build(ctx)
	} else {
		err = p.verify(ctx)
	}
	if fault.KindOf(err) == fault.Damaged { // other parts cannot help: prepare must start again
		plan.unfinished.Damage = err.Error()
		if err := plan.unfinished.write(); err != nil {
			r.Log.Warn("the damage is not recorded", "error", err)
		}
	}
	return err
}

// parted is one part of an unfinished version.
type parted struct {
	*Rebuild
	plan    *Plan
	version string // folder
	part    int    // counts from 0
}

// missing reports whether a stage is not done.
func (p *parted) missing(stage string) bool {
	is := func(step Step) bool { return step.Name == stage && step.Action != Done }
	return slices.ContainsFunc(p.plan.Steps, is)
}

// build builds the part's shards in every variant that has shards.
func (p *parted) build(ctx context.Context) error {
	for _, variant := range p.others() {
		if !p.missing(variant) {
			continue
		}
		options, err := p.optionsOf(variant, p.version)
		if err != nil {
			return err
		}
		options.Scratch = os.Getenv("SLURM_TMPDIR") // the node's own folder, if there is one
		options.Part = &p.part
		// another process may be building the same part
		if err := p.buildWhenFree(ctx, options); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that all parts of a dataset are built, and publishes it if the last part was
// killed before it could.
func (r *Rebuild) complete(ctx context.Context, variant, version string) error {
	path := filepath.Join(version, variant)
	if disk.Exists(path) {
		return nil
	}
	shards, err := store.Status(path)
	if fault.System(err) {
		return err
	}
	missing := []int{}
	for part := 1; part <= r.parts && len(shards) == 0; part++ { // none has begun
		missing = append(missing, part)
	}
	for i, shard := range shards {
		if shard.State != store.ShardDone {
			missing = addPart(missing, i*r.parts/len(shards)+1)
		}
	}
	if len(missing) > 0 {
		return r.missingParts(Build, variant, missing)
	}
	options, err := r.optionsOf(variant, version)
	if err != nil {
		return err
	}
	return r.buildWhenFree(ctx, options)
}

// missingParts returns the error that lists the parts of a dataset that nobody has done.
func (r *Rebuild) missingParts(kind StepKind, variant string, missing []int) error {
	what := map[StepKind]string{Build: "built", Verify: "verified"}[kind]
	hint := fmt.Sprintf(
		"run 'tcbuild rebuild --step %s --part %d/%d' and likewise each that is missing",
		kind, missing[0], r.parts)
	return fault.New(fault.Failed, hint, "rebuild %s: %s: %d of %d parts %s not %s: %s",
		r.Dir, variant, len(missing), r.parts, english.PluralWord(len(missing), "is", "are"), what,
		strings.Join(strings.Fields(strings.Trim(fmt.Sprint(missing), "[]")), ", "))
}

// verify verifies the part in all variants, except pieces verified before an interruption.
func (p *parted) verify(ctx context.Context) error {
	for _, variant := range p.Variants {
		path := filepath.Join(p.version, variant)
		if !p.missing(verifyPrefix + variant) {
			continue
		}
		if err := p.complete(ctx, variant, p.version); err != nil {
			return err
		}
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(partsFolder(path), 0o777); err != nil {
			return err
		}
		for _, piece := range p.pieces(dataset) {
			if partOf(piece, dataset.Manifest.Samples, p.parts) != p.part || piece.Report != nil {
				continue
			}
			if err := p.verifyPiece(ctx, dataset, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// partOf returns the part, counted from 0, that a piece belongs to.
func partOf(piece gpuverify.Part, samples, parts int) int {
	for part := range parts {
		if piece.First < (part+1)*samples/parts {
			return part
		}
	}
	return parts - 1
}

func (p *parted) verifyPiece(
	ctx context.Context, dataset *store.Dataset, piece gpuverify.Part,
) error {
	options := p.Rebuild.Verify
	bar := p.Progress("verify", piece.End-piece.First)
	defer bar.Done()
	options.Progress = bar
	piece, err := gpuverify.VerifyPart(ctx, dataset, piece, options, &p.reference)
	if err == nil && !piece.Report.Passed() {
		return damaged(dataset.Dir, piece.Report)
	}
	if err != nil {
		return err
	}
	return disk.WriteJSON(piecePath(dataset.Dir, piece), piece)
}

// damaged returns the error of a dataset that failed verification.
func damaged(dataset string, report *gpuverify.Report) error {
	hint := "build it again, with --force if that does not help; 'tcbuild verify' shows more"
	return fault.New(fault.Damaged, hint,
		"verify %s: %d differences, %d damaged records or files; first: %s",
		dataset, report.Differences, report.Damaged, report.Findings()[0])
}

// pieces returns the pieces in which parts verify a dataset, with the reports that exist. No piece
// belongs to two parts.
func (r *Rebuild) pieces(dataset *store.Dataset) []gpuverify.Part {
	pieces := gpuverify.Parts(dataset, r.Verify.Method, r.parts)
	for i := range pieces {
		var saved gpuverify.Part
		err := disk.ReadJSON(piecePath(dataset.Dir, pieces[i]), &saved)
		if err == nil && saved.Verifies(pieces[i]) {
			pieces[i] = saved
		}
	}
	return pieces
}

// gather adds up the parts' reports on a dataset.
func (r *Rebuild) gather(
	ctx context.Context, variant string, dataset *store.Dataset,
) (*gpuverify.Report, error) {
	pieces := r.pieces(dataset)
	missing := []int{}
	for _, piece := range pieces {
		if piece.Report == nil {
			missing = addPart(missing, partOf(piece, dataset.Manifest.Samples, r.parts)+1)
		}
	}
	if len(missing) > 0 {
		return nil, r.missingParts(Verify, variant, missing)
	}
	return gpuverify.Gather(ctx, dataset, pieces, r.Verify)
}

// partsFolder returns the folder for the parts' reports on a dataset. It has the name of the whole
// report, without its ending. Publishing removes it.
func partsFolder(dataset string) string {
	return filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset))
}

func piecePath(dataset string, piece gpuverify.Part) string {
	name := fmt.Sprintf("%s-%d-%d.json", piece.Method, piece.First, piece.End)
	return filepath.Join(partsFolder(dataset), name)
}

// Publish completes the pinned plan: it adds up the parts' reports, switches current and removes
// old versions. The caller holds the lock alone.
func (r *Rebuild) Publish(ctx context.Context) (*Result, error) {
	_, plan, _, err := r.pinned()
	if err != nil {
		return &Result{}, err
	}
	r.gathering = true
	return r.carryOut(ctx, plan)
}

// buildWhenFree builds a dataset, and waits while another process builds the same part of it.
func (c *Chain) buildWhenFree(ctx context.Context, options tcbuild.Options) error {
	for waited := false; ; waited = true {
		_, err := tcbuild.Build(ctx, options)
		switch {
		case err == nil || fault.KindOf(err) != fault.Busy:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if !waited {
			c.Log.Info("waiting for another process to end", "why", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}
