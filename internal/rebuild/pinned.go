package rebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
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

	Program     string   `json:"program"`
	Fingerprint string   `json:"fingerprint"` // of the whole chain
	Stages      []Record `json:"stages"`
}

// pin writes the plan.
func (r *Rebuild) pin(plan *Plan) (*Pinned, error) {
	p := &Pinned{
		Run: plan.run, Made: time.Now().UTC().Truncate(time.Second), User: me(),
		Parts: plan.parts, Variants: r.Variants, Program: r.Program,
		Fingerprint: plan.Fingerprint, Stages: plan.records(),
	}
	dir := plan.building
	if plan.Ready != "" {
		dir, p.Version = plan.Ready, filepath.Base(plan.Ready)
		p.Run = readVersion(plan.Ready).Run
	}
	m, err := store.ReadManifest(filepath.Join(dir, r.first()))
	if err != nil && p.Version != "" { // an older version, of other variants, has nothing to do
		m, err = &store.Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	p.Samples, p.Positions = m.Samples, m.MaskPositions()
	p.Columns = len(m.Phenotypes) + len(m.Attributes)
	if p.Version == "" && p.Parts > max(p.Samples, 1) {
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

// checkPinned checks that settings, inputs and program are still as planned.
func (r *Rebuild) checkPinned(p *Pinned) error {
	now, err := r.records()
	if errors.Is(err, fs.ErrNotExist) {
		return r.superseded("since the plan was made, %w", err)
	}
	if err != nil {
		return err
	}
	if fingerprint(now) != p.Fingerprint {
		return r.superseded("since the plan was made, %s", whatDiffers(p.Stages, now))
	}
	return nil
}

// published reports whether there is a version of the pinned run.
func (c *Chain) published(p *Pinned) bool {
	if p.Version != "" {
		return true
	}
	_, names, _ := Folders(c.Dir)
	return slices.ContainsFunc(names, func(name string) bool {
		v := readVersion(filepath.Join(c.Dir, name))
		return v != nil && v.Run == p.Run
	})
}

// me returns the user's name.
func me() string {
	if known, err := user.Current(); err == nil {
		return known.Username
	}
	return fmt.Sprint(os.Geteuid())
}
