package torchcell_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name     string
		records  map[string]string
		manifest string
		options  samples.Spec
		want     string // DIR is the folder
		hint     string
	}{
		{
			name:    "unknown gene",
			records: map[string]string{"0": fitness("1", "A"), "12": fitness("1", "X")},
			want:    `read perturbations DIR: record 12: gene "X" is not in the graph`,
			hint:    "--unknown-genes",
		},
		{
			name:    "no gene",
			records: map[string]string{"5": fitness("1")},
			want:    "read perturbations DIR: record 5: the sample deletes no gene",
			hint:    "allow_wildtype=true",
		},
		{
			name:    "gene with a space",
			records: map[string]string{"5": fitness("1", "A ")},
			options: samples.Spec{UnknownGenes: ingest.DropGene},
			want:    `record 5: found gene "A "`,
			hint:    "spaces",
		},
		{
			name:    "no such phenotype",
			records: map[string]string{"0": fitness("1", "A")},
			options: samples.Spec{Phenotypes: []string{"z"}},
			want: `found columns fitness, fitness_se, perturbation_type, expected phenotype ` +
				`column "z"`,
			hint: "rename the column, or name",
		},
		{
			name:    "pickle",
			records: map[string]string{"0": "\x80\x04\x95"},
			want:    "read torchcell store DIR: record 0: byte 0: found",
			hint:    "build the store again with a current torchcell, and use its processed/lmdb",
		},
		{
			name:    "zlib without STORE.json",
			records: map[string]string{"0": deflate(fitness("1", "A"))},
			want:    "record 0: byte 0",
			hint:    "STORE.json",
		},
		{
			name:     "not zlib",
			records:  map[string]string{"0": fitness("1", "A")},
			manifest: `{"codec": "zlib"}`,
			want:     "record 0: zlib",
		},
		{
			name:     "zlib cut off",
			records:  map[string]string{"0": deflate(fitness("1", "A"))[:30]},
			manifest: `{"codec": "zlib"}`,
			want:     "record 0: unexpected EOF",
		},
		{
			name:     "other codec",
			records:  map[string]string{"0": fitness("1", "A")},
			manifest: `{"codec": "lz4"}`,
			want:     `found codec "lz4", expected none or zlib`,
		},
		{
			name:     "bad STORE.json",
			records:  map[string]string{"0": fitness("1", "A")},
			manifest: `{"codec": `,
			want:     "read DIR/STORE.json: unexpected end",
		},
		{
			name:     "records missing",
			records:  map[string]string{"0": fitness("1", "A")},
			manifest: `{"codec": "none", "n_pool": 2}`,
			want:     "found 1 record, expected 2",
		},
		{
			name:     "number beyond the build",
			records:  map[string]string{"7": fitness("1", "A")},
			manifest: `{"codec": "none", "n_records_keyspace": 7}`,
			want:     "found record 7, expected a number below 7",
		},
		{
			name:    "two kinds of keys",
			records: map[string]string{"0": fitness("1", "A"), "data_1": fitness("1", "A")},
			want:    `found the key "data_1"`,
		},
		{
			name:    "padded keys",
			records: map[string]string{"1": fitness("1", "A"), "002": fitness("1", "A")},
			want:    `found the key "002"`,
		},
		{
			name:    "another key",
			records: map[string]string{"data_0": fitness("1", "A"), "data_x": fitness("1", "A")},
			want:    `found the key "data_x"`,
		},
		{
			name: "text behind a number",
			records: map[string]string{
				"0": experiment("y", "", `"y": 1`, "A"), "1": experiment("y", "", `"y": "x"`, "A"),
			},
			want: `record 1: phenotype "y": found a text, a list or an object, expected a number`,
			hint: "--phenotypes",
		},
		{
			name: "text before a number",
			records: map[string]string{
				"0": experiment("y", "", `"y": "x"`, "A"), "1": experiment("y", "", `"y": 1`, "A"),
			},
			want: `record 0: phenotype "y": found a text, a list or an object, expected a number`,
			hint: "--phenotypes",
		},
		{
			name:    "text in a phenotype that is wanted",
			records: map[string]string{"0": experiment("y", "", `"y": "x"`, "A")},
			options: samples.Spec{Phenotypes: []string{"y"}},
			want:    `record 0: phenotype "y": found a text`,
		},
		{
			name: "integer beyond float64",
			records: map[string]string{
				"0": fitness("9007199254740992", "A"), "1": fitness("-9007199254740993", "A"),
			},
			want: "record 1: found integer \"-9007199254740993\", which a 64-bit floating-point " +
				"number cannot hold exactly",
		},
		{
			name:    "number too small",
			records: map[string]string{"0": fitness("1e-320", "A"), "1": fitness("-1e-400", "A")},
			want: "record 1: found number \"-1e-400\", which is too small for a 64-bit " +
				"floating-point number",
		},
		{
			name:    "damaged record",
			records: map[string]string{"0": fitness("1", "A"), "1": fitness("1", "A")[:100]},
			want:    "record 1: byte 100: found the end",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.records)
			if test.manifest != "" {
				writeFile(t, test.manifest, dir, "STORE.json")
			}
			_, _, _, err := read(dir, abc, test.options)
			refused(t, err, strings.ReplaceAll(test.want, "DIR", dir), test.hint)
		})
	}
	t.Run("columns named", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"0": fitness("1", "A")})
		for _, options := range []samples.Spec{
			{IDColumn: "strain"},
			{Phenotypes: []string{"fitness"}, Attributes: []string{"fitness"}},
		} {
			if _, _, _, err := read(dir, abc, options); fault.KindOf(err) != fault.Usage {
				t.Errorf("got %v, want wrong usage", err)
			}
		}
	})
	t.Run("folder above", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "lmdb"), nil)
		_, _, _, err := read(dir, abc, samples.Spec{})
		refused(t, err, "found a folder without data.mdb", "use "+filepath.Join(dir, "lmdb"))
	})
	t.Run("written to", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"0": fitness("1", "A")})
		p, err := openFile(dir, abc, samples.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"1": fitness("1", "A")})
		_, err = sets.ReadAll(p)
		if fault.KindOf(err) != fault.Busy || !errors.Is(err, inputfile.ErrChanged) ||
			!strings.Contains(err.Error(), filepath.Join(dir, "data.mdb")) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the receiver's error", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"0": fitness("1", "A")})
		p, err := openFile(dir, abc, samples.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("full")
		if _, err := sets.Read(p, func(*ingest.Samples) error { return full }); err != full {
			t.Errorf("got %v", err)
		}
	})
}

func refused(t *testing.T, err error, want, hint string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Input {
		t.Errorf("got %v (kind %d)\nwant %s", err, fault.KindOf(err), want)
	}
	if got := fault.HintOf(err); got == "" || !strings.Contains(got, hint) {
		t.Errorf("%v: got hint %q, want %q", err, got, hint)
	}
}

// TestUnfinished has builds whose stages are complete, by their markers, and builds with an
// unfinished stage.
func TestUnfinished(t *testing.T) {
	for _, test := range []struct {
		name, stage string
		complete    string // stages with a marker
		ok          bool
	}{
		{"older build", "processed", "", true},
		{"newer build", "processed", "conversion deduplication processed", true},
		{"last stage did not end", "processed", "conversion deduplication", false},
		{"stage in between did not end", "deduplication", "conversion", false},
		{"stage in between ended", "aggregation", "aggregation", true},
		{"first stage, which has no marker", "raw", "conversion", true},
		{"a folder of another name", "copy", "conversion", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, test.stage, "lmdb")
			write(t, dir, map[string]string{"0": fitness("1", "A")})
			for _, stage := range strings.Fields(test.complete) {
				writeFile(t, "", root, stage, "STAGE_COMPLETE")
			}
			t.Chdir(dir)
			for _, path := range []string{dir, ".", dir + "/"} {
				_, samples, _, err := read(path, abc, samples.Spec{})
				if !test.ok {
					refused(t, err, "the stage is unfinished: found no STAGE_COMPLETE",
						"torchcell finish its build")
				} else if err != nil || len(samples) != 1 {
					t.Errorf("%s: %d samples, %v", path, len(samples), err)
				}
			}
		})
	}
}

// TestDamage truncates a store and changes its bytes. The result is an error of bad input, or other
// values if a byte of a number or name changed, but never fewer samples without an error.
func TestDamage(t *testing.T) {
	const damagedRecords = 120
	dir := t.TempDir()
	records := make(map[string]string)
	for i := range damagedRecords {
		records[fmt.Sprint(i)] = fitness(fmt.Sprint(i), "A", "B") + strings.Repeat(" ", i*40)
	}
	write(t, dir, records)
	path := filepath.Join(dir, "data.mdb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, content []byte) (ok bool) {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		_, samples, _, err := read(dir, abc,
			samples.Spec{UnknownGenes: ingest.DropGene, AllowWildtype: true})
		if err != nil && fault.KindOf(err) != fault.Input {
			t.Errorf("%s: %v of kind %d", what, err, fault.KindOf(err))
		}
		if err == nil && len(samples) != damagedRecords {
			t.Errorf("%s: %d samples and no error", what, len(samples))
		}
		return err == nil
	}
	for _, size := range []int{
		0, 1, 100, 4096, 8192, 12288, 12289, len(whole) / 2, len(whole) - 4096,
	} {
		if check(fmt.Sprintf("cut to %d bytes", size), whole[:size]) {
			t.Errorf("cut to %d bytes: no error", size)
		}
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range testrun.Cases(150, 30) {
		content := bytes.Clone(whole)
		at := 4096*r.IntN(len(whole)/4096) + r.IntN(400)
		content[at] ^= byte(1 + r.IntN(255))
		check(fmt.Sprintf("byte %d changed", at), content)
	}
	for _, entries := range []byte{damagedRecords - 1, damagedRecords + 1, 10} { // in the headers
		content := bytes.Clone(whole)
		for _, at := range []int{0, 4096} {
			content[at+120] = entries
		}
		if check(fmt.Sprintf("%d records by the header", entries), content) {
			t.Errorf("%d records by the header: no error", entries)
		}
	}
	check("undamaged", whole)
}

// Every flipped bit of a zlib record is an error or changes nothing: zlib has a checksum.
func TestEveryBitOfZlib(t *testing.T) {
	defer func(tick time.Duration) { inputfile.ClockTick = tick }(inputfile.ClockTick)
	inputfile.ClockTick = 0 // no file changes while it is read
	dir, value := t.TempDir(), deflate(fitness("0.125", "A", "B"))
	write(t, dir, map[string]string{"0": value})
	writeFile(t, `{"codec": "zlib"}`, dir, "STORE.json")
	_, want, _, err := read(dir, abc, samples.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "data.mdb")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(content, []byte(value))
	for bit := 8 * start; bit < 8*(start+len(value)); bit += testrun.Cases(1, 7) {
		content[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, got, _, err := read(dir, abc, samples.Spec{}); err == nil && !slices.Equal(got, want) {
			t.Errorf("bit %d of byte %d: got %v, want %v", bit%8, bit/8-start, got, want)
		}
		content[bit/8] ^= 1 << (bit % 8)
	}
}
