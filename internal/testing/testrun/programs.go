package testrun

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// programs names the programs of others that tests use. .ci/run sets it to those that it installs.
// Python's tests read it, too.
const programs = "TCBUILD_PROGRAMS"

// NeedPrograms skips a test that uses programs of others, unless all are named in TCBUILD_PROGRAMS:
// other machines have them in versions, and with settings, that nobody has tried.
func NeedPrograms(t *testing.T, names ...string) {
	t.Helper()
	named := strings.Fields(os.Getenv(programs))
	for _, name := range names {
		if !slices.Contains(named, name) {
			t.Skipf("%s does not name %s; .ci/run installs it", programs, name)
		}
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%s names %s: %v", programs, name, err)
		}
	}
}
