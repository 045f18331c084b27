package table

import (
	"unicode/utf8"

	"tcbuild/fault"
)

// checkNames returns an error for column names that do not identify a column.
func checkNames(path string, names []string) error {
	const hint = "rename the column"
	first := make(map[string]int, len(names))
	for i, name := range names {
		switch j, seen := first[name]; {
		case !utf8.ValidString(name):
			return fault.New(fault.Input, "save the file as UTF-8 text",
				"read header of %s: name %s of column %d is not valid UTF-8", path, fault.Quote(name), i+1)
		case name == "":
			return fault.New(fault.Input, hint, "read header of %s: found no name for column %d of %d", path, i+1, len(names))
		case seen:
			return fault.New(fault.Input, hint,
				"read header of %s: columns %d and %d are both named %s, expected unique names", path, j+1, i+1, fault.Quote(name))
		}
		first[name] = i
	}
	return nil
}
