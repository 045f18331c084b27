package torchcell_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/internal/testing/lmdbtest"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// write creates a store in a folder, or adds to it.
func write(t testing.TB, dir string, records map[string]string) {
	t.Helper()
	lmdbtest.Write(t, dir, maps.All(records))
}

func writeFile(t testing.TB, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
		os.WriteFile(name, []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

// experiment is a record of one experiment; values are the members of the phenotype after the
// label's name.
func experiment(label, statistic, values string, genes ...string) string {
	var perturbations []string
	for i, gene := range genes {
		kind := []string{"deletion", "damp", "allele", "kanmx_deletion", "gene_addition"}[i%5]
		perturbations = append(perturbations,
			fmt.Sprintf(`{"systematic_gene_name": "%s", "perturbation_type": "%s"}`, gene, kind))
	}
	return fmt.Sprintf(`{"experiment": {"genotype": {"perturbations": [%s]}, "phenotype": `+
		`{"label_name": "%s", "label_statistic_name": "%s", %s}}, "experiment_reference": {"x": `+
		`NaN}}`,
		strings.Join(perturbations, ", "), label, statistic, values)
}

func fitness(value string, genes ...string) string {
	return experiment("fitness", "fitness_se", `"fitness": `+value, genes...)
}

func deflate(text string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return out.String()
}

// TestOrder reads stores with many sets of numbers, with both kinds of keys and with small and
// large values, and compares with a sorted list.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	sets := map[string][]int{
		"none":         nil,
		"zero":         {0},
		"nine":         {9},
		"ten":          {10},
		"edges":        {0, 9, 10, 11, 99, 100, 109, 110, 999, 1000, 1001, 99999, 100000},
		"large":        {7, 999999999999999999, 100000000000000000, 123456789012345678},
		"no one digit": {12345, 678},
	}
	for _, n := range []int{10, 11, 100, 1234} {
		for i := range n {
			sets[fmt.Sprint("first ", n)] = append(sets[fmt.Sprint("first ", n)], i)
		}
	}
	for _, limit := range []int{1000, 100_000, 1_000_000_000} {
		name := fmt.Sprint("below ", limit)
		for range 300 {
			sets[name] = append(sets[name], r.IntN(limit))
		}
		slices.Sort(sets[name])
		sets[name] = slices.Compact(sets[name])
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		numbers := sets[name]
		for _, prefix := range []string{"", "data_"} {
			dir, records := t.TempDir(), make(map[string]string)
			slices.Sort(numbers)
			for _, number := range numbers {
				records[fmt.Sprint(prefix, number)] = fitness(fmt.Sprint(number%1_000_000_000),
					"A") + strings.Repeat(" ", r.IntN(2)*r.IntN(6000))
			}
			write(t, dir, records)
			store, err := torchcell.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var got []int
				err = store.Records(func(r *torchcell.Record) error {
					got = append(got, r.Number)
					value := r.Experiments[0].Values[0].Number
					if value != float64(r.Number%1_000_000_000) {
						t.Errorf("record %d has value %v", r.Number, value)
					}
					return nil
				})
				if err != nil || !slices.Equal(got, numbers) {
					t.Errorf("%s, prefix %q: got %v, %v\nwant %v", name, prefix, got, err, numbers)
				}
			}
		}
	}
}

var abc, _ = ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"}, nil)

// read returns the samples of a perturbation set as texts.
func read(
	dir string, options samples.Spec, known ...*names.Resolver,
) (p ingest.SampleSource, found []string, counts string, err error) {
	if p, err = openFile(dir, abc, options, known...); err != nil {
		return nil, nil, counts, err
	}
	account, err := sets.Read(p, func(s *ingest.Samples) error {
		for i := range s.Len() {
			found = append(found, fmt.Sprintf("%s %v %v", s.ID(i), s.Genes(i), s.Phenotypes(i)))
		}
		return nil
	})
	return p, found, sets.Counts(account), err
}

func TestPerturbations(t *testing.T) {
	manifest := `{"n_records_keyspace": 20, "codec": "%s", "n_pool": 2, "pool_sha256": "x"}`
	for _, test := range []struct {
		name       string
		records    map[string]string
		manifest   string
		options    samples.Spec
		phenotypes string
		ignored    string
		want       []string
		counts     string
	}{
		{
			name: "objects, keys with a prefix",
			records: map[string]string{
				"data_2": fitness("0.5", "A"), "data_10": fitness("1", "C", "B"),
			},
			phenotypes: "fitness fitness_se",
			want:       []string{"2 [0] [0.5 NaN]", "10 [1 2] [1 NaN]"},
			counts:     "2 kept",
		},
		{
			name: "arrays",
			records: map[string]string{
				"0": "[" + fitness(`1, "fitness_se": 0.1`, "A") + "]",
				"1": "[" + fitness(`2, "fitness_se": null`, "B") + "]",
			},
			phenotypes: "fitness fitness_se",
			want:       []string{"0 [0] [1 0.1]", "1 [1] [2 NaN]"},
			counts:     "2 kept",
		},
		{
			name: "zlib with gaps",
			records: map[string]string{
				"19": deflate("[" + fitness("1", "A") + "]"),
				"3":  deflate(fitness("NaN", "A", "B")),
			},
			manifest:   fmt.Sprintf(manifest, "zlib"),
			phenotypes: "fitness fitness_se",
			want:       []string{"3 [0 1] [NaN NaN]", "19 [0] [1 NaN]"},
			counts:     "2 kept",
		},
		{
			name:       "part of a build, plain",
			records:    map[string]string{"19": fitness("1", "A"), "3": fitness("2", "A")},
			manifest:   fmt.Sprintf(manifest, "none"),
			phenotypes: "fitness fitness_se",
			want:       []string{"3 [0] [2 NaN]", "19 [0] [1 NaN]"},
			counts:     "2 kept",
		},
		{
			name: "several experiments",
			records: map[string]string{
				"0": "[" + fitness("1", "A", "B") + "," + experiment("gene_interaction",
					"gene_interaction_p_value",
					`"gene_interaction": -0.1, "gene_interaction_p_value": 0.04`, "A", "B") + "]",
				"1": "[" + experiment("gene_interaction", "gene_interaction_p_value",
					`"gene_interaction": 0.2`, "C") + "]",
				"2": "[" + fitness("3", "C") + "," + fitness(`4, "fitness_se": 0.4`, "C") + "," +
					fitness("5", "A") + "]"},
			phenotypes: "fitness fitness_se gene_interaction gene_interaction_p_value fitness#2 " +
				"fitness_se#2 fitness#3 fitness_se#3",
			want: []string{
				"0 [0 1] [1 NaN -0.1 0.04 NaN NaN NaN NaN]",
				"1 [2] [NaN NaN 0.2 NaN NaN NaN NaN NaN]", "2 [0 2] [3 NaN NaN NaN 4 0.4 5 NaN]",
			},
			counts: "3 kept",
		},
		{
			name: "infinite",
			records: map[string]string{
				"0": fitness(`Infinity, "fitness_se": -Infinity`, "A"),
				"1": fitness("1e999", "A"),
				"2": fitness("2", "A"),
			},
			phenotypes: "fitness fitness_se",
			want:       []string{"0 [0] [NaN NaN]", "1 [0] [NaN NaN]", "2 [0] [2 NaN]"},
			counts:     "3 kept, 3 infinite_value",
		},
		{
			name: "one statistic of two labels",
			records: map[string]string{
				"0": "[" + experiment("x", "p", `"x": 1, "p": 0.1`, "A") + "," + experiment("y",
					"p", `"y": 2, "p": 0.2`, "A") + "]",
				"1": experiment("y", "p", `"y": 3, "p": 0.3`, "A"),
			},
			phenotypes: "x p y y.p",
			want:       []string{"0 [0] [1 0.1 2 0.2]", "1 [0] [NaN NaN 3 0.3]"},
			counts:     "2 kept",
		},
		{
			name: "members and texts",
			records: map[string]string{
				"0": experiment("m", "s", `"m": {"a": 1, "b": "x"}, "s": {"a": 2}`, "A"),
				"1": experiment("t", "u", `"t": "high"`, "A"),
			},
			phenotypes: "m.a s.a u",
			want:       []string{"0 [0] [1 2 NaN]", "1 [0] [NaN NaN NaN]"},
			counts:     "2 kept",
		},
		{
			name: "truth values",
			records: map[string]string{
				"0": experiment("is_essential", "", `"is_essential": true`, "A"),
				"1": experiment("is_essential", "", `"is_essential": false`, "A"),
			},
			options:    samples.Spec{Phenotypes: []string{"is_essential"}},
			phenotypes: "is_essential",
			want:       []string{"0 [0] [1]", "1 [0] [0]"},
			counts:     "2 kept",
		},
		{
			name:       "phenotypes chosen",
			records:    map[string]string{"0": fitness(`1, "fitness_se": 0.5`, "A")},
			options:    samples.Spec{Phenotypes: []string{"fitness_se"}},
			phenotypes: "fitness_se",
			ignored:    "fitness",
			want:       []string{"0 [0] [0.5]"},
			counts:     "1 kept",
		},
		{
			name: "phenotypes left out",
			records: map[string]string{
				"0": experiment("y", "s", `"y": "x", "s": 2`, "A"),
				"1": experiment("y", "s", `"y": 1`, "A"),
			},
			options:    samples.Spec{NotPhenotypes: []string{"y"}},
			phenotypes: "s",
			ignored:    "y",
			want:       []string{"0 [0] [2]", "1 [0] [NaN]"},
			counts:     "2 kept",
		},
		{
			name: "unknown, repeated, none",
			records: map[string]string{
				"0": fitness("1", "A", "A", "hoΔ"), "1": fitness("2"), "2": fitness("3", "X"),
			},
			options:    samples.Spec{UnknownGenes: ingest.DropGene, AllowWildtype: true},
			phenotypes: "fitness fitness_se",
			want:       []string{"0 [0] [1 NaN]", "1 [] [2 NaN]"},
			counts:     "2 kept, 1 no_gene_left, 1 wildtype, 1 unknown_left_out, 1 repeated_gene",
		},
		{
			name: "unknown, samples dropped",
			records: map[string]string{
				"0": fitness("1", "A", "A", "hoΔ"), "1": fitness("2", "B"), "2": fitness("3", "X"),
			},
			options:    samples.Spec{UnknownGenes: ingest.DropSample},
			phenotypes: "fitness fitness_se",
			want:       []string{"1 [1] [2 NaN]"},
			counts:     "1 kept, 2 unknown_gene",
		},
		{
			name:       "aliases",
			records:    map[string]string{"0": fitness("1", "alpha")},
			phenotypes: "fitness fitness_se",
			want:       []string{"0 [2] [1 NaN]"},
			counts:     "1 kept",
		},
		{name: "empty", counts: "0 kept"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.records)
			files := []string{"data.mdb"}
			if test.manifest != "" {
				writeFile(t, test.manifest, dir, "STORE.json")
				files = append(files, "STORE.json")
			}
			p, got, counts, err := read(dir, test.options, knownTo(test.name))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) || counts != test.counts {
				t.Errorf("got  %q %+v\nwant %q %+v", got, counts, test.want, test.counts)
			}
			names := strings.Join(p.Columns().PhenotypeNames(), " ")
			ignored := strings.Join(p.Columns().Ignored, " ")
			if names != test.phenotypes || ignored != test.ignored {
				t.Errorf("phenotypes %q, ignored %q, want %q and %q", names, ignored,
					test.phenotypes, test.ignored)
			}
			var inputs []ingest.Input
			for _, file := range files {
				content, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				inputs = append(inputs, ingest.Input{
					Name:   file,
					Bytes:  int64(len(content)),
					SHA256: fmt.Sprintf("%x", sha256.Sum256(content)),
				})
			}
			if found := p.Inputs(); !reflect.DeepEqual(found, inputs) {
				t.Errorf("inputs %v, want %v", found, inputs)
			}
		})
	}
}

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
			name:    "gene with a blank",
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
			hint:    "processed/lmdb",
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
			hint: "--not-phenotypes y",
		},
		{
			name: "text before a number",
			records: map[string]string{
				"0": experiment("y", "", `"y": "x"`, "A"), "1": experiment("y", "", `"y": 1`, "A"),
			},
			want: `record 0: phenotype "y": found a text, a list or an object, expected a number`,
			hint: "--not-phenotypes y",
		},
		{
			name:    "text in a phenotype that is wanted",
			records: map[string]string{"0": experiment("y", "", `"y": "x"`, "A")},
			options: samples.Spec{Phenotypes: []string{"y"}},
			want:    `record 0: phenotype "y": found a text`,
		},
		{
			name:    "no such phenotype to leave out",
			records: map[string]string{"0": fitness("1", "A")},
			options: samples.Spec{NotPhenotypes: []string{"fitness_sd"}},
			want:    `expected phenotype column "fitness_sd"`,
			hint:    `did you mean "fitness_se"?`,
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
			_, _, _, err := read(dir, test.options)
			refused(t, err, strings.ReplaceAll(test.want, "DIR", dir), test.hint)
		})
	}
	t.Run("columns named", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"0": fitness("1", "A")})
		for _, options := range []samples.Spec{
			{IDColumn: "strain"},
			{Phenotypes: []string{"fitness"}, NotPhenotypes: []string{"fitness"}},
		} {
			if _, _, _, err := read(dir, options); fault.KindOf(err) != fault.Usage {
				t.Errorf("got %v, want wrong usage", err)
			}
		}
	})
	t.Run("folder above", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "lmdb"), nil)
		_, _, _, err := read(dir, samples.Spec{})
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
				_, samples, _, err := read(path, samples.Spec{})
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
		_, samples, _, err := read(dir,
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
	_, want, _, err := read(dir, samples.Spec{})
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
		if _, got, _, err := read(dir, samples.Spec{}); err == nil && !slices.Equal(got, want) {
			t.Errorf("bit %d of byte %d: got %v, want %v", bit%8, bit/8-start, got, want)
		}
		content[bit/8] ^= 1 << (bit % 8)
	}
}

// aliases are other names of genes.
// openFile opens a set, with the names that a test knows besides ids.
func openFile(
	dir string, genes *ingest.Nodes, spec samples.Spec, known ...*names.Resolver,
) (ingest.SampleSource, error) {
	spec.File = dir
	if err := conf.Check(&spec); err != nil {
		return nil, err
	}
	resolver := append(known, nil)[0]
	if resolver == nil {
		resolver = names.OfIDs(genes)
	}
	return samples.OpenForm(spec, resolver)
}

// knownTo are the names that a test with "alias" in its name knows besides ids.
func knownTo(test string) *names.Resolver {
	if !strings.Contains(test, "alias") {
		return nil
	}
	return aliases(map[string]uint32{"alpha": 2})
}

func aliases(rows map[string]uint32) *names.Resolver {
	b := names.NewBuilder(abc, len(rows))
	level := b.AddLevels("alias")
	for name, row := range rows {
		b.Add(level, name, row)
	}
	return b.Resolver(false)
}
