package samples

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

// permutations calls visit with the rows in every order.
func permutations(rows []string, visit func(rows []string)) {
	var from func(k int)
	from = func(k int) {
		if k == len(rows) {
			visit(rows)
			return
		}
		for i := k; i < len(rows); i++ {
			rows[k], rows[i] = rows[i], rows[k]
			from(k + 1)
			rows[k], rows[i] = rows[i], rows[k]
		}
	}
	from(0)
}

// TestColumnsInAnyOrder reads each kind of column with its rows in every order: the kind does not
// depend on the order, and an error names the first wrong field.
func TestColumnsInAnyOrder(t *testing.T) {
	defer func(tick time.Duration) { inputfile.ClockTick = tick }(inputfile.ClockTick)
	inputfile.ClockTick = 0 // no file changes while it is read
	for _, test := range []struct {
		kind   string   // phenotype, attribute, mixed, or the error
		fields []string // wrong ones end in !
	}{
		{"phenotype", []string{"1", "-2.5", "3e-4"}},
		{"phenotype", []string{"1", "", "NA", "N/A"}},
		{"phenotype", []string{"1", "None", "#N/A", "<NA>"}},
		{"phenotype", []string{" 1", "2 ", " NaN ", "+.5"}},
		{"phenotype", []string{"", "", "NA"}},
		{"phenotype", []string{"9007199254740992", "-1.#IND", "007"}},
		{"attribute", []string{"low", "high", ""}},
		{"attribute", []string{"TRUE", "FALSE", "NA"}},
		{"attribute", []string{".", "-", ""}},
		{"attribute", []string{"1, 5", "0x10", "1_000", "NAN"}},
		{"attribute", []string{"1,2,3", "2,4-D", "5,", "1,23.4"}},
		{"with a decimal point, such as -1234.5", []string{"0,5!", "-,7e-3!", ""}},
		{"with a decimal point, such as -1234.5", []string{"1,5!", "0x10", "low"}},
		{"with a decimal point, such as -1234.5", []string{"1,234!", "+1,234,567.8!"}},
		{"with a decimal point, such as -1234.5", []string{"1.234,5!", "."}},
		{"with a decimal point, such as -1234.5", []string{"\u22120.5!", "\u22121,5!", "NA"}},
		{"with a decimal point, such as -1234.5", []string{"1", "0,5!", "NA"}},
		{"mixed", []string{"1", "low!", ""}},
		{"mixed", []string{"1", ".!", "2"}},
		{"mixed", []string{"1", "-!", "NA"}},
		{"mixed", []string{"1", "TRUE!"}},
		{"mixed", []string{"1", "none!", "Null!"}},
		{"mixed", []string{"inf", "low!"}},
		{"found an infinite value", []string{"inf!", "", "1"}},
		{"found an infinite value", []string{"-Infinity!", "1"}},
		{"which is beyond the range", []string{"1e400!", "1", ""}},
		{"cannot hold exactly", []string{"9007199254740993!", "1", ""}},
		{"cannot hold exactly", []string{"9007199254740993.00!", "NA"}},
	} {
		t.Run(strings.Join(test.fields, "|"), func(t *testing.T) {
			permutations(slices.Clone(test.fields), func(fields []string) {
				text := "genes\ty\n"
				for i, field := range fields {
					text += fmt.Sprintf("%c\t%s\n", 'A'+i%3, strings.TrimSuffix(field, "!"))
				}
				path := inputs.Write(t, "p.tsv", text)
				p, err := openFile(path, threeGenes, Spec{})
				kind := "mixed"
				if err == nil {
					kind = "phenotype"
					if len(p.Columns().Phenotypes) == 0 {
						kind = "attribute"
					}
					_, err = sets.ReadAll(p)
				}
				if err == nil && kind == test.kind {
					return
				}
				first := slices.IndexFunc(fields,
					func(field string) bool { return strings.HasSuffix(field, "!") })
				where := fmt.Sprintf("%s:%d: ", path, first+2)
				message := fmt.Sprint(err)
				isKind := test.kind == "mixed" || strings.Contains(message, test.kind)
				if !strings.Contains(message, where) || !isKind {
					t.Fatalf("fields %q: %s, %v; expected %s at line %d", fields, kind, err,
						test.kind, first+2)
				}
				if fault.KindOf(err) != fault.Input ||
					!strings.Contains(fault.HintOf(err), "--phenotypes") {
					t.Errorf("kind %d, hint %q", fault.KindOf(err), fault.HintOf(err))
				}
				_, err = openFile(path, threeGenes, Spec{Phenotypes: []string{}})
				if err != nil {
					t.Errorf("left out: %v", err)
				}
			})
		})
	}
}

// The hint for a bad phenotype names the flag that leaves its column out.
func TestBadPhenotypeHint(t *testing.T) {
	for _, phenotypes := range [][]string{nil, {"y"}} {
		p, err := openFile(inputs.Write(t, "p.tsv", "genes\ty\nA\t1e999\n"), threeGenes,
			Spec{Phenotypes: phenotypes})
		if err == nil {
			_, err = sets.ReadAll(p)
		}
		if !strings.HasSuffix(fault.HintOf(err), "; or name the phenotypes without it: --phenotypes") {
			t.Errorf("phenotypes %q: %v, hint %q", phenotypes, err, fault.HintOf(err))
		}
	}
}
