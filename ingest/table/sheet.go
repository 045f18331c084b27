package table

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// A sheet of an .xlsx file is read as the text that Excel would save of it:
//
//	<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2"><v>0.10000000000000001</v></c></row>
//	YAL001C		0.1
//
// but its numbers have all digits, and dates are written as 2024-09-07, however they are displayed.
// A row is a line, a blank row a blank line, so that lines have the numbers that Excel shows.
// Fields at the end of a row are omitted if they are empty.
//
// The rows of excelize have no types, so dates would be numbers, and it adds 5 MB to the program.
// xlsxreader crashes on damaged files, or ends early without an error. tealeg/xlsx takes 80 times
// the memory of the file. So this uses encoding/xml, as they do.

// sheetReader implements io.ReadCloser.
type sheetReader struct {
	*workbook
	part

	skip int    // rows
	row  int    // the last one, from 1
	line []byte // of the last row, without what was read
	err  error  // io.EOF after the last row
}

// openSheet opens a sheet, the first visible one if name is empty, after so many rows. It returns
// its name.
func openSheet(path string, file *io.SectionReader, name string, skip int) (
	string, io.ReadCloser, error) {
	book, name, target, err := openWorkbook(path, file, name)
	if err != nil {
		return "", nil, err
	}
	in, err := book.open(target, mostBytes)
	if err != nil {
		return "", nil, rows.Damaged(path+"/"+name, "at its start", err)
	}
	return name, &sheetReader{workbook: book, part: in, skip: skip}, nil
}

func (s *sheetReader) Read(p []byte) (int, error) {
	for len(s.line) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.err = s.next()
	}
	n := copy(p, s.line)
	s.line = s.line[n:]
	return n, nil
}

// next makes the lines of the next row that has values, and of the blank rows before it. Blank rows
// at the end of a sheet make none: they may be there for their format.
func (s *sheetReader) next() error {
	before := max(s.row, s.skip)
	for {
		token, err := s.token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.EndElement:
			if token.Name.Local == "sheetData" {
				_, err := io.Copy(io.Discard, s.ReadCloser) // its checksum comes last
				return cmp.Or(err, io.EOF)
			}
		case xml.StartElement:
			if token.Name.Local != "row" {
				continue
			}
			if s.row, err = position(attribute(token, "r"), s.row+1, 1<<20,
				strconv.Atoi); err != nil {
				return err
			}
			line, err := s.readRow()
			if err != nil {
				return fmt.Errorf("row %d: %w", s.row, err)
			}
			if len(line) > 0 && s.row > s.skip {
				s.line = append(bytes.Repeat([]byte{'\n'}, s.row-before-1), append(line, '\n')...)
				return nil
			}
		}
	}
}

// readRow returns the fields of a row's cells, and reads up to the end of the row.
func (s *sheetReader) readRow() (line []byte, err error) {
	column, next, end := 0, 0, 0 // of the last cell and the one after it; of the last value in line
	err = s.children("row", func(cell xml.StartElement) error {
		if cell.Name.Local != "c" {
			return nil
		}
		at, err := position(attribute(cell, "r"), next, 1<<14-1, columnOf)
		if err != nil {
			return err
		}
		line = append(line, strings.Repeat("\t", at-column)...)
		column, next = at, at+1
		value, err := s.readCell(cell)
		if err == nil && value != "" {
			line = appendField(line, value)
			end = len(line)
		}
		return err
	})
	return line[:end], err
}

// position reads where a row or cell is. Without a reference, it follows the one before it.
func position(reference string, next, last int, read func(string) (int, error)) (int, error) {
	if reference == "" {
		return next, nil
	}
	at, err := read(reference)
	if err != nil || at < next || at > last {
		return 0, fmt.Errorf("found a row or cell %s, expected the next one",
			fault.Quote(reference))
	}
	return at, nil
}

// columnOf returns the column of a cell, which is 27 for AB12.
func columnOf(reference string) (int, error) {
	column := 0
	for _, c := range reference {
		if c < 'A' || c > 'Z' || column >= 1<<14 {
			break
		}
		column = 26*column + int(c-'A') + 1
	}
	return column - 1, nil
}

// appendField appends a field, in quotes if it has characters that mean something in text.
func appendField(line []byte, value string) []byte {
	if !strings.ContainsAny(value, "\t\r\n\"") {
		return append(line, value...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(value, `"`, `""`)...), '"')
}

// readCell returns a cell's value as text, and reads up to the end of the cell.
func (s *sheetReader) readCell(cell xml.StartElement) (string, error) {
	var value string
	var formula bool
	err := s.children("c", func(child xml.StartElement) (err error) {
		switch child.Name.Local {
		case "v":
			value, err = s.text("v")
		case "is":
			value, err = s.text("is")
		case "f":
			formula = true
		}
		return err
	})
	if err != nil {
		return "", err
	}
	switch kind := attribute(cell, "t"); kind {
	case "s":
		k, err := strconv.Atoi(value)
		if err != nil || k < 0 || k >= len(s.texts) {
			return "", fmt.Errorf("found text number %s of %d", fault.Quote(value), len(s.texts))
		}
		return s.texts[k], nil
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[value], nil
	case "", "n":
		if value == "" && formula {
			return "", fault.New(fault.Input,
				"open the file in Excel or LibreOffice, which compute it, and save it",
				"found a formula without its value in cell %s", attribute(cell, "r"))
		}
		return s.number(value, s.isDate[attribute(cell, "s")])
	case "d":
		return strings.Replace(strings.TrimSuffix(value, "T00:00:00"), "T", " ", 1), nil
	default: // inlineStr; str, a formula's; e, an error such as #N/A
		return unescape(value), nil
	}
}

// number writes a number, or a date, which is a number of days.
func (s *sheetReader) number(value string, isDate bool) (string, error) {
	if value == "" {
		return "", nil
	}
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return "", fmt.Errorf("found %s, expected a number", fault.Quote(value))
	case isDate && number >= 0 && number < 1<<22: // the year 9999 is day 2,958,465
		return dateText(number, s.from1904), nil
	case number == math.Trunc(number) && math.Abs(number) < 1<<53: // an id: 1000000, not 1e+06
		return strconv.FormatFloat(number, 'f', -1, 64), nil
	}
	return strconv.FormatFloat(number, 'g', -1, 64), nil
}

// dateText writes a date or time as pandas does. Day 1 is January 1, 1900, but Excel believes that
// February 1900 had 29 days.
func dateText(days float64, from1904 bool) string {
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		first = first.AddDate(0, 0, 1)
	}
	whole, fraction := math.Modf(days)
	at := first.AddDate(0, 0, int(whole)).Add(time.Duration(fraction * float64(24*time.Hour)))
	switch at = at.Round(time.Millisecond); {
	case fraction == 0:
		return at.Format(time.DateOnly)
	case whole == 0:
		return at.Format("15:04:05.999")
	}
	return at.Format("2006-01-02 15:04:05.999")
}
