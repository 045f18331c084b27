package bench

import (
	"bytes"
	"context"
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

// build builds a dataset of a case with the program itself, as a user would.
func (in *inputs) build(ctx context.Context, c Case, samples int, out string) (built, error) {
	perturbations, err := in.subset(samples)
	if err != nil {
		return built{}, err
	}
	args := []string{"incidence"}
	if c.Variant != store.Incidence {
		args = []string{"dataset", "--mode", string(c.Variant), "--codec", c.Codec, "--resume", string(store.ResumeNever)}
	}
	args = append(args, "--graph", in.Graph, "--perturbations", perturbations, "--out", out, "--quiet",
		"--workers", strconv.Itoa(in.Workers), "--reaction-rule", string(in.ReactionRule),
		fmt.Sprintf("allow_wildtype=%t", in.AllowWildtype), fmt.Sprintf("allow_duplicate_ids=%t", in.AllowDuplicateIDs))
	cmd := exec.CommandContext(ctx, in.Executable, args...)
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
		return built{}, fmt.Errorf("start %s: %w", in.Executable, err)
	}
	peak := watchMemory(cmd.Process.Pid)
	err = cmd.Wait()
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
