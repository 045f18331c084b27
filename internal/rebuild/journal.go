package rebuild

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild"
	"tcbuild/fault"
)

// Journal tells operators what a process does: in the dataset's state, in metrics derived from it,
// and in a log file.
type Journal struct {
	JournalOptions
	log  *slog.Logger
	file *slog.Logger // writes only to the log file; discards without one

	me          Process
	warned      bool
	stage       atomic.Pointer[string]
	done, total atomic.Int64
	ended       chan struct{}
	beats       sync.WaitGroup
}

// JournalOptions say who works, and where to record it.
type JournalOptions struct {
	Dir         string // the dataset's folder
	Step        StepKind
	Part, Parts int    // Part counts from 1; 0: none
	LogFile     string // "": none
	MetricsFile string // "": none
	Handler     func(io.Writer) slog.Handler
	// Redact removes secrets from a text.
	Redact func(text string) string
}

// rebuildTask is the task of a process that runs the whole chain.
const rebuildTask = "rebuild"

func (o *JournalOptions) task() string {
	if o.Part > 0 {
		return fmt.Sprintf("%s %d/%d", o.Step, o.Part, o.Parts)
	}
	return cmp.Or(string(o.Step), rebuildTask)
}

// BeginJournal starts the journal of a process that holds its lock. The returned logger writes to
// log and appends to the log file. Failing to write state or metrics is only a warning: the dataset
// matters more.
func BeginJournal(o JournalOptions, log *slog.Logger) (*Journal, *slog.Logger, error) {
	nowhere := slog.New(slog.DiscardHandler)
	j := &Journal{JournalOptions: o, log: log, file: nowhere, ended: make(chan struct{})}
	if o.LogFile != "" {
		err := os.MkdirAll(filepath.Dir(o.LogFile), 0o777)
		if err != nil {
			return nil, nil, fmt.Errorf("write log: %w", err)
		}
		// O_NONBLOCK: a pipe that nobody reads is an error
		const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | unix.O_NOFOLLOW |
			unix.O_NONBLOCK
		file, err := os.OpenFile(o.LogFile, flags, 0o666)
		if errors.Is(err, unix.ENXIO) {
			return nil, nil, fault.New(fault.Failed, "start its reader first, or name a file",
				"write log %s: found a pipe or socket that nobody reads", o.LogFile)
		}
		if err != nil {
			hint := "name a file that you may write to and that is not a symbolic link"
			return nil, nil, fault.New(fault.Failed, hint, "write log: %w", err)
		}
		j.file = slog.New(o.Handler(redacting{file, o.Redact}))
		j.log = slog.New(slog.NewMultiHandler(log.Handler(), j.file.Handler()))
	}
	host, _ := os.Hostname()
	now := time.Now().UTC()
	j.me = Process{Task: o.task(), Host: host, PID: os.Getpid(), User: me(), Begin: now, Seen: now}
	var killed []Process
	j.warn(j.update(func(s *State) { killed = s.addProcess(j.me, !o.Step.HasParts()) }))
	for _, p := range killed {
		j.log.Warn("an earlier process was killed, or its machine was lost", "task", p.Task,
			"host", p.Host, "pid", p.PID, "last_seen", p.Seen.Format(time.RFC3339))
	}
	j.beats.Go(func() {
		for {
			select {
			case <-time.After(heartbeatEvery):
				_ = j.update(j.beat) // the final update reports errors
			case <-j.ended:
				return
			}
		}
	})
	return j, j.log, nil
}

// heartbeatEvery is how often a process updates its entry in the state.
const heartbeatEvery = 15 * time.Second

// beat updates this process's entry in the state.
func (j *Journal) beat(s *State) {
	for i, p := range s.Working {
		if !j.me.is(p) {
			continue
		}
		p.Seen = time.Now().UTC()
		if stage := j.stage.Load(); stage != nil {
			p.Stage, p.Done, p.Total = *stage, int(j.done.Load()), int(j.total.Load())
		}
		s.Working[i] = p
	}
}

// update changes the state and writes the metrics, even if a full disk has no room for the state.
func (j *Journal) update(change func(*State)) (err error) {
	var now *State
	if err = UpdateState(j.Dir, func(s *State) { change(s); now = s }); err != nil {
		err = fmt.Errorf("write state: %w", err)
	}
	if j.MetricsFile != "" && now != nil {
		err = errors.Join(err, writeMetrics(j.MetricsFile, filepath.Base(j.Dir), now))
	}
	return err
}

// Starter begins to show the progress of a stage; samples is 0 if their number is not known.
type Starter func(stage string, samples int) tcbuild.Progress

// Watch wraps start so that the state shows the progress of stages.
func (j *Journal) Watch(start Starter) Starter {
	return func(stage string, samples int) tcbuild.Progress {
		j.done.Store(0)
		j.total.Store(int64(samples))
		j.stage.Store(&stage)
		return &watched{start(stage, samples), &j.done}
	}
}

type watched struct {
	tcbuild.Progress
	done *atomic.Int64
}

func (w *watched) Add(samples int, bytes int64) {
	w.done.Add(int64(samples))
	w.Progress.Add(samples, bytes)
}

// End records how the process ended. result is nil if it did not get so far.
func (j *Journal) End(err error, result *Result) {
	close(j.ended)
	j.beats.Wait()
	result = cmp.Or(result, &Result{})
	j.warn(j.update(func(s *State) { j.recordEnd(s, err, result) }))
	switch {
	case err != nil:
		j.file.Error(j.me.Task+" failed", "error", err, "hint", fault.HintOf(err),
			"exit_code", fault.ExitCode(err))
	case result.Version != "" && !result.Unchanged:
		j.file.Info(j.me.Task+" is done", "version", filepath.Base(result.Version),
			"stages_run", result.Ran)
	}
}

// recordEnd changes the state when the process ends.
func (j *Journal) recordEnd(s *State, err error, result *Result) {
	now := time.Now().UTC()
	var failure *Failure
	if err != nil {
		failure = &Failure{Task: j.me.Task, At: now, ExitCode: fault.ExitCode(err),
			Error: j.Redact(err.Error()), Hint: j.Redact(fault.HintOf(err))}
	}
	s.endProcess(j.me, result.Ran, failure)
	if s.Run == nil {
		return
	}
	version := ""
	if result.Version != "" {
		version, s.UpToDate = filepath.Base(result.Version), now
	}
	failed := failure != nil && failure.ExitCode != exitBusy
	switch {
	case j.Step == "" || version != "": // published, or there was nothing to do
		s.endRun(now, version)
	case j.Step == Prepare && failed:
		s.endRun(now, "")
	case failure != nil:
	case j.Step == Prepare:
		if p, err := ReadPinned(j.Dir); err == nil && s.Run.ID != p.Run {
			s.Run = &RunState{ID: p.Run, Begin: j.me.Begin, Parts: p.Parts, Ran: result.Ran}
		}
	case j.Step == Build:
		s.Run.Built = addPart(s.Run.Built, j.Part)
	case j.Step == Verify:
		s.Run.Verified = addPart(s.Run.Verified, j.Part)
	}
	switch pending := s.Run != nil && s.Run.ID == "" && len(s.Working) == 0; { // without a plan
	case pending && failure != nil:
		s.endRun(now, "")
	case pending:
		s.Run = nil // a part of a run that has been published
	}
}

// warn logs the first thing that cannot be recorded. The run goes on without it.
func (j *Journal) warn(err error) {
	if err != nil && !j.warned {
		j.warned = true
		j.log.Warn("not recorded", "error", err)
	}
}

// redacting removes secrets from the text that it writes.
type redacting struct {
	out    io.Writer
	redact func(string) string
}

func (r redacting) Write(text []byte) (int, error) {
	_, err := io.WriteString(r.out, r.redact(string(text)))
	return len(text), err
}
