package export

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table/parquetfile"
)

func (x *exporter) writeParquet() error {
	for _, nodes := range x.graph.NodeTables() {
		err := x.writeTable("nodes/"+nodes.Type, nodes.Columns,
			ingest.TextColumn("id", nodes.IDs))
		if err != nil {
			return err
		}
	}
	for _, edges := range x.graph.Edges {
		err := x.writeTable("edges/"+edges.Type.String(), edges.Columns,
			ingest.IndexColumn("src_index", edges.Src), ingest.IndexColumn("dst_index", edges.Dst))
		if err != nil {
			return err
		}
	}
	return x.writeSamples()
}

// writeTable writes a table of the graph.
func (x *exporter) writeTable(name string, extra []ingest.Column, first ...ingest.Column) error {
	var fields []arrow.Field
	var rows []arrow.Array
	for _, column := range append(first, extra...) {
		values := plain(column.Values)
		rows = append(rows, values)
		fields = append(fields, arrow.Field{Name: column.Name, Type: values.DataType(),
			Nullable: values.NullN() > 0})
	}
	return x.writeFile(name+".parquet", fields, func(w *parquetfile.Writer) error {
		return w.Write(rows...)
	})
}

func (x *exporter) writeFile(name string, fields []arrow.Field,
	write func(*parquetfile.Writer) error) error {
	file, err := x.create(name)
	if err != nil {
		return err
	}
	w, err := parquetfile.NewWriter(file, fields)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.Close()
	}
	return errors.Join(err, file.Close())
}

// plain returns values in a type that every reader of Parquet knows: other integers as int64, and
// anything else as text.
func plain(values arrow.Array) arrow.Array {
	switch values := values.(type) {
	case *array.String, *array.Float32, *array.Float64, *array.Boolean, *array.Int32, *array.Int64:
		return values
	case *array.List:
		if texts, ok := values.ListValues().(*array.String); ok && texts.NullN() == 0 {
			return values
		}
	}
	plainType, kind := arrow.DataType(arrow.BinaryTypes.String), values.DataType().ID()
	if arrow.IsInteger(kind) && kind != arrow.UINT64 {
		plainType = arrow.PrimitiveTypes.Int64
	}
	builder := array.NewBuilder(memory.DefaultAllocator, plainType)
	for i := range values.Len() {
		// makes a null of a null's text; never fails for a text or an integer
		_ = builder.AppendValueFromString(values.ValueStr(i))
	}
	return builder.NewArray()
}

// namesAt is the place of the column names: after sample_id and genes.
const namesAt = 2

// writeSamples writes a row for each sample. A span of samples makes a row group.
func (x *exporter) writeSamples() error {
	list := func(name string, values arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.ListOf(values)}
	}
	columns, called := x.dataset.Manifest.Columns(), called(x.graph)
	fields := slices.Insert(samples.Fields(columns), namesAt,
		list("names", arrow.BinaryTypes.String))
	for _, mask := range x.layout.Masks {
		fields = append(fields, list("removed_"+mask.Name, arrow.PrimitiveTypes.Uint32))
	}
	if err := checkNames(fields); err != nil {
		return err
	}
	return x.writeFile("samples.parquet", fields, func(w *parquetfile.Writer) error {
		return x.eachSpan(func(s *span) (err error) {
			names := samples.Values(s.rows, columns, called)[1]
			values := slices.Insert(samples.Values(s.rows, columns, x.graph.Genes), namesAt, names)
			for _, list := range s.removed {
				values = append(values, list)
			}
			s.rows, s.removed = nil, nil // which take more memory than the group
			s.group, err = w.Encode(values...)
			return err
		}, func(s *span) error { return w.Append(s.group) })
	})
}

// called returns the genes with the name by which each is called in place of its id, unless another
// gene has that name too.
func called(graph *ingest.Graph) *ingest.Nodes {
	resolver, ids := names.Of(graph), slices.Clone(graph.Genes.IDs)
	for gene, name := range graph.Genes.Texts(ingest.NameColumn) {
		if len(name) == 0 {
			continue
		}
		found := resolver.Exact([]byte(name[0]))
		if found.Meaning == names.Gene && found.Gene == uint32(gene) {
			ids[gene] = name[0]
		}
	}
	return &ingest.Nodes{IDs: ids}
}

// checkNames refuses phenotypes and attributes with the name of another column.
func checkNames(fields []arrow.Field) error {
	seen := make(map[string]bool)
	for _, field := range fields {
		if seen[field.Name] {
			return fault.New(fault.Input,
				"rename it in the perturbation set, and build the dataset again",
				"write samples.parquet: found a phenotype or attribute named %s, which is another "+
					"column of this file", fault.Quote(field.Name))
		}
		seen[field.Name] = true
	}
	return nil
}
