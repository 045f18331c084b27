package rebuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/slurm"
	"tcbuild/internal/versions"
	"tcbuild/store"
)

// BuildShards builds the shards of one task of the array, in every variant that has shards. It does
// nothing if a version is up to date already.
func (o *Options) BuildShards(ctx context.Context, chain *versions.Chain) error {
	return o.task(ctx, chain, func(version string, task, tasks int) error {
		for _, name := range o.datasets()[1:] {
			if chain.Made(name) {
				continue
			}
			options, err := o.datasetOptions(name, version)
			if err != nil {
				return err
			}
			options.Scratch = slurm.ScratchDir()
			for shard := task; shard < o.Build.Shards; shard += tasks {
				options.Shard = &shard
				if _, err := o.Commands.Build(ctx, options); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// task calls work with the folder of the unfinished version and this process's place in its array,
// while it shares the chain's lock.
func (o *Options) task(ctx context.Context, chain *versions.Chain,
	work func(version string, task, tasks int) error) error {
	task, tasks, err := slurm.ArrayTask()
	if err != nil {
		return err
	}
	release, err := chain.Lock(ctx, disk.Shared, true)
	if err != nil {
		return err
	}
	defer release()
	if err := chain.Check(); err != nil {
		return err
	}
	version, ready, err := chain.Unfinished()
	if ready || err != nil {
		return err
	}
	return work(version, task, tasks)
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

// VerifyShards verifies the parts of all datasets that are one task's of the array. What was
// verified before the task was interrupted stays so.
func (o *Options) VerifyShards(ctx context.Context, chain *versions.Chain) error {
	return o.task(ctx, chain, func(version string, task, tasks int) error {
		reference := &gpuverify.Reference{}
		for _, variant := range o.Variants {
			if chain.Made(verifyPrefix + variant) {
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
				if saved := readPart(path); saved != nil && saved.Continues(parts[i]) {
					parts[i] = *saved
				}
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
	})
}

func (o *Options) parts(dataset *store.Dataset) []gpuverify.Part {
	return gpuverify.Parts(dataset, o.Method, o.Build.Shards)
}

// checkpoint is the file with what is verified of a part. It is named as the report is, without
// ending, and swept away when the version is published.
func checkpoint(dataset string, part gpuverify.Part) string {
	return filepath.Join(filepath.Dir(dataset), verifyPrefix+filepath.Base(dataset),
		fmt.Sprintf("%s-%d-%d.json", part.Method, part.First, part.End))
}

// readPart reads a checkpoint; nil if there is none.
func readPart(path string) *gpuverify.Part {
	var part gpuverify.Part
	if disk.ReadJSON(path, &part) != nil {
		return nil
	}
	return &part
}

// gather completes the verification of a dataset by the tasks of the array.
func (o *Options) gather(ctx context.Context, dir string) (*gpuverify.Report, error) {
	dataset, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	parts := o.parts(dataset)
	for i := range parts {
		if saved := readPart(checkpoint(dir, parts[i])); saved != nil && saved.Continues(parts[i]) {
			parts[i] = *saved
		}
	}
	return o.Commands.Gather(ctx, dataset, parts, &o.reference)
}
