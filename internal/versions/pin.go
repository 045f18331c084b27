package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// Pin is what a plan was when a chain was handed to several processes. Each of them compares what
// it finds with it, so that they all make the same version or fail.
type Pin struct {
	Fingerprint string   `json:"fingerprint"`
	Program     string   `json:"program"`
	Stages      []Record `json:"stages"`
	Files       []File   `json:"files"`
}

// File is an input file as a pinned plan read it.
type File struct {
	Input
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
}

// Pin returns what the plan is.
func (p *Plan) Pin(program string) (*Pin, error) {
	pin := &Pin{Fingerprint: p.Fingerprint, Program: program}
	for _, step := range p.Steps {
		pin.Stages = append(pin.Stages, step.record)
	}
	for source, input := range p.sources {
		info, err := os.Stat(source.Path)
		if err != nil {
			return nil, err
		}
		pin.Files = append(pin.Files, File{input, source.Path, info.ModTime()})
	}
	slices.SortFunc(pin.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return pin, nil
}

// difference says how a plan differs.
func (p *Pin) difference(plan *Plan) string {
	for i, step := range plan.Steps {
		if i >= len(p.Stages) || p.Stages[i].Stage != step.Stage {
			return "the stages changed"
		}
		if why := difference(p.Stages[i], step.record); why != "" {
			return why
		}
	}
	return "the stages changed"
}

// Check compares the program and the input files with the chain's Pin. It reads a file only if its
// size or time of change is another: what a stage makes of it is compared with the Pin anyway.
func (c *Chain) Check() error {
	if c.Program != c.Pin.Program {
		return c.changed(fmt.Sprintf("the program was %s, is %s", c.Pin.Program, c.Program))
	}
	for _, file := range c.Pin.Files {
		info, err := os.Stat(file.Path)
		if err == nil && info.Size() == file.Bytes && info.ModTime().Equal(file.Modified) {
			continue
		}
		var now []Input
		if err == nil {
			input, err := readSource(Source{file.Name, file.Path})
			if err != nil {
				return err
			}
			now = []Input{input}
		}
		if why := inputfile.Difference([]Input{file.Input}, now); why != "" {
			return c.changed(why + ": " + file.Path)
		}
	}
	return nil
}

func (c *Chain) changed(why string) error {
	return fault.New(fault.Usage, "submit the chain again, or put back what was submitted",
		"rebuild %s: since the chain was submitted, %s", c.Dir, why)
}

// Unfinished is the folder of the pinned chain's unfinished version. It is a fault.Usage if there
// is none. ready is true if a version with the pinned content exists already.
func (c *Chain) Unfinished() (folder string, ready bool, err error) {
	folder = c.building(c.Pin.Fingerprint)
	if readVersion(folder) != nil {
		return folder, false, nil
	}
	_, names, err := Folders(c.Dir)
	if err != nil {
		return "", false, err
	}
	if slices.ContainsFunc(names, func(name string) bool { return c.Pin.isOf(readVersion(filepath.Join(c.Dir, name))) }) {
		return "", true, nil
	}
	return "", false, fault.New(fault.Usage, "submit the chain again",
		"rebuild %s: found no %s, which the chain's first job makes",
		c.Dir, filepath.Base(folder))
}

// isOf reports whether a version has the pinned stages.
func (p *Pin) isOf(v *version) bool {
	return v != nil && slices.EqualFunc(p.Stages, v.Stages, func(a, b Record) bool { return a.Fingerprint == b.Fingerprint })
}

// Made reports whether the output of a stage is recorded as complete in the pinned chain's
// unfinished version.
func (c *Chain) Made(stage string) bool {
	v := readVersion(c.building(c.Pin.Fingerprint))
	return v != nil && slices.ContainsFunc(v.Stages, func(r Record) bool { return r.Stage == stage })
}

// Clear removes what killed runs and chains left behind, but for the version that the plan resumes.
// The caller holds the Lock, and no chain waits.
func (c *Chain) Clear(plan *Plan) error {
	if err := c.removeTemporary(); err != nil {
		return err
	}
	if !plan.resumed {
		if err := c.discard(plan.building); err != nil {
			return err
		}
	}
	return c.removeStale(plan)
}
