package rebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// heartbeatEvery is how often the metrics are written during a run.
const heartbeatEvery = 15 * time.Second

// metrics is a file for node_exporter's textfile collector, replaced atomically.
type metrics struct {
	path    string
	dataset string
	start   time.Time
	stop    chan struct{}
	stopped chan struct{}
	values  map[string]float64
}

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

// beginMetrics records that a run has begun. Unknown values stay those of the last run.
func beginMetrics(path, dataset string) (*metrics, error) {
	m := &metrics{path: path, dataset: dataset, start: time.Now(), stop: make(chan struct{}),
		stopped: make(chan struct{}), values: make(map[string]float64)}
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
			_ = m.write() // the final write reports errors
		case <-m.stop:
			return
		}
	}
}

func (m *metrics) end(err error, result *Result) error {
	close(m.stop)
	<-m.stopped
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
	for _, metric := range metricHelp {
		name := "tcbuild_rebuild_" + metric.name
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n%s{dataset=%q} %.15g\n", name, metric.help, name, name,
			m.dataset, m.values[metric.name])
	}
	if err := disk.WriteWhole(m.path, []byte(text.String())); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}

// readLast reads the values written by the last run.
func (m *metrics) readLast() error {
	text, err := disk.ReadRegular(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read metrics %s: %w", m.path, err)
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
