package rows

import (
	"encoding/json"
	"regexp"
)

// unnamedIndex matches the columns in which pandas stores an unnamed index. Programs that rewrite
// such a file, such as polars, keep the column but lose its description in the schema.
var unnamedIndex = regexp.MustCompile(`^__index_level_[0-9]+__$`)

// Indexes returns the columns that hold the unnamed index of a data frame. A named index, such as
// sample_id, is a column like others. metadata is the schema's value of the key pandas, "" if it
// has none.
func Indexes(columns []string, metadata string) map[string]bool {
	found := make(map[string]bool)
	for _, name := range columns {
		if unnamedIndex.MatchString(name) {
			found[name] = true
		}
	}
	var schema struct {
		Index   []any `json:"index_columns"` // names of columns; a range is an object
		Columns []struct {
			Name  *string `json:"name"`
			Field string  `json:"field_name"`
		} `json:"columns"`
	}
	if json.Unmarshal([]byte(metadata), &schema) != nil {
		return found
	}
	unnamed := make(map[string]bool)
	for _, column := range schema.Columns {
		unnamed[column.Field] = column.Name == nil
	}
	for _, index := range schema.Index {
		// fastparquet calls an unnamed index "index"
		if name, ok := index.(string); ok && (unnamed[name] || name == "index") {
			found[name] = true
		}
	}
	return found
}
