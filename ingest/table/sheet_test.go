package table

import (
	"bytes"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"
)

// TestWorkbook reads a workbook from openpyxl: see testdata/make.py. Its first sheet is hidden.
func TestWorkbook(t *testing.T) {
	const path = "testdata/workbook.xlsx"
	columns, rows, places, err := readTexts(path, TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, row := range append([][]string{columns}, rows...) {
		got.WriteString(strings.Join(row, "|") + "\n")
	}
	const want = "Query|Array|score|date|sick\n" +
		"YAL001C|YAL002W|0.1|2024-09-07|TRUE\n" +
		"MARCH1|say \"a\"\tb|1e-300|2024-09-07 13:05:01|FALSE\n" +
		"1900-02-28|8454|123456789012|13:05:00|\n" +
		" é\r\n|#N/A|-5|1900-01-01 06:00:00|\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if place := "SGA:5"; places[3] != place {
		t.Errorf("the last row is at %s, expected %s", places[3], place)
	}
	columns, _, _, err = readTexts(path, TextOptions{Sheet: "notes"})
	if err != nil || len(columns) != 2 {
		t.Errorf("got columns %q of another sheet, %v", columns, err)
	}
}

// xlsx makes a workbook of parts, each with the XML inside its root, and of the rows of a sheet.
func xlsx(t testing.TB, sheet string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="S" ` +
			`r:id="a"/></sheets></workbook>`,
		"_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" ` +
			`Target="sheet1.xml"/></Relationships>`,
		"sheet1.xml": "<worksheet><sheetData>" + sheet + "</sheetData></worksheet>",
	}
	maps.Copy(all, parts)
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		part, err := w.Create("xl/" + name)
		check(t, err)
		_, err = io.WriteString(part, all[name])
		check(t, err)
	}
	check(t, w.Close())
	return file.Bytes()
}

const sheetHead = `<row><c t="inlineStr"><is><t>x</t></is></c><c t="str"><v>y</v></c></row>`

func TestSheets(t *testing.T) {
	shared := map[string]string{"SharedStrings.xml": `<sst> <si> <t>x</t> <rPh><t>no</t></rPh> </si>
		<si><r><t xml:space="preserve">a </t></r><r><rPr/><t>&lt;b</t></r></si><si/></sst>`}
	from1904 := map[string]string{
		"workbook.xml": `<workbook xmlns:r="r"><workbookPr date1904="1"/><sheets><sheet name="S" ` +
			`r:id="a"/></sheets></workbook>`,
		"styles.xml": `<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>`,
	}
	for _, test := range []struct {
		name, sheet string
		parts       map[string]string
		options     TextOptions
		want        string
	}{
		{
			name:  "cells without references",
			sheet: sheetHead + `<row><c><v>1</v></c><c/></row>`,
			want:  "x|y;1|",
		},
		{
			name: "shared texts",
			sheet: `<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c ` +
				`t="s"><v>2</v></c><c><v>1</v></c></row>`,
			parts: shared,
			want:  "x|a <b;|1",
		},
		{
			name:  "empty rows at the end",
			sheet: sheetHead + `<row><c><v>1</v></c></row><row><c s="1"/></row><row r="9"/>`,
			want:  "x|y;1|",
		},
		{
			name: "numbers as written",
			sheet: sheetHead + `<row><c><v>0.10000000000000001</v></c><c><v>1E-3</v></c></row>` +
				`<row><c><v>1E+6</v></c><c><v>-0.30000000000000004</v></c></row>`,
			want: "x|y;0.1|0.001;1000000|-0.30000000000000004",
		},
		{
			name: "dates from 1904",
			sheet: sheetHead +
				`<row><c s="1"><v>0</v></c><c s="1" t="d"><v>2024-09-07T00:00:00</v></c></row>`,
			parts: from1904,
			want:  "x|y;1904-01-01|2024-09-07",
		},
		{
			name: "title",
			sheet: `<row r="2"><c t="str"><v>Table` + "\n" + `S1</v></c></row><row r="4">` +
				sheetHead[5:] + `<row><c><v>1</v></c></row>`,
			options: TextOptions{SkipLines: 3},
			want:    "x|y;1|",
		},
		{
			name:    "columns named",
			sheet:   `<row><c><v>1</v></c></row><row><c/><c><v>2</v></c></row>`,
			options: TextOptions{Columns: []string{"a", "b"}},
			want:    "a|b;1|;|2",
		},
	} {
		columns, rows, _, err := readTexts(write(t, "a.xlsx", xlsx(t, test.sheet, test.parts)),
			test.options)
		var lines []string
		for _, row := range append([][]string{columns}, rows...) {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(lines, ";"); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

func TestSheetErrors(t *testing.T) {
	whole := xlsx(t, sheetHead+`<row><c><v>12345</v></c></row>`, nil)
	for _, test := range []struct {
		name    string
		content []byte
		options TextOptions
		want    string
	}{
		{
			name:    "no archive",
			content: []byte("x\ty\n1\t2\n"),
			want:    "read a.xlsx: the file is not a zip file, although its name ends in .xlsx",
		},
		{
			name:    "password",
			content: []byte("\xd0\xcf\x11\xe0"),
			want: "open table a.xlsx: found an Excel file with a password, or of a version " +
				"before 2007",
		},
		{
			name:    "another archive",
			content: compressedIn(t, "word/document.xml", "<a/>"),
			want: "read a.xlsx: the file is truncated or damaged in its workbook: the file " +
				"has no such part: xl/workbook.xml",
		},
		{
			name:    "truncated",
			content: whole[:len(whole)-9],
			want: "read a.xlsx: the file is truncated or damaged at its end: zip: not a valid " +
				"zip file",
		},
		{
			name:    "a sheet that is not there",
			content: whole,
			options: TextOptions{Sheet: "T"},
			want:    `read a.xlsx in its workbook: found no sheet "T", expected one of S`,
		},
		{
			name:    "delimiter",
			content: whole,
			options: TextOptions{Delimiter: ';'},
			want:    "open table a.xlsx: found a delimiter, expected none for a sheet",
		},
		{
			name:    "gigabytes",
			content: bomb(t),
			want: "read a.xlsx/S at its start: found xl/sheet1.xml of 3.0 GiB, expected at " +
				"most 1.0 GiB",
		},
		{
			name:    "wrong content",
			content: damagedSheet(t),
			want: "read a.xlsx/S: the file is truncated or damaged after line 1: zip: " +
				"checksum error",
		},
		{
			name: "ends early",
			content: xlsx(t, "",
				map[string]string{"sheet1.xml": "<worksheet><sheetData>" + sheetHead}),
			want: "read a.xlsx/S: the file is truncated or damaged after line 1: unexpected EOF",
		},
		{
			name:    "not XML",
			content: xlsx(t, sheetHead+"<row><c><v>\x0b</v></c></row>", nil),
			want: "read a.xlsx/S: the file is truncated or damaged after line 1: row 2: XML " +
				"syntax error on line 1: illegal character code U+000B",
		},
		{
			name:    "text of no number",
			content: xlsx(t, `<row><c t="s"><v>-1</v></c></row>`, nil),
			want: `read a.xlsx/S: the file is truncated or damaged after line 0: row 1: found ` +
				`text number "-1" of 0`,
		},
		{
			name:    "formula not computed",
			content: xlsx(t, sheetHead+`<row><c r="A2"><f>B1</f><v/></c></row>`, nil),
			want: "read a.xlsx/S after line 1: row 2: found a formula without its value in " +
				"cell A2",
		},
		{
			name:    "cells in no order",
			content: xlsx(t, `<row><c r="B1"><v>1</v></c><c r="A1"/></row>`, nil),
			want: `read a.xlsx/S: the file is truncated or damaged after line 0: row 1: found ` +
				`a row or cell "A1", expected the next one`,
		},
		{
			name:    "column without a name",
			content: xlsx(t, sheetHead+`<row><c r="C2"><v>1</v></c></row>`, nil),
			want:    "read a.xlsx/S:2: found 3 fields, expected 2",
		},
		{
			name:    "blank row",
			content: xlsx(t, sheetHead+`<row r="4"><c><v>1</v></c></row>`, nil),
			want:    "read a.xlsx/S:2: found an empty line, expected a row",
		},
		{
			name:    "empty",
			content: xlsx(t, "", nil),
			want:    "read a.xlsx/S: the file is empty, expected a header line",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "a.xlsx", test.content)
			_, _, _, err := readTexts(path, test.options)
			checkInputError(t, err, path, test.want)
		})
	}
	path := write(t, "a.tsv", []byte("x\n1\n"))
	_, _, _, err := readTexts(path, TextOptions{Sheet: "S"})
	checkInputError(t, err, path, `open table a.tsv: found sheet "S", expected an .xlsx file`)
}

// rawSheet makes a workbook whose archive says this of its sheet, the text x.
func rawSheet(t *testing.T, header zip.FileHeader) []byte {
	whole := xlsx(t, "", nil)
	archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	check(t, err)
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, part := range archive.File {
		if part.Name != "xl/sheet1.xml" {
			check(t, w.Copy(part))
		}
	}
	header.Name, header.Method = "xl/sheet1.xml", zip.Store
	part, err := w.CreateRaw(&header)
	check(t, err)
	_, err = io.WriteString(part, storedSheet)
	check(t, err)
	check(t, w.Close())
	return file.Bytes()
}

const storedSheet = "<worksheet><sheetData>" + sheetHead + "</sheetData></worksheet>"

func bomb(t *testing.T) []byte {
	return rawSheet(t,
		zip.FileHeader{CompressedSize64: uint64(len(storedSheet)), UncompressedSize64: 3 << 30})
}

func damagedSheet(t *testing.T) []byte {
	size := uint64(len(storedSheet))
	return rawSheet(t, zip.FileHeader{
		CompressedSize64: size, UncompressedSize64: size, CRC32: crc32.ChecksumIEEE(nil) + 1,
	})
}

func compressedIn(t *testing.T, name, content string) []byte {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	part, err := w.Create(name)
	check(t, err)
	_, err = io.WriteString(part, content)
	check(t, err)
	check(t, w.Close())
	return file.Bytes()
}

// TestMatrixHeaders finds the names of the columns of matrices, as programs write them.
func TestMatrixHeaders(t *testing.T) {
	sheet := `<row><c/><c t="str"><v>YPD</v></c><c t="str"><v>YPGal</v></c></row>` +
		`<row><c t="str"><v>YAL001C</v></c><c><v>1</v></c></row>`
	for name, content := range map[string]string{
		"r.tsv":      "YPD\tYPGal\nYAL001C\t1\t2\n",
		"pandas.csv": ",YPD,YPGal\nYAL001C,1,2\n",
		"sheet.xlsx": string(xlsx(t, sheet, nil)),
	} {
		file := open(t, write(t, name, []byte(content)))
		m, err := OpenMatrix(file, TextOptions{})
		if err != nil || m.First != "" || strings.Join(m.Names, " ") != "YPD YPGal" {
			t.Errorf("%s: got %+v, %v", name, m, err)
			continue
		}
		r, err := OpenFile(file, m.Options)
		check(t, err)
		batch, err := r.Next()
		check(t, err)
		if batch.Len != 1 || string(batch.Text(1, 0)) != "1" || len(r.Columns()) != 3 {
			t.Errorf("%s: found %d rows of %q", name, batch.Len, r.Columns())
		}
	}
}

// FuzzSheet reads any XML as a sheet.
func FuzzSheet(f *testing.F) {
	f.Add(sheetHead+`<row r="2"><c r="B2" s="1"><v>60.5</v></c></row>`, "<sst></sst>")
	f.Add(sheetHead, `<sst><si><t>_x000D_</t></si></sst>`)
	f.Fuzz(func(t *testing.T, sheet, texts string) {
		styles := `<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>`
		readDamaged(t, "a.xlsx",
			xlsx(t, sheet, map[string]string{"sharedStrings.xml": texts, "styles.xml": styles}))
	})
}

// TestFeather reads a Feather file of version 2, and names one of version 1.
func TestFeather(t *testing.T) {
	content, err := os.ReadFile("testdata/types-lz4.arrow")
	check(t, err)
	_, rows, _, err := readTexts(write(t, "a.feather", content), TextOptions{})
	if err != nil || len(rows) != 4 {
		t.Errorf("found %d rows, %v, expected 4", len(rows), err)
	}
	path := write(t, "a.feather", []byte("FEA1 and more"))
	_, _, _, err = readTexts(path, TextOptions{})
	checkInputError(t, err, path,
		"open table a.feather: found Feather version 1, expected version 2, which is an Arrow file")
}
