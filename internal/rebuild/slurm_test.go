package rebuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestScript(t *testing.T) {
	order := Order{Prologue: []string{"module load x"}}
	options := []string{"--job-name=x", "--comment=two words", "--output=/out/100 %%j/shards-%A_%a.log", "--time=1:00"}
	want := `#!/bin/bash
#SBATCH --job-name=x
#SBATCH '--comment=two words'
#SBATCH '--output=/out/100 %%j/shards-%A_%a.log'
#SBATCH --time=1:00
cd '/data/it'\''s here' || exit 1
module load x || exit 1
exec /bin/tcbuild rebuild
`
	if got := order.script(options, "/data/it's here", "/bin/tcbuild rebuild"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A dataset's jobs have one name, whatever the path to it, and no other's.
func TestJobName(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a,b %c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	name := func(path ...string) string {
		t.Helper()
		name, err := jobName(filepath.Join(append([]string{dir}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	if got := name("a,b %c"); got != name("link", "a,b %c") || got == name("x", "a,b %c") || !regexp.MustCompile(`^a_b__c-[0-9a-f]{8}$`).MatchString(got) {
		t.Errorf("got %s", got)
	}
}

// The last task of an array has the array's number as its job's.
func TestJobID(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "17")
	if got := JobID(); got != "17" {
		t.Errorf("got %s", got)
	}
	t.Setenv("SLURM_ARRAY_JOB_ID", "17")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	if got := JobID(); got != "17_3" {
		t.Errorf("got %s", got)
	}
}

// A shell reads each quoted word as it was.
func FuzzQuote(f *testing.F) {
	for _, word := range []string{"", "plain", "two words", "it's", `back\slash`, "$HOME `id` \"x\"", "*", "a\nb", "~", "é", "#x", "-n"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			t.Skip("no argument can hold a zero byte")
		}
		got, err := exec.Command("bash", "-c", "printf %s "+quote(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("got %q, %v, want %q", got, err, word)
		}
	})
}
