package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/disk"
)

var arrayText = regexp.MustCompile(`^([1-9]\d*)(%[1-9]\d*)?$`)

// Tasks is the number of tasks of the array, and the text after it: "" or %4.
func (o *Order) Tasks() (tasks int, atOnce string, err error) {
	match := arrayText.FindStringSubmatch(o.Array)
	if match == nil {
		return 0, "", fault.New(fault.Usage, "give the number of tasks, and optionally how many run at once: 8 or 8%4",
			"read --array: found %q, expected 1 or more", o.Array)
	}
	tasks, err = strconv.Atoi(match[1])
	return tasks, match[2], err
}

// Order is a chain to submit.
type Order struct {
	Jobs     []string             // their labels
	Array    string               // tasks that build and verify shards, and how many run at once: 8 or 8%4
	Sbatch   []string             // options of sbatch for all jobs
	SbatchOf map[string]*[]string // and for one, by its label
	Clusters string               // whose jobs these are, as SLURM's --clusters; "": this cluster's
	Export   []string             // further variables of the jobs' environment: NAME or NAME=VALUE
	Prologue []string             // lines of shell that jobs begin with, such as module load
	Wrapper  string               // words of shell that run a program, such as apptainer exec IMAGE; "": it runs itself
	Cores    int                  // of the incidence job, unless options of sbatch name another number
	Memory   map[string]int       // MB, by label, unless options of sbatch name another; nil: none is asked for
	Folder   string               // NextFolder
	Settings []byte               // of the jobs
	Ingest   []byte               // of their section ingest; nil without one
}

// IngestPath is where the section ingest of a chain's settings will be. Settings refer to it.
func IngestPath(folder string) string { return filepath.Join(folder, ingestName) }

// NextFolder is the folder of the chain that is submitted next for a plan.
func (c *Chain) NextFolder(plan *Plan) string {
	folder, number := filepath.Join(c.Dir, chainsFolder), 0
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		var n int
		if _, err := fmt.Sscanf(entry.Name(), "%06d-", &n); err == nil {
			number = max(number, n)
		}
	}
	return filepath.Join(folder, fmt.Sprintf("%06d-%.8s", number+1, plan.Fingerprint))
}

// Submit submits a chain after the jobs of queue, and returns its jobs. Each starts when the one
// before has succeeded. If one cannot be submitted, those before it are cancelled. The caller holds
// the locks of Begin.
func (c *Chain) Submit(ctx context.Context, plan *Plan, queue []Job, order Order) (jobs []Job, err error) {
	batches, err := c.batches(order)
	if err != nil {
		return nil, err
	}
	if len(queue) == 0 {
		if err := c.sweep(plan); err != nil {
			return nil, err
		}
		if !plan.resumed {
			if err := c.discard(plan.building); err != nil {
				return nil, err
			}
		}
	}
	chains, err := Chains(c.Dir)
	for _, s := range chains[:max(0, len(chains)-keptChains)] {
		if !slices.ContainsFunc(queue, func(job Job) bool { return job.Chain == filepath.Base(s.Folder) }) {
			c.leave(s.Folder, os.RemoveAll(s.Folder))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(order.Folder, 0o777); err != nil {
		return nil, err
	}
	var ids []string
	defer func() {
		if err != nil && len(ids) > 0 {
			_, cancelErr := command(context.WithoutCancel(ctx), order.Clusters, "", "scancel", ids...)
			err = errors.Join(err, cancelErr)
		}
		if err != nil {
			err = errors.Join(err, os.RemoveAll(order.Folder))
			_ = os.Remove(filepath.Dir(order.Folder)) // unless there are other chains
		}
	}()
	err = disk.WriteJSON(filepath.Join(order.Folder, planName), Submitted{Stages: plan.records(), Clusters: order.Clusters})
	for name, text := range map[string][]byte{settingsName: order.Settings, ingestName: order.Ingest} {
		if text != nil && err == nil {
			err = os.WriteFile(filepath.Join(order.Folder, name), text, 0o666)
		}
	}
	if err != nil {
		return nil, err
	}
	var before []string
	for _, job := range queue { // all: the last chain may be cancelled before the others have ended
		before = append(before, job.Array)
	}
	dependency := dependencyOn("afterany", slices.Compact(before))
	for _, batch := range batches {
		// an option in the script would lose against a variable such as SBATCH_PARTITION
		out, err := command(ctx, order.Clusters, batch.script, "sbatch", slices.Concat([]string{"--parsable"}, dependency, batch.options)...)
		if err != nil {
			return jobs, err
		}
		id, _, _ := strings.Cut(out, ";") // a cluster's name may follow
		ids, jobs = append(ids, id), append(jobs, Job{Label: batch.label, Array: id})
		dependency = dependencyOn("afterok", []string{id})
	}
	return jobs, nil
}

// Describe shows the commands and scripts that Submit would run.
func (c *Chain) Describe(order Order) (string, error) {
	batches, err := c.batches(order)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var dependency []string
	for _, batch := range batches {
		words := strings.Join(append([]string{"sbatch --parsable"}, dependency...), " ")
		fmt.Fprintf(&b, "# %s=$(%s %s.sbatch), with this %s.sbatch:\n%s\n", batch.label, words, batch.label, batch.label, batch.script)
		dependency = dependencyOn("afterok", []string{"$" + batch.label})
	}
	return b.String() + "# with these settings.json:\n" + string(order.Settings) + string(order.Ingest), nil
}

// dependencyOn is sbatch's option for jobs to wait for, if there are any.
func dependencyOn(kind string, ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	return []string{"--dependency=" + kind + ":" + strings.Join(ids, ":")}
}

type batch struct {
	label   string
	options []string // of sbatch
	script  string
}

// script is a job as a batch script. The program replaces the shell, so that it receives the
// signals that SLURM sends to the batch shell: SIGTERM, and SIGUSR1 two minutes before a time limit
// or a preemption. A wrapper may keep signals to itself, and SLURM's commands out.
func (o *Order) script(options []string, dir, command string) string {
	var script strings.Builder
	script.WriteString("#!/bin/bash\n")
	for _, option := range options {
		fmt.Fprintf(&script, "#SBATCH %s\n", quote(option))
	}
	for _, line := range append([]string{"cd " + quote(dir)}, o.Prologue...) {
		fmt.Fprintf(&script, "%s || exit 1\n", line)
	}
	if o.Wrapper == "" {
		return script.String() + "exec " + command + "\n"
	}
	return script.String() + o.Wrapper + " " + command + wrapped
}

// wrapped follows a command that runs in a wrapper: it passes signals on, and has the job
// started again after exit code 75, as Requeue does.
const wrapped = ` &
program=$!
trap 'kill -USR1 $program' USR1
trap 'kill -TERM $program' TERM
while kill -0 $program 2>/dev/null; do wait $program; code=$?; done
job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=${job:-$SLURM_JOB_ID}
if [ $code -eq 75 ] && [ "$(squeue --noheader --format=%T --jobs="$job")" = RUNNING ]; then
  trap '' TERM
  scontrol requeue "$job"
fi
exit $code
`

// exported are the variables that jobs take from the submitting process. SLURM's own would be wrong
// in them, if that is a job.
var exported = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SLURM_CONF"}

// given returns a job's options of sbatch. Later ones take precedence.
func (o *Order) given(label string) []string {
	options := slices.Concat(o.Sbatch, *o.SbatchOf[label])
	if label == JobIncidence {
		options = slices.Insert(options, 0, fmt.Sprintf("--cpus-per-task=%d", o.Cores))
	}
	return options
}

func (c *Chain) batches(order Order) (batches []batch, err error) {
	tasks, atOnce, err := order.Tasks()
	name, nameErr := jobName(c.Dir)
	dir, dirErr := os.Getwd()
	program, programErr := os.Executable()
	if err := errors.Join(err, nameErr, dirErr, programErr); err != nil {
		return nil, err
	}
	for _, label := range order.Jobs {
		log, array := "-%j.log", []string(nil)
		if label == JobShards || label == JobVerify {
			log, array = "-%A_%a.log", []string{fmt.Sprintf("--array=0-%d%s", tasks-1, atOnce)}
		}
		options := slices.Concat([]string{
			"--job-name=" + name,
			"--comment=" + label + " " + filepath.Base(order.Folder) + " " + c.Dir,
			"--output=" + strings.ReplaceAll(filepath.Join(order.Folder, label), "%", "%%") + log, // else a pattern
			"--open-mode=append", "--requeue", "--signal=B:USR1@120", "--kill-on-invalid-dep=yes",
			"--export=" + strings.Join(slices.Concat(exported, order.Export), ","),
		}, array)
		given := order.given(label)
		// of --mem, --mem-per-cpu and --mem-per-gpu a job may have one
		hasMemory := slices.ContainsFunc(given, func(option string) bool { return strings.HasPrefix(option, "--mem") })
		if n := order.Memory[label]; n > 0 && !hasMemory {
			options = append(options, fmt.Sprintf("--mem=%dM", n))
		}
		options = append(options, given...) // later ones win
		command := fmt.Sprintf("%s rebuild --config %s step=%s", quote(program), quote(filepath.Join(order.Folder, settingsName)), label)
		batches = append(batches, batch{label, options, order.script(options, dir, command)})
	}
	return batches, nil
}

// quote quotes a word for a shell, and for sbatch's comments.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports whether a character means itself to a shell.
func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./:,@%", r)
}

type size struct {
	positions int // of the mask space, about: rows of the graph's tables
	samples   int
	columns   int // phenotypes and attributes
}

// unknownPositions is taken for the positions of a graph that the chain makes itself: four times
// the yeast graph's figures.
const unknownPositions = 10_000_000

// inputSize reads the input's tables to find their size. What is wrong with them the first job
// says.
func (r *Rebuild) inputSize() (s size) {
	for _, stage := range r.Stages {
		for _, source := range stage.Sources {
			if strings.HasPrefix(source.Name, graphSource) {
				rows, _ := tableSize(source.Path)
				s.positions += rows
			}
		}
	}
	if s.positions == 0 {
		s.positions = unknownPositions
	}
	set, err := samples.Parse(r.Build.Perturbations)
	switch {
	case r.Build.Perturbations == "":
		s.samples, _ = strconv.Atoi(r.Input.Options["samples"])
	case err != nil || set.Recipe != "": // computed, and not searched for repeated ids or genotypes
	case table.IsTable(r.Build.Perturbations):
		s.samples, s.columns = tableSize(r.Build.Perturbations)
	default: // a record of a torchcell store has 200 bytes and more
		for _, path := range set.Files {
			if info, err := os.Stat(path); err == nil {
				s.samples += int(info.Size() / 200)
			}
		}
	}
	return s
}

// tableSize is the number of rows and columns of a table, as far as it can be read.
func tableSize(path string) (rows, columns int) {
	r, err := table.Open(path)
	if err != nil {
		return 0, 0
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil { // io.EOF, at best
			return rows, len(r.Columns())
		}
		rows += b.Len
	}
}

// surveyCores is how many cores the incidence job asks for, where nodes have them: all tasks wait
// for it.
const surveyCores = 4

// AskFor sets the cores and the memory that jobs ask for. Memory is nil if SLURM does not know the
// memory of its nodes, and so refuses a job that asks for some. Otherwise it is twice what was
// measured, in MB:
//
//	incidence  75 + 27 per million positions + 70 per million samples + 20 per core + 25 per 1,000 columns
//	shards     25 + 27 per million positions + 5 per core
//	verify     30 + 45 per million positions + 16 per core, 2,000 on a GPU
//	finalize   25 + 27 per million positions
//
// and at least 256. A job that makes its input asks for 2,000 and more.
func (r *Rebuild) AskFor(ctx context.Context, order *Order) {
	order.Cores, order.Memory = surveyCores, make(map[string]int)
	unknown := false // the nodes' memory
	nodes, _ := command(ctx, order.Clusters, "", "sinfo", "--noheader", "--format=%c %m")
	for line := range strings.Lines(nodes) {
		var cores, memory int // of each node that the line is for, at least
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, "+", ""), "%d %d", &cores, &memory); err != nil {
			continue // the name of a cluster
		}
		order.Cores = min(order.Cores, cores)
		unknown = unknown || memory == 1 // SLURM's default
	}
	if unknown {
		order.Memory = nil
		return
	}
	s := r.inputSize()
	positions, samples := float64(s.positions)/1e6, float64(s.samples)/1e6
	for _, label := range order.Jobs {
		cores := float64(cpusPerTask(order.given(label)))
		need := 25 + 27*positions
		switch label {
		case JobIncidence:
			need += 50 + 70*samples + 20*cores + float64(s.columns)/40
			if r.Input.Stage != "" {
				need = max(need, 1000)
			}
		case JobShards:
			need += 5 * cores
		case JobVerify:
			need += 5 + 18*positions + 16*cores
			if r.Verify.Devices != nil {
				need += 2000
			}
		}
		order.Memory[label] = (max(int(2*need), 256) + 63) / 64 * 64
	}
}

var cpusOption = regexp.MustCompile(`(?:^| )(?:--cpus-per-task=|-c ?)(\d+)`)

// cpusPerTask is what options of sbatch say last; 1 if they do not.
func cpusPerTask(options []string) int {
	cores := 1
	for _, match := range cpusOption.FindAllStringSubmatch(strings.Join(options, " "), -1) {
		cores, _ = strconv.Atoi(match[1])
	}
	return cores
}
