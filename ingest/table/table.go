// Package table streams the rows of a table from a text file or an Arrow IPC file; see Endings.
//
// Memory is bounded: text is held one buffer at a time, Arrow one of the file's record batches.
package table

import (
	"cmp"
	"io"
	"iter"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/table/rows"
)

// What a table's rows are read into.
type (
	Batch = rows.Batch
	Kind  = rows.Kind
)

const (
	Unknown = rows.Unknown
	Number  = rows.Number
	Text    = rows.Text
	List    = rows.List
	Other   = rows.Other

	PlainNumber     = rows.PlainNumber
	PlainNumberHint = rows.PlainNumberHint
)

// A Reader reads a table from its first row to its last. It is not safe for
// concurrent use, and must be closed.
type Reader struct {
	rows.Source // its column names are not empty, unique, valid UTF-8
	file        *inputfile.File
	batch       Batch
}

// OpenFile reads an open file as a table, from its start. The caller keeps ownership of the file,
// which must stay open as long as the Reader; a file with bad content is closed. Every pass over a
// file gives the same rows, unless the file's Unchanged returns an error in the end.
func OpenFile(file *inputfile.File) (*Reader, error) {
	if file.Size() == 0 {
		return nil, fault.New(fault.Input, "make the file again",
			"open table %s: the file is empty, expected a table", file.Path())
	}
	s, err := openSource(file.Path(), file.Reader())
	if err != nil {
		return nil, inputfile.Explain(err, file)
	}
	return &Reader{Source: s, file: file}, nil
}

// Path is the file's path.
func (r *Reader) Path() string { return r.file.Path() }

// openSource opens a table in the format of its file name's ending.
func openSource(path string, in *io.SectionReader) (rows.Source, error) {
	ending, compression, _, ok := EndingOf(path)
	if !ok {
		return nil, RefusedEnding(path)
	}
	s, err := openAs(ending, compression, path, in)
	if err != nil {
		return nil, err
	}
	if err := checkNames(path, s.Columns()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func openAs(ending Ending, compression, path string, in *io.SectionReader) (rows.Source, error) {
	if ending.Delimiter == 0 {
		return arrowfile.Open(path, in)
	}
	text, err := decompress(path, compression, in)
	if err != nil {
		return nil, err
	}
	return openText(path, text, ending.Delimiter)
}

// Indexes returns the columns in which pandas stored the unnamed index of a data frame. Their
// values mean nothing, unless users name the column.
func (r *Reader) Indexes() map[string]bool { return rows.Indexes(r.Columns(), r.Pandas()) }

// Next returns the next rows, or io.EOF after the last. The batch is valid until the next call.
// Damage and malformed rows are a fault.Input. If the file changed while it was read, Next returns
// a fault.Busy, after the last row at the latest.
func (r *Reader) Next() (*Batch, error) {
	r.batch.First += int64(r.batch.Len)
	r.batch.Len = 0
	if err := r.Fill(&r.batch); err != nil {
		r.batch.Len = 0
		if err == io.EOF {
			return nil, cmp.Or(r.file.Unchanged(), err)
		}
		return nil, inputfile.Explain(err, r.file)
	}
	return &r.batch, nil
}

// Batches yields the batches that Next returns, up to the last or an error.
func (r *Reader) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			b, err := r.Next()
			if err == io.EOF || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Each calls visit for the rows in order, up to the last or an error.
func (r *Reader) Each(visit func(batch *Batch, i int) error) error {
	for batch, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range batch.Len {
			if err := visit(batch, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckUTF8 returns an error for a text that no graph or dataset could carry.
func CheckUTF8(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	return fault.New(fault.Input, "save the file as UTF-8 text",
		"found %s, which is not valid UTF-8", fault.Quote(text))
}
