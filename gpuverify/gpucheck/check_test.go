//go:build cuda

package gpucheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/gpuverify"
	"tcbuild/internal/testing/fakedriver"
)

// folder is what goes to a machine with a card, and the environment of a run with two fake ones.
type folder struct {
	dir         string
	environment []string
}

func newFolder(t *testing.T) folder {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-tags", "cuda", "-ldflags", "-s -w", "-o", filepath.Join(dir, "tcbuild"), "tcbuild/cmd/tcbuild").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	text, err := os.ReadFile("gpu-check")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "gpu-check"), text, 0o755))
	size := int64(0)
	for _, name := range []string{"tcbuild", "gpu-check"} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		size += info.Size()
	}
	if size > 60e6 {
		t.Errorf("the folder has %d bytes, want at most 60 MB", size)
	}
	driver, err := fakedriver.Build()
	must(t, err)
	return folder{dir, append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(driver), "FAKE_CUDA_DEVICES=2",
		"SCALE=tiny", "SAMPLES=700", "TRAINED=30")}
}

// python puts a Python there that has every package and runs no test, and a test that needs a card.
func (f *folder) python(t *testing.T) {
	t.Helper()
	tests := filepath.Join(f.dir, "python", "tests")
	must(t, os.MkdirAll(tests, 0o755))
	must(t, os.WriteFile(filepath.Join(tests, "test_a.py"), []byte("@pytest.mark.cuda\n"), 0o644))
	program := filepath.Join(t.TempDir(), "python")
	script := `#!/bin/bash
[ "$2" != pytest ] || echo "1 passed of ${*: -1} with ${TCBUILD##*/}"
[ "$2" != tcbuild.compare ] || echo "{\"trained\": \"$(basename "$3") with $(basename "$(type -p tcbuild)")\"}" >"${*: -1}.json"
`
	must(t, os.WriteFile(program, []byte(script), 0o755))
	f.environment = append(f.environment, "PYTHON="+program)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// command is a run whose result is the file "result" of the folder.
func (f folder) command(arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(f.dir, "gpu-check"), append([]string{"--out", f.out()}, arguments...)...)
	cmd.Env = f.environment
	return cmd
}

func (f folder) out() string { return filepath.Join(f.dir, "result") }

// result is what gpu-check writes.
type result struct {
	Passed, Finished bool
	Failures         int
	Steps            []step
}

type step struct {
	Name, State, Error string
	At, Seconds        float64
	Report             json.RawMessage
}

func (f folder) result(t *testing.T) (r result) {
	t.Helper()
	text, err := os.ReadFile(f.out())
	must(t, err)
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return r
}

// sanitizer puts a compute-sanitizer on the path that notes how it was called and, as memcheck,
// runs what it was given; with FAKE_FINDING it finds an error.
func (f *folder) sanitizer(t *testing.T) (calls string) {
	t.Helper()
	bin := t.TempDir()
	calls = filepath.Join(bin, "calls")
	script := fmt.Sprintf(`#!/bin/bash
echo "$2 $6 $(basename -- "$7")" >>%s
[ -z "$FAKE_FINDING" ] || { echo "========= Invalid __global__ write"; exit 9; }
[ "$1 $3 $4" = "--tool --error-exitcode 9" ] || exit 3
tool=$2
shift 4
[ $tool != memcheck ] || exec "$@"
`, calls)
	must(t, os.WriteFile(filepath.Join(bin, "compute-sanitizer"), []byte(script), 0o755))
	f.environment = append(f.environment, "PATH="+bin+":"+os.Getenv("PATH"))
	return calls
}

func TestGPUCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it verifies forty datasets")
	}
	f := newFolder(t)
	f.python(t)
	calls := f.sanitizer(t)
	if out, err := f.command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := f.result(t)
	if !r.Passed || !r.Finished || r.Failures != 0 {
		t.Errorf("passed %v, finished %v, %d failures", r.Passed, r.Finished, r.Failures)
	}
	verified := map[string]int{}
	for _, s := range r.Steps {
		if s.State != "passed" || s.Error != "" || s.Seconds <= 0 || s.At < 0 {
			t.Errorf("got %+v", s)
		}
		want, ok := map[string]string{
			"Python's tests":            `{"pytest": "1 passed of tests/test_a.py with tcbuild"}`,
			"compare forms of training": `{"trained": "few-incidence-all with tcbuild"}`,
		}[s.Name]
		if found := string(s.Report); ok && found != want {
			t.Errorf("%s: report %s, want %s", s.Name, found, want)
		}
		dataset, ok := strings.CutPrefix(s.Name, "verify ")
		if !ok {
			continue
		}
		set, _, _ := strings.Cut(dataset, "-")
		verified[set]++
		var report gpuverify.Report
		must(t, json.Unmarshal(s.Report, &report))
		differences := int64(0)
		if set == "planted" {
			differences = 1
		}
		// a wrong incidence cache is damage, too: it is compared with the verifier's own
		damaged := report.Damaged > 0 && report.Variant != "incidence"
		if report.Differences != differences || damaged || len(report.Devices) != 2 {
			t.Errorf("%s: %d differences, %d damaged on %s", s.Name, report.Differences, report.Damaged, report.Device)
		}
		for _, device := range report.Devices {
			if device.Samples > 0 && device.WorkingSeconds <= 0 {
				t.Errorf("%s: worked for %v s", s.Name, device.WorkingSeconds)
			}
		}
	}
	if verified["small"] != 14 || verified["planted"] != 14 || verified["many"] != 14 {
		t.Errorf("verified %v", verified)
	}

	text, err := os.ReadFile(calls)
	must(t, err)
	var want []string
	for _, tool := range []string{"memcheck", "racecheck", "initcheck", "synccheck"} {
		for _, rule := range []string{"all", "gpr"} {
			for _, variant := range []string{"incidence", "indices", "full-masks"} {
				want = append(want, tool+" verify small-"+variant+"-"+rule)
			}
		}
	}
	if found := strings.Split(strings.TrimSpace(string(text)), "\n"); !slices.Equal(found, want) {
		t.Errorf("under the sanitizer ran %q, want %q", found, want)
	}
}

// A step that fails, and a finding of the sanitizer, are in the result with their errors, and the
// other steps run.
func TestGPUCheckFails(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it verifies forty datasets")
	}
	f := newFolder(t)
	f.sanitizer(t)
	f.environment = append(f.environment, "FAKE_CUDA_FAIL=cuLaunchKernel:3:700", "FAKE_FINDING=1", "SAMPLES=50")
	out, err := f.command("--quick").CombinedOutput()
	if code := (&exec.ExitError{}); !errors.As(err, &code) || code.ExitCode() != 1 {
		t.Errorf("error %v, want exit code 1\n%s", err, out)
	}
	r, failed := f.result(t), 0
	for _, s := range r.Steps {
		onCard := strings.HasPrefix(s.Name, "verify ")
		sanitized := strings.HasPrefix(s.Name, "memcheck: ")
		if want := onCard || sanitized; want != (s.State == "failed") || want != (s.Error != "") || len(s.Report) > 0 {
			t.Errorf("got %+v", s)
		}
		if onCard && !strings.Contains(s.Error, "cuLaunchKernel") || sanitized && !strings.Contains(s.Error, "Invalid __global__ write") {
			t.Errorf("%s: error %q", s.Name, s.Error)
		}
		if s.State == "failed" {
			failed++
		}
	}
	if r.Passed || !r.Finished || r.Failures != failed || failed < 30 || !strings.Contains(string(out), "gpu-check: FAILED: ") {
		t.Errorf("passed %v, finished %v, %d failures, want %d", r.Passed, r.Finished, r.Failures, failed)
	}
}

// Without torch, or its folder, the result says why Python's tests did not run.
func TestGPUCheckWithoutPython(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it verifies forty datasets")
	}
	for _, without := range []string{"folder python", "torch"} {
		f := newFolder(t)
		f.environment = append(f.environment, "SAMPLES=50")
		if without == "torch" {
			f.python(t)
			program := filepath.Join(f.dir, "none")
			script := "#!/bin/bash\necho \"No module named 'torch'\" >&2\nexit 1\n"
			must(t, os.WriteFile(program, []byte(script), 0o755))
			f.environment = append(f.environment, "PYTHON="+program)
		}
		if out, err := f.command().CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		r := f.result(t)
		last := r.Steps[len(r.Steps)-1]
		if !r.Passed || last.State != "absent" || !strings.Contains(last.Error, without) {
			t.Errorf("without %s: passed %v, the last step is %+v", without, r.Passed, last)
		}
	}
}

// A run that is stopped or killed leaves what it has found.
func TestGPUCheckIsStopped(t *testing.T) {
	f := newFolder(t)
	// A shell cannot trap a signal that is ignored when it starts, as under nohup.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, test := range []struct {
		signal syscall.Signal
		state  string
		code   int
	}{{syscall.SIGTERM, "interrupted", 143}, {syscall.SIGINT, "interrupted", 130}, {syscall.SIGHUP, "interrupted", 129}, {syscall.SIGKILL, "running", -1}} {
		must(t, os.RemoveAll(f.out()))
		cmd := f.command()
		must(t, cmd.Start())
		for {
			if _, err := os.Stat(f.out()); err == nil && len(f.result(t).Steps) > 6 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		must(t, cmd.Process.Signal(test.signal))
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != test.code {
			t.Errorf("%v: %v, want exit code %d", test.signal, err, test.code)
		}
		r := f.result(t)
		last := len(r.Steps) - 1
		if r.Passed || r.Finished || last < 6 {
			t.Fatalf("%v: passed %v, finished %v, %d steps", test.signal, r.Passed, r.Finished, last+1)
		}
		for _, s := range r.Steps[:last] {
			if s.State != "passed" {
				t.Errorf("%v: got %+v", test.signal, s)
			}
		}
		// killed between two steps, none runs
		if s := r.Steps[last]; s.State != test.state && (s.State != "passed" || test.signal != syscall.SIGKILL) {
			t.Errorf("%v: the last step is %+v", test.signal, s)
		}
	}
}
