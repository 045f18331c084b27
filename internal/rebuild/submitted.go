package rebuild

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// A submitted chain has a folder DATASET/slurm/000003-3fa2c1d0 of its own, with the logs of its
// jobs and:
const (
	chainsFolder = "slurm"
	planName     = "plan.json"     // what was submitted: Submitted
	settingsName = "settings.json" // the settings of its jobs, resolved
	ingestName   = "ingest.yaml"   // the section ingest, resolved
	failureName  = "failed.json"   // Failure
)

// keptChains is how many chains keep their folder, for their logs.
const keptChains = 20

// The jobs of a chain, in order.
const (
	JobIncidence = "incidence"
	JobShards    = "shards"
	JobVerify    = "verify"
	JobFinalize  = "finalize"
)

// JobLabels lists the jobs.
var JobLabels = []string{JobIncidence, JobShards, JobVerify, JobFinalize}

// Submitted is the plan of a submitted chain, which its first and its last job compare with theirs.
type Submitted struct {
	Stages   []Record `json:"stages"`
	Clusters string   `json:"clusters,omitempty"` // Order.Clusters

	Folder string `json:"-"`
}

// SubmittedWith reads the chain whose settings a job was given.
func SubmittedWith(settings string) (*Submitted, error) {
	s := &Submitted{Folder: filepath.Dir(settings)}
	err := disk.ReadJSON(filepath.Join(s.Folder, planName), s)
	if err == nil && len(s.Stages) == 0 {
		err = errors.New("its plan has no stages")
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "step is for the jobs of 'tcbuild rebuild --slurm'",
			"read the chain of --config %s: %w", settings, err)
	}
	return s, nil
}

// Chains are the chains of a dataset that were submitted, oldest first.
func Chains(dir string) (all []*Submitted, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, chainsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if s, err := SubmittedWith(filepath.Join(dir, chainsFolder, entry.Name(), settingsName)); err == nil {
			all = append(all, s)
		}
	}
	return all, err
}

// Published reports whether there is a version of the submitted plan.
func (s *Submitted) Published() bool {
	dir := filepath.Dir(filepath.Dir(s.Folder))
	_, names, _ := Folders(dir)
	return slices.ContainsFunc(names, func(name string) bool {
		v := readVersion(filepath.Join(dir, name))
		return v != nil && fingerprint(v.Stages) == fingerprint(s.Stages)
	})
}

// Failure is how a job failed.
type Failure struct {
	Job      string `json:"job"`
	Log      string `json:"log"`
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// Failure is the failure that a job has noted; nil if none has.
func (s *Submitted) Failure() *Failure {
	var f Failure
	if disk.ReadJSON(filepath.Join(s.Folder, failureName), &f) != nil {
		return nil
	}
	return &f
}

// NoteFailure notes how this process's job failed. What will happen again whenever the chain is
// submitted stays noted.
func (s *Submitted) NoteFailure(label string, err error) error {
	if f := s.Failure(); f != nil && f.recurs() {
		return nil
	}
	return disk.WriteJSON(filepath.Join(s.Folder, failureName), Failure{
		Job: label, Log: filepath.Join(s.Folder, label+"-"+JobID()+".log"), Error: err.Error(), Hint: fault.HintOf(err), ExitCode: fault.ExitCode(err),
	})
}

// err is the failure as an error of its kind.
func (f *Failure) err() error { return fault.FromRun(f.ExitCode, f.Error, nil) }

// recurs reports whether the same plan fails again: because of its input, or of what verification
// found.
func (f *Failure) recurs() bool {
	kind := fault.KindOf(f.err())
	return kind == fault.Input || kind == fault.Damaged
}

// LastLine is the last line of the log that was written last, and the log: how a job ended that
// could not note it.
func (s *Submitted) LastLine() (line, log string) {
	entries, _ := os.ReadDir(s.Folder)
	var last time.Time
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && filepath.Ext(entry.Name()) == ".log" && info.ModTime().After(last) {
			last, log = info.ModTime(), filepath.Join(s.Folder, entry.Name())
		}
	}
	text, _ := disk.ReadRegular(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1], log
}

// FailedBefore is an error if the last chain with this plan failed in a way that will happen again.
func (c *Chain) FailedBefore(plan *Plan) error {
	chains, err := Chains(c.Dir)
	for _, s := range slices.Backward(chains) {
		if fingerprint(s.Stages) != plan.Fingerprint {
			continue
		}
		f := s.Failure()
		if f == nil || !f.recurs() {
			return nil
		}
		again := "nothing is submitted until inputs, settings or the program change; --again submits it all the same"
		return fault.New(fault.KindOf(f.err()), strings.TrimPrefix(f.Hint+"; "+again, "; "),
			"rebuild %s: its last chain failed in the job %s, see %s: %s", c.Dir, f.Job, f.Log, f.Error)
	}
	return err
}
