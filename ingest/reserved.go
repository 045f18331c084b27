package ingest

import (
	"strings"
	"unicode"

	"tcbuild/fault"
)

// PlainName is a column's name as it is compared with reserved names: in lower case, without
// spaces, hyphens, underscores, and the dots that R writes for them. Sample_ID, sample id and
// Sample.ID are sampleid.
func PlainName(name string) string {
	separates := func(r rune) bool { return strings.ContainsRune("-_.", r) || unicode.IsSpace(r) }
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, separates), ""))
}

// FindReserved finds the column of a table that has a reserved name, as PlainName compares them.
// Two such columns, and one with spaces around its name, are a fault.Input.
func FindReserved(columns []string, reserved string) (at int, found bool, err error) {
	plain := PlainName(reserved)
	for i, name := range columns {
		if PlainName(name) != plain {
			continue
		}
		if found {
			return 0, false, fault.New(fault.Input, "rename or remove one of them",
				"found columns %s and %s, expected one column %s",
				fault.Quote(columns[at]), fault.Quote(name), reserved)
		}
		if strings.TrimSpace(name) != name {
			return 0, false, fault.New(fault.Input, "remove the spaces from the header",
				"found column %s, expected a name without spaces around it", fault.Quote(name))
		}
		at, found = i, true
	}
	return at, found, nil
}
