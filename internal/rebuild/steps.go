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

// Jobs are the labels of the jobs that a cluster runs.
func (o *Options) Jobs() []string {
	if len(o.datasets()) == 1 {
		return []string{JobIncidence, JobVerify, JobFinalize}
	}
	return JobLabels
}

// RunJob runs the part of a submitted chain that is this process's job. result is nil for tasks of
// an array.
func (o *Options) RunJob(ctx context.Context, chain *Chain, label string) (result *Result, err error) {
	if was := chain.Submitted.Program; was != chain.Program {
		return nil, chain.changed(fmt.Sprintf("the program was %s, is %s", was, chain.Program))
	}
	sharing := disk.Alone
	if label == JobShards || label == JobVerify {
		sharing = disk.Shared
	}
	lock, err := chain.Lock(ctx, sharing)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	switch label {
	case JobIncidence:
		return chain.Prepare(ctx)
	case JobFinalize:
		return chain.Run(ctx)
	}
	version, ready, err := chain.unfinished()
	if ready || err != nil {
		return nil, err
	}
	task, tasks, err := arrayTask()
	switch {
	case err != nil:
		return nil, err
	case label == JobShards:
		return nil, o.buildShards(ctx, chain, version, task, tasks)
	default:
		return nil, o.verifyParts(ctx, chain, version, task, tasks)
	}
}

// changed is the error of a job that finds something else than what was submitted.
func (c *Chain) changed(why string) error {
	return fault.New(fault.Usage, "submit the chain again, or put back what was submitted",
		"rebuild %s: since the chain was submitted, %s", c.Dir, why)
}

// unfinished is the folder of the submitted chain's version. ready is true if the version exists
// already.
func (c *Chain) unfinished() (folder string, ready bool, err error) {
	folder = c.building(c.Submitted.Fingerprint)
	if readVersion(folder) != nil {
		return folder, false, nil
	}
	if c.Submitted.Published() {
		return "", true, nil
	}
	return "", false, fault.New(fault.Usage, "submit the chain again",
		"rebuild %s: found no %s, which the chain's first job makes", c.Dir, filepath.Base(folder))
}

// made reports whether the output of a stage is recorded as complete in an unfinished version.
func made(version, stage string) bool {
	v := readVersion(version)
	return v != nil && slices.ContainsFunc(v.Stages, func(r Record) bool { return r.Stage == stage })
}

// buildShards builds one task's shards, in every variant that has shards.
func (o *Options) buildShards(ctx context.Context, chain *Chain, version string, task, tasks int) error {
	for _, name := range o.datasets()[1:] {
		if made(version, name) {
			continue
		}
		options, err := o.datasetOptions(name, version)
		if err != nil {
			return err
		}
		options.Scratch = os.Getenv("SLURM_TMPDIR") // the node's own folder, if there is one
		for shard := task; shard < o.Build.Shards; shard += tasks {
			options.Shard = &shard
			if err := o.buildShard(ctx, chain, options); err != nil {
				return err
			}
		}
	}
	return nil
}

// buildShard builds a shard. If this job was started before, on a node that froze, the shard is
// locked until SLURM or the file system gives that node up: it waits.
func (o *Options) buildShard(ctx context.Context, chain *Chain, options tcbuild.Options) error {
	for waited := false; ; waited = true {
		_, err := o.Commands.Build(ctx, options)
		if err == nil || fault.KindOf(err) != fault.Busy || ctx.Err() != nil {
			return err
		}
		if !waited {
			chain.Log.Info("waiting for another process to end", "why", err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// builtApart is the manifest of a dataset whose shards other jobs built.
func (o *Options) builtApart(dataset string) (*store.Manifest, error) {
	if disk.Exists(dataset) {
		return store.ReadManifest(dataset)
	}
	var missing []string
	shards, _ := store.Status(dataset)
	for _, shard := range shards {
		if shard.State != store.ShardDone {
			missing = append(missing, shard.Name)
		}
	}
	return nil, fault.New(fault.Failed, "submit the chain again: it builds what is missing",
		"open %s: the dataset is not complete, its jobs have not built %s", dataset, strings.Join(missing, ", "))
}

// verifyParts verifies one task's parts of all datasets. What was verified before the task was
// interrupted stays so.
func (o *Options) verifyParts(ctx context.Context, chain *Chain, version string, task, tasks int) error {
	reference := &gpuverify.Reference{}
	for _, variant := range o.Variants {
		if made(version, verifyPrefix+variant) {
			continue
		}
		path := filepath.Join(version, variant)
		if _, err := o.builtApart(path); err != nil {
			return err
		}
		dataset, err := store.Open(path)
		if err != nil {
			return err
		}
		parts := o.parts(dataset)
		for i := task; i < len(parts); i += tasks {
			path := checkpoint(dataset.Dir, parts[i])
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return err
			}
			save := func(part gpuverify.Part) error { return disk.WriteJSON(path, part) }
			if err := o.Commands.VerifyPart(ctx, dataset, parts[i], reference, save); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts are the parts of a dataset, each with what is verified of it.
func (o *Options) parts(dataset *store.Dataset) []gpuverify.Part {
	parts := gpuverify.Parts(dataset, o.Method, o.Build.Shards)
	for i := range parts {
		var saved gpuverify.Part
		if disk.ReadJSON(checkpoint(dataset.Dir, parts[i]), &saved) == nil && saved.Continues(parts[i]) {
			parts[i] = saved
		}
	}
	return parts
}

// checkpoint is the file with what is verified of a part. It is named as the report is, without
// ending, and swept away when the version is published.
func checkpoint(dataset string, part gpuverify.Part) string {
	return filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset),
		fmt.Sprintf("%s-%d-%d.json", part.Method, part.First, part.End))
}

// Verified is how many samples of an unfinished version's dataset tasks have verified.
func Verified(dataset string) (samples int) {
	files, _ := os.ReadDir(filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset)))
	for _, file := range files {
		var part gpuverify.Part
		if disk.ReadJSON(filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset), file.Name()), &part) == nil {
			samples += part.Next - part.First
		}
	}
	return samples
}

// gather completes the verification of a dataset by the tasks of the array.
func (o *Options) gather(ctx context.Context, dir string) (*gpuverify.Report, error) {
	dataset, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return o.Commands.Gather(ctx, dataset, o.parts(dataset), &o.reference)
}
