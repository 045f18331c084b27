package parquetfile

import (
	"testing"

	"tcbuild/ingest/table/rows"
)

type levelReader struct{ definition int16 }

func (r levelReader) ReadBatch(size int64, values []float64, definitions, _ []int16) (int64, int, error) {
	for i := range definitions {
		definitions[i] = r.definition
	}
	return size, int(size), nil
}

func (levelReader) Err() error { return nil }

// A level that the schema does not allow is damage, not a missing value.
func TestDamagedLevels(t *testing.T) {
	for definition, ok := range map[int16]bool{0: true, 1: true, 2: false, 5: false, -1: false} {
		s := scalars[float64]{reader: levelReader{definition}, levels: levelMeanings{present: 1}, add: addFloat[float64]}
		if err := s.load(&rows.Vector{}, 3); (err == nil) != ok {
			t.Errorf("definition level %d: got %v", definition, err)
		}
	}
}
