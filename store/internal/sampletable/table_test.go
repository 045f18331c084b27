package sampletable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// folder is Files in a folder.
type folder string

func (f folder) Open(name string) (*os.File, int64, error) {
	file, err := os.Open(filepath.Join(string(f), name))
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	return file, info.Size(), err
}

var errDamaged = errors.New("damaged")

func (f folder) Damaged(name string, err error) error {
	return fmt.Errorf("%s: %w: %w", name, errDamaged, err)
}

var bothTypes = ingest.Columns{
	Phenotypes: ingest.NamedPhenotypes("fitness", "p"),
	Attributes: []ingest.Attribute{{Name: "medium", Type: ingest.TextAttribute}, {Name: "temperature", Type: ingest.NumberAttribute}},
}

// randomSamples makes samples with missing values of all kinds, empty texts and wild types.
func randomSamples(r *rand.Rand, columns ingest.Columns, count int) *ingest.Samples {
	samples := ingest.NewSamples(0, columns, count)
	number := func() float64 { return []float64{math.NaN(), math.Copysign(0, -1), r.NormFloat64()}[r.IntN(3)] }
	for i := range count {
		var genes []uint32
		for gene := range 4 {
			if r.IntN(2) == 0 {
				genes = append(genes, uint32(gene*1000))
			}
		}
		var phenotypes []float64
		for range columns.Phenotypes {
			phenotypes = append(phenotypes, number())
		}
		var attributes []ingest.Value
		for range columns.Attributes {
			text := [][]byte{nil, {}, []byte("YPD"), fmt.Append(nil, "medium ", r.IntN(1000))}[r.IntN(4)]
			attributes = append(attributes, ingest.Value{Text: text, Number: number()})
		}
		samples.Append(fmt.Appendf(nil, "s%d", i%1000), genes, phenotypes, attributes)
	}
	return samples
}

func write(t testing.TB, columns ingest.Columns, batches ...*ingest.Samples) folder {
	t.Helper()
	dir := folder(filepath.Join(t.TempDir(), "samples"))
	w, err := Create(string(dir), columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range batches {
		if err := w.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close("content"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, dir folder, columns ingest.Columns, samples int) *Table {
	t.Helper()
	checksums, err := os.ReadFile(filepath.Join(string(dir), ChecksumsName))
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(dir, checksums, columns, samples, "content")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func sameNumber(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// checkRow compares a row with sample i of samples.
func checkRow(t testing.TB, columns ingest.Columns, row *ingest.Sample, samples *ingest.Samples, i int) {
	t.Helper()
	same := bytes.Equal(row.ID, samples.ID(i)) && slices.Equal(row.Genes, samples.Genes(i)) &&
		slices.EqualFunc(row.Phenotypes, samples.Phenotypes(i), sameNumber) && len(row.Attributes) == len(columns.Attributes)
	for k, attribute := range columns.Attributes {
		got, want := row.Attributes[k], samples.Attribute(i, k)
		if attribute.Type == ingest.NumberAttribute {
			same = same && sameNumber(got.Number, want.Number)
		} else {
			same = same && bytes.Equal(got.Text, want.Text) && (got.Text == nil) == (want.Text == nil)
		}
	}
	if !same {
		t.Fatalf("sample %d is %v, want id %s, genes %d, phenotypes %v, attributes %v", i, row, samples.ID(i), samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
	}
}

// Tables of one batch, of several, and of several parts, read in order and at random.
func TestRoundTrip(t *testing.T) {
	many := ingest.Columns{Phenotypes: make([]ingest.Phenotype, 700)} // a batch has 128 samples, a part 2,048
	for i := range many.Phenotypes {
		many.Phenotypes[i].Name = fmt.Sprint("p", i)
	}
	for _, test := range []struct {
		columns ingest.Columns
		samples int
	}{{bothTypes, 0}, {bothTypes, 1}, {bothTypes, 4096}, {bothTypes, 10_000}, {bothTypes, 65_536 + 1}, {ingest.Columns{}, 5000}, {many, 4100}}[:testrun.Cases(7, 4)] {
		r := seed.Rand(t)
		samples := randomSamples(r, test.columns, test.samples)
		dir := write(t, test.columns, samples)
		table := open(t, dir, test.columns, test.samples)
		reader := table.NewReader()
		for i := range test.samples {
			row, err := reader.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			checkRow(t, test.columns, row, samples, i)
		}
		for range min(test.samples, 50) {
			i := r.IntN(test.samples)
			row, err := reader.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			checkRow(t, test.columns, row, samples, i)
		}
		reader.Close()
		var names []string
		entries, _ := os.ReadDir(string(dir))
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if want := LayoutOf(test.columns).Names(test.samples); !slices.Equal(names, want) {
			t.Errorf("files %q, want %q", names, want)
		}
	}
}

// The bytes do not depend on how samples come in batches.
func TestSameBytes(t *testing.T) {
	r := seed.Rand(t)
	samples := randomSamples(r, bothTypes, 70_000)
	var batches []*ingest.Samples
	for i := 0; i < samples.Len(); {
		batch := ingest.NewSamples(i, bothTypes, 0)
		for range min(1+r.IntN(9000), samples.Len()-i) {
			batch.Append(samples.ID(i), samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
			i++
		}
		batches = append(batches, batch)
	}
	one, many := write(t, bothTypes, samples), write(t, bothTypes, batches...)
	for _, name := range LayoutOf(bothTypes).Names(samples.Len()) {
		a, err1 := os.ReadFile(filepath.Join(string(one), name))
		b, err2 := os.ReadFile(filepath.Join(string(many), name))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs, error %v", name, err)
		}
	}
}

// The files are what docs/FORMAT.md says, seen with the Arrow library alone.
func TestFormat(t *testing.T) {
	samples := ingest.NewSamples(0, bothTypes, 2)
	samples.Append([]byte("a"), []uint32{1, 7}, []float64{0.5, math.NaN()}, []ingest.Value{{Text: []byte("YPD")}, {Number: 30}})
	samples.Append([]byte("b"), nil, []float64{-1, 2}, []ingest.Value{{}, {Number: math.NaN()}})
	samples.Append([]byte("c"), []uint32{0}, []float64{math.NaN(), 0}, []ingest.Value{{Text: []byte("SC")}, {Number: 26}})
	dir := write(t, bothTypes, samples)
	part, err := os.ReadFile(filepath.Join(string(dir), "part-00000.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := ipc.NewFileReader(bytes.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := reader.Record(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, field := range rows.Schema().Fields() {
		values := fmt.Sprint(rows.Column(i))
		if texts, ok := rows.Column(i).(*array.Dictionary); ok {
			values = fmt.Sprint(texts.Indices(), " of ", texts.Dictionary())
		}
		got = append(got, fmt.Sprintf("%s %s %s", field.Name, field.Type, values))
	}
	want := []string{
		`sample_id utf8 ["a" "b" "c"]`,
		`perturbation_indices list<item: int32, nullable> [[1 7] [] [0]]`,
		`fitness float64 [0.5 -1 (null)]`,
		`p float64 [(null) 2 0]`,
		`medium dictionary<values=utf8, indices=int32, ordered=false> [0 (null) 1] of ["YPD" "SC"]`,
		`temperature float64 [30 (null) 26]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found columns\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var sums []byte
	sums = binary.LittleEndian.AppendUint64(sums, uint64(len(part)))
	for block := range slices.Chunk(part, 65_536) {
		sums = binary.LittleEndian.AppendUint64(sums, xxhash.Sum64(block))
	}
	sums = append(sums, "content"...)
	if stored, err := os.ReadFile(filepath.Join(string(dir), "_checksums")); err != nil || !bytes.Equal(stored, sums) {
		t.Errorf("checksums % x, want % x, error %v", stored, sums, err)
	}
}

func TestLayout(t *testing.T) {
	for _, test := range []struct{ columns, batch int }{{0, 4096}, {32, 4096}, {33, 2048}, {64, 2048}, {65, 1024}, {2048, 64}, {60_000, 64}} {
		columns := ingest.Columns{Phenotypes: make([]ingest.Phenotype, test.columns/2), Attributes: make([]ingest.Attribute, test.columns-test.columns/2)}
		if got, want := LayoutOf(columns), (Layout{16 * test.batch, test.batch}); got != want {
			t.Errorf("%d columns: %+v, want %+v", test.columns, got, want)
		}
	}
}

// Every flipped bit of a part gives the right samples or an error that names the file and the
// samples; flips in other blocks than a sample's do not matter.
func TestDamagedPart(t *testing.T) {
	r := seed.Rand(t)
	columns := bothTypes
	columns.Phenotypes = ingest.NamedPhenotypes("a", "b", "c", "d", "e", "f", "g", "h") // for several blocks
	samples := randomSamples(r, columns, 9000)
	dir := write(t, columns, samples)
	path := filepath.Join(string(dir), partName(0))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := open(t, dir, columns, samples.Len())
	readable := 0
	for range testrun.Cases(300, 60) {
		damaged := bytes.Clone(whole)
		damaged[r.IntN(len(whole))] ^= 1 << r.IntN(8)
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		reader, bad := table.NewReader(), 0
		for _, i := range []int{0, 4095, 4096, 8999, 8191} {
			row, err := reader.Row(i)
			if err == nil {
				checkRow(t, columns, row, samples, i)
				readable++
				continue
			}
			bad++
			if !errors.Is(err, errDamaged) || !strings.HasPrefix(err.Error(), "part-00000.arrow: damaged: samples ") {
				t.Errorf("error %v", err)
			}
		}
		if bad == 0 {
			t.Error("no sample of the three batches is an error")
		}
		reader.Close()
	}
	if readable == 0 {
		t.Error("damage of one batch makes all samples unreadable")
	}
}

func TestWrongChecksums(t *testing.T) {
	dir := write(t, bothTypes, randomSamples(seed.Rand(t), bothTypes, 3))
	whole, err := os.ReadFile(filepath.Join(string(dir), ChecksumsName))
	if err != nil {
		t.Fatal(err)
	}
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for _, checksums := range [][]byte{nil, whole[:7], whole[:len(whole)-1], append(bytes.Clone(whole), 0), huge, append(huge, whole...)} {
		if _, err := Open(dir, checksums, bothTypes, 3, "content"); !errors.Is(err, errDamaged) {
			t.Errorf("% x: error %v", checksums, err)
		}
	}
}

// BenchmarkWrite and BenchmarkRead are per sample.
func BenchmarkWrite(b *testing.B) {
	samples := randomSamples(seed.Rand(b), bothTypes, 4096)
	w, err := Create(filepath.Join(b.TempDir(), "samples"), bothTypes)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N/4096 + 1 {
		if err := w.Add(samples); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Wait(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	const count = 65_536
	dir := write(b, bothTypes, randomSamples(seed.Rand(b), bothTypes, count))
	reader := open(b, dir, bothTypes, count).NewReader()
	defer reader.Close()
	for i := range b.N {
		if _, err := reader.Row(i % count); err != nil {
			b.Fatal(err)
		}
	}
}
