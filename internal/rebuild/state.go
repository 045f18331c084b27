package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// StateName is the file in a dataset's folder that says how the last run ended.
const StateName = "state.json"

// State is what operators see of runs. Whoever holds the lock alone writes it, and parts that fail.
type State struct {
	// the last run or publishing step
	Task     string    `json:"task"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Begin    time.Time `json:"begin,omitzero"`
	End      time.Time `json:"end,omitzero"` // zero: it is at work, or was killed
	ExitCode int       `json:"exit_code"`

	Success time.Time `json:"success,omitzero"` // when one last brought the dataset up to date
	// the last one since; an interruption (75) is none
	Failure *Failure `json:"failure,omitempty"`
}

// Failure says how a task failed.
type Failure struct {
	Task     string    `json:"task"` // rebuild, build 3/16, …
	At       time.Time `json:"at"`
	ExitCode int       `json:"exit_code"`
	Error    string    `json:"error"`
	Hint     string    `json:"hint,omitempty"`
}

// ReadState reads a dataset's state, which is empty before the first run.
func ReadState(dir string) (*State, error) {
	s := &State{}
	err := disk.ReadJSON(filepath.Join(dir, StateName), s)
	if fault.System(err) {
		return nil, fmt.Errorf("read state: %w", err)
	}
	if err != nil {
		return &State{}, nil // none yet, or unreadable: this run writes one
	}
	return s, nil
}

// update changes the state. A full disk has no room for a new file, so the old one goes first.
func (r *Rebuild) update(change func(*State)) error {
	state, err := ReadState(r.Dir)
	if err != nil {
		return err
	}
	change(state)
	path := r.path(StateName)
	if err = disk.WriteJSON(path, state); fault.DiskFull(err) {
		err = errors.Join(os.Remove(path), disk.WriteJSON(path, state))
	}
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// shortestSecret is the shortest value of an environment variable that messages leave out.
const shortestSecret = 4

// failed records an error, unless it is an interruption.
func (s *State) failed(task string, err error, redact func(text string, least int) string) {
	if err == nil || fault.KindOf(err) == fault.Busy {
		return
	}
	s.Failure = &Failure{Task: task, At: time.Now().UTC(), ExitCode: fault.ExitCode(err),
		Error: redact(err.Error(), shortestSecret),
		Hint:  redact(fault.HintOf(err), shortestSecret)}
}

// do runs a task while it holds the dataset's lock, alone or with other parts, and records how it
// ended: of a part only a failure, which stays until a task of the lock's sole holder succeeds.
func (r *Rebuild) do(
	ctx context.Context, task string, sharing disk.Sharing, run func() error,
) error {
	lock, err := r.lock(sharing)
	if err != nil {
		return err
	}
	defer lock.Close()
	isPart := sharing == disk.Shared
	if !isPart {
		host, _ := os.Hostname()
		if err := r.update(func(s *State) {
			s.Task, s.Host, s.PID = task, host, os.Getpid()
			s.Begin, s.End = time.Now().UTC(), time.Time{}
		}); err != nil {
			return err
		}
	}
	err = fault.Catch(run)()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if isPart && (err == nil || fault.KindOf(err) == fault.Busy) {
		return err
	}
	return errors.Join(err, r.update(func(s *State) {
		s.failed(task, err, r.Redact)
		if isPart {
			return
		}
		s.End, s.ExitCode = time.Now().UTC(), 0
		if err == nil {
			s.Success, s.Failure = s.End, nil
		} else {
			s.ExitCode = fault.ExitCode(err)
		}
	}))
}

// lockName is the file that the process, or the parts, at work lock.
const lockName = ".lock"

// lockPatience is longer than 'tcbuild status' holds a lock to test it.
const lockPatience = 300 * time.Millisecond

// lock locks the dataset's folder, which it creates. If others are at work, it is a fault.Busy.
func (r *Rebuild) lock(sharing disk.Sharing) (lock *os.File, err error) {
	if _, err = disk.Resolve(r.Dir + "/" + lockName); err == nil {
		err = os.MkdirAll(r.Dir, 0o777)
	}
	if err == nil {
		lock, err = disk.LockWithin(r.path(lockName), sharing, lockPatience)
	}
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, fault.New(fault.Busy, "wait until it is done; 'tcbuild status' shows what runs",
			"rebuild %s: another rebuild of it is running", r.Dir)
	case err != nil:
		return nil, fmt.Errorf("rebuild %s: %w", r.Dir, err)
	}
	return lock, nil
}
