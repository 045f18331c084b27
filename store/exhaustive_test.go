package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/storetest"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
)

// small is a dataset of 7 samples in values of 3 and 2 shards, over a graph of 8 genes. Its kin
// have the same files, names and counts, and another content.
type small struct {
	variant store.Variant
	codec   string
	rule    incidence.ReactionRule
	seed    uint64 // of the samples
	order   []int  // of the samples; nil: as they are
	edges   int    // random ones beside those of smallGraph, so that values have pages of their own
}

const smallSamples = 7

// want is a sample's expected content.
type want struct {
	id         string
	genes      []uint32
	phenotypes []float64
	removed    []uint32
}

// smallGraph has a rule by which an isozyme keeps its reaction, so that the two reaction rules
// differ.
func smallGraph(t testing.TB, more int) *ingest.Graph {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(0, 0))
	physical := []byte("src\tdst\nA\tB\nB\tC\nC\tC\nD\tA\nE\tF\nG\tH\n")
	for range more {
		physical = fmt.Appendf(physical, "%c\t%c\n", 'A'+r.IntN(8), 'A'+r.IntN(8))
	}
	for name, text := range map[string]string{
		"nodes/gene.tsv":                      "id\nA\nB\nC\nD\nE\nF\nG\nH\n",
		"nodes/reaction.tsv":                  "id\tgpr\nR\tA or B\nS\tC\n",
		"nodes/metabolite.tsv":                "id\nm\nn\n",
		"edges/gene__physical__gene.tsv":      string(physical),
		"edges/gene__gpr__reaction.tsv":       "src\tdst\nA\tR\nB\tR\nC\tS\n",
		"edges/reaction__rmr__metabolite.tsv": "src\tdst\tstoichiometry\nR\tm\t1\nR\tn\t-1\nS\tn\t1\n",
	} {
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	graph, _, err := graph.Read(dir)
	check(t, err)
	return graph
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s small) String() string { return fmt.Sprintf("%s-%s", s.variant, s.codec) }

// build builds the dataset in out and returns its expected samples.
func (s small) build(t testing.TB, out string) []want {
	t.Helper()
	graph := smallGraph(t, s.edges)
	r := rand.New(rand.NewPCG(s.seed, 0))
	var all []want
	for i := range smallSamples {
		genes := []uint32{uint32(r.IntN(4)), 4 + uint32(r.IntN(4))}
		all = append(all, want{
			id: fmt.Sprintf("%d-%d", s.seed, i), genes: genes, phenotypes: []float64{r.Float64()},
			removed: oracle.Removed(graph, genes, s.rule == incidence.RuleGPR),
		})
	}
	if s.order != nil {
		for i, from := range s.order {
			all[i], all[from] = all[from], all[i]
		}
	}
	columns := ingest.Columns{Phenotypes: ingest.NamedPhenotypes("fitness")}
	samples := ingest.NewSamples(0, columns, smallSamples)
	for _, w := range all {
		samples.Append([]byte(w.id), w.genes, w.phenotypes, nil)
	}
	storetest.Dataset{
		Graph: graph, Columns: columns, Samples: samples, Rule: s.rule,
		Variant: s.variant, Codec: s.codec, PerValue: 3, Shards: 2,
	}.Write(t, out)
	return all
}

// allSmall are datasets of every variant and codec.
func allSmall() []small {
	smalls := []small{{variant: store.Incidence}}
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for i, codec := range encode.Codecs(mode) {
			smalls = append(smalls, small{variant: store.Variant(mode), codec: codec, edges: i % 2 * 6000})
		}
	}
	for i := range smalls {
		smalls[i].rule, smalls[i].seed = incidence.RuleAll, 1
	}
	return smalls
}

// target is a dataset that a test damages.
type target struct {
	small
	dir   string
	want  []want
	files map[string][]byte // its content, by name
	open  *store.Dataset    // nil: open it for each reading
}

func newTarget(t testing.TB, s small) *target {
	t.Helper()
	d := &target{small: s, dir: filepath.Join(t.TempDir(), "dataset"), files: make(map[string][]byte)}
	d.want = s.build(t, d.dir)
	check(t, filepath.WalkDir(d.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != "run.json" {
			name, _ := filepath.Rel(d.dir, path)
			d.files[name], err = os.ReadFile(path)
		}
		return err
	}))
	if bad := d.read(t, "nothing"); len(bad) > 0 {
		t.Fatalf("%s: samples %d cannot be read", s, bad)
	}
	return d
}

func (d *target) names() []string {
	var names []string
	for name := range d.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// write replaces a file's content in its place.
func (d *target) write(t testing.TB, name string, content []byte) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(d.dir, name), content, 0o644))
}

// read reads all samples backwards, and returns those with an error, ascending. Samples without an
// error must be right, and an error must be one of damage.
func (d *target) read(t testing.TB, what string) (bad []int) {
	t.Helper()
	all := []int{0, 1, 2, 3, 4, 5, 6}
	refused := func(err error) []int {
		if kind := fault.KindOf(err); kind != fault.Damaged && kind != fault.Input {
			t.Errorf("%s, %s: error %v of kind %d, expected damage", d.small, what, err, kind)
		}
		return all
	}
	dataset, err := d.open, error(nil)
	if dataset == nil {
		dataset, err = store.Open(d.dir)
	}
	if err != nil {
		return refused(err)
	}
	if dataset.Manifest.Samples != smallSamples {
		t.Errorf("%s, %s: %d samples", d.small, what, dataset.Manifest.Samples)
		return nil
	}
	reader, err := dataset.NewMaskReader()
	if err != nil {
		return refused(err)
	}
	defer reader.Close()
	for i := smallSamples - 1; i >= 0; i-- {
		record, removed, err := reader.Sample(i)
		if err != nil {
			refused(err)
			bad = append(bad, i)
			continue
		}
		w := d.want[i]
		if string(record.ID) != w.id || !slices.Equal(record.Genes, w.genes) ||
			!slices.Equal(record.Phenotypes, w.phenotypes) || !slices.Equal(removed, w.removed) {
			t.Errorf("%s, %s: sample %d is %.10s %d %v %d, expected %.10s %d %v %d", d.small, what, i,
				record.ID, record.Genes, record.Phenotypes, removed, w.id, w.genes, w.phenotypes, w.removed)
		}
	}
	slices.Sort(bad)
	return bad
}

// verify checks that verify finds the damage, and names the samples that a reader cannot read.
func (d *target) verify(t testing.TB, what string, bad []int) {
	t.Helper()
	dataset, err := store.Open(d.dir)
	if err != nil {
		return // and so does verify
	}
	report, err := gpuverify.Verify(context.Background(), dataset, gpuverify.Options{Method: gpuverify.Both, Workers: 1})
	if err != nil {
		t.Errorf("%s, %s: verify ends with %v", d.small, what, err)
		return
	}
	if report.Passed() {
		t.Errorf("%s, %s: verify passes", d.small, what)
	}
	if len(bad) == smallSamples {
		return // where the graph, or all of a file, cannot be read, verify says that once
	}
	var named []int
	for _, damage := range report.FirstDamaged {
		if damage.Sample >= 0 {
			named = append(named, damage.Sample)
		}
	}
	for _, shard := range dataset.Manifest.Shards { // one that cannot be read at all is said once
		end := shard.First + shard.Samples
		if strings.Contains(strings.Join(report.Findings(), "\n"), fmt.Sprintf("samples %d to %d: ", shard.First, end-1)) {
			for sample := shard.First; sample < end; sample++ {
				named = append(named, sample)
			}
		}
	}
	for _, difference := range report.FirstDifferences {
		named = append(named, difference.Sample)
	}
	for _, sample := range bad {
		if !slices.Contains(named, sample) {
			t.Errorf("%s, %s: a reader cannot read sample %d, verify names %v: %s", d.small, what, sample, named, report.Findings())
		}
	}
}

// sampler takes some cases of many; with the environment variable TCBUILD_EXHAUSTIVE=all it takes
// all, which takes an hour or so.
type sampler struct {
	r     *rand.Rand
	oneOf int
	all   bool
}

// newSampler takes one of usual cases, under -short one of short.
func newSampler(t testing.TB, usual, short int) sampler {
	t.Helper()
	return sampler{seed.Rand(t), testrun.Cases(usual, short), os.Getenv("TCBUILD_EXHAUSTIVE") == "all"}
}

// take is true once in oneOf calls, or less often as newSampler says.
func (s sampler) take(oneOf int) bool { return s.all || s.verify(oneOf) }

// verify is take for cases that are too slow to take all.
func (s sampler) verify(oneOf int) bool { return s.r.IntN(s.oneOf*oneOf) == 0 }

func eachSmall(t *testing.T, test func(t *testing.T, d *target)) {
	for _, s := range allSmall() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			test(t, newTarget(t, s))
		})
	}
}

// Every flipped bit of every file gives the right samples or an error. For bytes that are 0, most
// of which are unused, one bit in 32 is flipped; for files that a reader reads as a whole, one in
// 16 or 64.
func TestEveryBit(t *testing.T) {
	eachSmall(t, func(t *testing.T, d *target) {
		s := newSampler(t, 10, 200)
		for _, name := range d.names() {
			d.open = nil
			oneOf := 16
			if d.variant == store.Incidence {
				oneOf = 64
			}
			if base := filepath.Base(name); base == "data.mdb" || strings.HasPrefix(base, "part-") {
				dataset, err := store.Open(d.dir) // it reads manifest and graph once
				check(t, err)
				d.open, oneOf = dataset, oneOf/16
			}
			d.flip(t, name, func(zero bool) bool {
				if zero {
					return s.take(32 * oneOf)
				}
				return s.take(oneOf)
			}, func() bool { return s.verify(1000) })
		}
	})
}

// flip flips the bits of a file that take wants, one at a time.
func (d *target) flip(t *testing.T, name string, take func(zero bool) bool, verify func() bool) {
	file, err := os.OpenFile(filepath.Join(d.dir, name), os.O_WRONLY, 0)
	check(t, err)
	defer file.Close()
	for bit := range 8 * len(d.files[name]) {
		at := int64(bit / 8)
		right := d.files[name][at : at+1]
		if t.Failed() || !take(right[0] == 0) {
			continue
		}
		_, err := file.WriteAt([]byte{right[0] ^ 1<<(bit%8)}, at)
		check(t, err)
		what := fmt.Sprintf("bit %d of byte %d of %s", bit%8, at, name)
		if bad := d.read(t, what); verify() {
			d.verify(t, what, bad)
		}
		_, err = file.WriteAt(right, at)
		check(t, err)
	}
}

// Every page in place of every other one of its shard, the other shard and a similar dataset's
// gives the right samples or an error.
func TestEveryPage(t *testing.T) {
	const size = 4096
	eachSmall(t, func(t *testing.T, d *target) {
		s := newSampler(t, 1, 10)
		kin := d.small
		kin.seed++
		other := newTarget(t, kin)
		type page struct {
			of    string // the shard, "" of the like dataset
			start int
			bytes []byte
		}
		var pages []page // of the shards of both
		for _, name := range d.names() {
			if filepath.Base(name) != "data.mdb" {
				continue
			}
			for start := 0; start < len(d.files[name]); start += size {
				pages = append(pages, page{name, start, d.files[name][start : start+size]})
			}
			for bytes := range slices.Chunk(other.files[name], size) {
				pages = append(pages, page{bytes: bytes})
			}
		}
		for _, name := range d.names() {
			if filepath.Base(name) != "data.mdb" {
				continue
			}
			whole := d.files[name]
			for to := 0; to < len(whole); to += size {
				for from, page := range pages {
					if !s.take(1) || bytes.Equal(page.bytes, whole[to:to+size]) {
						continue
					}
					content := bytes.Clone(whole)
					copy(content[to:], page.bytes)
					d.try(t, fmt.Sprintf("page %d of all over page %d of %s", from, to/size, name), name, content, s.verify(20))
					if page.of == name && page.start > to { // exchange them
						copy(content[page.start:], whole[to:to+size])
						d.try(t, fmt.Sprintf("page %d exchanged with page %d of %s", page.start/size, to/size, name),
							name, content, s.verify(20))
					}
				}
			}
		}
	})
}

// try reads the dataset with another content of a file, and mends it.
func (d *target) try(t testing.TB, what, name string, content []byte, verify bool) {
	t.Helper()
	d.write(t, name, content)
	bad := d.read(t, what)
	if verify {
		d.verify(t, what, bad)
	}
	d.write(t, name, d.files[name])
}

// Every file truncated to every length, or with extra bytes at its end, gives the right samples or
// an error.
func TestEveryLength(t *testing.T) {
	eachSmall(t, func(t *testing.T, d *target) {
		s := newSampler(t, 5, 800)
		for _, name := range d.names() {
			whole := d.files[name]
			for size := range len(whole) {
				if s.take(1+len(whole)/256) || size%4096 == 0 {
					d.try(t, fmt.Sprintf("%s cut to %d bytes", name, size), name, whole[:size], s.verify(200))
				}
			}
			for _, more := range []int{1, 4096} {
				d.try(t, fmt.Sprintf("%s with %d more bytes", name, more), name, append(bytes.Clone(whole), make([]byte, more)...), true)
			}
		}
	})
}

// Every file in place of its namesake in a similar dataset gives the right samples or an error.
func TestEveryNamesake(t *testing.T) {
	eachSmall(t, func(t *testing.T, d *target) {
		s := newSampler(t, 1, 4)
		for _, like := range []struct {
			what   string
			change func(kin *small)
		}{
			{"other samples", func(kin *small) { kin.seed++ }},
			{"another order", func(kin *small) { kin.order = []int{1, 0, 2, 4, 3, 5, 6} }},
			{"the other half first", func(kin *small) { kin.order = []int{3, 4, 5, 3, 4, 5, 6} }},
			{"the other rule", func(kin *small) { kin.rule = incidence.RuleGPR }},
			{"another codec or variant", func(kin *small) { kin.variant, kin.codec = store.Indices, "delta" }},
			{"another codec or variant", func(kin *small) { kin.variant, kin.codec = store.FullMasks, "bits" }},
			{"no masks", func(kin *small) { kin.variant, kin.codec = store.Incidence, "" }},
		} {
			kin := d.small
			like.change(&kin)
			if !s.take(1) || kin.variant == d.variant && kin.codec == d.codec && kin.seed == d.seed &&
				kin.order == nil && kin.rule == d.rule {
				continue
			}
			other := newTarget(t, kin)
			for _, name := range other.names() {
				whole, there := d.files[name]
				if content := other.files[name]; there && !bytes.Equal(content, whole) {
					d.try(t, fmt.Sprintf("%s of one with %s", name, like.what), name, content, true)
				}
			}
		}
		names := d.names()
		for _, a := range names {
			for _, b := range names {
				if a != b && s.take(1) {
					d.try(t, a+" in the place of "+b, b, d.files[a], false)
				}
			}
		}
	})
}
