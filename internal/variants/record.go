package variants

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tcbuild/ingest/inputfile"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// RecordName is the file of a version with its Record.
const RecordName = "key.json"

// Record is everything that determines a version.
type Record struct {
	Key           string            `json:"key"` // from the SHA-256 of the rest
	Inputs        []inputfile.Input `json:"inputs"`
	Variants      []store.Variant   `json:"variants"`
	Settings      map[string]any    `json:"settings"`
	FormatVersion int               `json:"format_version"`
	Program       string            `json:"program"`
}

// KeyLength is how many hexadecimal digits a key has.
const KeyLength = 16

var keyPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// IsKey reports whether a name can be a key.
func IsKey(name string) bool { return keyPattern.MatchString(name) }

// ReadRecord reads the record of a version.
func ReadRecord(dir string) (*Record, error) {
	k := &Record{}
	return k, disk.ReadJSON(filepath.Join(dir, RecordName), k)
}

// parts lists what a record says, as texts by name.
func (k *Record) parts() map[string]string {
	all := map[string]string{"program": k.Program}
	add := func(name string, value any) {
		text, _ := json.Marshal(value) // which has been marshalled before
		all[name] = string(text)
	}
	add("variants", k.Variants)
	add("format version", k.FormatVersion)
	for name, value := range k.Settings {
		add(name, value)
	}
	for _, input := range k.Inputs {
		all["input "+input.Name] = fmt.Sprintf("%.12s…", input.SHA256)
	}
	return all
}

// Differences says in what another record differs.
func (k *Record) Differences(now *Record) (lines []string) {
	before, after := k.parts(), now.parts()
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := cmp.Or(before[name], "missing"), cmp.Or(after[name], "missing")
		if was != is {
			lines = append(lines, fmt.Sprintf("%s was %s, is %s", name, was, is))
		}
	}
	if len(lines) == 0 && k.Key != now.Key {
		lines = append(lines, "a value from the environment changed")
	}
	return lines
}

// GraphInput is the prefix of graph tables among the inputs. Perturbation sets have no slash.
const GraphInput = "graph/"

// LostTables returns the names of graph tables that another record lacks.
func (k *Record) LostTables(now *Record) (names []string) {
	for _, input := range k.Inputs {
		isThere := func(other inputfile.Input) bool { return other.Name == input.Name }
		if strings.HasPrefix(input.Name, GraphInput) && !slices.ContainsFunc(now.Inputs, isThere) {
			names = append(names, input.Name)
		}
	}
	return names
}

// sameInputs reports whether a dataset was built from the inputs of a record.
func (k *Record) sameInputs(m *store.Manifest) bool {
	digests := func(inputs []inputfile.Input) (all []string) {
		for _, input := range inputs {
			all = append(all, input.SHA256)
		}
		slices.Sort(all)
		return all
	}
	read := slices.Concat(m.Inputs.Graph, m.Inputs.Perturbations)
	return slices.Equal(digests(read), digests(k.Inputs))
}
