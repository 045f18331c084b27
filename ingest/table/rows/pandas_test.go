package rows

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestIndexes(t *testing.T) {
	schema := func(index, columns string) string {
		return `{"index_columns": [` + index + `], "columns": [` + columns + `]}`
	}
	const level, text = "__index_level_0__", `{"name": "y", "field_name": "y"}, `
	for _, test := range []struct{ name, columns, metadata, want string }{
		{"no metadata", "y id", "", ""},
		{"unnamed", "y " + level, schema(`"`+level+`"`, text+`{"name": null, "field_name": "`+level+`"}`), level},
		{"two levels", "__index_level_1__ y " + level, schema(`"`+level+`", "__index_level_1__"`, text), level + " __index_level_1__"},
		{"lost metadata", "y " + level, "", level},
		{"range", "y", schema(`{"kind": "range", "name": null, "start": 0, "stop": 3, "step": 1}`, text), ""},
		{"named", "y gene", schema(`"gene"`, text+`{"name": "gene", "field_name": "gene"}`), ""},
		{"named, old pandas", "y gene", schema(`"gene"`, `{"name": "gene"}`), ""},
		{"fastparquet", "y index", schema(`"index"`, text+`{"name": "index", "field_name": "index"}`), "index"},
		{"null under another name", "y rows", schema(`"rows"`, text+`{"name": null, "field_name": "rows"}`), "rows"},
		{"a column that is called index", "y index", schema("", text), ""},
		{"of another program", "y " + level, "[1", level},
	} {
		found := slices.Sorted(maps.Keys(Indexes(strings.Fields(test.columns), test.metadata)))
		if strings.Join(found, " ") != test.want {
			t.Errorf("%s: found %s, want %s", test.name, found, test.want)
		}
	}
}
