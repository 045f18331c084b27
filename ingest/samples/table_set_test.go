package samples

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

var threeGenes, _ = ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"}, nil)

// showSamples reads a source and returns a text per sample.
func showSamples(source ingest.SampleSource) (samples []string, counts string, err error) {
	account, err := sets.Read(source, func(s *ingest.Samples) error {
		if s.First != len(samples) {
			return fmt.Errorf("a batch of %d samples starts at %d, expected %d", s.Len(), s.First,
				len(samples))
		}
		for i := range s.Len() {
			line := fmt.Sprintf("%s %v %v", s.ID(i), s.Genes(i), s.Phenotypes(i))
			for _, value := range s.Attributes(i) {
				switch {
				case value.Text != nil:
					line += fmt.Sprintf(" %q", value.Text)
				case value.Number != 0: // of a missing text it is 0
					line += fmt.Sprint(" ", value.Number)
				default:
					line += " missing"
				}
			}
			samples = append(samples, line)
		}
		return nil
	})
	return samples, sets.Counts(account), err
}

func TestPerturbations(t *testing.T) {
	ignore := Spec{UnknownGenes: ingest.DropGene}
	wildtype := Spec{AllowWildtype: true}
	for _, test := range []struct {
		name, file, content string
		options             Spec
		phenotypes          string
		ignored             string
		want                []string
		counts              string
	}{
		{
			name:    "genes only",
			file:    "p.tsv",
			content: "genes\nB|A\nC\n",
			want:    []string{"0 [0 1] []", "1 [2] []"},
			counts:  "2 kept",
		},
		{
			name:       "everything",
			file:       "p.csv",
			content:    "y,genes,note,sample_id,x\n1.5,C|A,first,s1,\nNaN,B,,s2,-2e3\n",
			phenotypes: "y x",
			want:       []string{`s1 [0 2] [1.5 NaN] "first"`, "s2 [1] [NaN -2000] missing"},
			counts:     "2 kept",
		},
		{
			name:       "no samples",
			file:       "p.tsv",
			content:    "genes\tx\n",
			phenotypes: "x",
			counts:     "0 kept",
		},
		{
			name:       "late first value",
			file:       "p.tsv",
			content:    "genes\tx\ty\nA\t\tNA\nB\t\t1\nC\ttext\tnull\n",
			phenotypes: "y",
			want:       []string{"0 [0] [NaN] missing", "1 [1] [1] missing", `2 [2] [NaN] "text"`},
			counts:     "3 kept",
		},
		{
			name:       "attributes by name",
			file:       "p.tsv",
			content:    "genes\tx\tcode\tt\tmixed\tnote\nA\t1\t007\t30\t5\ta\nB\t2\t8\tNA\tb\tc\n",
			options:    Spec{Attributes: []string{"t", "code", "mixed"}},
			phenotypes: "x",
			ignored:    "note",
			want:       []string{`0 [0] [1] 30 "007" "5"`, `1 [1] [2] NaN "8" "b"`},
			counts:     "2 kept",
		},
		{
			name:       "phenotypes by name",
			file:       "p.tsv",
			content:    "genes\tx\ty\tmixed\tnote\nA\t1\t2\t5\ta\nB\t2\t3\tb\tc\n",
			options:    Spec{Phenotypes: []string{"y"}},
			phenotypes: "y",
			ignored:    "x mixed",
			want:       []string{`0 [0] [2] "a"`, `1 [1] [3] "c"`},
			counts:     "2 kept",
		},
		{
			name:       "no attributes",
			file:       "p.tsv",
			content:    "genes\tx\tnote\nA\t1\ta\n",
			options:    Spec{Attributes: []string{}},
			phenotypes: "x",
			ignored:    "note",
			want:       []string{"0 [0] [1]"},
			counts:     "1 kept",
		},
		{
			name:       "no value at all",
			file:       "p.tsv",
			content:    "genes\tx\nA\t\nB\tnan\n",
			phenotypes: "x",
			want:       []string{"0 [0] [NaN]", "1 [1] [NaN]"},
			counts:     "2 kept",
		},
		{
			name:       "genes with themselves",
			file:       "p.tsv",
			content:    "genes\tx\nB|A|B|B\t1\nA|A\t2\nA|B\t3\n",
			phenotypes: "x",
			want:       []string{"2 [0 1] [3]"},
			counts:     "1 kept, 2 self_pair",
		},
		{
			name:       "in columns",
			file:       "p.tsv",
			content:    "a\tb\tx\nA\tA\t1\nA\t\t2\nB\tB\t3\n",
			options:    Spec{GenesColumns: []string{"a", "b"}},
			phenotypes: "x",
			want:       []string{"1 [0] [2]"},
			counts:     "1 kept, 2 self_pair, 1 missing_gene",
		},
		{
			name:       "missing in columns",
			file:       "p.tsv",
			content:    "a\tb\tc\tx\nA\tB\tC\t1\n\t\tA\t2\nNA\tB\tC\t3\n",
			options:    Spec{GenesColumns: []string{"a", "b", "c"}},
			phenotypes: "x",
			want:       []string{"0 [0 1 2] [1]", "1 [0] [2]", "2 [1 2] [3]"},
			counts:     "3 kept, 2 missing_gene",
		},
		{
			name:    "unknown genes dropped",
			file:    "p.tsv",
			content: "genes\nX|B\nA|Y|X\n",
			options: ignore,
			want:    []string{"0 [1] []", "1 [0] []"},
			counts:  "2 kept, 3 unknown_left_out",
		},
		{
			name:    "wild type",
			file:    "p.tsv",
			content: "sample_id\tgenes\na\t\nb\tC\n",
			options: wildtype,
			want:    []string{"a [] []", "b [2] []"},
			counts:  "2 kept, 1 wildtype",
		},
		{
			name:       "samples emptied by dropping",
			file:       "p.tsv",
			content:    "genes\tx\nX|Y\t1\nB|X\t2\nX\t3\nA|A\t4\n",
			options:    ignore,
			phenotypes: "x",
			want:       []string{"1 [1] [2]"},
			counts:     "1 kept, 2 no_gene_left, 1 self_pair, 1 unknown_left_out",
		},
		{
			name:       "emptied samples are no wild types",
			file:       "p.tsv",
			content:    "genes\tx\nX\t1\n\t2\nX|Y\t3\n",
			options:    Spec{UnknownGenes: ingest.DropGene, AllowWildtype: true},
			phenotypes: "x",
			want:       []string{"1 [] [2]"},
			counts:     "1 kept, 2 no_gene_left, 1 wildtype",
		},
		{
			name:       "samples dropped",
			file:       "p.tsv",
			content:    "genes\tx\nX|A\t1\nB|B\t2\nX|Y|A|A\t3\nC\t4\n",
			options:    Spec{UnknownGenes: ingest.DropSample},
			phenotypes: "x",
			want:       []string{"3 [2] [4]"},
			counts:     "1 kept, 2 unknown_gene, 1 self_pair",
		},
		{
			name:       "read-through genes dropped",
			file:       "p.tsv",
			content:    "genes\tx\nA\t1\nA-B\t2\nC|A-B\t3\n",
			options:    Spec{UnknownGenes: ingest.DropSample},
			phenotypes: "x",
			want:       []string{"0 [0] [1]"},
			counts:     "1 kept, 2 unknown_gene",
		},
		{
			name:    "ids of dropped samples",
			file:    "p.tsv",
			content: "sample_id\tgenes\na\tX\nb\tA\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want:    []string{"b [0] []"},
			counts:  "1 kept, 1 unknown_gene",
		},
		{
			name:    "duplicate ids allowed",
			file:    "p.tsv",
			content: "sample_id\tgenes\na\tA\na\tB\n\tC\n",
			options: Spec{AllowDuplicateIDs: true},
			want:    []string{"a [0] []", "a [1] []", " [2] []"},
			counts:  "3 kept",
		},
		{
			name:    "mapped",
			file:    "p.tsv",
			content: "strain\tgene_a\tgene_b\tplate\ty\n17\tC\tA\t3\t0.5\n18\tB\t\t4\t1\n",
			options: Spec{
				GenesColumns: []string{"gene_a", "gene_b"},
				IDColumn:     "strain",
				Phenotypes:   []string{"y"},
			},
			phenotypes: "y",
			want:       []string{"17 [0 2] [0.5] 3", "18 [1] [1] 4"},
			counts:     "2 kept, 1 missing_gene",
		},
		{
			name:       "phenotype order given",
			file:       "p.tsv",
			content:    "genes\tx\ty\nA\t1\t2\n",
			options:    Spec{Phenotypes: []string{"y", "x"}},
			phenotypes: "y x",
			want:       []string{"0 [0] [2 1]"},
			counts:     "1 kept",
		},
		{
			name:    "no phenotypes wanted",
			file:    "p.tsv",
			content: "genes\tx\nA\t1\n",
			options: Spec{Phenotypes: []string{}},
			ignored: "x",
			want:    []string{"0 [0] []"},
			counts:  "1 kept",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := inputs.Write(t, test.file, test.content)
			known := map[string]*names.Resolver{
				"aliases": aliases(map[string]uint32{"alpha": 0, "B": 2})}
			p, err := openFile(path, threeGenes, test.options, known[test.name])
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Columns().PhenotypeNames(), " "); got != test.phenotypes {
				t.Errorf("phenotypes %q, expected %q", got, test.phenotypes)
			}
			if got := strings.Join(p.Columns().Ignored, " "); got != test.ignored {
				t.Errorf("ignored %q, expected %q", got, test.ignored)
			}
			for range 2 { // a source can be read again
				got, counts, err := showSamples(p)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, test.want) || counts != test.counts {
					t.Errorf("got  %q %+v\nwant %q %+v", got, counts, test.want, test.counts)
				}
			}
			inputs := p.Inputs()
			if len(inputs) != 1 || inputs[0].Name != test.file ||
				inputs[0].Bytes != int64(len(test.content)) {
				t.Errorf("inputs %v", inputs)
			}
		})
	}
}

// FuzzPerturbations reads any text as a perturbation set. The result is bad input, or samples whose
// genes ascend.
func FuzzPerturbations(f *testing.F) {
	inputfile.ClockTick = 0 // no file changes while it is read
	f.Add("genes\ty\nA|B\t1\nC\t\n")
	f.Add("sample_id\tgenes\nx\tA|A\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := openFile(inputs.Write(t, "p.tsv", text), threeGenes,
			Spec{UnknownGenes: ingest.DropGene})
		if err == nil {
			_, err = sets.Read(p, func(s *ingest.Samples) error {
				for i := range s.Len() {
					genes := s.Genes(i)
					if len(genes) == 0 || !slices.IsSorted(genes) ||
						len(slices.Compact(slices.Clone(genes))) != len(genes) {
						t.Errorf("genes %v", genes)
					}
				}
				return nil
			})
		}
		if err != nil && fault.KindOf(err) != fault.Input {
			t.Errorf("kind %d, expected bad input: %v", fault.KindOf(err), err)
		}
	})
}

// aliases are other names of genes.
func aliases(rows map[string]uint32) *names.Resolver {
	b := names.NewBuilder(threeGenes, len(rows))
	level := b.AddLevel()
	for name, row := range rows {
		b.Add(level, name, row)
	}
	return b.Resolver(false)
}
