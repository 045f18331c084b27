package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"tcbuild/incidence"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/table/rows"
)

const (
	incidenceName = "incidence.arrow"     // where each row of positions ends, and its checksum
	positionsName = "incidence.positions" // the rows: positions of the mask space, int32
)

// incidenceSchema has a row per gene, then per reaction.
var incidenceSchema = arrow.NewSchema([]arrow.Field{
	{Name: "end", Type: arrow.PrimitiveTypes.Int64},
	{Name: "checksum", Type: arrow.PrimitiveTypes.Uint64},
}, nil)

// WriteIncidence writes the incidence cache into the dataset, by nodes: a reader of a sample needs
// the rows of a few genes, and compares only these with their checksums.
func (b *Building) WriteIncidence(cache *incidence.Cache) error {
	file, err := os.Create(b.path(positionsName))
	if err != nil {
		return err
	}
	positions := bufio.NewWriterSize(file, hashBuffer)
	var ends []int64
	var checksums []uint64
	for row, end := range cache.Offsets[1:] {
		content := arrow.Uint32Traits.CastToBytes(cache.Row(uint32(row)))
		positions.Write(content) // Flush returns its error
		ends, checksums = append(ends, int64(end)), append(checksums, xxhash.Sum64(content))
	}
	if err := errors.Join(positions.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", b.path(positionsName), err)
	}
	return b.writeIncidenceIndex(ends, checksums)
}

// IncidenceDigest is the SHA-256 of the positions of an incidence cache, as incidence.positions has
// them.
// A row begins with its node's own position, and other positions are those of edges, so that the
// digest also says where rows end.
func IncidenceDigest(positions []uint32) string {
	sum := sha256.Sum256(arrow.Uint32Traits.CastToBytes(positions))
	return hex.EncodeToString(sum[:])
}

func (b *Building) writeIncidenceIndex(ends []int64, checksums []uint64) error {
	index, err := arrowfile.CreateAs(b.path(incidenceName), incidenceSchema)
	if err != nil {
		return err
	}
	first := array.NewInt64Builder(memory.DefaultAllocator)
	first.AppendValues(ends, nil)
	second := array.NewUint64Builder(memory.DefaultAllocator)
	second.AppendValues(checksums, nil)
	return errors.Join(index.Write(first.NewArray(), second.NewArray()), index.Close())
}

// Incidence reads the incidence cache of an incidence dataset, once, checked against its digests in
// the manifest. Damage is a fault.Damaged.
func (d *Dataset) Incidence() (*incidence.Cache, error) { return d.incidence() }

func (d *Dataset) readIncidence() (*incidence.Cache, error) {
	graph, err := d.Graph()
	if err != nil {
		return nil, err
	}
	ends, checksums, err := d.incidenceIndex()
	if err != nil {
		return nil, err
	}
	content, err := d.readChecked(positionsName)
	if err != nil {
		return nil, err
	}
	if len(content)%arrow.Uint32SizeBytes != 0 {
		return nil, d.damaged(positionsName, "it has %d bytes, expected 4 for each position",
			len(content))
	}
	cache := &incidence.Cache{Layout: incidence.NewLayout(graph)}
	cache.Offsets = []uint32{0}
	cache.Positions = arrow.Uint32Traits.CastFromBytes(content)
	edges := cache.Layout.Size - cache.Layout.EdgePositions()
	start := int64(0)
	for row := range graph.Genes.Len() + graph.Reactions.Len() {
		if row == len(ends) || ends[row] < start || ends[row] > int64(len(cache.Positions)) {
			return nil, d.damaged(incidenceName,
				"its rows do not cut %d positions at row %d", len(cache.Positions), row)
		}
		list := cache.Positions[start:ends[row]]
		if xxhash.Sum64(arrow.Uint32Traits.CastToBytes(list)) != checksums[row] {
			return nil, d.damaged(incidenceName,
				"its checksum for row %d differs from the one in %s", row, positionsName)
		}
		if err := checkRow(list, row, edges, cache.Layout.Size); err != nil {
			return nil, d.damaged(positionsName, "row %d: %w", row, err)
		}
		start = ends[row]
		cache.Offsets = append(cache.Offsets, uint32(start))
	}
	if rows := len(cache.Offsets) - 1; rows != len(ends) || start != int64(len(cache.Positions)) {
		return nil, d.damaged(incidenceName,
			"it has %d rows up to position %d, expected %d up to %d", len(ends), start, rows,
			len(cache.Positions))
	}
	return cache, nil
}

// incidenceIndex reads where the rows of positions end, and their checksums.
func (d *Dataset) incidenceIndex() (ends []int64, checksums []uint64, err error) {
	content, err := d.readChecked(incidenceName)
	if err != nil {
		return nil, nil, err
	}
	err = rows.Guard(func() error {
		reader, err := arrowfile.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return err
		}
		defer reader.Close()
		if !reader.Schema().Equal(incidenceSchema) || reader.NumRecords() != 1 {
			return errors.New("its schema is not an incidence cache's")
		}
		record, err := reader.RecordAt(0)
		if err == nil {
			ends = record.Column(0).(*array.Int64).Int64Values()
			checksums = record.Column(1).(*array.Uint64).Uint64Values()
		}
		return err
	})
	if err != nil {
		return nil, nil, d.damaged(incidenceName, "%w", err)
	}
	return ends, checksums, nil
}

// checkRow checks that a node's row has its own position, which is the number of its row, and else
// only positions of edges, which begin at edges.
func checkRow(list []uint32, row, edges, size int) error {
	if len(list) == 0 || list[0] != uint32(row) {
		return fmt.Errorf("it does not begin with the node's own position, %d", row)
	}
	for _, position := range list[1:] {
		if int(position) < edges || int(position) >= size {
			return fmt.Errorf("it has position %d, expected edges' positions, from %d to %d",
				position, edges, size-1)
		}
	}
	return nil
}
