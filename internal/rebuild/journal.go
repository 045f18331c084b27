package rebuild

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// JournalOptions say what an unattended run records for its operators.
type JournalOptions struct {
	LogFile     string                           // "": none
	LogKeep     int                              // logs of earlier runs: LogFile.1, LogFile.2, …
	MetricsFile string                           // "": none
	Handler     func(out io.Writer) slog.Handler // formats LogFile
}

// Journal records one run.
type Journal struct {
	file    *logFile     // nil without a log file
	log     *slog.Logger // to the file only
	stderr  *slog.Logger
	metrics *metrics // nil without a metrics file, or if it cannot be read or written
}

// BeginJournal starts the journal of a run that holds its lock. The returned logger writes to log
// and to the log file, which begins with the first line: a run without work has no log. Metrics
// that cannot be written are a warning: they are no reason to have no dataset.
func BeginJournal(o JournalOptions, dataset, program string, log *slog.Logger) (*Journal, *slog.Logger, error) {
	j := &Journal{stderr: log}
	if o.LogFile != "" {
		if err := os.MkdirAll(filepath.Dir(o.LogFile), 0o777); err != nil {
			return nil, nil, fmt.Errorf("write log: %w", err)
		}
		if err := unix.Access(filepath.Dir(o.LogFile), unix.W_OK); err != nil {
			return nil, nil, fmt.Errorf("write log %s: %w", o.LogFile, err)
		}
		j.file = &logFile{path: o.LogFile, keep: o.LogKeep, begin: func(out io.Writer) {
			slog.New(o.Handler(out)).Info("rebuild begins", "dataset", dataset, "program", program)
		}}
		handler := o.Handler(j.file)
		j.log = slog.New(handler)
		log = slog.New(slog.NewMultiHandler(log.Handler(), handler))
	}
	if o.MetricsFile != "" {
		var err error
		if j.metrics, err = beginMetrics(o.MetricsFile, dataset); err != nil {
			j.warn(err)
		}
	}
	return j, log, nil
}

// End records how the run ended. result is nil if err is not. What cannot be recorded is a warning:
// it changes nothing of what the run did.
func (j *Journal) End(err error, result *Result) {
	if j.metrics != nil {
		if err := j.metrics.end(err, result); err != nil {
			j.warn(err)
		}
	}
	if j.file == nil {
		return
	}
	switch {
	case err != nil:
		j.log.Error("rebuild failed", "error", err, "hint", fault.HintOf(err), "exit_code", fault.ExitCode(err))
	case result.Version != "" && !result.Unchanged:
		j.log.Info("rebuild is done", "version", filepath.Base(result.Version), "stages_run", result.Ran)
	}
	if err := j.file.close(); err != nil {
		j.stderr.Warn("the log is not complete", "error", err)
	}
}

func (j *Journal) warn(err error) {
	j.stderr.Warn("the metrics are not written", "error", err)
	if j.file != nil && j.file.file != nil {
		j.log.Warn("the metrics are not written", "error", err)
	}
}

// logFile is a log file that is opened, and those before it moved up, when something is written.
type logFile struct {
	path  string
	keep  int
	begin func(out io.Writer) // writes the first line
	file  *os.File
	err   error
}

func (f *logFile) Write(p []byte) (int, error) {
	if f.file == nil && f.err == nil {
		if f.file, f.err = openRotated(f.path, f.keep); f.err == nil {
			f.begin(f.file)
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.file.Write(p)
	if err != nil {
		f.err = fmt.Errorf("write log: %w", err)
	}
	return n, f.err
}

func (f *logFile) close() error {
	if f.file == nil {
		return f.err
	}
	return errors.Join(f.err, f.file.Close())
}

// openRotated starts a log file. Earlier log files move up by one, and the oldest is removed.
func openRotated(path string, keep int) (*os.File, error) {
	older := func(i int) string {
		if i == 0 {
			return path
		}
		return fmt.Sprintf("%s.%d", path, i)
	}
	for i := keep; i > 0; i-- {
		if err := os.Rename(older(i-1), older(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("rotate log: %w", err)
		}
	}
	// happens with keep 0
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("write log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write log: %w", err)
	}
	return file, nil
}
