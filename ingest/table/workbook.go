package table

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/zip"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// An .xlsx file is a .zip of parts in XML:
//
//	xl/workbook.xml             the names of the sheets, in order, each with an id
//	xl/_rels/workbook.xml.rels  the part of each id, such as xl/worksheets/sheet1.xml
//	xl/sharedStrings.xml        texts, which cells name by their number
//	xl/styles.xml               formats of cells; some say that a number is a date

// mostBytes limits a part: a million rows of 15 columns have 0.6 GiB. Texts are held in memory.
const mostBytes, mostTexts = 1 << 30, 256 << 20

// workbook is an open .xlsx file.
type workbook struct {
	path     string
	archive  *zip.Reader
	texts    []string        // shared by cells
	isDate   map[string]bool // by the number of a cell's format
	from1904 bool            // dates are counted from 1904
}

// openWorkbook opens a file, and finds the part with a sheet, the first visible one if sheet is
// empty. It also returns the sheet's name.
func openWorkbook(path string, file *io.SectionReader, sheet string) (
	w *workbook, name, part string, err error) {
	w = &workbook{path: path}
	if w.archive, err = zip.NewReader(file, file.Size()); err != nil {
		return nil, "", "", notZip(path, file, err)
	}
	err = cmp.Or(w.readTexts(), w.readStyles())
	if err == nil {
		name, part, err = w.find(sheet)
	}
	if err != nil {
		err = rows.Damaged(path, "in its workbook", err)
	}
	return w, name, part, err
}

// find finds a sheet.
func (w *workbook) find(sheet string) (name, part string, err error) {
	var book struct {
		Properties struct {
			From1904 bool `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			ID    string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	var relations struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := cmp.Or(w.decode("xl/workbook.xml", &book),
		w.decode("xl/_rels/workbook.xml.rels", &relations)); err != nil {
		return "", "", err
	}
	w.from1904 = book.Properties.From1904
	parts := make(map[string]string)
	for _, r := range relations.All {
		parts[r.ID] = r.Target
	}
	var names []string
	for _, s := range book.Sheets {
		part := parts[s.ID]
		if !path.IsAbs(part) {
			part = path.Join("/xl", part)
		}
		visible := s.State == "" || s.State == "visible"
		isTable := !strings.HasPrefix(part, "/xl/chartsheets/")
		isFirst := sheet == "" && visible && isTable
		if s.Name == sheet || isFirst {
			return s.Name, part[1:], nil
		}
		names = append(names, s.Name)
	}
	found := "found no visible sheet"
	if sheet != "" {
		found = "found no sheet " + fault.Quote(sheet)
	}
	return "", "", fault.New(fault.Input, "set sheet to one of them",
		"%s, expected one of %s", found, fault.List(names))
}

// readTexts reads the texts that cells share. A workbook of numbers has none.
func (w *workbook) readTexts() error {
	part, err := w.open("xl/sharedStrings.xml", mostTexts)
	if errors.Is(err, errNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer part.Close()
	return part.children("sst", func(start xml.StartElement) error {
		if start.Name.Local != "si" {
			return nil
		}
		text, err := part.text("si")
		w.texts = append(w.texts, unescape(text))
		return err
	})
}

// literal matches the parts of a number format that say nothing of dates: text, colors and
// conditions, but not [h], which is a time.
var literal = regexp.MustCompile(`"[^"]*"|[\\_*].|\[([^\]hHmMsS][^\]]*|[^\]]{3,})\]`)

// readStyles finds the formats of dates and times.
func (w *workbook) readStyles() error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.decode("xl/styles.xml", &styles); err != nil && !errors.Is(err, errNoPart) {
		return err
	}
	codes := make(map[int]string)
	for _, format := range styles.Formats {
		codes[format.ID] = format.Code
	}
	w.isDate = make(map[string]bool)
	for k, cell := range styles.Cells {
		ofPositive, _, _ := strings.Cut(literal.ReplaceAllString(codes[cell.Format], ""), ";")
		hasCode := strings.ContainsAny(ofPositive, "dmhysDMHYS")
		w.isDate[strconv.Itoa(k)] = hasCode || isBuiltInDate(cell.Format)
	}
	return nil
}

// isBuiltInDate reports whether a number means a format of dates or times, which then has no code.
func isBuiltInDate(format int) bool {
	within := func(ids [2]int) bool { return ids[0] <= format && format <= ids[1] }
	return slices.ContainsFunc([][2]int{{14, 22}, {27, 36}, {45, 47}, {50, 58}}, within)
}

// decode reads a whole part.
func (w *workbook) decode(name string, into any) error {
	part, err := w.open(name, mostTexts)
	if err != nil {
		return err
	}
	defer part.Close()
	return part.Decode(into)
}

var errNoPart = errors.New("the file has no such part")

// open opens a part, whose archive says that it has at most limit bytes.
func (w *workbook) open(name string, limit int64) (part, error) {
	for _, file := range w.archive.File {
		switch {
		case !strings.EqualFold(file.Name, name):
		case file.UncompressedSize64 > uint64(limit):
			return part{}, fault.New(fault.Input, "save the table as text, such as .tsv or .csv",
				"found %s of %s, expected at most %s",
				name, humanize.IBytes(file.UncompressedSize64), humanize.IBytes(uint64(limit)))
		default:
			in, err := file.Open()
			return part{xml.NewDecoder(io.LimitReader(in, limit)), in}, err
		}
	}
	return part{}, fmt.Errorf("%w: %s", errNoPart, name)
}

// part is XML that is read piece by piece.
type part struct {
	*xml.Decoder
	io.ReadCloser
}

// token returns the next piece. The end of the part is an error.
func (p part) token() (xml.Token, error) {
	token, err := p.RawToken()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return token, err
}

// children calls visit with the elements inside an element, up to its end.
func (p part) children(element string, visit func(start xml.StartElement) error) error {
	for {
		token, err := p.token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.EndElement:
			if token.Name.Local == element {
				return nil
			}
		case xml.StartElement:
			if err := visit(token); err != nil {
				return err
			}
		}
	}
}

// text returns the text in an element, up to its end. A value (v) has it inside, others in parts
// (t) that each have a format. How to pronounce it (rPh) is left out.
func (p part) text(element string) (string, error) {
	var text []byte
	for inside, pronounced := element == "v", false; ; {
		token, err := p.token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.CharData:
			if inside && !pronounced {
				text = append(text, token...)
			}
		case xml.StartElement:
			inside = token.Name.Local == "t"
			pronounced = pronounced || token.Name.Local == "rPh"
		case xml.EndElement:
			if token.Name.Local == element {
				return string(text), nil
			}
			inside = false
			pronounced = pronounced && token.Name.Local != "rPh"
		}
	}
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// escaped matches what Excel writes for characters that XML cannot have, such as _x000D_ for a
// carriage return, and for an underscore before such a code. Other programs escape nothing.
var escaped = regexp.MustCompile(`_x00([01][0-9A-Fa-f]|5F)_`)

func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		character, _ := strconv.ParseUint(code[2:6], 16, 8)
		return string(rune(character))
	})
}
