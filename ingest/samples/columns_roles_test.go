package samples

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/table"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/inputs"
)

// showRoles lists phenotypes, guessed ones with ?, and attributes, with ! if their name made them
// attributes. Columns that are only compared follow a bar.
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
	words = append(words, mark(columns.Remaining().AttributeNames(), columns.ByName, "!")...)
	for _, name := range columns.AttributeNames()[len(columns.Remaining().Attributes):] {
		words = append(words, "|"+name)
	}
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
		"measured": {Spec{Phenotypes: []string{"pH"}}, "pH / Temperature! medium batch!"},
		"not measured": {Spec{NotPhenotypes: []string{"pH", "strength"}}, "fitness? / " +
			"Temperature! medium batch!"},
		"attributes": {Spec{Attributes: []string{"medium"}}, "fitness? strength? / medium"},
		"compared": {Spec{
			Rule:       duplicates.Rule{Duplicates: duplicates.Last},
			Phenotypes: []string{"fitness"},
			Attributes: []string{"medium"},
		},
			"fitness / medium |Temperature |pH |strength |batch |"},
		"may differ": {Spec{
			Rule: duplicates.Rule{Duplicates: duplicates.Last, Ignore: []string{"strength", "pH"}},
		},
			"fitness? / Temperature! pH! strength medium batch! |"},
		"nothing of it": {Spec{
			Rule:       duplicates.Rule{Duplicates: duplicates.Last, Ignore: []string{"strength"}},
			Attributes: []string{},
			Phenotypes: []string{"fitness"},
		},
			"fitness / |Temperature |pH |medium |batch |"},
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

// A column that cannot be read cannot be compared either.
func TestUncomparedColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.arrow")
	genes := ingest.TextColumn("genes", []string{"A"})
	dates := array.NewDate32Builder(memory.DefaultAllocator)
	dates.Append(20000)
	w, err := arrowfile.Create(path, []arrow.Field{
		{Name: "genes", Type: genes.Values.DataType()},
		{Name: "date", Type: arrow.FixedWidthTypes.Date32},
	})
	if err == nil {
		err = errors.Join(w.Write(genes.Values, dates.NewArray()), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	set, err := openFile(path, threeGenes, Spec{})
	if err != nil {
		t.Fatal(err)
	}
	set.Close()
	_, err = openFile(path, threeGenes, Spec{Rule: duplicates.Rule{Duplicates: duplicates.Last}})
	if fault.KindOf(err) != fault.Input ||
		!strings.Contains(err.Error(), `column "date": found type date32`) {
		t.Errorf("got %v", err)
	}
	set, err = openFile(path, threeGenes,
		Spec{Rule: duplicates.Rule{Duplicates: duplicates.Last, Ignore: []string{"date"}}})
	if err != nil {
		t.Fatal(err)
	}
	set.Close()
}

// Roles follow from names, types and the spec.
func TestRolesOfNamesAndTypes(t *testing.T) {
	number, text := columnContents{number: "its type"}, columnContents{text: "its type"}
	list := columnContents{other: "its type"}
	said := columnContents{number: "its type", measured: true}
	merging := Spec{Rule: duplicates.Rule{Duplicates: duplicates.Last}}
	for _, test := range []struct {
		name   string
		holds  columnContents
		spec   reading
		want   columnRole
		isKind table.Kind
	}{
		{"genes", text, reading{}, roleGenes, table.Text},
		{"sample_id", number, reading{}, roleID, table.Number},
		{"kinds", text, reading{}, roleKinds, table.Text},
		{"kinds", number, reading{Spec: Spec{Phenotypes: []string{"kinds"}}}, rolePhenotype,
			table.Number},
		{"perturbation_type", text, reading{}, roleKinds, table.Text},
		{"kinds", text, reading{Spec: Spec{KindsColumn: IgnoreKindsColumn}}, roleAttribute,
			table.Text},
		{"y", number, reading{}, roleGuessed, table.Number},
		{"y", said, reading{}, rolePhenotype, table.Number},
		{"dose", number, reading{}, roleByName, table.Number},
		{"dose", said, reading{}, rolePhenotype, table.Number},
		{"dose", text, reading{}, roleAttribute, table.Text},
		{"y", text, reading{}, roleAttribute, table.Text},
		{"y", list, reading{}, roleLeftOut, table.List},
		{"y", number, reading{Spec: Spec{Attributes: []string{"y"}}}, roleAttribute, table.Number},
		{"y", text, reading{Spec: Spec{Attributes: []string{}}}, roleLeftOut, table.Text},
		{"y", number, reading{Spec: Spec{NotPhenotypes: []string{"y"}}}, roleLeftOut, table.Number},
		{"y", text, reading{Spec: Spec{NotPhenotypes: []string{"y"}}, filterColumns: []string{"y"}},
			roleFiltered, table.Text},
		{"y", list, reading{Spec: merging}, roleCompared, table.List},
		{"Unnamed: 0", text, reading{}, roleAttribute, table.Text},
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
