package samples

import (
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/inputs"
)

// showRoles lists phenotypes, guessed ones with ?, and attributes, with ! if their name made them
// attributes.
func showRoles(columns ingest.Columns) string {
	mark := func(names, marked []string, sign string) (shown []string) {
		for _, name := range names {
			for _, other := range marked {
				if name == other {
					name += sign
				}
			}
			shown = append(shown, name)
		}
		return shown
	}
	words := mark(columns.PhenotypeNames(), columns.Guessed, "?")
	words = append(words, "/")
	words = append(words, mark(columns.AttributeNames(), columns.ByName, "!")...)
	return strings.Join(words, " ")
}

func TestRoles(t *testing.T) {
	const names = "genes\tfitness\tTemperature\tpH\tstrength\tmedium\tbatch\n"
	rows := names + "A\t1\t30\t7\t1\tYPD\t01\nB\t2\t37\t6.5\t2\tSC\t02\n"
	for name, test := range map[string]struct {
		options Spec
		want    string
	}{
		"plain": {Spec{}, "fitness? strength? / Temperature! pH! medium batch!"},
		"named": {Spec{Phenotypes: []string{"fitness"}}, "fitness / Temperature! pH! " +
			"medium batch!"},
		"measured":   {Spec{Phenotypes: []string{"pH"}}, "pH / Temperature! medium batch!"},
		"attributes": {Spec{Attributes: []string{"medium"}}, "fitness? strength? / medium"},
		"nothing of it": {Spec{Attributes: []string{}, Phenotypes: []string{"fitness"}},
			"fitness /"},
	} {
		set, err := openFile(inputs.Write(t, "p.tsv", rows), threeGenes, test.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if found := showRoles(set.Columns()); found != test.want {
			t.Errorf("%s: found %s, want %s", name, found, test.want)
		}
		set.Close()
	}
}

// An .arrow file records the roles of its columns, whatever they are called.
func TestRolesInArrow(t *testing.T) {
	text := inputs.Write(t, "p.tsv", "genes\tOD\tdose\tyield\nA\t1\t30\t7\n")
	for name, test := range map[string]struct {
		options Spec
		want    string
	}{
		"guessed": {Spec{}, "yield? / OD dose"},
		"named":   {Spec{Phenotypes: []string{"OD", "yield"}}, "OD yield / dose"},
		"turned": {Spec{Phenotypes: []string{"dose"}, Attributes: []string{"yield", "OD"}},
			"dose / yield OD"},
	} {
		set, err := openFile(text, threeGenes, test.options)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "p.arrow")
		if err := Write(t.Context(), path, set, threeGenes); err != nil {
			t.Fatal(err)
		}
		again, err := openFile(path, threeGenes, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		if found := showRoles(again.Columns()); found != test.want {
			t.Errorf("%s: found %s, want %s", name, found, test.want)
		}
		again.Close()
		set.Close()
	}
}

func TestTrimmedTexts(t *testing.T) {
	text := "genes\tmedium\tcode\nA\tYPD \t1\nB\t\u00a0YPD\t\u3000x\nC\t \tx y\n"
	set, err := openFile(inputs.Write(t, "p.tsv", text), threeGenes,
		Spec{Attributes: []string{"medium", "code"}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	got, counts, err := showSamples(set)
	want := `0 [0] [] "YPD" "1"; 1 [1] [] "YPD" "x"; 2 [2] [] missing "x y"`
	if err != nil || strings.Join(got, "; ") != want || counts != "3 kept, 3 trimmed_text" {
		t.Errorf("got %s, %s, %v; want %s", got, counts, err, want)
	}
}

// Roles follow from names, types and the spec.
func TestRolesOfNamesAndTypes(t *testing.T) {
	number, text := columnContents{number: "its type"}, columnContents{text: "its type"}
	list := columnContents{other: "its type"}
	said := columnContents{number: "its type", measured: true}
	for _, test := range []struct {
		name   string
		holds  columnContents
		spec   Spec
		want   columnRole
		isKind table.Kind
	}{
		{"genes", text, Spec{}, roleGenes, table.Text},
		{"sample_id", number, Spec{}, roleID, table.Number},
		{"kinds", text, Spec{}, roleKinds, table.Text},
		{"kinds", number, Spec{Phenotypes: []string{"kinds"}}, rolePhenotype,
			table.Number},
		{"perturbation_type", text, Spec{}, roleKinds, table.Text},
		{"kinds", text, Spec{KindsColumn: IgnoreKindsColumn}, roleAttribute,
			table.Text},
		{"y", number, Spec{}, roleGuessed, table.Number},
		{"y", said, Spec{}, rolePhenotype, table.Number},
		{"dose", number, Spec{}, roleByName, table.Number},
		{"dose", said, Spec{}, rolePhenotype, table.Number},
		{"dose", text, Spec{}, roleAttribute, table.Text},
		{"y", text, Spec{}, roleAttribute, table.Text},
		{"y", list, Spec{}, roleLeftOut, table.List},
		{"y", number, Spec{Attributes: []string{"y"}}, roleAttribute, table.Number},
		{"y", text, Spec{Attributes: []string{}}, roleLeftOut, table.Text},
		{"Unnamed: 0", text, Spec{}, roleAttribute, table.Text},
	} {
		kinds := []table.Kind{table.Text, test.isKind}
		names := []string{"q", test.name}
		test.spec.GenesColumns = []string{"q"}
		if test.want == roleGenes {
			test.spec.GenesColumns = []string{test.name}
		}
		columns := newColumnTable("p", &test.spec, names,
			func(column int) table.Kind { return kinds[column] })
		if err := columns.findKeys(); err != nil {
			t.Fatal(err)
		}
		if err := columns.nameRoles(); err != nil {
			t.Fatal(err)
		}
		c := &columns.all[1]
		c.columnContents = test.holds
		columns.decide(c)
		if got := c.role; got != test.want {
			t.Errorf("%s of type %s: got %q, want %q", test.name, test.isKind, got, test.want)
		}
	}
}
