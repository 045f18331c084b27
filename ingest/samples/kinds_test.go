package samples

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// TestKinds compares random sets with what their definition gives.
func TestKinds(t *testing.T) {
	r := seed.Rand(t)
	names := []string{
		"deletion", "knockdown", "overexpression+tag",
	} // the last two kinds of one gene
	for range testrun.Cases(200, 40) {
		options := Spec{AllowWildtype: true, Controls: []string{"ctrl"}}
		if r.IntN(2) == 0 {
			options.RemovingKinds = names[:1+r.IntN(2)]
		}
		table, want, counts := "genes\tkinds\n", []string(nil), make(map[string]int)
		for row := range 1 + r.IntN(15) {
			kindOf, listed, kinds := make(map[string]string), []string(nil), []string(nil)
			for _, gene := range []string{"C", "A", "ctrl", "B"} {
				if kind := names[r.IntN(3)]; r.IntN(2) == 0 {
					listed, kinds = append(listed, gene), append(kinds, kind)
					if gene != "ctrl" {
						kindOf[gene] = kind
					}
				}
			}
			if len(kinds) == 0 {
				kindOf["B"], listed, kinds = names[0], []string{"B"}, names[:1]
			}
			table += strings.Join(listed, "|") + "\t" + strings.Join(kinds, "|") + "\n"
			var deleted []int
			var first, then []string
			for at, gene := range threeGenes.IDs {
				kind := kindOf[gene]
				switch {
				case kind == "":
				case options.RemovingKinds == nil ||
					slices.ContainsFunc(strings.Split(kind, "+"), func(kind string) bool {
						return slices.Contains(options.RemovingKinds, kind)
					}):
					deleted, first = append(deleted, at), append(first, kind)
				default:
					then = append(then, gene+"="+kind)
				}
				if kind != "" {
					counts[kind]++
				}
			}
			text := "missing"
			if all := append(first, then...); len(all) > 0 {
				text = fmt.Sprintf("%q", strings.Join(all, "|"))
			}
			want = append(want, fmt.Sprintf("%d %v [] %s", row, deleted, text))
		}
		if len(counts) == 0 {
			continue // only controls
		}
		original := inputs.Write(t, "p.tsv", table)
		p, err := openFile(original, threeGenes, options)
		if err != nil {
			t.Fatal(err)
		}
		counter := ingest.NewKindCounter(p.Columns())
		_, err = sets.Read(p, func(s *ingest.Samples) error { counter.Add(s); return nil })
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := showSamples(p)
		if err != nil || !slices.Equal(got, want) || !reflect.DeepEqual(counter.Counts(), counts) {
			t.Fatalf("%s%v: got %q %v %v\nwant %q %v", table, options.RemovingKinds, got,
				counter.Counts(), err, want, counts)
		}
		// What is written says which genes stay, and other kinds may be chosen of it.
		written := filepath.Join(t.TempDir(), "p.arrow")
		if err := Write(t.Context(), written, p, threeGenes); err != nil {
			t.Fatal(err)
		}
		same := func(removing []string, want []string) {
			again, err := openFile(written, threeGenes,
				Spec{AllowWildtype: true, RemovingKinds: removing})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := showSamples(again); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s, then %v: got %q %v\nwant %q", written, removing, got, err, want)
			}
		}
		same(nil, want)
		same(options.RemovingKinds, want)
		options.RemovingKinds = nil
		if p, err = openFile(original, threeGenes, options); err != nil {
			t.Fatal(err)
		}
		all, _, err := showSamples(p)
		if err != nil {
			t.Fatal(err)
		}
		same([]string{"deletion", "knockdown", "tag"}, all)
	}
}

func TestKindsOfColumns(t *testing.T) {
	for _, c := range []struct {
		name, table string
		options     Spec
		want        []string
	}{
		{
			name:  "one for all",
			table: "genes\tkinds\nA|B\tCRISPRi\nC\tdeletion\n",
			want:  []string{`0 [0 1] [] "CRISPRi|CRISPRi"`, `1 [2] [] "deletion"`},
		},
		{
			name:    "another column",
			table:   "genes\ttype\tnote\nB|A\tover | del\tx\n",
			options: Spec{KindsColumn: "type"},
			want:    []string{`0 [0 1] [] "x" "del|over"`},
		},
		{
			name:    "with attributes by name",
			table:   "genes\tnote\tkinds\nB\tx\tdel\n",
			options: Spec{Attributes: []string{"kinds", "note"}},
			want:    []string{`0 [1] [] "x" "del"`},
		},
		{
			name:    "a plain attribute",
			table:   "genes\tkinds\nA|B\tx\n",
			options: Spec{KindsColumn: IgnoreKindsColumn},
			want:    []string{`0 [0 1] [] "x"`},
		},
		{
			name:  "a gene twice",
			table: "genes\tkinds\nA|A|B\tx|x|y\nA|B\tx|y\nB|B\tx|y\n",
			want:  []string{`1 [0 1] [] "x|y"`},
		},
		{
			name:  "some stay already",
			table: "genes\tkinds\nC\tdel|A=del|B=over\n\tB=over\nC\tdel|B=del+over\n",
			want: []string{
				`0 [2] [] "del|A=del|B=over"`, `1 [] [] "B=over"`, `2 [2] [] "del|B=del+over"`,
			},
		},
		{
			name:    "all stay",
			table:   "genes\tkinds\nB|A\tover|over\nC\tdel\n",
			options: Spec{RemovingKinds: []string{"del"}},
			want:    []string{`0 [] [] "A=over|B=over"`, `1 [2] [] "del"`},
		},
	} {
		p, err := openFile(inputs.Write(t, "p.tsv", c.table), threeGenes, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, _, err := showSamples(p); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestRemovingKinds compares the kinds of a set, in random spellings, with their definition.
func TestRemovingKinds(t *testing.T) {
	r := seed.Rand(t)
	spell := func(kind string) string {
		letters := []rune(kind)
		for i := range letters {
			if r.IntN(3) == 0 {
				letters[i] = unicode.ToUpper(letters[i])
			}
		}
		return strings.Repeat(" ", r.IntN(2)) + string(letters) + strings.Repeat(" ", r.IntN(2))
	}
	losses := []string{"deletion", "knock-out", "sga_kanmx_deletion", "knockdown", "crispri", "ts"}
	others := []string{
		"crispra", "overexpression", "gain of function", "heterozygous_deletion",
		"suppressor_allele", "blue",
	}
	for range testrun.Cases(300, 60) {
		kinds := slices.Concat(losses[:r.IntN(7)], others[:r.IntN(3)])
		if len(kinds) == 0 {
			continue
		}
		table := "genes\t" + []string{"kinds", "perturbation_type"}[r.IntN(2)] + "\n"
		counts := make(map[string]int)
		kindOf := []string(nil)
		for range 1 + r.IntN(12) {
			kind := kinds[r.IntN(len(kinds))]
			table += "A\t" + spell(kind) + "\n"
			counts[kind]++
			kindOf = append(kindOf, kind)
		}
		var removing []string
		if n := r.IntN(4); n > 0 {
			for _, at := range r.Perm(len(kinds))[:min(n, len(kinds))] {
				removing = append(removing, spell(kinds[at]))
			}
		}
		chosen := func(kind string) bool {
			return slices.ContainsFunc(removing,
				func(one string) bool { return strings.EqualFold(strings.TrimSpace(one), kind) })
		}
		var missed, wrong []string // of removing, and of the set
		for _, one := range removing {
			if one = strings.ToLower(strings.TrimSpace(one)); counts[one] == 0 {
				missed = append(missed, one)
			}
		}
		for _, other := range others {
			if counts[other] > 0 && removing == nil {
				wrong = append(wrong, fmt.Sprintf("%s %d", other, counts[other]))
			}
		}
		set, err := openSet(inputs.Write(t, "p.tsv", table), threeGenes,
			Spec{AllowWildtype: true, RemovingKinds: removing})
		if err != nil {
			t.Fatal(err)
		}
		at, got := 0, []bool(nil)
		_, err = sets.Read(set, func(s *ingest.Samples) error {
			for i := range s.Len() {
				got = append(got, len(s.Genes(i)) == 1)
			}
			return nil
		})
		switch {
		case missed != nil:
			want := fmt.Sprintf("no perturbation is of kind %q", missed[0])
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%s%q: got %v, want %q", table, removing, err, missed)
			}
		case wrong != nil:
			message := fmt.Sprint(err)
			for _, one := range wrong {
				if !strings.Contains(strings.ToLower(message), one) {
					t.Fatalf("%s: got %v, want %q", table, err, wrong)
				}
			}
		case err != nil:
			t.Fatalf("%s%q: %v", table, removing, err)
		default:
			for at = range kindOf {
				if got[at] != (removing == nil || chosen(kindOf[at])) {
					t.Fatalf("%s%q: row %d: removed %v", table, removing, at, got[at])
				}
			}
		}
	}
	for _, c := range []struct {
		removing []string
		message  string
	}{
		{[]string{"all", "deletion"}, "found all beside other kinds"},
		{[]string{"deletion", " "}, "found an empty name"},
	} {
		_, err := openSet(inputs.Write(t, "p.tsv", "genes\tkinds\nA\tdeletion\n"), threeGenes,
			Spec{RemovingKinds: c.removing})
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%q: got %v, want %s", c.removing, err, c.message)
		}
	}
}

func TestKindErrors(t *testing.T) {
	for _, c := range []struct {
		name, table, message, hint string
		options                    Spec
	}{
		{
			name:    "too few",
			table:   "genes\tkinds\nA|B|C\tx|y\n",
			message: "found 2 kinds for 3 names, expected one for each, or one for all",
			hint:    "in the order of the genes",
		},
		{name: "none", table: "genes\tkinds\nA\t\n", message: "found 0 kinds for 1 names"},
		{
			name:    "an empty one",
			table:   "genes\tkinds\nA|B\tx|\n",
			message: `found no kind of gene "B"`,
		},
		{
			name:    "a sign",
			table:   "genes\tkinds\nA\tx=y\n",
			message: `kind "x=y": gene "x" is not in the graph`,
		},
		{
			name:    "a sign at the end",
			table:   "genes\tkinds\nA\tx+\n",
			message: `found kind "x+", expected a text without = and |, or several joined by +`,
			hint:    "rename",
		},
		{
			name:    "a sign among others",
			table:   "genes\tkinds\nA|B\tx=y|z\n",
			message: `found kind "x=y", expected a text without = and |`,
			hint:    "rename",
		},
		{
			name:    "a gene that goes and stays",
			table:   "genes\tkinds\nA\tx|A=x\n",
			message: `found gene "A" both among the deleted genes`,
			hint:    "list the gene once",
		},
		{
			name:    "one that stays, of no kind",
			table:   "genes\tkinds\nA\tx|B=\n",
			message: `found no kind of gene "B"`,
		},
		{
			name:    "no such column",
			table:   "genes\tkind\nA\tx\n",
			message: `expected kinds column "kindz"`,
			hint:    "did you mean",
			options: Spec{KindsColumn: "kindz"},
		},
		{
			name:    "no kinds",
			table:   "genes\nA\n",
			message: "found removing_kinds x, but the set does not record",
			hint:    "column kinds",
			options: Spec{RemovingKinds: []string{"x"}},
		},
	} {
		p, err := openFile(inputs.Write(t, "p.tsv", c.table), threeGenes, c.options)
		if err == nil {
			_, _, err = showSamples(p)
		}
		if err == nil || !strings.Contains(err.Error(), c.message) ||
			!strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: got %v\nhint %s\nwant %s", c.name, err, fault.HintOf(err), c.message)
		}
	}
}

// Python numbers kinds in int8: a set with more kinds would make a dataset that it cannot open.
func TestMostKinds(t *testing.T) {
	for kinds, want := range map[int]string{
		127: "",
		128: "found 128 different kinds of perturbations, expected at most 127",
	} {
		table := "genes\tkinds\nA\tKIND-0\n" // as kind-0
		for kind := range kinds {
			table += fmt.Sprintf("%c\tkind-%d\n", 'A'+kind%3, kind)
		}
		set, err := openSet(inputs.Write(t, "p.tsv", table), threeGenes,
			Spec{RemovingKinds: RemovingKinds{removeAll}})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		_, err = sets.ReadAll(set)
		isRight := err == nil
		if want != "" {
			isRight = fault.KindOf(err) == fault.Input && strings.Contains(fmt.Sprint(err), want)
		}
		if !isRight {
			t.Errorf("%d kinds: got %v, want %s", kinds, err, want)
		}
	}
}
