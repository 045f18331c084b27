package rebuild

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
	"tcbuild/internal/variants"
	"tcbuild/store"
)

// Trust says which inputs are read to know their digests.
type Trust int

const (
	ReadAll  Trust = iota
	ReadNew        // all but those known by size, times and inode
	ReadOnly       // as ReadNew, but nothing is written
)

const digestsName = "digests.json"

// Record returns what determines the version that would be built now.
func (r *Rebuild) Record(trust Trust) (*variants.Record, error) {
	if err := r.Build.Spec.Prepare(); err != nil {
		return nil, err
	}
	known := make(disk.Digests)
	if trust != ReadAll && disk.ReadJSON(r.path(digestsName), &known) != nil {
		known = make(disk.Digests)
	}
	inputs, err := r.inputs(known)
	if err != nil {
		return nil, err
	}
	record := r.describe(inputs, func(text string) string { return text })
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	record = r.describe(inputs, func(text string) string { return r.Redact(text, 1) })
	record.Key = fmt.Sprintf("%x", sha256.Sum256(text))[:variants.KeyLength]
	if trust != ReadOnly && len(known) > 0 {
		err = disk.WriteJSON(r.path(digestsName), known)
	}
	return record, err
}

// describe returns the record without its key.
func (r *Rebuild) describe(inputs []inputfile.Input, redact func(string) string) *variants.Record {
	record := &variants.Record{Variants: r.Names, FormatVersion: store.FormatVersion,
		Program: r.Program, Settings: r.Build.Spec.Record(redact)}
	record.Settings["reaction_rule"] = r.Build.ReactionRule
	record.Settings["method"] = r.Verify.Method // not the device, which changes no result
	for _, input := range inputs {
		input.Name = redact(input.Name)
		record.Inputs = append(record.Inputs, input)
	}
	return record
}

// inputs returns the digests of all inputs. The graph's sources.json is none: manifests quote it,
// but no mask depends on it.
func (r *Rebuild) inputs(known disk.Digests) (inputs []inputfile.Input, err error) {
	add := func(name, path string) error {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		// without the path, in which there may be secrets
		place := fmt.Sprintf("%x", sha256.Sum256([]byte(absolute)))
		file, _, err := known.Of(place, path)
		if err != nil {
			return fmt.Errorf("read input %s: %w", path, err)
		}
		inputs = append(inputs,
			inputfile.Input{Name: name, Bytes: file.Bytes, SHA256: file.SHA256})
		return nil
	}
	tables, err := graph.Files(r.Build.Graph)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if err := add(variants.GraphInput+name, tables[name]); err != nil {
			return nil, err
		}
	}
	for _, path := range r.Build.Spec.Files() {
		if err := add(filepath.Base(path), path); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// Compare returns the record of the version that would be built now, without writing anything, and
// in what it differs from the current one: nothing, if that is the one and not even a size differs.
func (r *Rebuild) Compare(ctx context.Context) (want *variants.Record, lines []string, err error) {
	want, err = r.Record(ReadOnly)
	if err != nil {
		return nil, nil, err
	}
	key, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	if key == "" {
		return want, []string{"there is no current version"}, nil
	}
	now, err := variants.ReadRecord(r.path(key))
	if err != nil || now.Key == want.Key {
		if err = variants.Check(ctx, r.path(key), variants.SizesOnly); err != nil {
			lines = append(lines, err.Error())
		}
		return want, lines, nil
	}
	return want, now.Differences(want), nil
}
