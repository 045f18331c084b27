package bench

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"tcbuild/encode"
	"tcbuild/store"
)

// measureSize measures a dataset, and returns the bytes that do not grow with the samples. It reads
// every payload.
func measureSize(dir string) (size Size, fixed int64, err error) {
	dataset, err := store.Open(dir)
	if err != nil {
		return size, 0, err
	}
	m := dataset.Manifest
	if size.DatasetBytes, size.AllocatedBytes, err = diskUsage(dir); err != nil {
		return size, 0, err
	}
	size.SampleBytes = m.SampleBytes()
	size.BytesPerSample = float64(size.SampleBytes) / float64(m.Samples)
	if m.Variant != store.Incidence {
		if size.ValueBytes, err = valueBytes(dataset); err != nil {
			return size, 0, err
		}
		size.PageWaste = pageWaste(m.ShardBytes(), size.ValueBytes)
	}
	return size, size.DatasetBytes - size.SampleBytes, nil
}

// pageWaste is the fraction of an LMDB file outside of values.
func pageWaste(fileBytes, valueBytes int64) float64 {
	return 1 - float64(valueBytes)/float64(fileBytes)
}

// diskUsage adds up the lengths of a folder's files, and what they and the folders occupy on disk.
func diskUsage(dir string) (bytes, allocated int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			bytes += info.Size()
		}
		allocated += 512 * info.Sys().(*syscall.Stat_t).Blocks
		return nil
	})
	return bytes, allocated, err
}

// valueBytes adds up the sizes of a dataset's LMDB values, computed from their payloads
// (store/FORMAT.md).
func valueBytes(dataset *store.Dataset) (int64, error) {
	reader := dataset.NewReader()
	defer reader.Close()
	total := int64(0)
	for _, shard := range dataset.Manifest.Shards {
		for sample := shard.First; sample < shard.First+shard.Samples; sample++ {
			payload, err := reader.Payload(sample)
			if err != nil {
				return 0, err
			}
			total += int64(len(payload))
			if (sample-shard.First)%dataset.Manifest.SamplesPerValue == 0 {
				count := min(dataset.Manifest.SamplesPerValue, shard.First+shard.Samples-sample)
				total += int64(encode.DirectoryBytes(count))
			}
		}
	}
	return total, nil
}
