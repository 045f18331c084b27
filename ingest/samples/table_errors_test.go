package samples

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

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
			want: `read perturbations PATH: kept 0 of 2 rows; dropped: 2 left without a ` +
				`gene, as theirs are unknown, such as X, Y, expected at least one`,
		},
		{
			name:    "all dropped",
			content: "genes\nA|X\n",
			options: Spec{UnknownGenes: ingest.DropSample},
			want: `read perturbations PATH: kept 0 of 1 row; dropped: 1 of unknown genes, ` +
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
			name:    "attribute named genes",
			content: "x\tgenes\nA\tB\n",
			options: Spec{GenesColumns: []string{"x"}},
			want: `read perturbations PATH: found a phenotype or attribute named genes, a ` +
				`name reserved for a column of tcbuild`,
		},
		{
			name:    "phenotype named sample_id",
			content: "id\tgenes\tsample_id\na\tA\t3\n",
			options: Spec{IDColumn: "id"},
			want: `read perturbations PATH: column "sample_id": found numbers under the name of ` +
				`an identifier, expected measured values`,
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
			name:    "id of spaces",
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
			want: "read perturbations PATH:2: found an empty gene name, expected a name in a " +
				"list of genes",
		},
		{
			name:    "delimiter at the end",
			content: "genes\nA|\n",
			options: Spec{UnknownGenes: ingest.DropGene},
			want: "read perturbations PATH:2: found an empty gene name, expected a name in a " +
				"list of genes",
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
			want:    `read perturbations PATH:2: sample id: found "\xff", which is not valid UTF-8`,
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
		const path = "../table/testdata/types-plain.arrow"
		p, err := openFile(path, threeGenes,
			Spec{GenesColumns: []string{"list"}, UnknownGenes: ingest.DropGene,
				AllowWildtype: true, Phenotypes: []string{"float"}})
		if err != nil {
			t.Fatal(err)
		}
		_, counts, err := showSamples(p)
		testrun.CheckInputError(t, err,
			"read perturbations "+path+" row 3: found an empty gene name, expected a name in a "+
				"list of genes")
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
			`column "date": found type date32, expected text or integers`: {
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
			{Phenotypes: []string{"y", "y"}},
			{Phenotypes: []string{"genes"}},
			{Attributes: y, Phenotypes: y},
			{Phenotypes: []string{"sample_id"}},
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
