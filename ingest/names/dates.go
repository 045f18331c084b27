package names

import (
	"bytes"
	"regexp"
)

// excelMonths are Excel's short names of months in the languages of Europe.
const excelMonths = `(jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec` +
	`|mär|mrz|mai|okt|dez|janv|févr|mars|avr|juin|juil|août|déc` +
	`|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out|mrt|mei|maj)`

// excelDate matches the dates that Excel makes of names such as SEP7 and MARCH1, in several
// languages, and what pandas reads from such a cell. It must not match genes: C. elegans has sep-1,
// R makes AARS.1 of a repeated name, and a number of five digits, as which Excel stores a date, may
// be an Entrez id.
var excelDate = regexp.MustCompile(`^(` +
	`(?i:[0-9]{1,2}[-. ]+` + excelMonths + `\.?([-. ]+([0-9]{2}){1,2})?)` + // 7-Sep, 07. Sep
	`|(?i:` + excelMonths + `[- ]0[0-9])` + // Sep-07
	`|(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-[0-9]{2}` + // Oct-45
	`|(19|20)[0-9]{2}[-/](0[1-9]|1[0-2])[-/][0-3][0-9]([ T]00:00:00)?` + // 2024-09-07
	`|[0-9]{1,2}/[0-9]{1,2}/([0-9]{2}){1,2}` + // 9/7/24
	`|[0-9]{1,2}\.[0-9]{1,2}\.(19|20)[0-9]{2}` + // 7.9.2024
	`|[0-9]{1,2}[月월] ?[0-9]{1,2}[日일])$`)

// IsDate reports whether a text is certainly a date that Excel made of a gene's name.
func IsDate(name []byte) bool {
	return bytes.ContainsAny(name, "-. /月월") && excelDate.Match(name)
}

// ADate says what a name is that Excel changed.
const ADate = "a date, as Excel makes of names such as SEP7"

// DateHint is the hint for an id that is a date.
const DateHint = "write the gene's name again; " +
	"in Excel, format the column as text before you paste or import names"
