package store

import (
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/incidence"
)

const incidenceName = "incidence.arrow"

// incidenceSchema has one row per edge type, so each list is one contiguous, mappable array.
var incidenceSchema = arrow.NewSchema([]arrow.Field{
	{Name: "edge_type", Type: arrow.BinaryTypes.String},
	{Name: "row_type", Type: arrow.BinaryTypes.String},
	{Name: "row_offsets", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int32)},
	{Name: "positions", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int32)},
}, nil)

// WriteIncidence writes the incidence cache into the dataset.
func (b *Building) WriteIncidence(cache *incidence.Cache) error {
	path := b.path(incidenceName)
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(incidenceSchema))
	if err == nil {
		err = errors.Join(writer.Write(incidenceRecord(cache)), writer.Close())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func incidenceRecord(cache *incidence.Cache) arrow.Record {
	builder := array.NewRecordBuilder(memory.NewGoAllocator(), incidenceSchema)
	defer builder.Release()
	offsets, positions := &int32Lists{}, &int32Lists{}
	for _, edges := range cache.Edges {
		builder.Field(0).(*array.StringBuilder).Append(edges.EdgeType)
		builder.Field(1).(*array.StringBuilder).Append(edges.RowType)
		offsets.add(edges.Offsets)
		positions.add(edges.Positions)
	}
	return array.NewRecord(incidenceSchema, []arrow.Array{
		builder.Field(0).NewArray(), builder.Field(1).NewArray(), offsets.array(), positions.array(),
	}, int64(len(cache.Edges)))
}

// int32Lists builds a large_list<int32> column; values are below 2^31.
type int32Lists struct {
	ends   []int64
	values []uint32
}

func (l *int32Lists) add(list []uint32) {
	if l.ends == nil {
		l.ends = []int64{0}
	}
	l.values = append(l.values, list...)
	l.ends = append(l.ends, int64(len(l.values)))
}

func (l *int32Lists) array() arrow.Array {
	if l.ends == nil {
		l.ends = []int64{0}
	}
	values := array.NewData(arrow.PrimitiveTypes.Int32, len(l.values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(l.values))}, nil, 0, 0)
	return array.NewLargeListData(array.NewData(arrow.LargeListOf(arrow.PrimitiveTypes.Int32), len(l.ends)-1,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(l.ends))}, []arrow.ArrayData{values}, 0, 0))
}

// Incidence reads the incidence cache of an incidence dataset, checked against its digest in the
// manifest. Damage is a fault.Damaged.
func (d *Dataset) Incidence() (cache *incidence.Cache, err error) {
	defer d.guard(incidenceName, &err)
	graph, err := d.Graph()
	if err != nil {
		return nil, err
	}
	if err := d.checkNamed(incidenceName); err != nil {
		return nil, err
	}
	reader, file, err := d.openArrow(incidenceName)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer reader.Close()
	if !reader.Schema().Equal(incidenceSchema) || reader.NumRecords() != 1 {
		return nil, d.damaged(incidenceName, "its schema is not that of an incidence cache")
	}
	record, err := reader.RecordAt(0)
	if err != nil {
		return nil, d.damaged(incidenceName, "%w", err)
	}
	cache = &incidence.Cache{Layout: incidence.NewLayout(graph)}
	names, rowTypes := record.Column(0).(*array.String), record.Column(1).(*array.String)
	for i, edges := range graph.Edges {
		if i >= names.Len() || names.Value(i) != edges.Type.String() {
			return nil, d.damaged(incidenceName, "row %d is not edge type %s", i, edges.Type)
		}
		if rowTypes.Value(i) != edges.Type.Source {
			return nil, d.damaged(incidenceName, "edge type %s has rows of type %q, expected %s", edges.Type,
				rowTypes.Value(i), edges.Type.Source)
		}
		incidence := incidence.Incidence{EdgeType: names.Value(i), RowType: rowTypes.Value(i)}
		incidence.Offsets = int32List(record.Column(2), i)
		incidence.Positions = int32List(record.Column(3), i)
		if err := checkCSR(incidence, graph.NodesOf(edges.Type.Source).Len(), edges.Len()); err != nil {
			return nil, d.damaged(incidenceName, "edge type %s: %v", edges.Type, err)
		}
		cache.Edges = append(cache.Edges, incidence)
	}
	return cache, nil
}

func int32List(column arrow.Array, i int) []uint32 {
	lists := column.(*array.LargeList)
	start, end := lists.ValueOffsets(i)
	values := lists.ListValues().(*array.Int32).Int32Values()[start:end]
	list := make([]uint32, len(values))
	for k, value := range values {
		list[k] = uint32(value)
	}
	return list
}

// checkCSR checks that rows can be looked up and positions used as indices.
func checkCSR(csr incidence.Incidence, rows, edges int) error {
	if len(csr.Offsets) != rows+1 || csr.Offsets[0] != 0 || int(csr.Offsets[rows]) != len(csr.Positions) {
		return fmt.Errorf("row offsets do not match %d rows and %d positions", rows, len(csr.Positions))
	}
	for row, offset := range csr.Offsets[1:] {
		if offset < csr.Offsets[row] || int(offset) > len(csr.Positions) {
			return fmt.Errorf("offset of row %d is %d, after %d", row+1, offset, csr.Offsets[row])
		}
	}
	for i, position := range csr.Positions {
		if int(position) >= edges {
			return fmt.Errorf("position %d at index %d, expected below %d", position, i, edges)
		}
	}
	return nil
}
