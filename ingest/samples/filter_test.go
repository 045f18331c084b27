package samples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

var ab, _ = ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)

// samplesOf opens a set and returns its columns and a text per sample.
func samplesOf(path string, options Spec) (columns ingest.Columns, samples []string, err error) {
	source, err := openSet(path, ab, options)
	if err != nil {
		return columns, nil, err
	}
	defer source.Close()
	_, err = sets.Read(source, func(s *ingest.Samples) error {
		for i := range s.Len() {
			samples = append(samples,
				fmt.Sprintf("%s %v %v %v", s.ID(i), s.Genes(i), s.Phenotypes(i), s.Attributes(i)))
		}
		return nil
	})
	return source.Columns(), samples, err
}

// A filter keeps the same samples whichever columns are left out, and leaves no trace of those that
// it reads.
func TestFilterOfColumnsLeftOut(t *testing.T) {
	dir := t.TempDir()
	text := inputs.Write(t, "set.tsv", "sample_id\tgenes\tx\tmedium\tgap\tplate\n"+
		"s0\tA\t0.5\tYPD\t\t1\n"+
		"s1\tB\t\tSC\t\t2\n"+
		"s2\tA|B\t1.5\t\t\t3\n"+
		"s3\tA\t2.5\tSC\t\t\n")
	binary := filepath.Join(dir, "set.arrow")
	set, err := openFile(text, ab, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), binary, set, ab); err != nil {
		t.Fatal(err)
	}
	set.Close()

	type options = Spec
	for _, path := range []string{text, binary} {
		for _, expression := range []string{
			`x > 1`, `medium == "SC"`, `missing(gap) and plate != 3`,
			`column("plate") <= 2 or sample_id == "s3"`,
			`abs(x - plate) < 1 and medium != "YPD" or deletes("B")`,
		} {
			_, all, err := samplesOf(path, options{Where: expression})
			if err != nil {
				t.Fatal(err)
			}
			var kept []string // ids
			for _, sample := range all {
				id, _, _ := strings.Cut(sample, " ")
				kept = append(kept, id)
			}
			for _, o := range []options{
				{Phenotypes: []string{"x"}}, {Phenotypes: []string{}}, {
					Attributes: []string{"plate"},
				}, {Attributes: []string{}}, {
					Phenotypes: []string{"plate"},
					Attributes: []string{},
				},
				{NotPhenotypes: []string{"x", "medium"}}, {
					NotPhenotypes: []string{"plate", "gap"},
					Attributes:    []string{"x"},
				},
			} {
				columns, unfiltered, err := samplesOf(path, o)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, sample := range unfiltered {
					for _, id := range kept {
						if strings.HasPrefix(sample, id+" ") {
							want = append(want, sample)
						}
					}
				}
				o.Where = expression
				found, got, err := samplesOf(path, o)
				if err != nil || fmt.Sprint(found, got) != fmt.Sprint(columns, want) {
					t.Errorf("%s of %s with %+v:\n got %+v %q (%v)\nwant %+v %q", expression,
						filepath.Base(path), o, found, got, err, columns, want)
				}
			}
		}
	}
}

// What a filter cannot read is an error that names it.
func TestFilterOfListsLeftOut(t *testing.T) {
	_, _, err := samplesOf("../table/testdata/types-plain.parquet", Spec{
		GenesColumns:  []string{"text"},
		UnknownGenes:  ingest.DropGene,
		AllowWildtype: true,
		Phenotypes:    []string{"float"},
		Where:         `missing(list)`,
	})
	check.Fault(t, err, fault.Input,
		`column "list": found type list of texts, expected texts or numbers`)
	if hint := fault.HintOf(err); !strings.Contains(hint, "--where") {
		t.Errorf("got %v (%s)", err, hint)
	}
}
