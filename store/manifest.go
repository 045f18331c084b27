package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/disk"
	"tcbuild/store/internal/sampletable"
)

// FormatVersion is the version of the dataset format that this package writes
// and the only one it reads (docs/FORMAT.md, Changes).
const FormatVersion = 6

// Variant is the form in which a dataset holds masks.
type Variant string

const (
	Incidence Variant = "incidence" // the deleted genes, and one incidence cache for all samples
	Indices   Variant = "indices"   // the removed positions of each sample
	FullMasks Variant = "full-masks"
)

// Manifest describes a dataset: manifest.json, written last. It depends on the inputs, the options
// and the program's version only.
type Manifest struct {
	FormatVersion int `json:"format_version"`
	// version and commit of the program that built it
	Program string  `json:"program,omitempty"`
	Variant Variant `json:"variant"`
	// of the masks; none in the incidence variant
	Codec   string `json:"codec,omitempty"`
	Samples int    `json:"samples"`
	// how the sample table is cut (sampletable.LayoutOf); none without samples
	SamplesPerPart  int `json:"samples_per_part,omitempty"`
	SamplesPerBatch int `json:"samples_per_batch,omitempty"`
	// samples in an LMDB value; the last of a shard may have fewer
	SamplesPerValue int                `json:"samples_per_value,omitempty"`
	Masks           []MaskSize         `json:"masks"` // in canonical order
	Phenotypes      []ingest.Phenotype `json:"phenotypes"`
	Attributes      []ingest.Attribute `json:"attributes"`
	Kinds           *Kinds             `json:"kinds,omitempty"`
	Options         Options            `json:"options"`
	Account         ingest.Account     `json:"account"`
	Inputs          Inputs             `json:"inputs"`
	// sources.json of the graph's folder, which says what the graph is made of; none without it.
	// It says nothing of the content, so that Difference ignores it
	Sources         json.RawMessage `json:"sources,omitempty"`
	GraphDigest     string          `json:"graph_digest"`     // ingest.Graph.Digest
	StructureDigest string          `json:"structure_digest"` // without the genes' names
	IncidenceDigest string          `json:"incidence_digest"` // store.IncidenceDigest
	// equal for all variants of one input
	LogicalContent string `json:"logical_content"`
	// the samples' checksums are bound to it; see Identify
	Identity string       `json:"identity"`
	Shards   []ShardRange `json:"shards,omitempty"`
	Files    []File       `json:"files,omitempty"` // every data file, by name
	// SHA-256 of manifest.json's text without the checksum itself
	Checksum string `json:"checksum"`
}

// MaskSize names a mask and counts its positions.
type MaskSize struct {
	Name string          `json:"name"`
	Size int             `json:"size"`
	Ends []incidence.End `json:"ends,omitempty"` // of an edge type: incidence.EndsThatCount
}

// Options are the options that a dataset's content depends on.
type Options struct {
	ReactionRule incidence.ReactionRule `json:"reaction_rule"`
	// how the perturbation set was read: samples.Spec.Record; none without samples
	Perturbations map[string]any `json:"perturbations,omitempty"`
}

// Kinds says of what kind the perturbations of a dataset are.
type Kinds struct {
	Attribute string `json:"attribute"` // that says so; see ingest.KindsAttribute
	// kinds that remove the gene's node; none if all do
	Removing      []string       `json:"removing,omitempty"`
	Perturbations map[string]int `json:"perturbations"` // their numbers, by kind
}

// Inputs identifies the files a dataset was built from.
type Inputs struct {
	Graph         []ingest.Input `json:"graph"`
	Perturbations []ingest.Input `json:"perturbations"`
}

// ShardRange is the samples of one shard: First to First+Samples-1.
type ShardRange struct {
	Name    string `json:"name"` // shard-00000-of-00004
	First   int    `json:"first"`
	Samples int    `json:"samples"`
}

// File is one data file of a dataset. Its name is the path inside the dataset, with slashes.
type File = ingest.Input

const (
	manifestName = "manifest.json"
	runName      = "run.json" // describes the run
	graphName    = "graph"    // folder
)

// SetColumns sets the phenotypes and attributes, and what follows from them: how the sample table
// is cut.
func (m *Manifest) SetColumns(columns ingest.Columns) {
	m.Phenotypes = append([]ingest.Phenotype{}, columns.Phenotypes...) // not null in JSON
	m.Attributes = append([]ingest.Attribute{}, columns.Attributes...)
	layout := sampletable.LayoutOf(columns)
	m.SamplesPerPart, m.SamplesPerBatch = layout.PartSamples, layout.BatchSamples
}

// SetIncidence sets the masks and the incidence digest, which follow from the graph alone.
func (m *Manifest) SetIncidence(cache *incidence.Cache) {
	m.Masks, m.IncidenceDigest = nil, IncidenceDigest(cache.Positions)
	for _, mask := range cache.Layout.Masks {
		m.Masks = append(m.Masks, MaskSize{mask.Name, mask.Size, mask.Ends})
	}
}

// Columns are the phenotypes and attributes of the samples.
func (m *Manifest) Columns() ingest.Columns {
	return ingest.Columns{Phenotypes: m.Phenotypes, Attributes: m.Attributes}
}

// Mode is the encode.Mode of the LMDB variants.
func (m *Manifest) Mode() encode.Mode { return encode.Mode(m.Variant) }

// Description says in two sentences what the dataset is.
func (m *Manifest) Description() string {
	stores := map[Variant]string{
		Incidence: "the deleted genes, and one table from gene to edges",
		Indices:   "the positions that each mask removes",
		FullMasks: "every mask whole",
	}
	some := func(n int, what string) string {
		return humanize.Comma(int64(n)) + " " + english.PluralWord(n, what, "")
	}
	return fmt.Sprintf(
		"A cell graph under gene deletions: %s with %s of %s in total, "+
			"which say what is left of the graph. This variant stores %s.",
		some(m.Samples, "sample"), some(len(m.Masks), "mask"), some(m.MaskPositions(), "position"),
		stores[m.Variant])
}

// MaskPositions counts the positions of all masks of a sample.
func (m *Manifest) MaskPositions() int {
	size := 0
	for _, mask := range m.Masks {
		size += mask.Size
	}
	return size
}

// DataBytes is the size of all data files.
func (m *Manifest) DataBytes() int64 {
	return m.bytesOf(func(string) bool { return true })
}

// SampleBytes is the size of the data files that grow with the samples.
func (m *Manifest) SampleBytes() int64 {
	return m.bytesOf(func(name string) bool {
		return strings.HasPrefix(name, samplesName+"/") || strings.HasPrefix(name, "shard-")
	})
}

// bytesIn is the size of the data files in a folder of the dataset.
func (m *Manifest) bytesIn(folder string) int64 {
	return m.bytesOf(func(name string) bool { return strings.HasPrefix(name, folder+"/") })
}

func (m *Manifest) bytesOf(counts func(name string) bool) int64 {
	total := int64(0)
	for _, file := range m.Files {
		if counts(file.Name) {
			total += file.Bytes
		}
	}
	return total
}

// Cut divides the samples among count shards, as evenly as whole samples allow.
func (m *Manifest) Cut(count int) {
	m.Shards = nil
	for i := range count {
		first, next := i*m.Samples/count, (i+1)*m.Samples/count
		m.Shards = append(m.Shards,
			ShardRange{fmt.Sprintf("shard-%05d-of-%05d", i, count), first, next - first})
	}
}

// Difference names the first key in which two manifests differ, or returns "". It names each option
// that differs: "options (reaction_rule)". It ignores files and checksum, which only a finished
// dataset has, sources, and the keys in except.
func (m *Manifest) Difference(other *Manifest, except ...string) string {
	var left, right map[string]json.RawMessage
	json.Unmarshal(marshal(m), &left)
	json.Unmarshal(marshal(other), &right)
	except = append(except, "files", "checksum", "sources")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Manifest]()) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if slices.Contains(except, key) || bytes.Equal(left[key], right[key]) {
			continue
		}
		if names := differingKeys(left[key], right[key]); key == "options" && len(names) > 0 {
			return key + " (" + strings.Join(names, ", ") + ")"
		}
		return key
	}
	return ""
}

// differingKeys are the keys, sorted, whose values differ between two JSON objects.
func differingKeys(a, b json.RawMessage) (names []string) {
	var left, right map[string]json.RawMessage
	json.Unmarshal(a, &left)
	json.Unmarshal(b, &right)
	all := maps.Clone(left)
	maps.Copy(all, right)
	for name := range all {
		if !bytes.Equal(left[name], right[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sealed is the text of manifest.json.
func (m Manifest) sealed() []byte {
	m.Checksum = ""
	m.Checksum = checksumWithout(marshal(m), "")
	return marshal(m)
}

// checksumWithout is the SHA-256 of a manifest's text with its own checksum taken out.
func checksumWithout(text []byte, checksum string) string {
	sum := sha256.Sum256(bytes.Replace(text, []byte(checksum), nil, 1))
	return hex.EncodeToString(sum[:])
}

// marshal is the text of a JSON file.
func marshal(m any) []byte {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // plain structs always marshal
	}
	return append(text, '\n')
}

// ReadManifest reads the manifest of the dataset in dir.
func ReadManifest(dir string) (*Manifest, error) {
	m, _, err := readManifest(dir)
	return m, err
}

// hintInstead suggests what to name when a path is not a dataset: a dataset inside it, such as in a
// version of rebuild, or one to build from it, if it is a graph or a table.
func hintInstead(dir string) string {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "it is a file; 'tcbuild incidence' makes a dataset of a graph and a table of samples"
	}
	if info, err := os.Stat(filepath.Join(dir, "nodes")); err == nil && info.IsDir() {
		return "it is a cell graph; 'tcbuild incidence' makes a dataset of it and a table of " +
			"samples"
	}
	for _, pattern := range []string{"*", "current/*"} {
		// the only error is of the pattern, in which dir may have what a pattern means
		manifests, _ := filepath.Glob(filepath.Join(dir, pattern, manifestName))
		if len(manifests) > 0 {
			for i, manifest := range manifests {
				manifests[i] = filepath.Dir(manifest)
			}
			return "name a dataset in it: " + strings.Join(manifests, ", ")
		}
	}
	return "give the --out of the build; a folder of 'tcbuild rebuild' has no version yet"
}

// readManifest returns the manifest's text as well.
func readManifest(dir string) (m *Manifest, text []byte, err error) {
	path := filepath.Join(dir, manifestName)
	text, err = disk.ReadRegular(path)
	_, noFolder := os.Stat(dir)
	switch {
	case err != nil && errors.Is(noFolder, fs.ErrNotExist):
		return nil, nil, fault.New(fault.Failed, "check the path",
			"open dataset %s: there is no such folder", dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil, fault.New(fault.Input, hintInstead(dir),
			"open dataset %s: it has no %s, expected a dataset", dir, manifestName)
	case err != nil && noFile(err):
		return nil, nil, damagedFile(path, err)
	case err != nil:
		return nil, nil, fmt.Errorf("open dataset %s: %w", dir, err)
	}
	m = &Manifest{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(m); err != nil {
		return nil, nil, damagedFile(path, err)
	}
	if m.FormatVersion != FormatVersion {
		return nil, nil, fault.New(fault.Input,
			"build it again with 'tcbuild incidence' or 'tcbuild dataset', "+
				"or read it with the version of tcbuild that built it",
			"read %s: format version %d, expected %d", path, m.FormatVersion, FormatVersion)
	}
	err = m.check()
	if computed := checksumWithout(text, m.Checksum); err == nil && computed != m.Checksum {
		err = fmt.Errorf("its text has checksum %s, expected %q", computed, m.Checksum)
	}
	if err != nil {
		return nil, nil, damagedFile(path, err)
	}
	return m, text, nil
}

// check checks that a manifest's masks, shards and files are consistent, before anything is made of
// its counts. It does not look at any other file.
func (m *Manifest) check() error {
	listed, err := m.listed()
	if err != nil {
		return err
	}
	positions := 0
	for _, mask := range m.Masks {
		if mask.Size < 0 || mask.Size > math.MaxInt32-positions {
			return fmt.Errorf(
				"masks: %s has size %d, after %d positions, expected at most %d in total",
				mask.Name, mask.Size, positions, math.MaxInt32)
		}
		positions += mask.Size
	}
	if bytes := m.bytesIn(graphName); int64(positions) > bytes/minRowBytes {
		return fmt.Errorf("masks: found %d positions, expected at most %d in a graph of %d bytes",
			positions, bytes/minRowBytes, bytes)
	}
	if digest, err := hex.DecodeString(m.Identity); err != nil || len(digest) != sha256.Size {
		return fmt.Errorf("identity: found %q, expected 64 hexadecimal digits", m.Identity)
	}
	if err := m.checkSamples(listed); err != nil {
		return err
	}
	switch m.Variant {
	case Incidence:
		if m.Samples < 0 || len(m.Shards) > 0 {
			return fmt.Errorf(
				"found %d samples in %d shards, expected 0 or more samples, no shards", m.Samples,
				len(m.Shards))
		}
		for _, name := range []string{incidenceName, positionsName} {
			if err := listed.check(name); err != nil {
				return err
			}
		}
		return nil
	case Indices, FullMasks:
		return m.checkShards(listed)
	}
	return fmt.Errorf("variant: found %q, expected %s, %s or %s", m.Variant, Incidence, Indices,
		FullMasks)
}

// minRowBytes is less than a node, an edge or a sample takes in its Arrow file, uncompressed.
const minRowBytes = 4

// fileNames are the names of the files that a manifest lists.
type fileNames map[string]bool

func (n fileNames) check(name string) error {
	if !n[name] {
		return fmt.Errorf("files: %s is missing", name)
	}
	return nil
}

// listed checks the names and sizes of the files.
func (m *Manifest) listed() (fileNames, error) {
	names, total := make(fileNames, len(m.Files)), int64(0)
	for _, file := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(file.Name)) {
			return nil, fmt.Errorf("files: %q does not lie in the dataset", file.Name)
		}
		if file.Bytes < 0 || file.Bytes > math.MaxInt64-total {
			return nil, fmt.Errorf("files: %s has %d bytes, after %d bytes of other files",
				file.Name, file.Bytes, total)
		}
		total += file.Bytes
		names[file.Name] = true
	}
	return names, nil
}

// checkSamples checks the layout and the files of the sample table.
func (m *Manifest) checkSamples(listed fileNames) error {
	if m.Samples <= 0 {
		return nil
	}
	layout := sampletable.LayoutOf(m.Columns())
	found := sampletable.Layout{PartSamples: m.SamplesPerPart, BatchSamples: m.SamplesPerBatch}
	if found != layout {
		return fmt.Errorf("samples_per_part and samples_per_batch: found %+v, expected %+v", found,
			layout)
	}
	bytes := m.bytesIn(samplesName)
	if most := min(bytes/minRowBytes, int64(len(m.Files)*layout.PartSamples)); int64(
		m.Samples) > most {
		return fmt.Errorf("samples: found %d, expected at most %d in a table of %d bytes",
			m.Samples, most, bytes)
	}
	for _, name := range layout.Names(m.Samples) {
		if err := listed.check(samplesName + "/" + name); err != nil {
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
func (m *Manifest) checkShards(listed fileNames) error {
	if m.Codec == "" {
		return errors.New("codec: found none")
	}
	if m.SamplesPerValue < 1 {
		return fmt.Errorf("samples_per_value: found %d, expected 1 or more", m.SamplesPerValue)
	}
	if m.Samples < 1 || len(m.Shards) < 1 || len(m.Shards) > m.Samples {
		return fmt.Errorf(
			"shards: found %d for %d samples, expected one or more, none of them empty",
			len(m.Shards), m.Samples)
	}
	cut := Manifest{Samples: m.Samples}
	cut.Cut(len(m.Shards))
	for i, shard := range m.Shards {
		if shard != cut.Shards[i] {
			return fmt.Errorf("shards: found %+v, expected %+v", shard, cut.Shards[i])
		}
		if err := listed.check(shard.Name + "/" + dataName); err != nil {
			return err
		}
	}
	return nil
}
