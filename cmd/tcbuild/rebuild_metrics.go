package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
)

// heartbeatEvery is the time between two writings of the metrics during a run.
const heartbeatEvery = 15 * time.Second

// metrics is a file for node_exporter's textfile collector, written aside and renamed.
type metrics struct {
	path    string
	dataset string
	start   time.Time
	stop    chan struct{}
	stopped chan struct{}
	values  map[string]float64
}

// metricHelp are the metrics in the order of the file. None has a time stamp of its own, which
// node_exporter refuses.
var metricHelp = []struct{ name, help string }{
	{"running", "Whether a rebuild was at work when this was written."},
	{"heartbeat_timestamp_seconds", "When this was written: every 15 s in a run, and at its end."},
	{"last_success_timestamp_seconds", "When the dataset was last brought up to date, or found to be."},
	{"last_exit_code", "Exit code of the last run that ended."},
	{"last_duration_seconds", "How long the last run took."},
	{"last_stages_run", "Stages that the last run had to run; 0 when nothing had changed."},
	{"version", "Number of the current version."},
}

// beginMetrics writes that a run has begun; what it does not know yet stays as the last run left
// it.
func beginMetrics(path, dataset string) (*metrics, error) {
	m := &metrics{path: path, dataset: dataset, start: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{}), values: make(map[string]float64)}
	if err := m.readLast(); err != nil {
		return nil, err
	}
	m.values["running"] = 1
	if err := m.write(); err != nil {
		return nil, err
	}
	go m.beat()
	return m, nil
}

func (m *metrics) beat() {
	defer close(m.stopped)
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = m.write() // the last one tells
		case <-m.stop:
			return
		}
	}
}

func (m *metrics) end(err error, result *rebuild.Result) error {
	close(m.stop)
	<-m.stopped
	m.values["running"] = 0
	m.values["last_exit_code"] = 0
	m.values["last_duration_seconds"] = time.Since(m.start).Seconds()
	switch {
	case err != nil:
		m.values["last_exit_code"] = float64(exitCode(err))
	case result.Version != "":
		m.values["last_success_timestamp_seconds"] = float64(time.Now().Unix())
		m.values["last_stages_run"] = float64(result.Ran)
		m.values["version"] = float64(rebuild.Number(filepath.Base(result.Version)))
	}
	return m.write()
}

func (m *metrics) write() error {
	m.values["heartbeat_timestamp_seconds"] = float64(time.Now().Unix())
	var text strings.Builder
	for _, metric := range metricHelp {
		name := "tcbuild_rebuild_" + metric.name
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n%s{dataset=%q} %.15g\n", name, metric.help, name, name, m.dataset, m.values[metric.name])
	}
	if err := disk.WriteWhole(m.path, []byte(text.String())); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// readLast reads the values that the last run left.
func (m *metrics) readLast() error {
	text, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		for _, metric := range metricHelp {
			var value float64
			if rest, ok := strings.CutPrefix(line, fmt.Sprintf("tcbuild_rebuild_%s{dataset=%q} ", metric.name, m.dataset)); ok {
				if _, err := fmt.Sscan(rest, &value); err == nil {
					m.values[metric.name] = value
				}
			}
		}
	}
	return nil
}
