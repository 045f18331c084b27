package rebuild

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"tcbuild/fault"
	"tcbuild/internal/versions"
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
	file    *os.File     // nil without a log file
	log     *slog.Logger // to the file only
	metrics *metrics     // nil without a metrics file
}

// BeginJournal starts the journal of a run that holds its lock. The returned logger writes to log
// and to the log file.
func BeginJournal(o JournalOptions, dataset, program string, log *slog.Logger) (*Journal, *slog.Logger, error) {
	j := &Journal{}
	if o.LogFile != "" {
		file, err := openRotated(o.LogFile, o.LogKeep)
		if err != nil {
			return nil, nil, err
		}
		j.file = file
		handler := o.Handler(file)
		j.log = slog.New(handler)
		log = slog.New(slog.NewMultiHandler(log.Handler(), handler))
		j.log.Info("rebuild begins", "dataset", dataset, "program", program)
	}
	if o.MetricsFile != "" {
		var err error
		if j.metrics, err = beginMetrics(o.MetricsFile, dataset); err != nil {
			return nil, nil, err
		}
	}
	return j, log, nil
}

// End records how the run ended. result is nil if err is not.
func (j *Journal) End(err error, result *versions.Result) error {
	if j.file != nil {
		if err != nil {
			j.log.Error("rebuild failed", "error", err, "hint", fault.HintOf(err), "exit_code", fault.ExitCode(err))
		} else {
			j.log.Info("rebuild is done", "version", filepath.Base(result.Version), "unchanged", result.Unchanged, "stages_run", result.Ran)
		}
		if err := j.file.Close(); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
	}
	if j.metrics != nil {
		return j.metrics.end(err, result)
	}
	return nil
}

// openRotated starts a log file. Earlier log files move up by one, and the oldest is removed.
func openRotated(path string, keep int) (*os.File, error) {
	older := func(i int) string {
		if i == 0 {
			return path
		}
		return fmt.Sprintf("%s.%d", path, i)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("write log: %w", err)
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
