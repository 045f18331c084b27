package samples

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/samples/torchcell"
)

// Spec names a perturbation set and says how it is read. Flags, settings and manifests all have
// these fields. Its zero value with a File is a table with the columns genes, sample_id and
// phenotypes.
type Spec struct {
	// File is a table, or the lmdb folder of a torchcell build.
	File string `json:"file,omitzero"`

	// Of tables:

	GenesColumns  []string `json:"genes_columns,omitzero"`  // nil: genes or gene
	GeneDelimiter string   `json:"gene_delimiter,omitzero"` // between genes of a field; "": |
	IDColumn      string   `json:"id_column,omitzero"`      // "": sample_id, or the row number
	KindsColumn   string   `json:"kinds_column,omitzero"`   // "": kinds; see IgnoreKindsColumn

	// Of all sets:

	Phenotypes   []string            `json:"phenotypes,omitzero"` // nil: every other column of numbers
	Attributes   []string            `json:"attributes,omitzero"` // nil: every other column of text
	Controls     []string            `json:"controls,omitzero"`   // names that delete nothing
	UnknownGenes ingest.UnknownGenes `json:"unknown_genes,omitzero"`
	// RemovingKinds are the kinds of perturbations that remove a gene.
	RemovingKinds     RemovingKinds     `json:"removing_kinds,omitzero"`
	AllowWildtype     bool              `json:"allow_wildtype,omitzero"`
	AllowDuplicateIDs bool              `json:"allow_duplicate_ids,omitzero"`
	Duplicates        duplicates.Choice `json:"duplicates,omitzero"`
	// MaxDropped is the largest share of rows that may be lost to names; nil: DefaultMaxDropped.
	MaxDropped *float64 `json:"-"`
}

const defaultDelimiter = "|"

// isStore reports whether the set is a torchcell store.
func (s *Spec) isStore() bool {
	info, err := os.Stat(s.File)
	return err == nil && info.IsDir()
}

// Prepare checks the spec and fills in defaults. It reads no file. An error is a fault.Usage.
func (s *Spec) Prepare() error {
	if s.MaxDropped != nil && !(*s.MaxDropped >= 0 && *s.MaxDropped <= 1) {
		return badSetting("a half is 0.5", "max_dropped: found %v, expected a share from 0 to 1",
			*s.MaxDropped)
	}
	s.GeneDelimiter = cmp.Or(s.GeneDelimiter, defaultDelimiter)
	s.UnknownGenes = cmp.Or(s.UnknownGenes, ingest.RefuseUnknownGenes)
	s.Duplicates = cmp.Or(s.Duplicates, duplicates.Keep)
	err := cmp.Or(
		fault.OneOf("read settings: unknown_genes", s.UnknownGenes, ingest.UnknownGenesChoices...),
		fault.OneOf("read settings: duplicates", s.Duplicates, duplicates.Choices...))
	if err != nil {
		return err
	}
	if err := s.RemovingKinds.prepare(); err != nil {
		return badSetting(fault.HintOf(err), "removing_kinds: %w", err)
	}
	if !s.isStore() {
		return nil
	}
	for _, key := range []struct {
		name  string
		given bool
	}{
		{"genes_columns", s.GenesColumns != nil}, {"id_column", s.IDColumn != ""},
		{"kinds_column", s.KindsColumn != ""}, {"gene_delimiter", s.GeneDelimiter != defaultDelimiter},
	} {
		if key.given {
			return badSetting("omit it", "found %s, which does not apply to a torchcell store",
				key.name)
		}
	}
	return nil
}

// badSetting returns the error of an invalid setting.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}

// Record returns what the samples depend on, for manifests: the settings that have a value other
// than the default, with the base name of the file. It omits max_dropped, which decides only
// whether there is a set. redact removes secrets from every text.
func (s Spec) Record(redact func(text string) string) map[string]any {
	if s.File != "" {
		s.File = filepath.Base(s.File)
	}
	if s.GeneDelimiter == defaultDelimiter {
		s.GeneDelimiter = ""
	}
	if s.UnknownGenes == ingest.RefuseUnknownGenes {
		s.UnknownGenes = ""
	}
	if s.Duplicates == duplicates.Keep {
		s.Duplicates = ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts and booleans always marshal
	}
	recorded := make(map[string]any)
	if err := json.Unmarshal(text, &recorded); err != nil {
		panic(err)
	}
	for key, value := range recorded {
		switch value := value.(type) {
		case string:
			recorded[key] = redact(value)
		case []any:
			for i, element := range value {
				value[i] = redact(element.(string))
			}
		}
	}
	return recorded
}

// Given returns the keys of the settings that have a value, but for the file's, ascending.
func (s Spec) Given() []string {
	s.File = ""
	return slices.Sorted(maps.Keys(s.Record(func(text string) string { return text })))
}

// Files returns the paths of the files that the set is read from.
func (s *Spec) Files() []string {
	switch {
	case s.File == "":
		return nil
	case s.isStore():
		return torchcell.Files(s.File)
	}
	return []string{s.File}
}
