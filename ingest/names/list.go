package names

import (
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// List is a list of genes, each once, in the order of their first names.
type List struct {
	Genes    []uint32
	Unknown  int // names of no gene of the graph, if they are dropped
	Repeated int // names of a gene that is in the list already
}

// ReadList reads a list of genes: a table with a column id, or text with one name per line. A name
// that means no gene of the graph is an error, or dropped.
func (r *Resolver) ReadList(file *inputfile.File, drop bool) (list List, err error) {
	in, column, err := openList(file)
	if err != nil {
		return list, err
	}
	defer in.Close()
	listed := make(map[uint32]bool)
	err = in.Each(func(b *table.Batch, i int) error {
		name := b.Text(column, i)
		answer := r.Find(name)
		if answer.Meaning != Gene {
			err := Unexpected(name)
			if list.Unknown++; err == nil && !drop {
				err = r.Explain(name)
			}
			if err != nil {
				return fault.New(fault.Input, fault.HintOf(err),
					"read genes %s: %w", in.Where(b.First+int64(i)), err)
			}
			return nil
		}
		if listed[answer.Gene] {
			list.Repeated++
			return nil
		}
		listed[answer.Gene] = true
		list.Genes = append(list.Genes, answer.Gene)
		return nil
	})
	return list, err
}

// openList opens a list. Its first line may be a gene, which can have a comma in its name.
func openList(file *inputfile.File) (in *table.Reader, column int, err error) {
	head, err := table.Head(file, 1, table.TextOptions{})
	var options table.TextOptions
	isField := len(head) == 1 && len(head[0]) == 1
	if err == nil && isField && head[0][0] != "id" {
		options.Columns = []string{"id"}
	}
	if in, err = table.OpenFile(file, options); err != nil {
		return nil, 0, err
	}
	if column = slices.Index(in.Columns(), "id"); column >= 0 {
		return in, column, nil
	}
	in.Close()
	return nil, 0, fault.New(fault.Input, "name the gene column id, or use text with one gene per "+
		"line; in .csv, put names with commas in quotes",
		"read genes %s: found columns %s, expected id", file.Path(), fault.List(in.Columns()))
}
