package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// built is one build, measured from outside the process.
type built struct {
	seconds    float64
	cpuSeconds float64
	peakAnon   float64 // bytes
	run        tcbuild.Result
}

// listFlag makes a flag of names; no flag if names is nil.
func listFlag(flag string, names []string) []string {
	if names == nil {
		return nil
	}
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	_ = w.Write(names) // to memory
	w.Flush()
	return []string{"--" + flag + "=" + strings.TrimSuffix(line.String(), "\n")}
}

// build builds a dataset of a case with the program itself, as a user would.
func (b *bench) build(ctx context.Context, c Case, in input, workers int, out string) (built, error) {
	args := []string{"incidence"}
	if c.Variant != store.Incidence {
		args = []string{"dataset", "--mode", string(c.Variant), "--codec", c.Codec, "--resume", string(store.ResumeNever)}
	}
	args = append(args, "--graph", in.graph, "--perturbations", in.perturbations, "--out", out, "--workers", strconv.Itoa(workers),
		"--reaction-rule", string(b.ReactionRule), "--unknown-genes", string(b.UnknownGenes), "--quiet")
	if b.AllowWildtype {
		args = append(args, "--allow-wildtype")
	}
	if b.AllowDuplicateIDs {
		args = append(args, "allow_duplicate_ids=true")
	}
	if in.perturbations == b.Perturbations { // a subset has no other columns
		args = append(args, listFlag("phenotypes", b.Phenotypes)...)
		args = append(args, listFlag("not-phenotypes", b.NotPhenotypes)...)
		if b.Where != "" { // a subset is of samples that were kept
			args = append(args, "--where="+b.Where)
		}
		args = append(args, "--duplicates", string(b.Duplicates), fmt.Sprintf("max_dropped=%v", *b.MaxDropped))
		args = append(args, listFlag("group-by", b.GroupBy)...)
		args = append(args, listFlag("controls", b.Controls)...)
		if b.RemovingKinds != nil {
			args = append(args, "removing_kinds=["+strings.Join(b.RemovingKinds, ",")+"]")
		}
	}
	args = append(args, listFlag("attributes", b.Attributes)...)
	cmd := exec.CommandContext(ctx, b.Executable, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	// The child ends with this process, even if this is killed. The kernel ties it to the thread,
	// so the thread must stay alive.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	start := time.Now()
	if err := cmd.Start(); err != nil {
		return built{}, fmt.Errorf("start %s: %w", b.Executable, err)
	}
	peak := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	m := built{seconds: time.Since(start).Seconds()}
	var watched error
	if m.peakAnon, watched = peak(); watched != nil {
		return m, watched
	}
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	if err != nil {
		return m, fmt.Errorf("build %s: %w", c, fault.FromRun(cmd.ProcessState.ExitCode(), stderr.String(), err))
	}
	m.cpuSeconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return m, disk.ReadJSON(filepath.Join(out, "run.json"), &m.run)
}

// samplingInterval is how often a process's memory is sampled.
const samplingInterval = 5 * time.Millisecond

// watchMemory samples a process's own memory, without mapped files, until the returned function is
// called, which returns the peak in bytes.
func watchMemory(pid int) (peak func() (float64, error)) {
	anon := 0.0
	stop := make(chan struct{})
	var group errgroup.Group
	group.Go(fault.Catch(func() error {
		ticker := time.NewTicker(samplingInterval)
		defer ticker.Stop()
		for {
			// gone once the process has ended
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			anon = max(anon, statusBytes(status, "RssAnon:"))
			select {
			case <-ticker.C:
			case <-stop:
				return nil
			}
		}
	}))
	return func() (float64, error) {
		close(stop)
		err := group.Wait()
		return anon, err
	}
}

// statusBytes reads a size from the text of /proc/PID/status or /proc/meminfo; 0 if the name is
// missing.
func statusBytes(status []byte, name string) float64 {
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name && fields[2] == "kB" {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64) // the kernel writes digits
			return kilobytes * 1024
		}
	}
	return 0
}
