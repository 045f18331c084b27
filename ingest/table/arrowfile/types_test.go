package arrowfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"tcbuild/ingest/table/rows"
	"tcbuild/internal/testing/testrun"
)

// Newer writers have types that the Arrow library does not know. They are no damage.
func TestUnknownTypes(t *testing.T) {
	values := array.NewBuilder(memory.DefaultAllocator,
		&arrow.Decimal256Type{Precision: 5, Scale: 1}).NewArray()
	path := filepath.Join(t.TempDir(), "x.arrow")
	w, err := Create(path, []arrow.Field{{Name: "x", Type: values.DataType()}})
	if err == nil {
		err = w.Write(values)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		set   func(field flatbuffers.Table)
		found string
	}{
		{func(field flatbuffers.Table) { setWidth(field, 32) }, "decimal32"},
		{func(field flatbuffers.Table) { setWidth(field, 64) }, "decimal64"},
		{func(field flatbuffers.Table) {
			field.Bytes[field.Pos+flatbuffers.UOffsetT(field.Offset(fieldType))] = 27
		}, "the type number 27 of Arrow"},
	} {
		content := bytes.Clone(whole)
		end := len(content) - trailerSize
		start := end - int(binary.LittleEndian.Uint32(content[end:]))
		footer := flatbuffers.Table{Bytes: content[start:end]}
		footer.Pos = flatbuffers.GetUOffsetT(footer.Bytes)
		schema, _ := child(footer, footerSchema)
		fields := schema.Vector(flatbuffers.UOffsetT(schema.Offset(schemaFields)))
		test.set(flatbuffers.Table{Bytes: schema.Bytes, Pos: schema.Indirect(fields)})
		_, err := Open(path, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
		testrun.CheckInputError(t, err, "read "+path+` in its footer or schema: column "x": found `+
			test.found+", a type that is not read")
	}
}

func setWidth(field flatbuffers.Table, bits uint32) {
	values, _ := child(field, fieldTypeTable)
	at := values.Pos + flatbuffers.UOffsetT(values.Offset(decimalWidth))
	binary.LittleEndian.PutUint32(values.Bytes[at:], bits)
}

// The values of an extension type are not read, wherever in a type it is.
func TestExtensions(t *testing.T) {
	period := arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64,
		Metadata: arrow.NewMetadata([]string{extensionName}, []string{"pandas.period"})}
	text := arrow.Field{Name: "item", Type: arrow.BinaryTypes.String,
		Metadata: arrow.NewMetadata([]string{extensionName}, []string{"arrow.json"})}
	for _, test := range []struct {
		field arrow.Field
		want  string
		kind  rows.Kind
	}{
		{period, "extension<pandas.period>", rows.Other},
		{text, "extension<arrow.json>", rows.Other},
		{arrow.Field{Type: arrow.ListOfField(text)}, "extension<arrow.json>", rows.Other},
		{arrow.Field{Type: arrow.ListOf(arrow.StructOf(period))}, "extension<pandas.period>",
			rows.Other},
		{arrow.Field{Type: arrow.ListOf(arrow.BinaryTypes.String)},
			"list<item: utf8, nullable>", rows.List},
	} {
		found := typeOf(test.field)
		if found.String() != test.want || rows.KindOf(found) != test.kind {
			t.Errorf("%s: type is %s, kind %s", test.field, found, rows.KindOf(found))
		}
	}
}
