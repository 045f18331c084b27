package samples

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
)

// writeColumn writes a table of one row with the columns genes, y and another one.
func writeColumn(t *testing.T, field arrow.Field, json string) (path string) {
	t.Helper()
	values, _, err := array.FromJSON(memory.DefaultAllocator, field.Type, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "p.arrow")
	columns := []ingest.Column{ingest.TextColumn("genes", []string{"A"}),
		ingest.NumberColumn("y", []float64{1}), {Name: field.Name, Values: values}}
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range columns {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Values.DataType()})
		arrays = append(arrays, c.Values)
	}
	fields[2].Metadata = field.Metadata
	w, err := arrowfile.Create(path, fields)
	if err == nil {
		err = errors.Join(w.Write(arrays...), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Values that are neither numbers nor texts are left out, and are no genes, kinds, ids, phenotypes
// or attributes.
func TestTypesThatAreNoNumbers(t *testing.T) {
	named := func(extension string) arrow.Metadata {
		return arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{extension})
	}
	timestamp := &arrow.TimestampType{Unit: arrow.Second}
	for _, test := range []struct {
		field arrow.Field
		value string
		found string
	}{
		{arrow.Field{Type: arrow.PrimitiveTypes.Int64, Metadata: named("pandas.period")}, "648",
			"extension<pandas.period>"},
		{arrow.Field{Type: arrow.BinaryTypes.String, Metadata: named("arrow.json")}, `"A"`,
			"extension<arrow.json>"},
		{arrow.Field{Type: arrow.StructOf(arrow.Field{Name: "left",
			Type: arrow.PrimitiveTypes.Int64}), Metadata: named("pandas.interval")},
			`{"left": 1}`, "extension<pandas.interval>"},
		{arrow.Field{Type: timestamp}, `"2024-01-01 00:00:00"`, "timestamp[s]"},
		{arrow.Field{Type: arrow.FixedWidthTypes.Date32}, `"2024-01-01"`, "date32"},
		{arrow.Field{Type: arrow.FixedWidthTypes.Duration_s}, "5", "duration[s]"},
		{arrow.Field{Type: arrow.FixedWidthTypes.Time32s}, `"00:00:05"`, "time32[s]"},
	} {
		for _, use := range []struct {
			name string
			spec Spec
		}{
			{"x", Spec{}},
			{"x", Spec{GenesColumns: []string{"x"}}},
			{"x", Spec{GenesColumns: []string{"genes", "x"}}},
			{"x", Spec{IDColumn: "x"}},
			{"Sample ID", Spec{}},
			{"x", Spec{KindsColumn: "x"}},
			{"Kind", Spec{}},
			{"x", Spec{Phenotypes: []string{"x"}}},
			{"x", Spec{Attributes: []string{"x"}}},
		} {
			test.field.Name = use.name
			set, err := openFile(writeColumn(t, test.field, "["+test.value+"]"), threeGenes,
				use.spec)
			if use.name == "x" && len(use.spec.Given()) == 0 {
				if err != nil || fmt.Sprint(set.Columns().Ignored) != "[x]" ||
					showRoles(set.Columns()) != "y? /" {
					t.Errorf("%s: got %v, expected it to be left out", test.found, err)
				}
				continue
			}
			if fault.KindOf(err) != fault.Input || fault.HintOf(err) == "" ||
				!strings.Contains(err.Error(), "type "+test.found) {
				t.Errorf("%s as %s, %v: got %v", test.found, use.name, use.spec.Given(), err)
			}
		}
	}
}

// An unnamed index of texts has the samples' names, which were lost without a word in the dataset.
func TestIndexOfTexts(t *testing.T) {
	const index = "__index_level_0__"
	text := arrow.Field{Name: index, Type: arrow.BinaryTypes.String}
	path := writeColumn(t, text, `["BY4741"]`)
	_, err := openFile(path, threeGenes, Spec{})
	isRight := fault.KindOf(err) == fault.Input && strings.HasSuffix(fmt.Sprint(err),
		`column "__index_level_0__": found an unnamed index of texts, expected a column with a name`)
	if hint := fault.HintOf(err); !isRight || !strings.Contains(hint, "reset_index") ||
		!strings.Contains(hint, "id_column="+index) {
		t.Errorf("got %v, hint %s", err, fault.HintOf(err))
	}
	for _, spec := range []Spec{{IDColumn: index}, {Attributes: []string{index}}} {
		if _, err := openFile(path, threeGenes, spec); err != nil {
			t.Errorf("%v: got %v", spec.Given(), err)
		}
	}
	number := arrow.Field{Name: index, Type: arrow.PrimitiveTypes.Int64}
	set, err := openFile(writeColumn(t, number, "[5]"), threeGenes, Spec{})
	if err != nil || showRoles(set.Columns()) != "y? /" {
		t.Errorf("row numbers: got %v, expected them to be left out", err)
	}
}
