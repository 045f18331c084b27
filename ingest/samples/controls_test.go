package samples

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// TestControls compares random conditions with what a reading by strings.Split gives.
func TestControls(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(300, 60) {
		delimiter := []string{"+", "_", " || ", ";", "|"}[r.IntN(5)]
		names := []string{"A", "B", "C", "ctrl", "non-targeting", "NT"}
		options := Spec{
			AllowWildtype: true,
			GenesColumns:  []string{"condition"},
			GeneDelimiter: delimiter,
			Controls:      names[3:],
		}
		table, want, counts := "condition\n", []string(nil), ingest.Account{}
		for row := range 1 + r.IntN(20) {
			var listed, genes []string
			for range 1 + r.IntN(3) {
				name := names[r.IntN(len(names))]
				listed = append(listed, name)
				if at := slices.Index(names, name); at < 3 {
					genes = append(genes, fmt.Sprint(at))
				}
			}
			table += strings.Join(listed, delimiter) + "\n"
			slices.Sort(genes)
			if len(slices.Compact(slices.Clone(genes))) < len(genes) {
				counts.Add(ingest.SelfPair, 1)
				continue
			}
			counts.Add(ingest.ControlName, len(listed)-len(genes))
			if len(genes) == 0 {
				counts.Add(ingest.Wildtype, 1)
				counts.Add(ingest.ControlSample, 1)
			}
			want = append(want, fmt.Sprintf("%d [%s] []", row, strings.Join(genes, " ")))
		}
		counts.Kept = len(want)
		p, err := openFile(inputs.Write(t, "p.tsv", table), threeGenes, options)
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := showSamples(p)
		switch {
		case counts.Kept == 0:
			if err == nil || !strings.Contains(err.Error(), "of a gene with itself") {
				t.Fatalf("%s: got %v, want an error: no sample remains", table, err)
			}
		case counts.Sum(ingest.Wildtype) == counts.Kept:
			if err == nil || !strings.Contains(err.Error(), "have only controls") {
				t.Fatalf("%s: got %v, want an error: all samples have only controls", table, err)
			}
		case err != nil || !reflect.DeepEqual(got, want) || found != sets.Counts(counts):
			t.Fatalf("%s: got %q %+v %v\nwant %q %+v", table, got, found, err, want, counts)
		}
	}
}

// A control may contain the delimiter.
func TestControlWithDelimiter(t *testing.T) {
	options := Spec{
		AllowWildtype: true,
		GeneDelimiter: "_",
		Controls:      []string{"non_targeting", "non_targeting_1", "safe"},
	}
	p, err := openFile(inputs.Write(t, "p.tsv",
		"genes\nnon_targeting\nA_non_targeting\nnon_targeting_1_B\nsafe_C_non_targeting_1\n"+
			"non_targeting_safe\n"),
		threeGenes, options)
	if err != nil {
		t.Fatal(err)
	}
	got, counts, err := showSamples(p)
	want := []string{"0 [] []", "1 [0] []", "2 [1] []", "3 [2] []", "4 [] []"}
	if err != nil || !slices.Equal(got, want) ||
		counts != "5 kept, 2 wildtype, 7 control_name, 2 control_sample" {
		t.Errorf("got %q %+v %v, want %q", got, counts, err, want)
	}
}

// An unknown gene beside a control leaves no gene, but not a wild type.
func TestUnknownGeneBesideControl(t *testing.T) {
	for choice, want := range map[ingest.UnknownGenes]string{
		ingest.DropGene:   "1 kept, 1 no_gene_left",
		ingest.DropSample: "1 kept, 1 unknown_gene",
	} {
		p, err := openFile(inputs.Write(t, "p.tsv", "genes\nMYCC|ctrl\nA\n"), threeGenes,
			Spec{UnknownGenes: choice, AllowWildtype: true, Controls: []string{"ctrl"}})
		if err != nil {
			t.Fatal(err)
		}
		if got, counts, err := showSamples(p); err != nil || counts != want || len(got) != 1 {
			t.Errorf("%s: got %q %+v %v, want %+v", choice, got, counts, err, want)
		}
	}
}

func TestControlErrors(t *testing.T) {
	table := "genes\nA|ctrl\n" + strings.Repeat("ctrl\n", 3000)
	for _, c := range []struct {
		name, table, message, hint string
		options                    Spec
	}{
		{
			name:  "only controls",
			table: table,
			message: ": 3,000 of 3,001 samples have only controls (NT, ctrl), the first PATH:3, " +
				"expected samples that delete a gene",
			hint:    "allow_wildtype=true",
			options: Spec{Controls: []string{"ctrl", "NT"}},
		},
		{
			name:  "no gene left",
			table: "genes\nctrl\nctrl|ctrl\n",
			message: ": all 2 samples have only controls (ctrl), expected at least one that " +
				"deletes a gene",
			hint:    "check --controls",
			options: Spec{Controls: []string{"ctrl"}, AllowWildtype: true},
		},
		{
			name:    "no gene left, no wild types",
			table:   "genes\nctrl\nctrl|ctrl\n",
			message: ": all 2 samples have only controls (ctrl), expected at least one",
			hint:    "check --controls",
			options: Spec{Controls: []string{"ctrl"}},
		},
		{
			name:    "a gene",
			table:   "genes\nA\n",
			message: `found "B", which is a gene of the graph`,
			hint:    "remove the name",
			options: Spec{Controls: []string{"ctrl", "B"}},
		},
		{
			name:    "spaces",
			table:   "genes\nA\n",
			message: `found " ctrl", expected a name without spaces`,
			hint:    "--controls=ctrl,non-targeting",
			options: Spec{Controls: []string{" ctrl"}},
		},
		{
			name:    "delimiters alone",
			table:   "genes\n+\n",
			message: "found an empty gene name",
			hint:    "write the gene's name, or remove the row",
			options: Spec{Controls: []string{"ctrl"}, GeneDelimiter: "+"},
		},
		{
			name:    "delimiter behind a control",
			table:   "genes\nctrl+\n",
			message: "found an empty gene name",
			hint:    "write the gene's name, or remove the row",
			options: Spec{Controls: []string{"ctrl"}, GeneDelimiter: "+"},
		},
		{
			name:    "another delimiter",
			table:   "genes\nA+ctrl\n",
			message: `found gene "A+ctrl", expected one gene, not a list of 2`,
			hint:    `add gene_delimiter="+"`,
			options: Spec{Controls: []string{"ctrl"}},
		},
		{
			name:    "not said to be one",
			table:   "genes\nctrl\n",
			message: `gene "ctrl" is not in the graph`,
			hint:    "if it is a control, which deletes nothing, pass --controls=ctrl",
		},
		{
			name:    "in another case",
			table:   "genes\nCtrl\n",
			message: `gene "Ctrl" is not in the graph`,
			hint:    "add Ctrl to --controls",
			options: Spec{Controls: []string{"ctrl"}},
		},
		{
			name:    "a pair without its delimiter",
			table:   "genes\nctrl+A\n",
			message: `gene "ctrl+A" is not in the graph`,
			hint:    "correct the name",
		},
	} {
		path := inputs.Write(t, "p.tsv", c.table)
		p, err := openFile(path, threeGenes, c.options)
		if err == nil {
			_, _, err = showSamples(p)
		}
		message := strings.ReplaceAll(c.message, "PATH", path)
		isFound := err != nil && strings.Contains(err.Error(), message)
		isOneLine := !strings.Contains(fmt.Sprint(err), "\n")
		if !isFound || !isOneLine || !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: got %v\nhint %s\nwant %s\nhint %s", c.name, err, fault.HintOf(err),
				message, c.hint)
		}
	}
}
