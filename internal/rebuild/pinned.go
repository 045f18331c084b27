package rebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// PlanName is the file in a dataset's folder with the plan that Prepare has pinned.
const PlanName = "plan.json"

// Pinned is the plan that Prepare pins for the parts and for Publish, on any node. Workflows read
// the sizes from it, to ask for memory and time.
type Pinned struct {
	Run   string    `json:"run"` // id; a part of another run is refused
	Made  time.Time `json:"made"`
	User  string    `json:"user"` // who prepared it, and must run the parts
	Parts int       `json:"parts"`
	// name of a finished version that is what the chain would make, so that parts have nothing to
	// do; "": none
	Version   string   `json:"version"`
	Variants  []string `json:"variants"`
	Samples   int      `json:"samples"`
	Positions int      `json:"positions"` // of all masks of a sample together
	Columns   int      `json:"columns"`   // phenotypes and attributes

	Fingerprint string   `json:"fingerprint"` // of the whole chain
	Stages      []Record `json:"stages"`
}

// pin writes the plan.
func (r *Rebuild) pin(plan *Plan) (*Pinned, error) {
	p := &Pinned{
		Run: plan.unfinished.Run, Made: time.Now().UTC().Truncate(time.Second), User: me(),
		Parts: r.parts, Variants: r.Variants,
		Fingerprint: plan.Fingerprint, Stages: plan.records(),
	}
	if plan.Ready != "" {
		p.Version, p.Run = filepath.Base(plan.Ready), readVersion(plan.Ready).Run
		return p, disk.WriteJSON(filepath.Join(r.Dir, PlanName), p)
	}
	m, err := store.ReadManifest(filepath.Join(plan.unfinished.path, r.first()))
	if err != nil {
		return nil, err
	}
	p.Samples, p.Positions = m.Samples, m.MaskPositions()
	p.Columns = len(m.Phenotypes) + len(m.Attributes)
	if p.Parts > max(p.Samples, 1) {
		return nil, fault.New(fault.Usage, "give fewer with --parts",
			"prepare %s: found %d parts, expected at most %d, one per sample",
			r.Dir, p.Parts, p.Samples)
	}
	return p, disk.WriteJSON(filepath.Join(r.Dir, PlanName), p)
}

// ReadPinned reads the plan that was pinned for a dataset.
func ReadPinned(dir string) (*Pinned, error) {
	p := &Pinned{}
	err := disk.ReadJSON(filepath.Join(dir, PlanName), p)
	if fault.System(err) {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if err == nil && (len(p.Stages) == 0 || p.Parts < 1) {
		err = errors.New("it has no stages or parts")
	}
	if err != nil {
		return nil, fault.New(fault.Busy, hintPrepare, "rebuild %s: found no plan: %w", dir, err)
	}
	return p, nil
}

const hintPrepare = "run 'tcbuild rebuild --step prepare' again, then all parts"

// superseded returns the error of a process whose plan was replaced, or belongs to somebody else.
func (c *Chain) superseded(format string, args ...any) error {
	return fault.New(fault.Busy, hintPrepare, "rebuild %s: %w", c.Dir, fmt.Errorf(format, args...))
}

// pinned returns the plan that Prepare has pinned, and the same plan with what is done by now. It
// fails if settings, inputs or program have changed, or if the plan has no unfinished version any
// more. It is done if there is a finished version.
func (r *Rebuild) pinned() (pinned *Pinned, plan *Plan, done bool, err error) {
	if pinned, err = ReadPinned(r.Dir); err != nil {
		return nil, nil, false, err
	}
	r.Force = false // it was Prepare's
	if plan, err = r.Plan(); errors.Is(err, fs.ErrNotExist) {
		err = r.superseded("since the plan was made, %w", err)
	}
	if err != nil {
		return nil, nil, false, err
	}
	r.parts = pinned.Parts
	for i, step := range plan.Steps {
		if step.Action == Link { // Prepare has reused all that it wanted to, unless it was forced
			plan.Steps[i].Action, plan.Steps[i].Why = Run, "planned by prepare"
		}
	}
	done = pinned.Version != "" || plan.Ready != ""
	unfinished := readVersion(plan.unfinished.path)
	switch {
	case plan.Fingerprint != pinned.Fingerprint:
		err = r.superseded("since the plan was made, %s",
			whatDiffers(pinned.Stages, plan.records()))
	case done:
	case unfinished == nil && pinned.User != me():
		err = r.superseded("the plan belongs to %s", pinned.User)
	case unfinished == nil || unfinished.Run != pinned.Run:
		err = r.superseded("the plan was superseded by another run")
	case unfinished.Damage != "":
		err = fault.New(fault.Damaged, hintPrepare, "rebuild %s: %s", r.Dir, unfinished.Damage)
	case !plan.resumed:
		err = r.superseded("the unfinished version belongs to %s", ownerOf(unfinished.path))
	}
	return pinned, plan, done, err
}

// me returns the user's name.
func me() string {
	if known, err := user.Current(); err == nil {
		return known.Username
	}
	return fmt.Sprint(os.Geteuid())
}
