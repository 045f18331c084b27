package slurm

import (
	"os"
	"strconv"

	"tcbuild/fault"
)

// JobID is the id of this process's job, "" outside of a job. Each task of an array has its own.
func JobID() string { return os.Getenv("SLURM_JOB_ID") }

// Restarts is how often SLURM has started this job again.
func Restarts() int {
	n, _ := strconv.Atoi(os.Getenv("SLURM_RESTART_COUNT"))
	return n
}

// CPUsPerTask is the number of CPU cores that SLURM gave the task, 0 if unknown.
func CPUsPerTask() int {
	n, _ := strconv.Atoi(os.Getenv("SLURM_CPUS_PER_TASK"))
	return n
}

// ScratchDir is the node-local folder that SLURM gave the job, "" if there is none.
func ScratchDir() string { return os.Getenv("SLURM_TMPDIR") }

// ArrayTask is this task's place in its array. index counts from 0, whatever the array's numbers.
func ArrayTask() (index, count int, err error) {
	values := make(map[string]int)
	for _, name := range []string{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"} {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return 0, 0, fault.New(fault.Usage, "submit it with sbatch --array", "read %s: found %q, expected a number",
				name, os.Getenv(name))
		}
		values[name] = n
	}
	index, count = values["SLURM_ARRAY_TASK_ID"]-values["SLURM_ARRAY_TASK_MIN"], values["SLURM_ARRAY_TASK_COUNT"]
	if last := values["SLURM_ARRAY_TASK_MAX"] - values["SLURM_ARRAY_TASK_MIN"]; last != count-1 {
		return 0, 0, fault.New(fault.Usage, "number the array's tasks without gaps: --array=0-7",
			"read SLURM_ARRAY_TASK_COUNT: found %d tasks numbered over a range of %d", count, last+1)
	}
	return index, count, nil
}
