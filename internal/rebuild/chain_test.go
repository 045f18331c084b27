package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
	_ "tcbuild/internal/testing/testrun"
)

// testChain is copy -> upper -> check over one source file; ran records the stages that were run.
type testChain struct {
	Chain
	ran    []string
	before func(stage string) // called when a stage begins; may be nil
	bad    error              // of the stage check
}

func newTestChain(t *testing.T) *testChain {
	t.Helper()
	dir := t.TempDir()
	c := &testChain{Chain: Chain{
		Dir: filepath.Join(dir, "root", "set"), Program: "1", Keep: 2,
		Log: slog.New(slog.DiscardHandler), Redact: func(text string) string { return text },
	}}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "source.txt")
	c.write(t, source, "a")
	stage := func(name string, options map[string]string, sources []Source, after []string, run func(version string) error) {
		c.Stages = append(c.Stages, Stage{Name: name, Output: name, Options: options, Sources: sources, After: after, Run: func(_ context.Context, version string) ([]inputfile.Input, error) {
			c.ran = append(c.ran, name)
			if c.before != nil {
				c.before(name)
			}
			var read []inputfile.Input
			for _, source := range sources {
				file, err := inputfile.Open(source.Path)
				if err != nil {
					return nil, err
				}
				read = append(read, file.Input(source.Name))
				file.Close()
			}
			return read, run(version)
		}})
	}
	stage("copy", nil, []Source{{"source.txt", source}}, nil, func(version string) error {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(version, "copy"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(version, "copy", "text"), text, 0o644)
	})
	stage("upper", map[string]string{"language": "en"}, nil, []string{"copy"}, func(version string) error {
		text, err := os.ReadFile(filepath.Join(version, "copy", "text"))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(version, "upper"), []byte(strings.ToUpper(string(text))), 0o644)
	})
	stage("check", nil, nil, []string{"upper"}, func(version string) error {
		if c.bad != nil {
			return c.bad
		}
		return os.WriteFile(filepath.Join(version, "check"), []byte("passed"), 0o644)
	})
	return c
}

func (c *testChain) source() string { return c.Stages[0].Sources[0].Path }

func (c *testChain) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs the chain and checks which stages were run.
func (c *testChain) run(t *testing.T, force bool, want ...string) *Result {
	t.Helper()
	c.ran, c.Force = nil, force
	result, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.ran, want) {
		t.Errorf("got stages %q run, want %q", c.ran, want)
	}
	return result
}

// holds checks what current shows, and that there is nothing but versions next to it.
func (c *testChain) holds(t *testing.T, text string, versions int) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(c.Dir, Current, "upper"))
	if err != nil || string(got) != text {
		t.Errorf("current: got %q, %v, want %q", got, err, text)
	}
	c.holdsOnly(t, versions)
}

func (c *testChain) holdsOnly(t *testing.T, versions int) {
	t.Helper()
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		switch {
		case versionName.MatchString(entry.Name()):
			found++
		case !slices.Contains([]string{Current, StateName, stateLock}, entry.Name()):
			t.Errorf("%s was left behind", entry.Name())
		}
	}
	if found != versions {
		t.Errorf("got %d versions, want %d", found, versions)
	}
}

func TestOnlyWhatChangedIsRun(t *testing.T) {
	c := newTestChain(t)
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "A", 1)
	if result := c.run(t, false); !result.Unchanged {
		t.Error("a second run did something")
	}
	c.write(t, c.source(), "b")
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "B", 2)
	c.Stages[1].Options["language"] = "fr"
	c.run(t, false, "upper", "check")
	c.holds(t, "B", 2)
	c.Program = "2"
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "B", 2)
	c.run(t, true, "copy", "upper", "check")
	c.holds(t, "B", 2)
}

func TestReasons(t *testing.T) {
	c := newTestChain(t)
	why := func(force bool) string {
		t.Helper()
		c.Force = force
		plan, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, step := range plan.Steps {
			words = append(words, step.Name+" "+string(step.Action)+": "+step.Why)
		}
		return strings.Join(words, "\n")
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	check(why(false), "copy run: no version exists yet\nupper run: no version exists yet\ncheck run: no version exists yet")
	c.run(t, false, "copy", "upper", "check")
	check(why(true), "copy run: --force\nupper run: --force\ncheck run: --force")
	c.Stages[1].Options = map[string]string{"language": "fr"}
	check(why(false), "copy keep: unchanged\nupper run: language was \"en\", is \"fr\"\ncheck run: after upper")
	c.write(t, c.source(), "b")
	check(why(false), "copy run: input source.txt changed\nupper run: language was \"en\", is \"fr\"\ncheck run: after upper")
	c.Program = "2"
	check(why(false), "copy run: the program was 1, is 2\nupper run: the program was 1, is 2\ncheck run: the program was 1, is 2")
}

// Inputs that return to an earlier state need no build while their version is kept.
func TestEarlierVersionIsMadeCurrentAgain(t *testing.T) {
	c := newTestChain(t)
	c.run(t, false, "copy", "upper", "check")
	c.write(t, c.source(), "b")
	c.run(t, false, "copy", "upper", "check")
	c.write(t, c.source(), "a")
	if result := c.run(t, false); result.Unchanged {
		t.Error("the link was moved, but the run says it did nothing")
	}
	c.holds(t, "A", 2)
}

func TestFailedCheckIsNeverCurrent(t *testing.T) {
	c := newTestChain(t)
	c.run(t, false, "copy", "upper", "check")
	c.write(t, c.source(), "b")
	c.bad = fault.New(fault.Damaged, "", "a difference")
	if _, err := c.Run(t.Context()); fault.KindOf(err) != fault.Damaged {
		t.Errorf("got %v", err)
	}
	c.holds(t, "A", 1)
	c.bad = nil
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "B", 2)
}

func TestInterruptedRunIsContinued(t *testing.T) {
	c := newTestChain(t)
	c.run(t, false, "copy", "upper", "check")
	c.write(t, c.source(), "b")
	c.bad = errors.New("disk full")
	if _, err := c.Run(t.Context()); !errors.Is(err, c.bad) {
		t.Errorf("got %v", err)
	}
	c.bad = nil
	c.run(t, false, "check")
	c.holds(t, "B", 2)

	c.write(t, c.source(), "c")
	c.bad = errors.New("disk full")
	_, _ = c.Run(t.Context())
	c.bad = nil
	c.write(t, c.source(), "d") // the unfinished version is now useless
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "D", 2)
}

// A damaged version is made again, even if it is current.
func TestDamagedVersionIsMadeAnew(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"missing":  os.Remove,
		"cut":      func(path string) error { return os.Truncate(path, 0) },
		"longer":   func(path string) error { return os.WriteFile(path, []byte("A and more"), 0o644) },
		"dangling": func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nowhere", path)) },
		"pipe":     func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644)) },
		"folder":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestChain(t)
			c.run(t, false, "copy", "upper", "check")
			if err := damage(filepath.Join(c.Dir, Current, "upper")); err != nil {
				t.Fatal(err)
			}
			c.run(t, false, "upper", "check")
			if result := c.run(t, false); !result.Unchanged {
				t.Error("a second run did something")
			}
			if !t.Failed() {
				c.holds(t, "A", 2)
			}
		})
	}
}

// A run that ends between its last two steps leaves a version that nothing names, and others left
// rubbish.
func TestLeftoversOfKilledRuns(t *testing.T) {
	c := newTestChain(t)
	c.run(t, false, "copy", "upper", "check")
	c.write(t, c.source(), "b")
	second := c.run(t, false, "copy", "upper", "check").Version
	_, versions, _ := Folders(c.Dir)
	if err := c.makeCurrent(versions[0]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{temporaryPrefix + "123", buildingPrefix + "0000000000000000"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, name, "half"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x", filepath.Join(c.Dir, temporaryPrefix+Current)); err != nil {
		t.Fatal(err)
	}
	if result := c.run(t, false); result.Version != second {
		t.Errorf("got version %s, want %s", result.Version, second)
	}
	c.holds(t, "B", 2)
}

// A source that changes after the plan has read it ends the run, and its output is not mistaken for
// what the plan wanted: neither if the source changes back soon, nor if it stays changed.
func TestInputsThatChangeDuringTheRun(t *testing.T) {
	for _, stage := range []string{"copy", "upper", "check"} {
		for _, putBack := range []string{"upper", "check", "after the run", "never"} {
			t.Run(stage+", put back "+putBack, func(t *testing.T) {
				c := newTestChain(t)
				c.before = func(begun string) {
					switch begun {
					case stage:
						c.write(t, c.source(), "changed")
					case putBack:
						c.write(t, c.source(), "a")
					}
				}
				putBackBefore := stage == "upper" && putBack == "check"
				_, err := c.Run(t.Context())
				if putBackBefore && err != nil || !putBackBefore && (fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "input source.txt changed")) {
					t.Fatalf("got %v", err)
				}
				if _, err := os.Lstat(filepath.Join(c.Dir, Current)); err == nil != putBackBefore {
					t.Errorf("current: %v", err)
				}
				c.before = nil
				want := "CHANGED"
				if putBack != "never" {
					c.write(t, c.source(), "a")
					want = "A"
				}
				if _, err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				c.holds(t, want, 1)
			})
		}
	}
}

// A stage that reads other files than the plan's is an error too.
func TestStageReadsOtherFiles(t *testing.T) {
	for want, change := range map[string]func(read []inputfile.Input) []inputfile.Input{
		"input more.txt is new":    func(read []inputfile.Input) []inputfile.Input { return append(read, inputfile.Input{Name: "more.txt"}) },
		"input source.txt is gone": func([]inputfile.Input) []inputfile.Input { return nil },
		"input source.txt changed": func(read []inputfile.Input) []inputfile.Input {
			return []inputfile.Input{{Name: read[0].Name, Bytes: read[0].Bytes, SHA256: strings.Repeat("0", 64)}}
		},
	} {
		c := newTestChain(t)
		run := c.Stages[0].Run
		c.Stages[0].Run = func(ctx context.Context, version string) ([]inputfile.Input, error) {
			read, err := run(ctx, version)
			return change(read), err
		}
		_, err := c.Run(t.Context())
		left, _ := filepath.Glob(filepath.Join(c.Dir, buildingPrefix+"*", "copy"))
		if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), want) || fault.HintOf(err) == "" || len(left) > 0 {
			t.Errorf("got %v, left %v", err, left)
		}
	}
}

// An unfinished version has a predictable name: what another user put there must not be resumed.
func TestUnfinishedVersionOfAnotherUser(t *testing.T) {
	c := newTestChain(t)
	c.bad = errors.New("disk full")
	_, _ = c.Run(t.Context())
	c.bad = nil
	unfinished, _, err := Folders(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(filepath.Join(c.Dir, unfinished[0]), os.Geteuid()+1, -1); err != nil {
		t.Skip("files cannot be given away here:", err)
	}
	c.run(t, false, "copy", "upper", "check")
	c.holds(t, "A", 1)
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	var parts []*os.File
	for range 2 {
		part, err := Lock(dir, disk.Shared)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	if _, err := Lock(dir, disk.Alone); fault.KindOf(err) != fault.Busy {
		t.Errorf("got %v, want a fault.Busy", err)
	}
	for _, part := range parts {
		part.Close()
	}
	alone, err := Lock(dir, disk.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := Lock(dir, disk.Shared); fault.KindOf(err) != fault.Busy {
		t.Errorf("got %v, want a fault.Busy", err)
	}
}

// A reader finds a version at every moment, while the link is replaced repeatedly.
func TestCurrentIsReplacedInOneStep(t *testing.T) {
	c := newTestChain(t)
	names := []string{"000001-00000000", "000002-00000000"}
	if err := c.makeCurrent(names[0]); err != nil {
		t.Fatal(err)
	}
	ended, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-ended:
				return
			default:
			}
			if name, err := os.Readlink(filepath.Join(c.Dir, Current)); !slices.Contains(names, name) {
				failed <- err
				return
			}
		}
	}()
	for i := range 300 {
		if err := c.makeCurrent(names[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	close(ended)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}
