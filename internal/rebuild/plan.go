package rebuild

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
)

// Action is what a run does for a stage.
type Action string

const (
	Run  Action = "run"
	Link Action = "keep" // its output is reused from the current version
	Done Action = "done" // its output is already in the unfinished version
)

// Why a stage is run, or not.
const (
	forced       = "--force"
	unchangedWhy = "unchanged"
)

// Plan is what a run has to do.
type Plan struct {
	Steps       []Step
	Fingerprint string // of the whole chain: 64 hexadecimal digits
	Ready       string // folder of a version that equals what the chain would make; "": none

	current    *version // nil when there is none
	unfinished *version // the one that the chain makes
	resumed    bool     // it exists already
}

// Step is a stage's entry in a plan.
type Step struct {
	Stage
	Action Action
	Why    string

	record Record
}

// Record is everything that determines a stage's output.
type Record struct {
	Stage  string `json:"stage"`
	Output string `json:"output"`
	Bytes  int64  `json:"bytes"` // of the output's files; 0 in a plan
	// SHA-256 of the fields below and of the fingerprints of After
	Fingerprint string            `json:"fingerprint"`
	Program     string            `json:"program"`
	Options     map[string]string `json:"options"`
	Inputs      []inputfile.Input `json:"inputs"`
	After       []string          `json:"after"`
}

// Plan reads all sources and compares each stage with the current and the unfinished version,
// without changing anything. A fingerprint covers everything that determines a stage, including the
// stages before it, so the plan is complete before anything runs.
func (c *Chain) Plan() (*Plan, error) {
	records, err := c.records()
	if err != nil {
		return nil, err
	}
	plan := &Plan{Fingerprint: fingerprint(records)}
	if plan.current, err = c.current(); err != nil {
		return nil, err
	}
	path := c.building(plan.Fingerprint)
	plan.unfinished = readVersion(path)
	plan.resumed = plan.unfinished != nil && c.resumes(plan.unfinished)
	if !plan.resumed {
		plan.unfinished = &version{Run: newRun(), Parts: c.parts, path: path}
	}
	for i, stage := range c.Stages {
		step := Step{Stage: stage, record: records[i]}
		switch {
		case plan.unfinished.has(step):
			step.Action, step.Why = Done, "done already"
		case c.Force:
			step.Action, step.Why = Run, forced
		case c.damage != "":
			step.Action, step.Why = Run, "the current version is damaged"
		case plan.current.has(step) && !plan.reruns(step.After):
			step.Action, step.Why = Link, unchangedWhy
		default:
			step.Action, step.Why = Run, plan.why(step.record)
		}
		plan.Steps = append(plan.Steps, step)
	}
	if plan.resumed || c.Force || c.damage != "" {
		return plan, nil
	}
	plan.Ready, err = c.find(plan)
	return plan, err
}

// records describe the stages with their sources as they are now.
func (c *Chain) records() (records []Record, err error) {
	fingerprints := make(map[string]string)
	for _, stage := range c.Stages {
		record := Record{Stage: stage.Name, Output: stage.Output, Program: c.Program,
			Options: c.recorded(stage.Options), Inputs: []inputfile.Input{},
			After: append([]string{}, stage.After...)}
		for _, source := range stage.Sources {
			file, err := inputfile.Open(source.Path)
			if err != nil {
				return nil, err
			}
			record.Inputs = append(record.Inputs, file.Input(c.Redact(source.Name)))
			file.Close()
		}
		text, err := json.Marshal(record)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		sum.Write(text)
		for _, name := range stage.After {
			sum.Write([]byte(fingerprints[name]))
		}
		record.Fingerprint = hex.EncodeToString(sum.Sum(nil))
		fingerprints[stage.Name] = record.Fingerprint
		records = append(records, record)
	}
	return records, nil
}

// recorded returns options as files record them, with digests in place of secrets.
func (c *Chain) recorded(options map[string]string) map[string]string {
	recorded := maps.Clone(options)
	for key, text := range options {
		if redacted := c.Redact(text); redacted != text {
			recorded[key] = fmt.Sprintf("%s (sha256 %.16x)", redacted, sha256.Sum256([]byte(text)))
		}
	}
	return recorded
}

// resumes reports whether a run may continue an unfinished version. Another user's files must not
// be published, and parts agree on how the work is cut.
func (c *Chain) resumes(unfinished *version) bool {
	isCut := c.parts == 0 || c.parts == unfinished.Parts
	isSound := unfinished.Damage == "" && disk.IsMine(unfinished.path)
	return isCut && isSound && !c.Force
}

// building is the folder of the user's unfinished version with a fingerprint.
func (c *Chain) building(fingerprint string) string {
	return filepath.Join(c.Dir,
		fmt.Sprintf("%s%.16s-%d", buildingPrefix, fingerprint, os.Geteuid()))
}

// find returns an existing version with the wanted content: the current one; one whose run was
// killed just before making it current; or the newest of older ones, if the inputs are again as
// they were. An older one may be damaged, which --force has repaired in a newer one.
func (c *Chain) find(plan *Plan) (string, error) {
	_, names, err := Folders(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	versions := []*version{plan.current}
	for _, name := range slices.Backward(names) {
		versions = append(versions, readVersion(filepath.Join(c.Dir, name)))
	}
	for _, v := range versions {
		other := func(step Step) bool { return !v.has(step) }
		if v != nil && len(v.Stages) == len(plan.Steps) && !slices.ContainsFunc(plan.Steps, other) {
			return v.path, nil
		}
	}
	return "", nil
}

// reruns reports whether one of the stages, which are decided, runs.
func (p *Plan) reruns(stages []string) bool {
	return slices.ContainsFunc(p.Steps, func(step Step) bool { return step.Action == Run && slices.Contains(stages, step.Name) })
}

// why returns what has changed since the current version.
func (p *Plan) why(now Record) string {
	if p.current == nil {
		return "no version exists yet"
	}
	i := slices.IndexFunc(p.current.Stages, func(r Record) bool { return r.Stage == now.Stage })
	if i < 0 {
		return "the stage is new"
	}
	if why := difference(p.current.Stages[i], now); why != "" {
		return why
	}
	for _, step := range p.Steps {
		if slices.Contains(now.After, step.Name) && step.Action != Link {
			return "after " + step.Name
		}
	}
	return "its output is missing or damaged"
}

// whatDiffers names the first thing that differs between the records of two plans, "" if none does.
func whatDiffers(was, now []Record) string {
	if !slices.EqualFunc(was, now, func(a, b Record) bool { return a.Stage == b.Stage }) {
		return "the stages changed"
	}
	for i := range now {
		if why := difference(was[i], now[i]); why != "" {
			return why
		}
	}
	return ""
}

// difference names the first thing that differs between two records of a stage, "" if none does.
func difference(was, now Record) string {
	if was.Program != now.Program {
		return fmt.Sprintf("the program was %s, is %s", was.Program, now.Program)
	}
	options := make(map[string]string)
	maps.Copy(options, was.Options)
	maps.Copy(options, now.Options)
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if was.Options[key] != now.Options[key] {
			return fmt.Sprintf("%s was %q, is %q", key, was.Options[key], now.Options[key])
		}
	}
	return inputfile.Difference(was.Inputs, now.Inputs)
}

// records describe the stages as they were planned.
func (p *Plan) records() (records []Record) {
	for _, step := range p.Steps {
		records = append(records, step.record)
	}
	return records
}

// checkUnchanged checks that the sources are still as planned: otherwise the version would
// already be out of date.
func (c *Chain) checkUnchanged(plan *Plan) error {
	now, err := c.records()
	if errors.Is(err, fs.ErrNotExist) {
		return changed(err.Error())
	}
	if err == nil && fingerprint(now) != plan.Fingerprint {
		err = changed(whatDiffers(plan.records(), now))
	}
	return err
}

func changed(why string) error {
	return fault.New(fault.Busy, "run the same command again", "rebuild: while it ran, %s", why)
}

// newRun returns an id for a run that begins now.
func newRun() string { return time.Now().UTC().Format("20060102T150405Z-") + rand.Text()[:6] }

// fingerprint identifies a whole chain, whose stages the records describe.
func fingerprint(stages []Record) string {
	sum := sha256.New()
	for _, record := range stages {
		sum.Write([]byte(record.Fingerprint))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// recordDone records that a step is done, whose output is complete.
func (p *Plan) recordDone(done *Step) (err error) {
	done.Action = Done
	v := p.unfinished
	v.Stages = nil
	for _, step := range p.Steps {
		if step.Action != Done {
			continue
		}
		if step.record.Bytes, err = fileBytes(filepath.Join(v.path, step.Output)); err != nil {
			return err
		}
		v.Stages = append(v.Stages, step.record)
	}
	return v.write()
}

// createBuilding creates the folder of the unfinished version, in place of one that the plan does
// not resume.
func (c *Chain) createBuilding(plan *Plan) error {
	if plan.resumed {
		return nil
	}
	if err := c.discard(plan.unfinished.path); err != nil {
		return err
	}
	if err := os.Mkdir(plan.unfinished.path, 0o777); err != nil {
		return fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	return plan.unfinished.write()
}
