package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"tcbuild/fault"
	"tcbuild/internal/rebuild"
)

// journalOptions say what an unattended run records for its operators.
type journalOptions struct {
	logFile     string
	logKeep     int
	metricsFile string
}

func (o *journalOptions) flags(flags *pflag.FlagSet) {
	flags.StringVar(&o.logFile, "log-file", "", "also log to `FILE`, one per run; logs of earlier runs are FILE.1, FILE.2, …")
	flags.IntVar(&o.logKeep, "log-keep", 10, "logs of earlier runs to keep")
	flags.StringVar(&o.metricsFile, "metrics-file", "",
		"write the state of the rebuild to `FILE`.prom, for node_exporter's textfile collector")
}

// journal records one run.
type journal struct {
	file    *os.File     // nil without --log-file
	log     *slog.Logger // to the file only
	metrics *metrics     // nil without --metrics-file
}

// begin starts the journal of a run that holds its lock. From then on e.log also writes to the log
// file.
func (o *journalOptions) begin(e *env, dataset string) (*journal, error) {
	j := &journal{}
	if o.logFile != "" {
		file, err := openRotated(o.logFile, o.logKeep)
		if err != nil {
			return nil, err
		}
		j.file = file
		var handler slog.Handler = newTextHandler(file, false, slog.LevelInfo)
		if e.logFormat == "json" {
			handler = slog.NewJSONHandler(file, nil)
		}
		j.log = slog.New(handler)
		e.log = slog.New(slog.NewMultiHandler(e.log.Handler(), handler))
		j.log.Info("rebuild begins", "dataset", dataset, "program", buildVersion())
	}
	if o.metricsFile != "" {
		var err error
		if j.metrics, err = beginMetrics(o.metricsFile, dataset); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// end records how the run ended. result is nil when err is not.
func (j *journal) end(err error, result *rebuild.Result) error {
	if j.file != nil {
		if err != nil {
			j.log.Error("rebuild failed", "error", err, "hint", fault.HintOf(err), "exit_code", exitCode(err))
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

// exitReason is the error as the program will print it: for an interrupted run, what interrupted
// it.
func exitReason(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// openRotated starts a log file. Those of earlier runs move up by one, and the oldest is removed.
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
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // with keep 0
		return nil, fmt.Errorf("write log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write log: %w", err)
	}
	return file, nil
}
