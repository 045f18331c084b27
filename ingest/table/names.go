package table

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tcbuild/fault"
)

// checkHeader returns an error for a header that is one column, because the columns are separated
// by another delimiter than the file's ending says, or that is the whole file, because its lines
// end as on old Macs.
func checkHeader(path string, names []string, expected byte) error {
	for _, name := range names {
		if _, rest, found := strings.Cut(name, "\r"); found && !strings.HasPrefix(rest, "\n") {
			return fault.New(fault.Input, "save it with the line ends of Windows or Unix; Excel's text formats for Macintosh have others",
				"read header of %s: found a carriage return in %s, expected lines that end with a line feed", path, fault.Quote(name))
		}
	}
	for _, found := range "\t;," {
		if len(names) == 1 && strings.ContainsRune(names[0], found) {
			return fault.New(fault.Input,
				convertHint(path, found),
				"read header of %s: found one column, %s, expected columns separated by %q, not by %q", path, fault.Quote(names[0]), expected, found)
		}
	}
	return nil
}

// convertHint says how a table with another delimiter than its ending's can be read.
func convertHint(path string, delimiter rune) string {
	if delimiter == '\t' {
		return "rename it to .tsv, which has tabs"
	}
	if delimiter == ',' {
		return "rename it to .csv, which has commas"
	}
	return fmt.Sprintf("save it with the delimiter of its ending; a perturbation set can be converted: tcbuild ingest perturbations %s 'delimiter=%c'", path, delimiter)
}

// indexHint continues the hint for a first column that has no name, which is an index that another
// program wrote.
const indexHint = `; an index is left out by pandas with index=False and by R with row.names = FALSE, or named: pandas has index_label="sample_id", and tcbuild ingest skip_lines=1 columns=[…] with a name for each`

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
			hint := "name the column"
			if i == 0 {
				hint += indexHint
			}
			return fault.New(fault.Input, hint,
				"read header of %s: found no name for column %d of %d", path, i+1, len(names))
		case seen:
			return fault.New(fault.Input, hint,
				"read header of %s: columns %d and %d are both named %s, expected unique names", path, j+1, i+1, fault.Quote(name))
		}
		first[name] = i
	}
	return nil
}
