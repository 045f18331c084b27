package rebuild

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/internal/slurm"
)

// Cluster says how a chain is submitted.
type Cluster struct {
	Array                   string // tasks that build and verify shards, and how many run at once: 8 or 8%4
	Partition, GPUPartition string
	GRES                    string              // of the verification on the GPU partition
	CPUs                    int                 // of each job; 0: the cluster's default
	Sbatch                  []string            // further options for all jobs
	SbatchOf                map[string][]string // and for one job, by its label
}

// The jobs of a submitted chain, in order.
const (
	JobIncidence = "incidence"
	JobShards    = "shards"
	JobVerify    = "verify"
	JobFinalize  = "finalize"
)

// JobLabels lists the jobs.
var JobLabels = []string{JobIncidence, JobShards, JobVerify, JobFinalize}

// Tasks is the number of tasks of an array, and the text behind it: "" or %4.
func (c *Cluster) Tasks() (tasks int, atOnce string, err error) {
	number, limit, limited := strings.Cut(c.Array, "%")
	tasks, err = strconv.Atoi(number)
	if limited && err == nil {
		var most int
		if most, err = strconv.Atoi(limit); most < 1 {
			tasks = 0
		}
		atOnce = "%" + limit
	}
	if err != nil || tasks < 1 {
		return 0, "", fault.New(fault.Usage, "give a number of tasks, and how many run at once if not all: 8 or 8%4",
			"read --array: found %q, expected 1 or more", c.Array)
	}
	return tasks, atOnce, nil
}

// jobs are the jobs of a chain that is submitted with a folder of its own. Each runs command with
// --step=LABEL in the folder dir.
func (o *Options) jobs(cluster Cluster, folder, dir string, command []string) ([]slurm.Job, error) {
	tasks, atOnce, err := cluster.Tasks()
	if err != nil {
		return nil, err
	}
	labels := JobLabels
	if len(o.datasets()) == 1 {
		labels = slices.DeleteFunc(slices.Clone(labels), func(label string) bool { return label == JobShards })
	}
	jobs := make([]slurm.Job, len(labels))
	for i, label := range labels {
		jobs[i] = slurm.Job{
			// squeue shows the first eight characters
			Name: label[:2] + "-" + o.Dataset + "-" + filepath.Base(folder), Label: label,
			Comment: fmt.Sprintf("tcbuild %s: %s", label, filepath.Dir(filepath.Dir(folder))),
			Log:     filepath.Join(folder, label), Options: cluster.options(label), Dir: dir,
			Command: append(slices.Clone(command), "--config", filepath.Join(folder, settingsName), "--step", label),
		}
		if label == JobShards || label == JobVerify {
			jobs[i].Tasks = fmt.Sprintf("0-%d%s", tasks-1, atOnce)
		}
	}
	return jobs, nil
}

// options are the sbatch options of one job; later ones win.
func (c *Cluster) options(label string) (options []string) {
	switch {
	case label == JobVerify && c.GPUPartition != "":
		options = append(options, "--partition="+c.GPUPartition)
		if c.GRES != "" {
			options = append(options, "--gres="+c.GRES)
		}
	case c.Partition != "":
		options = append(options, "--partition="+c.Partition)
	}
	if c.CPUs > 0 {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", c.CPUs))
	}
	return slices.Concat(options, c.Sbatch, c.SbatchOf[label])
}
