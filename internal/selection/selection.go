// Package selection chooses samples of a dataset, by an expression or by splitting it into parts at
// random, and writes their numbers. store/FORMAT.md, Selections, specifies the files.
package selection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/where"
	"tcbuild/store"
)

// version is the version of the files' format.
const version = "1"

// batchSamples is the number of samples in a record batch; the last has the rest.
const batchSamples = 1 << 20

// rule is a key of a selection's metadata, which says by what it was made, with its value.
type rule struct{ key, value string }

// write writes the numbers of samples, ascending, as a selection of the dataset.
func write(path string, manifest *store.Manifest, samples []int64, rules ...rule) error {
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, samples) // to a hash
	rules = append([]rule{
		{"tcbuild_selection", version},
		{"logical_content", manifest.LogicalContent},
		{"dataset_samples", strconv.Itoa(manifest.Samples)},
		{"sha256", hex.EncodeToString(sum.Sum(nil))},
	}, rules...)
	var keys, values []string
	for _, r := range rules {
		keys, values = append(keys, r.key), append(values, r.value)
	}
	metadata := arrow.NewMetadata(keys, values)
	schema := arrow.NewSchema([]arrow.Field{{Name: "sample", Type: arrow.PrimitiveTypes.Int64}}, &metadata)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	for first := 0; err == nil && first < len(samples); first += batchSamples {
		part := samples[first:min(first+batchSamples, len(samples))]
		numbers := array.NewData(arrow.PrimitiveTypes.Int64, len(part),
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(part))}, nil, 0, 0)
		err = writer.Write(array.NewRecord(schema, []arrow.Array{array.MakeFromData(numbers)}, -1))
	}
	if err == nil {
		err = writer.Close()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write selection %s: %w", path, err)
	}
	return nil
}

// Where writes the samples of a dataset for which an expression is true. It returns their number,
// which is not 0. It reads the sample table once.
func Where(ctx context.Context, dataset *store.Dataset, expression, path string) (int, error) {
	genes, err := dataset.Genes()
	if err != nil {
		return 0, err
	}
	filter, err := where.Compile(expression, dataset.Manifest.Columns(), genes)
	if err != nil {
		return 0, err
	}
	var samples []int64
	err = eachSample(ctx, dataset, func(number int, row *ingest.Sample) error {
		if filter.Keeps(row) {
			samples = append(samples, int64(number))
		}
		return nil
	})
	if err == nil && len(samples) == 0 {
		err = where.NoneKept("dataset", dataset.Dir, expression, dataset.Manifest.Samples)
	}
	if err != nil {
		return 0, err
	}
	return len(samples), write(path, dataset.Manifest, samples, rule{"rule", "where"}, rule{"where", expression})
}

// eachSample reads the samples of a dataset that has some.
func eachSample(ctx context.Context, dataset *store.Dataset, see func(number int, row *ingest.Sample) error) error {
	if dataset.Manifest.Samples == 0 {
		return fault.New(fault.Input, "build it with --perturbations",
			"read dataset %s: found no samples, expected at least one", dataset.Dir)
	}
	return dataset.EachSample(ctx, see)
}
