package rebuild

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Journal records an unattended run for its operators, in a log file and in metrics.
type Journal struct {
	log     *slog.Logger
	file    *slog.Logger // writes only to the log file; discards without one
	metrics *metrics     // nil without a metrics file, or if it cannot be read or written
}

// BeginJournal starts the journal of a run that holds its lock; either file may be "". The returned
// logger writes to log and appends to the log file, as handler formats it. Metrics that cannot be
// written are a warning: they are no reason to have no dataset.
func BeginJournal(logFile, metricsFile, dataset string, log *slog.Logger, handler func(io.Writer) slog.Handler) (*Journal, *slog.Logger, error) {
	j := &Journal{log: log, file: slog.New(slog.DiscardHandler)}
	if logFile != "" {
		err := os.MkdirAll(filepath.Dir(logFile), 0o777)
		if err != nil {
			return nil, nil, fmt.Errorf("write log: %w", err)
		}
		file, err := os.OpenFile(logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, nil, fault.New(fault.Failed, "name a file that you may write to and that is not a symbolic link", "write log: %w", err)
		}
		j.file = slog.New(handler(file))
		j.log = slog.New(slog.NewMultiHandler(log.Handler(), j.file.Handler()))
	}
	if metricsFile != "" {
		var err error
		if j.metrics, err = beginMetrics(metricsFile, dataset); err != nil {
			j.warn(err)
		}
	}
	return j, j.log, nil
}

// End records how the run ended. result is nil if err is not.
func (j *Journal) End(err error, result *Result) {
	if j.metrics != nil {
		if err := j.metrics.end(err, result); err != nil {
			j.warn(err)
		}
	}
	switch {
	case err != nil:
		j.file.Error("rebuild failed", "error", err, "hint", fault.HintOf(err), "exit_code", fault.ExitCode(err))
	case result.Version != "" && !result.Unchanged:
		j.file.Info("rebuild is done", "version", filepath.Base(result.Version), "stages_run", result.Ran)
	}
}

func (j *Journal) warn(err error) { j.log.Warn("the metrics are not written", "error", err) }

// heartbeatEvery is how often the metrics are written during a run.
const heartbeatEvery = 15 * time.Second

// metrics is a file for node_exporter's textfile collector, replaced atomically.
type metrics struct {
	path    string
	dataset string
	start   time.Time
	values  map[string]float64
	ended   chan struct{}
	beats   sync.WaitGroup
}

// MetricsBegin is the begin of a file with metrics.
const MetricsBegin = "# Written by tcbuild rebuild --metrics-file.\n"

// metricHelp lists the metrics in the order of the file. They have no time stamps, as node_exporter
// rejects them.
var metricHelp = []struct{ name, help string }{
	{"running", "Whether a rebuild was running when this was written."},
	{"heartbeat_timestamp_seconds", "When this was written: every 15 s during a run, and at its end."},
	{"last_success_timestamp_seconds", "When the dataset was last brought up to date, or found to be up to date."},
	{"last_exit_code", "Exit code of the last run that ended."},
	{"last_duration_seconds", "Duration of the last run."},
	{"last_stages_run", "Stages that the last run executed; 0 if nothing had changed."},
	{"version", "Number of the current version."},
}

// beginMetrics records that a run has begun. Unknown values stay as the last run left them.
func beginMetrics(path, dataset string) (*metrics, error) {
	m := &metrics{path: path, dataset: dataset, start: time.Now(), values: make(map[string]float64), ended: make(chan struct{})}
	if err := m.readLast(); err != nil {
		return nil, err
	}
	m.values["running"] = 1
	if err := m.write(); err != nil {
		return nil, err
	}
	m.beats.Go(func() {
		for {
			select {
			case <-time.After(heartbeatEvery):
				_ = m.write() // the final write reports errors
			case <-m.ended:
				return
			}
		}
	})
	return m, nil
}

func (m *metrics) end(err error, result *Result) error {
	close(m.ended)
	m.beats.Wait()
	m.values["running"] = 0
	m.values["last_exit_code"] = 0
	m.values["last_duration_seconds"] = time.Since(m.start).Seconds()
	switch {
	case err != nil:
		m.values["last_exit_code"] = float64(fault.ExitCode(err))
	case result.Version != "":
		m.values["last_success_timestamp_seconds"] = float64(time.Now().Unix())
		m.values["last_stages_run"] = float64(result.Ran)
		m.values["version"] = float64(Number(filepath.Base(result.Version)))
	}
	return m.write()
}

func (m *metrics) write() error {
	m.values["heartbeat_timestamp_seconds"] = float64(time.Now().Unix())
	var text strings.Builder
	text.WriteString(MetricsBegin)
	for _, metric := range metricHelp {
		name := "tcbuild_rebuild_" + metric.name
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n%s%.15g\n", name, metric.help, name, m.series(metric.name), m.values[metric.name])
	}
	if err := disk.WriteWhole(m.path, []byte(text.String())); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// series is what comes before a metric's value.
func (m *metrics) series(name string) string {
	return fmt.Sprintf("tcbuild_rebuild_%s{dataset=%q} ", name, m.dataset)
}

// readLast reads the values written by the last run.
func (m *metrics) readLast() error {
	text, err := disk.ReadRegular(m.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read metrics %s: %w", m.path, err)
	}
	for line := range strings.Lines(string(text)) {
		for _, metric := range metricHelp {
			if value, ok := strings.CutPrefix(line, m.series(metric.name)); ok {
				m.values[metric.name], _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
			}
		}
	}
	return nil
}
