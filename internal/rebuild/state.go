package rebuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// StateName is the file in a dataset's folder that every run updates.
const StateName = "state.json"

const stateLock = ".lock-state"

// State is what operators see of a dataset, and what a run must know about earlier ones.
type State struct {
	Current  string    `json:"current"`             // version that a run last made current
	Content  string    `json:"content"`             // its inputs and settings: a digest
	Next     string    `json:"next,omitempty"`      // version that a run is about to make current
	UpToDate time.Time `json:"up_to_date,omitzero"` // when the dataset was last up to date
	// when its files were last compared with digests
	Scrubbed time.Time `json:"scrubbed,omitzero"`
	Damage   string    `json:"damage,omitempty"` // of current, until another version replaces it

	Run     *RunState `json:"run,omitempty"`  // in progress
	Last    *RunState `json:"last,omitempty"` // the last one that ended
	Working []Process `json:"working,omitempty"`
}

// RunState is one run: a process that runs the whole chain, or the steps from prepare to publish.
type RunState struct {
	ID       string    `json:"id,omitempty"` // of steps
	Begin    time.Time `json:"begin"`
	End      time.Time `json:"end,omitzero"`
	Parts    int       `json:"parts,omitempty"`
	Built    []int     `json:"built,omitempty"` // parts
	Verified []int     `json:"verified,omitempty"`
	Ran      int       `json:"stages_run"`
	Version  string    `json:"version,omitempty"` // current at its end
	// why it failed; while it is in progress, the tasks that failed and have not been run again
	Failures []Failure `json:"failures,omitempty"`
}

// Failure says how a process failed.
type Failure struct {
	Task     string    `json:"task"`
	At       time.Time `json:"at"`
	ExitCode int       `json:"exit_code"`
	Error    string    `json:"error"`
	Hint     string    `json:"hint,omitempty"`
}

// Process is a process at work.
type Process struct {
	Task  string    `json:"task"` // rebuild, prepare, build 3/16, …
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	User  string    `json:"user"`
	Begin time.Time `json:"begin"`
	Seen  time.Time `json:"seen"` // its last heartbeat
	Stage string    `json:"stage,omitempty"`
	Done  int       `json:"done"`  // samples of the stage
	Total int       `json:"total"` // 0: unknown
}

// is reports whether two entries are of the same process.
func (p Process) is(other Process) bool {
	return other.Task == p.Task && other.PID == p.PID && other.Host == p.Host
}

// ExitCode returns the exit code of a failed task of the run in progress or, if there is none, of
// the last run. It is 75 only if nothing else failed.
func (s *State) ExitCode() (code int) {
	var failures []Failure
	if s.Run != nil {
		failures = s.Run.Failures
	}
	if s.Last != nil && len(failures) == 0 {
		failures = s.Last.Failures
	}
	for _, failure := range failures {
		if code == 0 || code == exitBusy {
			code = failure.ExitCode
		}
	}
	return code
}

const exitBusy = 75

// ReadState reads a dataset's state, which is empty before the first run.
func ReadState(dir string) (*State, error) {
	s := &State{}
	err := disk.ReadJSON(filepath.Join(dir, StateName), s)
	if fault.System(err) {
		return nil, fmt.Errorf("read state: %w", err)
	}
	if err != nil {
		return &State{}, nil // none yet, or not ours: the next run writes one
	}
	return s, nil
}

// UpdateState changes a dataset's state, one process at a time.
func UpdateState(dir string, change func(*State)) error {
	lock, err := lockBriefly(filepath.Join(dir, stateLock), disk.Alone, 10*time.Second)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("lock the state of %s: %w", dir, err)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	state, err := ReadState(dir)
	if err != nil {
		return err
	}
	change(state)
	path := filepath.Join(dir, StateName)
	if err = disk.WriteJSON(path, state); fault.DiskFull(err) && overwrite(path, state) == nil {
		return nil
	}
	return err
}

// overwrite writes a state over the old one. A full disk has no room for both, and operators must
// learn of it.
func overwrite(path string, state *State) error {
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Close())
}

// addProcess adds a process. If no other process may work, all others in the list were killed.
func (s *State) addProcess(p Process, alone bool) (killed []Process) {
	if alone {
		killed, s.Working = s.Working, nil
	}
	former := func(other Process) bool { return other.Task == p.Task }
	s.Working = append(slices.DeleteFunc(s.Working, former), p)
	if s.Run == nil || p.Task == rebuildTask {
		s.Run = &RunState{Begin: p.Begin}
	}
	return killed
}

// endProcess removes a process, and replaces the failures of its task. failure is nil if it
// succeeded.
func (s *State) endProcess(p Process, ran int, failure *Failure) {
	s.Working = slices.DeleteFunc(s.Working, p.is)
	run := s.Run
	if run == nil {
		return
	}
	run.Ran += ran
	run.Failures = slices.DeleteFunc(run.Failures, func(f Failure) bool { return f.Task == p.Task })
	if failure != nil {
		run.Failures = append(run.Failures, *failure)
	}
}

func (s *State) endRun(now time.Time, version string) {
	s.Run.End, s.Run.Version = now, version
	s.Last, s.Run = s.Run, nil
}

// addPart adds a part to a sorted list, once.
func addPart(parts []int, part int) []int {
	if !slices.Contains(parts, part) {
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return parts
}
