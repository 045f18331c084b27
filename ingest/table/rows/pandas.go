package rows

import (
	"encoding/json"
	"regexp"
)

// unnamedIndex matches the columns in which pandas stores an index without a name. Programs that
// write such a file again, such as polars, keep the column and lose what the schema said of it.
var unnamedIndex = regexp.MustCompile(`^__index_level_[0-9]+__$`)

// Indexes are those of the columns that are the index of a data frame and have no name there. An
// index with a name, such as sample_id, is a column like others. metadata is what the schema says
// under the key pandas, "" if nothing.
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
		// fastparquet calls an index without a name index
		if name, ok := index.(string); ok && (unnamed[name] || name == "index") {
			found[name] = true
		}
	}
	return found
}
