package main

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/internal/testing/testrun"
)

// reactionsRecord is a reaction table r1, r2, r3 with a gpr column of a type.
func reactionsRecord(t *testing.T, values arrow.DataType, gpr string) arrow.Record {
	t.Helper()
	var columns []arrow.Array
	for _, c := range []struct {
		values arrow.DataType
		json   string
	}{{arrow.BinaryTypes.String, `["r1", "r2", "r3"]`}, {values, gpr}} {
		column, _, err := array.FromJSON(memory.DefaultAllocator, c.values, strings.NewReader(c.json))
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, column)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "gpr", Type: values, Nullable: true}}, nil)
	return array.NewRecord(schema, columns, 3)
}

// Rules whose genes are named by numbers are rules, whatever type their column has; all variants
// and both methods of verify agree with masks worked out by hand.
func TestRulesOfNumericIDs(t *testing.T) {
	t.Parallel()
	const numeric = `[851234, 851235, null]`
	for name, reactions := range map[string]map[string]string{
		"tsv":        {"graph/nodes/reaction.tsv": "id\tgpr\nr1\t851234\nr2\t851235\nr3\t\n"},
		"csv":        {"graph/nodes/reaction.csv": "id,gpr\nr1,851234\nr2,\"851235\"\nr3,\n"},
		"int64":      {"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.PrimitiveTypes.Int64, numeric))},
		"uint32":     {"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.PrimitiveTypes.Uint32, numeric))},
		"dictionary": {"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["851234", "851235", null]`))},
		"view":       {"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.BinaryTypes.StringView, `["851234", "851235", ""]`))},
	} {
		t.Run(name, func(t *testing.T) {
			testrun.OneIn(t, 4)
			t.Parallel()
			dir := numericGenes(t, reactions)
			for _, build := range [][]string{{"incidence"}, {"dataset", "--mode", "indices"}, {"dataset", "--mode", "full-masks"}} {
				out := build[len(build)-1]
				must(t, dir, with(build, "--reaction-rule", "gpr", "--graph", "graph", "--perturbations", "sets.tsv", "--out", out)...)
				shown := strings.Split(must(t, dir, "inspect", out, "--samples", "0:3", "--json").stdout, "\n")
				for sample, want := range []string{`[0]`, `[1]`, `[0,1]`} {
					if want = `"reaction":{"size":3,"removed":` + want; !strings.Contains(shown[sample], want) {
						t.Errorf("%s, sample %d: got %s, want %s", out, sample, shown[sample], want)
					}
				}
				must(t, dir, "verify", out, "--method", "both")
			}
		})
	}
}

// numericGenes makes a graph of genes 851234 and 851235, its reactions in another file, and
// samples that delete one, the other and both.
func numericGenes(t *testing.T, reactions map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, reactions, map[string]string{
		"graph/nodes/gene.tsv":                 "id\n851234\n851235\n",
		"graph/edges/gene__physical__gene.tsv": "src\tdst\n851234\t851235\n",
		"graph/edges/gene__gpr__reaction.tsv":  "src\tdst\n851234\tr1\n851235\tr2\n",
		"sets.tsv":                             "genes\n851234\n851235\n851234|851235\n",
	})
	return dir
}

// A gpr column without a rule removes nothing. One of another type than text or integers is an
// error.
func TestOtherGPRColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reactions map[string]string
		want      string // of the error; none when it builds
	}{
		"empty":    {map[string]string{"graph/nodes/reaction.tsv": "id\tgpr\nr1\t\nr2\t\nr3\t\n"}, ""},
		"null":     {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.Null, `[null, null, null]`))}, ""},
		"all null": {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.BinaryTypes.LargeString, `[null, null, null]`))}, ""},
		"none":     {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.BinaryTypes.String, `["", null, " "]`))}, ""},
		"float":    {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.PrimitiveTypes.Float64, `[851234, 851235, null]`))}, `column "gpr": found type float64, expected text`},
		"bool":     {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.FixedWidthTypes.Boolean, `[true, false, null]`))}, `column "gpr": found type bool, expected text`},
		"list":     {map[string]string{"graph/nodes/reaction.arrow": arrowFile(t, reactionsRecord(t, arrow.ListOf(arrow.BinaryTypes.String), `[["851234"], null, []]`))}, `column "gpr": found type list`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := numericGenes(t, c.reactions)
			o := execute(t, dir, "incidence", "--reaction-rule", "gpr", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "out")
			if c.want != "" {
				o.refused(t, 3, "read nodes graph/nodes/reaction.", c.want)
				return
			}
			if shown := must(t, dir, "inspect", "out", "--samples", "0:3", "--json").stdout; strings.Count(shown, `"reaction":{"size":3,"removed":[]}`) != 3 {
				t.Errorf("got %s", shown)
			}
			must(t, dir, "verify", "out", "--method", "both")
		})
	}
}
