package table

import (
	"io"

	"tcbuild/ingest/inputfile"
)

// Head returns the fields of a text file's first n rows, including any header line, or of all rows
// if there are fewer. Rows may differ in length. It ignores options.Columns and options.Header.
func Head(file *inputfile.File, n int, options TextOptions) ([][]string, error) {
	options.Columns, options.Header = []string{}, false
	s, err := openTextFile(file.Path(), file.Reader(), options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var rows [][]string
	for len(rows) < n {
		fields, err := s.mustRecord(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			row[i] = string(s.buffer[f.Start:f.End])
		}
		rows = append(rows, row)
	}
	return rows, nil
}
