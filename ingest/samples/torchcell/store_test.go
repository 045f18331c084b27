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

	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/torchcell"
	"tcbuild/internal/testing/lmdbtest"
	"tcbuild/internal/testing/sets"
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
				for r, err := range store.Records() {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r.Number)
					value := r.Experiments[0].Values[0].Number
					if value != float64(r.Number%1_000_000_000) {
						t.Errorf("record %d has value %v", r.Number, value)
					}
				}
				if !slices.Equal(got, numbers) {
					t.Errorf("%s, prefix %q: got %v\nwant %v", name, prefix, got, numbers)
				}
			}
		}
	}
}

var abc, _ = ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"}, nil)

// read returns the samples of a perturbation set as texts.
func read(
	dir string, genes *ingest.Nodes, options samples.Spec,
) (p ingest.SampleSource, found []string, counts string, err error) {
	if p, err = openFile(dir, genes, options); err != nil {
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
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.records)
			files := []string{"data.mdb"}
			if test.manifest != "" {
				writeFile(t, test.manifest, dir, "STORE.json")
				files = append(files, "STORE.json")
			}
			p, got, counts, err := read(dir, genesOf(test.name), test.options)
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

// aliases are other names of genes.
// openFile opens a set for genes, with any share of its records dropped.
func openFile(
	dir string, genes *ingest.Nodes, spec samples.Spec,
) (ingest.SampleSource, error) {
	spec.File, spec.MaxDropped = dir, new(1.0)
	return samples.Open(spec, &ingest.Graph{Genes: genes})
}

// genesOf are the genes of a test. One with "alias" in its name knows alpha as a name of C.
func genesOf(test string) *ingest.Nodes {
	if !strings.Contains(test, "alias") {
		return abc
	}
	aliases := ingest.TextsColumn(ingest.AliasesColumn, [][]string{nil, nil, {"alpha"}})
	genes, _ := ingest.NewNodes(ingest.Gene, abc.IDs[:3], []ingest.Column{aliases})
	return genes
}
