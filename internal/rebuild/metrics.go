package rebuild

import (
	"fmt"
	"strings"
	"time"

	"tcbuild/internal/disk"
)

// MetricsBegin is the first line of every file with metrics.
const MetricsBegin = "# Written by tcbuild rebuild --metrics-file.\n"

// writeMetrics writes a state for node_exporter's textfile collector, which rejects time stamps.
func writeMetrics(path, dataset string, s *State) error {
	seconds := func(at time.Time) float64 {
		if at.IsZero() {
			return 0
		}
		return float64(at.Unix())
	}
	last := s.Last
	if last == nil {
		last = &RunState{}
	}
	damaged, version := 0.0, 0.0
	if s.Damage != "" {
		damaged = 1
	}
	if IsVersion(s.Current) {
		version = float64(Number(s.Current))
	}
	heartbeat := time.Now() // of the process that has been silent for longest
	for _, p := range s.Working {
		if p.Seen.Before(heartbeat) {
			heartbeat = p.Seen
		}
	}
	var text strings.Builder
	text.WriteString(MetricsBegin)
	for _, metric := range []struct {
		name, help string
		value      float64
	}{
		{"running", "Processes at work on the dataset.", float64(len(s.Working))},
		{"heartbeat_timestamp_seconds",
			"Oldest heartbeat among the processes at work, which have " +
				"one every 15 s; without any process, the time of writing.", seconds(heartbeat)},
		{"last_success_timestamp_seconds", "When the dataset was last brought up to date, " +
			"or found to be up to date.", seconds(s.UpToDate)},
		{"last_exit_code", "Exit code of the last run that ended, " +
			"or of a failed step of the run in progress.", float64(s.ExitCode())},
		{"last_duration_seconds", "Duration of the last run.", last.End.Sub(last.Begin).Seconds()},
		{"last_stages_run", "Stages that the last run executed; 0 if nothing had changed.",
			float64(last.Ran)},
		{"version", "Number of the current version.", version},
		{"damaged", "Whether a file of the current version is damaged.", damaged},
	} {
		name := "tcbuild_rebuild_" + metric.name
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n", name, metric.help, name)
		fmt.Fprintf(&text, "%s{dataset=%q} %.15g\n", name, dataset, metric.value)
	}
	if err := disk.WriteWhole(path, []byte(text.String())); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}
