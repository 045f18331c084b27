package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"tcbuild/store/internal/sampletable"
)

// check checks that a manifest's masks, shards and files are consistent. It does not look at any
// other file.
func (m *Manifest) check() error {
	positions := 0
	for _, mask := range m.Masks {
		if mask.Size < 0 || mask.Size > math.MaxInt32-positions {
			return fmt.Errorf("masks: %s has size %d, after %d positions, expected at most %d in total", mask.Name,
				mask.Size, positions, math.MaxInt32)
		}
		positions += mask.Size
	}
	for _, file := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(file.Name)) {
			return fmt.Errorf("files: %q does not lie in the dataset", file.Name)
		}
	}
	if digest, err := hex.DecodeString(m.Identity); err != nil || len(digest) != sha256.Size {
		return fmt.Errorf("identity: found %q, expected 64 hexadecimal digits", m.Identity)
	}
	if err := m.checkSamples(); err != nil {
		return err
	}
	switch m.Variant {
	case Incidence:
		if m.Samples < 0 || len(m.Shards) > 0 {
			return fmt.Errorf("found %d samples in %d shards, expected 0 or more samples, no shards", m.Samples, len(m.Shards))
		}
		for _, name := range []string{incidenceName, positionsName} {
			if _, err := m.file(name); err != nil {
				return err
			}
		}
		return nil
	case Indices, FullMasks:
		return m.checkShards()
	}
	return fmt.Errorf("variant: found %q, expected %s, %s or %s", m.Variant, Incidence, Indices, FullMasks)
}

// checkSamples checks the layout and the files of the sample table.
func (m *Manifest) checkSamples() error {
	if m.Samples <= 0 {
		return nil
	}
	layout := sampletable.LayoutOf(m.Columns())
	if found := (sampletable.Layout{PartSamples: m.SamplesPerPart, BatchSamples: m.SamplesPerBatch}); found != layout {
		return fmt.Errorf("samples_per_part and samples_per_batch: found %+v, expected %+v", found, layout)
	}
	for _, name := range layout.Names(m.Samples) {
		if _, err := m.file(samplesName + "/" + name); err != nil {
			return err
		}
	}
	return nil
}

// file returns the manifest's entry of a data file.
func (m *Manifest) file(name string) (File, error) {
	i := slices.IndexFunc(m.Files, func(file File) bool { return file.Name == name })
	if i < 0 {
		return File{}, fmt.Errorf("files: %s is missing", name)
	}
	return m.Files[i], nil
}

// checkShards checks that the shards are those that Cut makes.
func (m *Manifest) checkShards() error {
	if m.Codec == "" {
		return errors.New("codec: found none")
	}
	if m.SamplesPerValue < 1 {
		return fmt.Errorf("samples_per_value: found %d, expected 1 or more", m.SamplesPerValue)
	}
	if m.Samples < 1 || len(m.Shards) < 1 || len(m.Shards) > m.Samples {
		return fmt.Errorf("shards: found %d for %d samples, expected one or more, none of them empty", len(m.Shards), m.Samples)
	}
	cut := Manifest{Samples: m.Samples}
	cut.Cut(len(m.Shards))
	for i, shard := range m.Shards {
		if shard != cut.Shards[i] {
			return fmt.Errorf("shards: found %+v, expected %+v", shard, cut.Shards[i])
		}
		if _, err := m.file(shard.Name + "/" + dataName); err != nil {
			return err
		}
	}
	return nil
}
