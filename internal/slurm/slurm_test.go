package slurm

import (
	"os/exec"
	"strings"
	"testing"

	"tcbuild/fault"
)

func TestScript(t *testing.T) {
	job := Job{
		Name: "sh-x", Comment: "two words", Label: "shards", Log: "/out/100 %j/shards", Tasks: "0-7%4", Options: []string{"--time=1:00"},
		Dir: "/data/it's here", Command: []string{"/bin/tcbuild", "rebuild", "k=$HOME", ""},
	}
	want := `#!/bin/bash
#SBATCH --job-name=sh-x
#SBATCH '--comment=two words'
#SBATCH '--output=/out/100 %%j/shards-%A_%a.log'
#SBATCH --array=0-7%4
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --time=1:00
cd '/data/it'\''s here' || exit 1
exec /bin/tcbuild rebuild 'k=$HOME' ''
`
	if got := job.Script(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	job.Tasks = ""
	if got := job.Script(); !strings.Contains(got, "/shards-%j.log'\n") || strings.Contains(got, "--array") {
		t.Errorf("got\n%s", got)
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

func TestArrayTask(t *testing.T) {
	for _, c := range []struct {
		id, min, max, count string
		index, tasks        int
		want                string
	}{
		{"0", "0", "7", "8", 0, 8, ""},
		{"7", "0", "7", "8", 7, 8, ""},
		{"5", "3", "6", "4", 2, 4, ""},
		{"4", "0", "8", "5", 0, 0, "5 tasks numbered over a range of 9"},
		{"", "0", "7", "8", 0, 0, `SLURM_ARRAY_TASK_ID: found ""`},
		{"1", "0", "7", "many", 0, 0, `SLURM_ARRAY_TASK_COUNT: found "many"`},
	} {
		t.Setenv("SLURM_ARRAY_TASK_ID", c.id)
		t.Setenv("SLURM_ARRAY_TASK_MIN", c.min)
		t.Setenv("SLURM_ARRAY_TASK_MAX", c.max)
		t.Setenv("SLURM_ARRAY_TASK_COUNT", c.count)
		index, tasks, err := ArrayTask()
		switch {
		case c.want == "" && (err != nil || index != c.index || tasks != c.tasks):
			t.Errorf("%+v: got %d of %d, %v", c, index, tasks, err)
		case c.want != "" && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
