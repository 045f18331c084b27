package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"tcbuild/incidence"
	"tcbuild/ingest"
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

// incidenceRows yields the nodes that have rows in the incidence files, in order.
func incidenceRows(layout incidence.Layout) iter.Seq2[incidence.Mask, int] {
	return func(yield func(incidence.Mask, int) bool) {
		for _, mask := range layout.Masks {
			if mask.Name != ingest.Gene && mask.Name != ingest.Reaction {
				continue
			}
			for node := range mask.Size {
				if !yield(mask, node) {
					return
				}
			}
		}
	}
}

// WriteIncidence writes the incidence cache into the dataset, by nodes: a reader of a sample needs
// the rows of a few genes, and compares these alone with their checksums.
func (b *Building) WriteIncidence(cache *incidence.Cache) error {
	file, err := os.Create(b.path(positionsName))
	if err != nil {
		return err
	}
	positions := bufio.NewWriterSize(file, hashBuffer)
	index := array.NewRecordBuilder(memory.NewGoAllocator(), incidenceSchema)
	defer index.Release()
	ends, checksums := index.Field(0).(*array.Int64Builder), index.Field(1).(*array.Uint64Builder)
	var row []uint32
	end := 0
	for mask, node := range incidenceRows(cache.Layout) {
		row = append(row[:0], uint32(mask.Start+node))
		for _, edges := range cache.Edges {
			if edges.RowType == mask.Name {
				start := cache.Layout.Start(edges.EdgeType)
				for _, position := range edges.Row(uint32(node)) {
					row = append(row, start+position)
				}
			}
		}
		content := arrow.Uint32Traits.CastToBytes(row)
		positions.Write(content) // Flush returns its error
		end += len(row)
		ends.Append(int64(end))
		checksums.Append(xxhash.Sum64(content))
	}
	if err := errors.Join(positions.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", b.path(positionsName), err)
	}
	return b.writeRecord(incidenceName, index.NewRecord())
}

// writeRecord writes an Arrow file of one record batch.
func (b *Building) writeRecord(name string, record arrow.Record) error {
	file, err := os.Create(b.path(name))
	if err != nil {
		return err
	}
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(record.Schema()))
	if err == nil {
		err = errors.Join(writer.Write(record), writer.Close())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", b.path(name), err)
	}
	return nil
}

// Incidence reads the incidence cache of an incidence dataset, checked against its digests in the
// manifest. Damage is a fault.Damaged.
func (d *Dataset) Incidence() (cache *incidence.Cache, err error) {
	defer d.guard(incidenceName, &err)
	graph, err := d.Graph()
	if err != nil {
		return nil, err
	}
	ends, checksums, err := d.incidenceIndex()
	if err != nil {
		return nil, err
	}
	file, err := d.Manifest.file(positionsName)
	if err != nil {
		return nil, d.damaged(manifestName, "%w", err)
	}
	var content bytes.Buffer
	if err := d.copyChecked(context.Background(), file, &content); err != nil {
		return nil, err
	}
	if content.Len()%arrow.Uint32SizeBytes != 0 {
		return nil, d.damaged(positionsName, "it has %d bytes, expected 4 for each position", content.Len())
	}
	positions := arrow.Uint32Traits.CastFromBytes(content.Bytes())
	cache = &incidence.Cache{Layout: incidence.NewLayout(graph)}
	for _, edges := range graph.Edges {
		rows := make([]uint32, 1, graph.NodesOf(edges.Type.Source).Len()+1)
		cache.Edges = append(cache.Edges, incidence.Incidence{
			EdgeType: edges.Type.String(), RowType: edges.Type.Source,
			CSR: incidence.CSR{Offsets: rows, Positions: []uint32{}},
		})
	}
	row, start := 0, 0
	for mask, node := range incidenceRows(cache.Layout) {
		if row == len(ends) || ends[row] < int64(start) || ends[row] > int64(len(positions)) {
			return nil, d.damaged(incidenceName, "its rows do not cut %d positions at %s %d", len(positions), mask.Name, node)
		}
		list := positions[start:ends[row]]
		if xxhash.Sum64(arrow.Uint32Traits.CastToBytes(list)) != checksums[row] {
			return nil, d.damaged(incidenceName, "it has another checksum for %s %d than its row in %s", mask.Name, node, positionsName)
		}
		if err := splitRow(cache, mask, node, list); err != nil {
			return nil, d.damaged(positionsName, "row of %s %d: %w", mask.Name, node, err)
		}
		row, start = row+1, int(ends[row])
	}
	if row != len(ends) || start != len(positions) {
		return nil, d.damaged(incidenceName, "it has %d rows up to position %d, expected %d up to %d", len(ends), start, row, len(positions))
	}
	return cache, nil
}

// incidenceIndex reads where the rows of positions end, and their checksums.
func (d *Dataset) incidenceIndex() ([]int64, []uint64, error) {
	if err := d.checkNamed(incidenceName); err != nil {
		return nil, nil, err
	}
	reader, file, err := d.openArrow(incidenceName)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	defer reader.Close()
	if !reader.Schema().Equal(incidenceSchema) || reader.NumRecords() != 1 {
		return nil, nil, d.damaged(incidenceName, "its schema is not that of an incidence cache")
	}
	record, err := reader.RecordAt(0)
	if err != nil {
		return nil, nil, d.damaged(incidenceName, "%w", err)
	}
	return record.Column(0).(*array.Int64).Int64Values(), record.Column(1).(*array.Uint64).Uint64Values(), nil
}

// splitRow appends a node's row to the incidence of each edge type. It has the node's own position,
// then for each edge type positions of its mask.
func splitRow(cache *incidence.Cache, mask incidence.Mask, node int, list []uint32) error {
	if len(list) == 0 || list[0] != uint32(mask.Start+node) {
		return fmt.Errorf("it does not begin with the node's own position, %d", mask.Start+node)
	}
	list = list[1:]
	masks := cache.Layout.Masks[len(cache.Layout.Masks)-len(cache.Edges):]
	for i := range cache.Edges {
		edges, of := &cache.Edges[i], masks[i]
		if edges.RowType != mask.Name {
			continue
		}
		for len(list) > 0 && of.Start <= int(list[0]) && int(list[0]) < of.Start+of.Size {
			edges.Positions = append(edges.Positions, list[0]-uint32(of.Start))
			list = list[1:]
		}
		edges.Offsets = append(edges.Offsets, uint32(len(edges.Positions)))
	}
	if len(list) > 0 {
		return fmt.Errorf("it has position %d, of no edge at the node's type or behind those of later types", list[0])
	}
	return nil
}
