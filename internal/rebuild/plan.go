package rebuild

import (
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

const forced = "--force"

// Step is a stage's entry in a plan.
type Step struct {
	Stage  string
	Action Action
	Why    string

	stage  Stage
	record Record
	done   bool // its output is complete in the unfinished version
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

	added []string // of its stage
}

// Plan is what a run has to do.
type Plan struct {
	Steps       []Step
	Fingerprint string // of the whole chain: 64 hexadecimal digits

	sources  sources
	current  *version // nil when there is none
	ready    *version // a version that is what the chain would make; nil if there is none
	building string   // folder of the unfinished version
	resumed  bool
}

// Plan reads all sources and compares each stage with the current and the unfinished version,
// without changing anything. A fingerprint covers everything that determines a stage, including the
// stages before it, so the plan is complete before anything runs. In a job of a submitted chain it
// must be the plan that was submitted.
func (c *Chain) Plan() (*Plan, error) {
	plan := &Plan{sources: make(sources)}
	var err error
	if plan.current, err = c.current(); err != nil {
		return nil, err
	}
	all := sha256.New()
	for _, stage := range c.Stages {
		record, err := c.record(stage, plan)
		if err != nil {
			return nil, err
		}
		all.Write([]byte(record.Fingerprint))
		plan.Steps = append(plan.Steps, Step{Stage: stage.Name, stage: stage, record: record})
	}
	plan.Fingerprint = hex.EncodeToString(all.Sum(nil))
	if s := c.Submitted; s != nil && s.Fingerprint != plan.Fingerprint {
		return nil, c.changed(plan.differs(s.Stages))
	}
	plan.building = c.building(plan.Fingerprint)
	unfinished := readVersion(plan.building)
	// another user's files must not be published
	plan.resumed = unfinished != nil && (!c.Force || c.Submitted != nil) && disk.IsMine(plan.building)
	if !plan.resumed {
		unfinished = nil
	}
	for i := range plan.Steps {
		plan.decide(&plan.Steps[i], unfinished, c.Force)
	}
	return plan, c.findReady(plan)
}

// building is the folder of the user's unfinished version with a fingerprint.
func (c *Chain) building(fingerprint string) string {
	return filepath.Join(c.Dir, fmt.Sprintf("%s%.16s-%d", buildingPrefix, fingerprint, os.Geteuid()))
}

// differs says what differs from the stages of another plan.
func (p *Plan) differs(stages []Record) string {
	for i, step := range p.Steps {
		if i >= len(stages) || stages[i].Stage != step.Stage {
			break
		}
		if why := difference(stages[i], step.record); why != "" {
			return why
		}
	}
	return "the stages changed"
}

// findReady looks for an existing version with the wanted content: the current one; one whose run
// was killed just before making it current; or an older one, if the inputs are again as they were.
func (c *Chain) findReady(plan *Plan) error {
	if plan.resumed {
		return nil
	}
	_, names, err := Folders(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	versions := []*version{plan.current}
	for _, name := range names {
		versions = append(versions, readVersion(filepath.Join(c.Dir, name)))
	}
	if i := slices.IndexFunc(versions, plan.holds); i >= 0 {
		plan.ready = versions[i]
	}
	return nil
}

// record describes a stage, whose predecessors are in the plan.
func (c *Chain) record(stage Stage, plan *Plan) (Record, error) {
	record := Record{Stage: stage.Name, Output: stage.Output, Program: c.Program,
		Options: stage.Options, Inputs: []inputfile.Input{}, After: append([]string{}, stage.After...), added: stage.Added}
	for _, source := range stage.Sources {
		input, err := plan.sources.read(source)
		if err != nil {
			return record, err
		}
		record.Inputs = append(record.Inputs, input)
	}
	text, err := json.Marshal(record)
	if err != nil {
		return record, err
	}
	sum := sha256.New()
	sum.Write(text)
	for _, name := range stage.After {
		i := slices.IndexFunc(plan.Steps, func(step Step) bool { return step.Stage == name })
		sum.Write([]byte(plan.Steps[i].record.Fingerprint))
	}
	record.Fingerprint = hex.EncodeToString(sum.Sum(nil))
	return record, nil
}

func (p *Plan) decide(step *Step, unfinished *version, force bool) {
	switch {
	case unfinished.has(step.record):
		step.Action, step.Why, step.done = Done, "done by an interrupted run", true
	case force:
		step.Action, step.Why = Run, forced
	case p.current.has(step.record) && !p.reruns(step.record.After):
		step.Action, step.Why = Link, "unchanged"
	default:
		step.Action, step.Why = Run, p.why(step.record)
	}
}

// reruns reports whether one of the stages, which are decided, runs.
func (p *Plan) reruns(stages []string) bool {
	return slices.ContainsFunc(p.Steps, func(step Step) bool { return step.Action == Run && slices.Contains(stages, step.Stage) })
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
		if slices.Contains(now.After, step.Stage) && step.Action != Link {
			return "after " + step.Stage
		}
	}
	return "its output is missing or damaged"
}

// difference names the first thing that differs between two records of a stage, "" if none does.
func difference(was, now Record) string {
	if was.Program != now.Program {
		return fmt.Sprintf("the program was %s, is %s", was.Program, now.Program)
	}
	options := maps.Clone(was.Options)
	if options == nil {
		options = make(map[string]string)
	}
	maps.Copy(options, now.Options)
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if was.Options[key] != now.Options[key] {
			return fmt.Sprintf("%s was %q, is %q", key, was.Options[key], now.Options[key])
		}
	}
	return inputfile.Difference(was.Inputs, now.Inputs)
}

// holds reports whether a version has the content that the chain would make.
func (p *Plan) holds(v *version) bool {
	return v != nil && len(v.Stages) == len(p.Steps) &&
		!slices.ContainsFunc(p.Steps, func(step Step) bool { return step.Why == forced || !v.has(step.record) })
}

// Ready is the folder of an existing version with the wanted content, or "".
func (p *Plan) Ready() string {
	if p.ready == nil {
		return ""
	}
	return p.ready.path
}

// records describe all stages.
func (p *Plan) records() (records []Record) {
	for _, step := range p.Steps {
		records = append(records, step.record)
	}
	return records
}

// note records which steps are done. It is called after the output of the i-th is written, so
// recorded outputs are complete.
func (p *Plan) note(i int) error {
	p.Steps[i].done = true
	v := version{}
	for _, step := range p.Steps {
		if !step.done {
			continue
		}
		var err error
		if step.record.Bytes, err = fileBytes(filepath.Join(p.building, step.record.Output), step.record.added); err != nil {
			return err
		}
		v.Stages = append(v.Stages, step.record)
	}
	return v.write(p.building)
}

// begin creates the folder of the unfinished version, and removes what must not be kept from it.
func (c *Chain) begin(plan *Plan) error {
	if plan.resumed {
		return nil
	}
	if err := c.discard(plan.building); err != nil {
		return err
	}
	if err := os.Mkdir(plan.building, 0o777); err != nil {
		return fmt.Errorf("rebuild %s: %w", c.Dir, err)
	}
	return (&version{}).write(plan.building)
}

// Source is a file that stages read but no stage makes.
type Source struct {
	Name string // in fingerprints
	Path string
}

// sources reads each source once, however many stages share it.
type sources map[Source]inputfile.Input

// read reads the whole file of a source.
func (s sources) read(source Source) (inputfile.Input, error) {
	if input, ok := s[source]; ok {
		return input, nil
	}
	input, err := readSource(source)
	if err == nil {
		s[source] = input
	}
	return input, err
}

func readSource(source Source) (inputfile.Input, error) {
	file, err := inputfile.Open(source.Path)
	if err != nil {
		return inputfile.Input{}, err
	}
	defer file.Close()
	return file.Input(source.Name), nil
}

// unchanged checks that the sources are still those of the plan: otherwise the version would
// already be out of date.
func (s sources) unchanged() error {
	for source, before := range s {
		var now []inputfile.Input
		input, err := readSource(source)
		switch {
		case err == nil:
			now = []inputfile.Input{input}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if why := inputfile.Difference([]inputfile.Input{before}, now); why != "" {
			return changed(why)
		}
	}
	return nil
}

func changed(why string) error {
	return fault.New(fault.Busy, "run the same command again", "rebuild: while it ran, %s", why)
}
