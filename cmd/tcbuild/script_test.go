package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar, the contract of the commands: what they print, their
// exit codes, and the files that they leave. Lines are commands as a user types them, those of
// testscript, and
//
//	exit CODE COMMAND...           the command must end with this exit code
//	interrupt FILE COMMAND...      SIGTERM once there is a FILE, a pattern: exit code 75
//
// With -update, `cmp` updates the files that it compares with.
func TestScripts(t *testing.T) {
	t.Parallel()
	skipShort(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// the program is this test's binary, as TestMain has it
			binary, err := os.Executable()
			if err != nil {
				return err
			}
			bin := filepath.Join(env.WorkDir, ".bin")
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv(modeVariable, "main")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return errors.Join(os.Mkdir(bin, 0o755), os.Symlink(binary, filepath.Join(bin, "tcbuild")))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exit": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exit CODE COMMAND...")
				}
				code := 0
				err := ts.Exec(args[1], args[2:]...)
				if exit, ok := errors.AsType[*exec.ExitError](err); ok {
					code = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if args[0] != strconv.Itoa(code) {
					ts.Fatalf("found exit code %d, expected %s", code, args[0])
				}
			},
			"interrupt": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: interrupt FILE COMMAND...")
				}
				cmd := program(t, "main", args[2:]...)
				cmd.Dir = ts.Getenv("WORK")
				start(t, cmd)
				eventually(t, args[0], func() bool { return len(glob(t, cmd.Dir, args[0])) > 0 })
				send(t, cmd, syscall.SIGTERM)
				finish(t, cmd).refused(t, 75, "interrupted by SIGTERM")
			},
		},
	})
}
