package check

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/ingest"
)

// EdgeText writes edges as "A-B A-C:0.5": ids and the numbers that the edge carries.
func EdgeText(e *ingest.Edges, source, target *ingest.Nodes) string {
	texts := make([]string, e.Len())
	for i := range texts {
		texts[i] = source.IDs[e.Src[i]] + "-" + target.IDs[e.Dst[i]]
		for _, column := range e.Columns {
			texts[i] += fmt.Sprintf(":%v", Numbers(column)[i])
		}
	}
	return strings.Join(texts, " ")
}

// Numbers returns the values of a column of numbers.
func Numbers(column ingest.Column) []float64 {
	return column.Values.(*array.Float64).Float64Values()
}
