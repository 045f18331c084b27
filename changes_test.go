package tcbuild

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// changing is an input of a build, with two contents for its file.
type changing struct {
	name          string // of the file, inside a folder with a graph and a perturbation set
	perturbations string // what to build from, inside that folder
	before, other []byte
}

const (
	changingGenes   = 40
	changingSamples = 500
)

func geneTable() string {
	var text strings.Builder
	text.WriteString("id\n")
	for i := range changingGenes {
		fmt.Fprintf(&text, "G%02d\n", i)
	}
	return text.String()
}

// edgeTable and sampleTable make random tables, of the same size for every seed.
func edgeTable(seed uint64) string {
	random := rand.New(rand.NewPCG(1, seed))
	var text strings.Builder
	text.WriteString("src\tdst\n")
	for range 300 {
		fmt.Fprintf(&text, "G%02d\tG%02d\n", random.IntN(changingGenes), random.IntN(changingGenes))
	}
	return text.String()
}

func sampleTable(seed uint64, delimiter string) string {
	random := rand.New(rand.NewPCG(2, seed))
	var text strings.Builder
	text.WriteString(strings.Join([]string{"sample_id", "genes", "growth\n"}, delimiter))
	for i := range changingSamples {
		first := random.IntN(changingGenes - 1)
		fmt.Fprintf(&text, "s%03d%sG%02d|G%02d%s0.%03d\n", i, delimiter, first, first+1, delimiter,
			random.IntN(1000))
	}
	return text.String()
}

func writeTexts(t *testing.T, dir string, texts map[string][]byte) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, text, 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// changingInputs returns the edge table of a graph, and a perturbation set in each format.
func changingInputs(t *testing.T) (inputs []changing, usual map[string][]byte) {
	usual = map[string][]byte{
		"graph/nodes/gene.tsv":          []byte(geneTable()),
		"graph/edges/gene__x__gene.tsv": []byte(edgeTable(1)),
		"set.tsv":                       []byte(sampleTable(1, "\t")),
	}
	compressed := func(text string) []byte {
		var file bytes.Buffer
		w := gzip.NewWriter(&file)
		_, err := io.WriteString(w, text)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	inputs = []changing{
		{"graph/edges/gene__x__gene.tsv", "set.tsv", usual["graph/edges/gene__x__gene.tsv"],
			[]byte(edgeTable(2))},
		{"set.tsv", "set.tsv", usual["set.tsv"], []byte(sampleTable(2, "\t"))},
		{"set.csv.gz", "set.csv.gz", compressed(sampleTable(1, ",")),
			compressed(sampleTable(2, ","))},
	}
	arrows := changing{name: "set.arrow", perturbations: "set.arrow"}
	arrows.before, arrows.other = arrowTable(t, usual, 1), arrowTable(t, usual, 2)
	return append(inputs, arrows), usual
}

// arrowTable makes a perturbation set's Arrow file.
func arrowTable(t *testing.T, usual map[string][]byte, seed uint64) []byte {
	t.Helper()
	dir := t.TempDir()
	writeTexts(t, dir, usual)
	writeTexts(t, dir, map[string][]byte{"set.tsv": []byte(sampleTable(seed, "\t"))})
	graph, _, err := graph.Read(filepath.Join(dir, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := samples.Open(samples.Spec{File: filepath.Join(dir, "set.tsv")}, graph)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	path := filepath.Join(dir, "set.arrow")
	if err := samples.Write(t.Context(), path, set, graph.Genes); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// moments calls do when a build reaches a moment: the end of a stage, by its name, or its first
// progress.
type moments struct {
	slog.Handler
	mutex sync.Mutex
	do    map[string]func()
}

const firstProgress = "first progress"

func (m *moments) reach(moment string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if do := m.do[moment]; do != nil {
		delete(m.do, moment)
		do()
	}
}

func (m *moments) Enabled(context.Context, slog.Level) bool { return true }

func (m *moments) Handle(_ context.Context, record slog.Record) error {
	m.reach(record.Message)
	return nil
}

func (m *moments) Add(int, int64) { m.reach(firstProgress) }
func (m *moments) Done()          {}

// buildAt builds DIR/NAME from the files in dir, and calls do at its moments.
func buildAt(
	t *testing.T, dir, name, perturbations string,
	variant store.Variant, shard int, do map[string]func(),
) (*Result, error) {
	m := &moments{Handler: slog.DiscardHandler, do: do}
	o := Options{
		Variant:      variant,
		Graph:        filepath.Join(dir, "graph"),
		Spec:         samples.Spec{File: filepath.Join(dir, perturbations)},
		Out:          filepath.Join(dir, name),
		Workers:      2,
		Resume:       store.ResumeIfPossible,
		ReactionRule: incidence.RuleAll,
		Log:          slog.New(m),
		Progress:     func(int) Progress { return m },
	}
	if variant != store.Incidence {
		o.Shards = 2
	}
	if shard != store.AllShards {
		o.Parts, o.Part = 2, &shard
	}
	return Build(t.Context(), o)
}

// datasetBytes returns all files of a dataset except run.json.
func datasetBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "run.json" {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// change modifies an input's file during a build. undo, if any, is called before the inputs are
// read to the end.
type change struct {
	name     string
	do, undo func(path string) error
}

// longAgo is when the files were last modified, as they say.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func changesOf(in changing) []change {
	write := func(text []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, text, 0o666) }
	}
	half := len(in.before) / 2
	flipped := bytes.Clone(in.before)
	flipped[half] ^= 1
	return []change{
		{"appended", write(append(bytes.Clone(in.before), '\n')), nil},
		{"cut", func(path string) error { return os.Truncate(path, int64(half)) }, nil},
		{"replaced", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", in.other, 0o666),
				os.Rename(path+".new", path))
		}, nil},
		{"replaced by its own bytes", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", in.before, 0o666),
				os.Chtimes(path+".new", longAgo, longAgo), os.Rename(path+".new", path))
		}, nil},
		{"in place", write(in.other), nil},
		{"in place, with the old time", func(path string) error {
			return errors.Join(write(in.other)(path), os.Chtimes(path, longAgo, longAgo))
		},
			nil},
		{"byte", write(flipped), nil},
		{"put back", write(in.other), write(in.before)},
		{"put back with its time", write(in.other), func(path string) error {
			return errors.Join(write(in.before)(path), os.Chtimes(path, longAgo, longAgo))
		}},
	}
}

// TestChangedInputs changes each input, in each way, at each moment of a build. While the inputs
// are read, that is an error that names the file; afterwards the dataset is the old content's. The
// next build in the folder gives the dataset of the new content. With -short it runs one in 29
// builds.
func TestChangedInputs(t *testing.T) {
	inputs, usual := changingInputs(t)
	for _, in := range inputs {
		for _, variant := range []store.Variant{store.Indices, store.Incidence} {
			t.Run(in.name+" "+string(variant), func(t *testing.T) {
				t.Parallel()
				newChangedBuild(t, in, usual, variant).tryAll(t)
			})
		}
	}
}

// changedBuild runs builds of one variant from one changing input.
type changedBuild struct {
	changing
	variant       store.Variant
	dir, path     string // the folder of everything, and the input's file
	before, other map[string]string
}

func newChangedBuild(
	t *testing.T, in changing, usual map[string][]byte, variant store.Variant,
) *changedBuild {
	b := &changedBuild{changing: in, variant: variant, dir: t.TempDir()}
	b.path = filepath.Join(b.dir, in.name)
	writeTexts(t, b.dir, usual)
	reference := func(text []byte, name string) map[string]string {
		writeTexts(t, b.dir, map[string][]byte{in.name: text})
		_, err := buildAt(t, b.dir, name, in.perturbations, variant, store.AllShards, nil)
		if err != nil {
			t.Fatal(err)
		}
		return datasetBytes(t, filepath.Join(b.dir, name))
	}
	b.before, b.other = reference(in.before, "before"), reference(in.other, "other")
	if b.before["/manifest.json"] == b.other["/manifest.json"] {
		t.Fatal("both contents give the same dataset")
	}
	return b
}

// lastRead is the stage that reads the inputs to their end.
const lastRead = "survey samples"

func (b *changedBuild) tryAll(t *testing.T) {
	reading := []string{firstProgress, lastRead}
	if strings.HasPrefix(b.name, "graph/") {
		reading = append(reading, "read graph", "build incidence")
	}
	moments := append(reading, "write graph")
	if b.variant == store.Indices {
		moments = append(moments, "build masks")
	}
	n := 0
	for _, c := range changesOf(b.changing) {
		for i, moment := range moments {
			for _, shard := range []int{store.AllShards, 0} {
				if n++; shard == 0 && b.variant == store.Incidence || n%testrun.Cases(1, 29) != 0 {
					continue
				}
				b.try(t, c, moment, i < len(reading), shard)
			}
		}
	}
}

// try makes a change during a build, checks the outcome, and builds again from the other content.
func (b *changedBuild) try(t *testing.T, c change, moment string, wantError bool, shard int) {
	t.Helper()
	what := fmt.Sprintf("%s after %q, shard %d", c.name, moment, shard)
	writeTexts(t, b.dir, map[string][]byte{b.name: b.changing.before})
	if err := os.Chtimes(b.path, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	make := func() {
		if err := c.do(b.path); err != nil {
			t.Error(err)
		}
	}
	unmake := func() {
		if c.undo == nil {
			return
		}
		if err := c.undo(b.path); err != nil {
			t.Error(err)
		}
	}
	do := map[string]func(){moment: make}
	if moment == lastRead || !wantError {
		do[moment] = func() { make(); unmake() }
	} else {
		do[lastRead] = unmake
	}
	out := filepath.Join(b.dir, "out")
	result, err := buildAt(t, b.dir, "out", b.perturbations, b.variant, shard, do)
	switch {
	case err == nil && len(do) > 0:
		t.Fatalf("%s: the moment never came", what)
	case (err != nil) != wantError:
		t.Errorf("%s: got %v, want an error: %v", what, err, wantError)
	case err != nil &&
		(fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), b.path) ||
			fault.HintOf(err) == ""):
		t.Errorf("%s: got kind %d, %v, hint %q", what, fault.KindOf(err), err, fault.HintOf(err))
	case err == nil && shard == store.AllShards && !maps.Equal(datasetBytes(t, out), b.before):
		t.Errorf("%s: the dataset is not that of the old bytes", what)
	case err == nil && shard == 0 && result.State != Waiting:
		t.Errorf("%s: got state %d, want %d", what, result.State, Waiting)
	}
	if err != nil || shard == 0 {
		left, _ := filepath.Glob(out + "*")
		if slices.Contains(left, out) || shard == store.AllShards && len(left) > 0 {
			t.Errorf("%s: %v was left behind", what, left)
		}
		// Leftovers must not get into a dataset of other content.
		writeTexts(t, b.dir, map[string][]byte{b.name: b.changing.other})
		_, err := buildAt(t, b.dir, "out", b.perturbations, b.variant, store.AllShards, nil)
		if err != nil || !maps.Equal(datasetBytes(t, out), b.other) {
			t.Errorf("%s: the build after it: %v, or it is not that of its bytes", what, err)
		}
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
}
