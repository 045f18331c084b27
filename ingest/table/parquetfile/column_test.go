package parquetfile

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest/table/rows"
)

type levelReader struct{ definition int16 }

func (r levelReader) ReadBatch(size int64, values []float64, definitions, _ []int16) (int64, int, error) {
	for i := range definitions {
		definitions[i] = r.definition
	}
	if r.definition != 1 {
		return size, 0, nil
	}
	return size, int(size), nil
}

func (levelReader) Err() error { return nil }

// A level that the schema does not allow is damage, not a missing value.
func TestDamagedLevels(t *testing.T) {
	for definition, ok := range map[int16]bool{0: true, 1: true, 2: false, 5: false, -1: false} {
		l := leaf{values: arrow.PrimitiveTypes.Float64, levels: levelMeanings{present: 1}}
		r := reader[float64]{chunk: levelReader{definition}, leaf: l, left: 3, build: numbers[float64]}
		if err := rows.Guard(func() error { _, err := r.next(3); return err }); (err == nil) != ok {
			t.Errorf("definition level %d: got %v", definition, err)
		}
	}
}
