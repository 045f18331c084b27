package arrowfile

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"tcbuild/fault"
)

// extensionName is the key under which a field's metadata names its extension type.
const extensionName = "ARROW:extension:name"

// extension is an extension type, such as a pandas Period: what its stored values mean is not
// known here. A Period of 2024-01 is stored as the integer 648.
type extension struct {
	arrow.DataType // of the stored values
	name           string
}

func (e extension) String() string { return "extension<" + e.name + ">" }

// typeOf is the type of a field. It is an extension if one of the values in it is.
func typeOf(field arrow.Field) arrow.DataType {
	if name := extensionIn(field); name != "" {
		return extension{field.Type, name}
	}
	return field.Type
}

func extensionIn(field arrow.Field) string {
	if name, ok := field.Metadata.GetValue(extensionName); ok {
		return name
	}
	if nested, ok := field.Type.(arrow.NestedType); ok {
		for _, inner := range nested.Fields() {
			if name := extensionIn(inner); name != "" {
				return name
			}
		}
	}
	return ""
}

// Slots of a field and of a decimal type, and kinds of types, from Arrow's format/Schema.fbs.
const (
	fieldName, fieldTypeTable = 4, 10
	decimalWidth              = 8
	decimalKind, lastKind     = 7, 26
)

// checkType returns an error for a field of a type that the Arrow library cannot read. It would
// call the file's schema damaged.
func checkType(field flatbuffers.Table) error {
	kind, unread := field.GetByteSlot(fieldType, 0), ""
	if kind > lastKind {
		unread = fmt.Sprintf("the type number %d of Arrow", kind)
	}
	if values, ok := child(field, fieldTypeTable); ok && kind == decimalKind {
		width := values.GetInt32Slot(decimalWidth, 128)
		if width != 128 && width != 256 {
			unread = fmt.Sprintf("decimal%d", width)
		}
	}
	if unread == "" {
		return nil
	}
	name := ""
	if offset := flatbuffers.UOffsetT(field.Offset(fieldName)); offset != 0 {
		name = string(field.ByteVector(field.Pos + offset))
	}
	return fault.New(fault.Input, "store the column as floating-point numbers or decimal128, "+
		"or leave it out of the file",
		"column %s: found %s, a type that is not read", fault.Quote(name), unread)
}
