package rebuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// JobLabels are the labels of the jobs that a cluster runs.
func (r *Rebuild) JobLabels() []string {
	if len(r.others()) == 0 {
		return []string{JobIncidence, JobVerify, JobFinalize}
	}
	return JobLabels
}

// RunJob runs the part of a submitted chain that is this process's job. result is nil for tasks of
// an array.
func (r *Rebuild) RunJob(ctx context.Context, label string) (result *Result, err error) {
	if was := r.Submitted.Stages[0].Program; was != r.Program {
		return nil, r.changed(fmt.Sprintf("the program was %s, is %s", was, r.Program))
	}
	sharing, isTask := disk.Alone, label == JobShards || label == JobVerify
	if isTask {
		sharing = disk.Shared
	}
	lock, err := r.Lock(ctx, sharing)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	switch {
	case label == JobIncidence:
		return r.Prepare(ctx)
	case label == JobFinalize:
		return r.Run(ctx)
	case r.Submitted.Published():
		return nil, nil
	}
	version := r.building(fingerprint(r.Submitted.Stages))
	recorded := readVersion(version)
	if recorded == nil {
		return nil, fault.New(fault.Usage, "submit the chain again",
			"rebuild %s: found no %s, which the chain's first job makes", r.Dir, filepath.Base(version))
	}
	task, tasks := number("SLURM_ARRAY_TASK_ID"), number("SLURM_ARRAY_TASK_COUNT")
	if task >= tasks {
		return nil, fault.New(fault.Usage, "submit it as an array whose tasks count from 0: --array=0-7",
			"read SLURM_ARRAY_TASK_ID: found task %d of %d", task, tasks)
	}
	// not what a chain before this one has completed
	missing := func(stage string) bool {
		return !slices.ContainsFunc(recorded.Stages, func(r Record) bool { return r.Stage == stage })
	}
	if label == JobShards {
		return nil, r.buildShards(ctx, version, missing, task, tasks)
	}
	return nil, r.verifyParts(ctx, version, missing, task, tasks)
}

// changed is the error of a job that finds something else than what was submitted.
func (c *Chain) changed(why string) error {
	return fault.New(fault.Usage, "submit the chain again, or put back what was submitted",
		"rebuild %s: since the chain was submitted, %s", c.Dir, why)
}

// buildShards builds one task's shards, in every variant that has shards.
func (r *Rebuild) buildShards(ctx context.Context, version string, missing func(stage string) bool, task, tasks int) error {
	for _, variant := range r.others() {
		if !missing(variant) {
			continue
		}
		options, err := r.optionsOf(variant, version)
		if err != nil {
			return err
		}
		options.Scratch = os.Getenv("SLURM_TMPDIR") // the node's own folder, if there is one
		for shard := task; shard < r.Build.Shards; shard += tasks {
			options.Shard = &shard
			// If this job was started before, on a node that froze, the shard is locked until SLURM or
			// the file system gives that node up.
			if err := r.whenFree(ctx, func() error { _, err := tcbuild.Build(ctx, options); return err }); err != nil {
				return err
			}
			r.Log.Info("shard done", "variant", options.Variant, "shard", shard)
		}
	}
	return nil
}

// builtByTasks is an error if tasks have not built all shards of a dataset.
func builtByTasks(dataset string) error {
	if disk.Exists(dataset) {
		return nil
	}
	var missing []string
	shards, _ := store.Status(dataset)
	for _, shard := range shards {
		if shard.State != store.ShardDone {
			missing = append(missing, shard.Name)
		}
	}
	return fault.New(fault.Failed, "submit the chain again: it builds what is missing",
		"open %s: the dataset is not complete, its jobs have not built %s", dataset, strings.Join(missing, ", "))
}

// verifyParts verifies one task's parts of all datasets. Parts that were verified before the task
// was interrupted stay so.
func (r *Rebuild) verifyParts(ctx context.Context, version string, missing func(stage string) bool, task, tasks int) error {
	for _, variant := range r.Variants {
		path := filepath.Join(version, variant)
		if !missing(verifyPrefix + variant) {
			continue
		}
		if err := builtByTasks(path); err != nil {
			return err
		}
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(partsFolder(path), 0o777); err != nil {
			return err
		}
		parts := r.parts(dataset)
		for i := task; i < len(parts); i += tasks {
			if parts[i].Report != nil {
				continue
			}
			if err := r.verifyPart(ctx, dataset, parts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Rebuild) verifyPart(ctx context.Context, dataset *store.Dataset, part gpuverify.Part) error {
	options := r.Verify
	bar := r.Progress("verify", part.End-part.First)
	defer bar.Done()
	options.Progress = bar
	part, err := gpuverify.VerifyPart(ctx, dataset, part, options, &r.reference)
	if err != nil {
		return err
	}
	return disk.WriteJSON(partPath(dataset.Dir, part), part)
}

// parts are the parts of a dataset, with the reports of those that are verified.
func (r *Rebuild) parts(dataset *store.Dataset) []gpuverify.Part {
	parts := gpuverify.Parts(dataset, r.Verify.Method, r.Build.Shards)
	for i := range parts {
		var saved gpuverify.Part
		if disk.ReadJSON(partPath(dataset.Dir, parts[i]), &saved) == nil && saved.Verifies(parts[i]) {
			parts[i] = saved
		}
	}
	return parts
}

// partsFolder is the folder of the parts of a dataset that tasks have verified. It is named as the
// report is, without ending, and swept away when the version is published.
func partsFolder(dataset string) string {
	return filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset))
}

func partPath(dataset string, part gpuverify.Part) string {
	return filepath.Join(partsFolder(dataset), fmt.Sprintf("%s-%d-%d.json", part.Method, part.First, part.End))
}

// Verified is how many samples of a dataset tasks have verified.
func Verified(dataset string) (samples int) {
	files, _ := os.ReadDir(partsFolder(dataset))
	for _, file := range files {
		var part gpuverify.Part
		if disk.ReadJSON(filepath.Join(partsFolder(dataset), file.Name()), &part) == nil {
			samples += part.End - part.First
		}
	}
	return samples
}
