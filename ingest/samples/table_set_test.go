package samples

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
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
			counts:     "1 kept, 2 self_pair",
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
			counts:     "2 kept",
		},
		{
			name:       "left out",
			file:       "p.tsv",
			content:    "genes\tx\ty\nA\t1\t2\nB\tlow\t3\n",
			options:    Spec{NotPhenotypes: []string{"x"}},
			phenotypes: "y",
			ignored:    "x",
			want:       []string{"0 [0] [2]", "1 [1] [3]"},
			counts:     "2 kept",
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
		{
			name:    "layout",
			file:    "p.txt",
			content: "A;B 1\nC 2\n",
			options: Spec{
				GeneDelimiter: ";",
				TextSpec:      table.TextSpec{Delimiter: "space", Columns: []string{"genes", "y"}},
			},
			phenotypes: "y",
			want:       []string{"0 [0 1] [1]", "1 [2] [2]"},
			counts:     "2 kept",
		},
		{
			name:    "aliases",
			file:    "p.tsv",
			content: "genes\nalpha|B\nalpha|alpha\nB\nA|alpha\n",
			options: Spec{Synonyms: ingest.DropSynonyms},
			want:    []string{"0 [0 1] []", "2 [1] []"},
			counts:  "2 kept, 1 synonym_names, 1 self_pair",
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

func TestPerturbationErrors(t *testing.T) {
	for _, test := range []struct {
		name, content string
		options       Spec
		want          string // PATH is the file
	}{
		{
			name:    "no genes column",
			content: "orf\tx\nA\t1\n",
			want:    `read perturbations PATH: found columns orf, x, expected genes column "genes"`,
		},
		{
			name:    "no id column",
			content: "genes\nA\n",
			options: Spec{IDColumn: "id"},
			want:    `read perturbations PATH: found columns genes, expected sample id column "id"`,
		},
		{
			name:    "no phenotype column",
			content: "genes\nA\n",
			options: Spec{Phenotypes: []string{"y"}},
			want:    `read perturbations PATH: found columns genes, expected phenotype column "y"`,
		},
		{
			name:    "unknown gene",
			content: "genes\nA\nA|X\n",
			want:    `read perturbations PATH:3: gene "X" is not in the graph (3 genes)`,
		},
		{
			name:    "gene in other case",
			content: "genes\na\n",
			want:    `read perturbations PATH:2: gene "a" is not in the graph (3 genes)`,
		},
		{
			name:    "two names of a gene",
			content: "genes\nA|B\nA|x\n",
			want: `read perturbations PATH:3: found "A" and "x", which are both names of gene ` +
				`"A", expected each gene once`,
		},
		{
			name:    "empty genotype",
			content: "genes\tx\nA\t1\n\t2\n",
			want:    "read perturbations PATH:3: the sample deletes no gene, expected at least one",
		},
		{
			name:    "all emptied",
			content: "genes\nX|Y\nX\n",
			options: Spec{UnknownGenes: ingest.DropGene, AllowWildtype: true},
			want: `read PATH for samples: kept 0 of 2 entries; dropped: 2 left without a ` +
				`gene, as theirs are unknown, such as X, Y, expected at least one`,
		},
		{
			name:    "all dropped",
			content: "genes\nA|X\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read PATH for samples: kept 0 of 1 entry; dropped: 1 of unknown genes, ` +
				`such as X, expected at least one`,
		},
		{
			name:    "spaces around a gene",
			content: "genes\nA\n B\n",
			options: Spec{UnknownGenes: ingest.DropGene},
			want: `read perturbations PATH:3: found gene " B", expected a name without spaces ` +
				`around it`,
		},
		{
			name:    "spaces around an unknown gene",
			content: "genes\nA\nX \n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read perturbations PATH:3: found gene "X ", expected a name without spaces ` +
				`around it`,
		},
		{
			name:    "quotes around some genes",
			content: "genes\nA\n\"A|B\"\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read perturbations PATH:3: found gene "\"A", expected a name without ` +
				`quotes around it`,
		},
		{
			name:    "spaces in place of genes",
			content: "genes\n  \n",
			options: Spec{AllowWildtype: true},
			want: `read perturbations PATH:2: found gene "  ", expected a name without spaces ` +
				`around it`,
		},
		{
			name:    "several genes in a column for one",
			content: "g\th\nA\tB|C\n",
			options: Spec{GenesColumns: []string{"g", "h"}, UnknownGenes: ingest.DropGene},
			want:    `read perturbations PATH:2: found gene "B|C", expected the name of one gene`,
		},
		{
			name:    "phenotype named genes",
			content: "x\tgenes\nA\t3\n",
			options: Spec{GenesColumns: []string{"x"}},
			want: `read perturbations PATH: found a phenotype or attribute named genes, a ` +
				`name reserved for a column of tcbuild`,
		},
		{
			name:    "phenotype named sample_id",
			content: "id\tgenes\tsample_id\na\tA\t3\n",
			options: Spec{IDColumn: "id"},
			want: `read perturbations PATH: found a phenotype or attribute named sample_id, a ` +
				`name reserved for a column of tcbuild`,
		},
		{
			name:    "another delimiter",
			content: "genes\nA\nB;C\n",
			want: `read perturbations PATH:3: found gene "B;C", expected one gene, not a list ` +
				`of 2`,
		},
		{
			name:    "a read-through gene",
			content: "genes\nA\nA-B\n",
			want: `read perturbations PATH:3: found gene "A-B", expected one gene, not a list ` +
				`of 2`,
		},
		{
			name:    "a read-through gene and drop-gene",
			content: "genes\nA\nC|A-B\n",
			options: Spec{UnknownGenes: ingest.DropGene},
			want: `read perturbations PATH:3: found gene "A-B", expected one gene, not a list ` +
				`of 2`,
		},
		{
			name:    "a control by hyphen and drop-sample",
			content: "genes\nA\nA-ctrl\n",
			options: Spec{UnknownGenes: ingest.DropSample, Controls: []string{"ctrl"}},
			want: `read perturbations PATH:3: found gene "A-ctrl", expected one gene, not a ` +
				`list of 2`,
		},
		{
			name:    "another delimiter and drop-sample",
			content: "genes\nA\nA, B,C\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read perturbations PATH:3: found gene "A, B,C", expected one gene, not a ` +
				`list of 3`,
		},
		{
			name:    "bad value in a dropped sample",
			content: "genes\tx\nX\tlow\n",
			options: Spec{UnknownGenes: ingest.DropSample, Phenotypes: []string{"x"}},
			want:    `read perturbations PATH:2: phenotype "x": found "low", expected a number`,
		},
		{
			name:    "duplicate id",
			content: "sample_id\tgenes\na\tA\nb\tB\na\tC\n",
			want: `read perturbations PATH:4: found sample id "a", which is also in PATH:2, ` +
				`expected unique ids`,
		},
		{
			name:    "id of a dropped sample again",
			content: "sample_id\tgenes\na\tX\na\tC\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read perturbations PATH:3: found sample id "a", which is also in PATH:2, ` +
				`expected unique ids`,
		},
		{
			name:    "empty id",
			content: "sample_id\tgenes\na\tA\n\tC\n",
			want:    `read perturbations PATH:3: found sample id "", expected a non-empty one`,
		},
		{
			name:    "blank id",
			content: "sample_id\tgenes\n \tA\n",
			want:    `read perturbations PATH:2: found sample id " ", expected a non-empty one`,
		},
		{
			name:    "empty line at the end",
			content: "genes\nA\nB\n\n",
			options: Spec{AllowWildtype: true},
			want:    "read PATH:4: found an empty line, expected a row",
		},
		{
			name:    "empty gene name",
			content: "genes\nA||B\n",
			want:    "read perturbations PATH:2: found an empty gene name",
		},
		{
			name:    "delimiter at the end",
			content: "genes\nA|\n",
			options: Spec{UnknownGenes: ingest.DropGene},
			want:    "read perturbations PATH:2: found an empty gene name",
		},
		{
			name:    "late text",
			content: "genes\ty\nA\t1\nB\tlow\n",
			want: `read perturbations PATH:3: column "y": found "low", expected a number as ` +
				`in line 2`,
		},
		{
			name:    "late number",
			content: "genes\ty\nA\tlow\nB\t\nC\t1\n",
			want: `read perturbations PATH:2: column "y": found "low", expected a number as ` +
				`in line 4`,
		},
		{
			name:    "text in a phenotype that is named",
			content: "genes\ty\nA\t\nB\tlow\n",
			options: Spec{Phenotypes: []string{"y"}},
			want:    `read perturbations PATH:3: phenotype "y": found "low", expected a number`,
		},
		{
			name:    "no such column to leave out",
			content: "genes\nA\n",
			options: Spec{NotPhenotypes: []string{"y"}},
			want:    `read perturbations PATH: found columns genes, expected phenotype column "y"`,
		},
		{
			name:    "infinite",
			content: "genes\ty\nA\t-inf\n",
			want: `read perturbations PATH:2: phenotype "y": found an infinite value, ` +
				`expected a finite number or a missing one`,
		},
		{
			name:    "beyond float64 at first",
			content: "genes\ty\nA\t1e400\nA\t1\n",
			want: `read perturbations PATH:2: phenotype "y": found number "1e400", which is ` +
				`beyond the range of 64-bit floating-point numbers`,
		},
		{
			name:    "inexact",
			content: "genes\ty\nA\t9007199254740993\n",
			want: `read perturbations PATH:2: phenotype "y": found integer ` +
				`"9007199254740993", which a 64-bit floating-point number cannot hold exactly`,
		},
		{
			name:    "long text",
			content: "genes\ty\nA\t1\nB\t" + strings.Repeat("x", 1<<20) + "\n",
			want: `read perturbations PATH:3: column "y": found "` + strings.Repeat("x", 120) +
				`"… (1,048,576 bytes), expected a number as in line 2`,
		},
		{
			name:    "beyond float64",
			content: "genes\ty\nA\t1\nA\t1e999\n",
			want: `read perturbations PATH:3: phenotype "y": found number "1e999", which is ` +
				`beyond the range of 64-bit floating-point numbers`,
		},
		{
			name:    "id not UTF-8",
			content: "genes\tsample_id\nA\t\xff\n",
			want:    `read perturbations PATH:2: sample id "\xff" is not valid UTF-8`,
		},
		{
			name:    "short row",
			content: "genes\ty\nA\t1\nB\n",
			want:    "read PATH:3: found 1 field, expected 2",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := inputs.Write(t, "p.tsv", test.content)
			known := map[string]*names.Resolver{
				"two names of a gene": aliases(map[string]uint32{"x": 0})}
			p, err := openFile(path, threeGenes, test.options, known[test.name])
			if err == nil {
				_, _, err = showSamples(p)
			}
			testrun.CheckInputError(t, err, strings.ReplaceAll(test.want, "PATH", path))
		})
	}
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		_, err := openFile(dir, threeGenes, Spec{})
		testrun.CheckInputError(t, err,
			"open perturbations "+dir+
				": found a folder without data.mdb, expected a table or the lmdb folder of a "+
				"torchcell build")
	})
	t.Run("gene missing in a list", func(t *testing.T) {
		const path = "../table/testdata/types-plain.parquet"
		p, err := openFile(path, threeGenes,
			Spec{GenesColumns: []string{"list"}, UnknownGenes: ingest.DropGene,
				AllowWildtype: true, Phenotypes: []string{"float"}})
		if err != nil {
			t.Fatal(err)
		}
		_, counts, err := showSamples(p)
		testrun.CheckInputError(t, err,
			"read perturbations "+path+" row 3: found an empty gene name")
		if want := "2 kept, 1 no_gene_left, 2 wildtype"; counts != want {
			t.Errorf("counts %+v, expected %+v", counts, want)
		}
	})
	t.Run("types", func(t *testing.T) {
		const path = "../table/testdata/types-plain.arrow"
		for want, options := range map[string]Spec{
			`genes column "int" has type number`: {
				GenesColumns: []string{"int"},
			},
			`genes column "list" has type list of texts`: {
				GenesColumns: []string{"text", "list"},
			},
			`column "date": found type unsupported, expected text or integers`: {
				GenesColumns: []string{"text"},
				IDColumn:     "date",
			},
		} {
			_, err := openFile(path, threeGenes, options)
			testrun.CheckInputError(t, err, "read perturbations "+path+": "+want)
		}
		p, err := openFile(path, threeGenes, Spec{GenesColumns: []string{"list"}, IDColumn: "int"})
		if err != nil {
			t.Fatal(err)
		}
		got, want := strings.Join(p.Columns().PhenotypeNames(), " "), "uint float double bool null"
		if got != want {
			t.Errorf("phenotypes %q, expected %q", got, want)
		}
		if got, want := strings.Join(p.Columns().Ignored, " "), "date"; got != want {
			t.Errorf("ignored %q, expected %q", got, want)
		}
		got, want = strings.Join(p.Columns().AttributeNames(), " "), "text binary dictionary"
		if got != want {
			t.Errorf("attributes %q, expected %q", got, want)
		}
	})
	t.Run("columns named twice", func(t *testing.T) {
		path := inputs.Write(t, "p.tsv", "sample_id\tgenes\ty\nx\tA\t1\n")
		y := []string{"y"}
		for _, options := range []Spec{
			{Phenotypes: y, NotPhenotypes: y},
			{Phenotypes: []string{"y", "y"}},
			{Phenotypes: []string{"genes"}},
			{Attributes: y, Phenotypes: y},
			{NotPhenotypes: []string{"sample_id"}},
		} {
			_, err := openFile(path, threeGenes, options)
			if fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
				t.Errorf("%v: got %v, expected wrong usage with a hint", options, err)
			}
		}
	})
	t.Run("nearest name", func(t *testing.T) {
		_, err := openFile(inputs.Write(t, "p.tsv", "genes\tfitness\nA\t1\n"), threeGenes,
			Spec{Phenotypes: []string{"fitnes"}})
		if want := `did you mean "fitness"?`; fault.HintOf(err) != want {
			t.Errorf("hint %q, expected %q", fault.HintOf(err), want)
		}
	})
	t.Run("delimiter without use", func(t *testing.T) {
		path := inputs.Write(t, "p.tsv", "g\th\nA\tB\n")
		options := Spec{GenesColumns: []string{"g", "h"}, GeneDelimiter: "+"}
		_, err := openFile(path, threeGenes, options)
		check.Fault(t, err, fault.Usage,
			`found gene_delimiter "+", but no column whose texts it separates`)
		p, err := openFile(inputs.Write(t, "p.tsv", "g\th\tkinds\nA\tB\tx+y\n"), threeGenes,
			options)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := showSamples(p)
		if err != nil || !slices.Equal(got, []string{`0 [0 1] [] "x|y"`}) {
			t.Errorf("got %q %v", got, err)
		}
	})
	t.Run("settings", func(t *testing.T) {
		_, err := openFile("p.tsv", threeGenes, Spec{UnknownGenes: "drop"})
		if fault.KindOf(err) != fault.Usage {
			t.Errorf("got %v, expected wrong usage", err)
		}
	})
	t.Run("the receiver's error", func(t *testing.T) {
		p, err := openFile(inputs.Write(t, "p.tsv", "genes\nA\n"), threeGenes, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("full")
		if _, err := sets.Read(p, func(*ingest.Samples) error { return full }); err != full {
			t.Errorf("got %v, expected the receiver's error", err)
		}
	})
}

// sampleList is a source in memory.
type sampleList struct {
	*ingest.Samples
	columns ingest.Columns
}

func (l sampleList) Columns() ingest.Columns { return l.columns }
func (l sampleList) Inputs() []ingest.Input  { return nil }
func (l sampleList) Unchanged() error        { return nil }
func (l sampleList) Close() error            { return nil }

func (l sampleList) Place(row int64) (string, error) { return "", nil }

func (l sampleList) Batches(
	_ context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		if account.Kept += l.Len(); l.Len() > 0 {
			yield(l.Samples, nil)
		}
	}
}

// randomSamples makes samples of 0 to 4 genes, two phenotypes and two attributes, some missing.
func randomSamples(genes *ingest.Nodes, n int) sampleList {
	random := rand.New(rand.NewPCG(5, uint64(n)))
	columns := ingest.Columns{
		Phenotypes: ingest.NamedPhenotypes("fitness", "τ score"),
		Attributes: []ingest.Attribute{
			{Name: "medium", Type: ingest.TextAttribute},
			{Name: "batch", Type: ingest.NumberAttribute},
		},
	}
	s := ingest.NewSamples(0, columns, n)
	for i := range n {
		var genotype []uint32
		for range random.IntN(5) {
			genotype = append(genotype, uint32(random.IntN(genes.Len())))
		}
		slices.Sort(genotype)
		values := []float64{random.NormFloat64(), float64(random.IntN(1000))}
		if random.IntN(5) == 0 {
			values[random.IntN(2)] = math.NaN()
		}
		s.Append(fmt.Appendf(nil, "sample %d", i), slices.Compact(genotype), values,
			[]ingest.Value{
				{Text: [][]byte{nil, []byte("YPD"), []byte("SC 30")}[(i+1)%3]},
				{Number: []float64{1, 2.5, math.NaN()}[i%3]},
			})
	}
	return sampleList{s, columns}
}

// TestWrite writes samples that fill no, one and several batches, and reads them back.
func TestWrite(t *testing.T) {
	for _, n := range []int{
		0, 1, ingest.BatchSamples - 1, ingest.BatchSamples, ingest.BatchSamples + 1,
		3*ingest.BatchSamples + 17,
	} {
		samples := randomSamples(threeGenes, n)
		want, _, _ := showSamples(samples)
		for name, attributes := range map[string][]string{
			"p.tsv": {"medium", "batch"}, "p.arrow": nil,
		} {
			path := filepath.Join(t.TempDir(), name)
			if err := Write(t.Context(), path, samples, threeGenes); err != nil {
				t.Fatal(err)
			}
			p, err := openFile(path, threeGenes, Spec{AllowWildtype: true, Attributes: attributes})
			if err != nil {
				t.Fatal(err)
			}
			got, counts, err := showSamples(p)
			if err != nil {
				t.Fatal(err)
			}
			columns := p.Columns()
			columns.Guessed = nil // of text
			isSame := slices.Equal(got, want) && strings.HasPrefix(counts, fmt.Sprint(n, " kept"))
			hasColumns := n == 0 || reflect.DeepEqual(columns, samples.columns)
			if !isSame || !hasColumns {
				t.Errorf("%s of %d samples: read %d others back, with columns %+v", name, n,
					len(got), p.Columns())
			}
		}
	}
}

func TestWriteErrors(t *testing.T) {
	odd, _ := ingest.NewNodes(ingest.Gene, []string{"A|B", "C"}, nil)
	tab := sampleList{ingest.NewSamples(0, ingest.Columns{}, 1), ingest.Columns{}}
	tab.Append([]byte("a\tb"), []uint32{1}, nil, nil)
	gene := sampleList{ingest.NewSamples(0, ingest.Columns{}, 1), ingest.Columns{}}
	gene.Append([]byte("a"), []uint32{0}, nil, nil)
	for _, test := range []struct {
		name, file string
		source     ingest.SampleSource
		kind       fault.Kind
		want       string
	}{
		{
			name:   "ending",
			file:   "p.csv",
			source: tab,
			kind:   fault.Usage,
			want:   `found ending ".csv", expected .arrow or .tsv`,
		},
		{
			name:   "id",
			file:   "p.tsv",
			source: tab,
			kind:   fault.Input,
			want:   `sample 0: found "a\tb", expected text without any of "\t\r\n"`,
		},
		{
			name:   "gene",
			file:   "p.tsv",
			source: gene,
			kind:   fault.Input,
			want:   `sample 0: found "A|B", expected text without any of "\t\r\n|"`,
		},
		{
			name: "column",
			file: "p.tsv",
			source: sampleList{
				ingest.NewSamples(0, ingest.Columns{}, 0),
				ingest.Columns{Phenotypes: ingest.NamedPhenotypes("x\n")},
			},
			kind: fault.Input,
			want: `column 3: found "x\n", expected text without any of "\t\r\n"`,
		},
		{
			name:   "folder",
			file:   "none/p.tsv",
			source: gene,
			kind:   fault.Failed,
			want:   "no such file or directory",
		},
		{
			name:   "folder of Arrow",
			file:   "none/p.arrow",
			source: gene,
			kind:   fault.Failed,
			want:   "no such file or directory",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Write(t.Context(), filepath.Join(t.TempDir(), test.file), test.source, odd)
			if err == nil || !strings.HasSuffix(err.Error(), test.want) ||
				fault.KindOf(err) != test.kind {
				t.Errorf("got %v of kind %d, expected %s", err, fault.KindOf(err), test.want)
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

// Names that Excel made dates of are told from other unknown ones.
func TestExcelDates(t *testing.T) {
	dates := []string{
		"7-Sep", "1-Oct", "07. Sep", "1.Okt", "Sep-07", "2023-09-07", "2023-09-07 00:00:00",
		"7.9.2023", "9/7/23", "1-oct.", "1-août",
	}
	for _, name := range append(dates, "SEP7", "OCT1", "YDL225W", "act1-129", "7", "1-2",
		"tRNA-1-2") {
		path := inputs.Write(t, "p.tsv", "genes\ty\n"+name+"\t1\n")
		p, err := openFile(path, threeGenes, Spec{})
		if err == nil {
			_, err = sets.ReadAll(p)
		}
		isDate := slices.Contains(dates, name)
		if err == nil || isDate != strings.Contains(err.Error(), "a date, as Excel makes") {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// aliases are other names of genes.
func aliases(rows map[string]uint32) *names.Resolver {
	b := names.NewBuilder(threeGenes, len(rows))
	level := b.AddLevels("alias")
	for name, row := range rows {
		b.Add(level, name, row)
	}
	return b.Resolver(false)
}
