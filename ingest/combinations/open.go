package combinations

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// Open makes the set that a name stands for (see ParseName), of genes of a graph. Of the gene list, names that the graph
// does not have are refused or dropped; a gene that is listed twice counts once. A list that cannot be read is a
// fault.Input, a k or range that it does not have a fault.Usage.
func Open(name string, genes *ingest.Nodes, unknown ingest.UnknownGenes) (*Set, error) {
	spec, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	s := &Set{k: spec.K}
	if err := s.readGenes(spec.Genes, genes, unknown); err != nil {
		return nil, err
	}
	if s.k < 1 || s.k > len(s.genes) {
		return nil, fault.New(fault.Usage, hint, "read perturbations %s: found k = %d, expected 1 to the %d genes of %s", name, s.k, len(s.genes), spec.Genes)
	}
	var fits bool
	if s.total, fits = binomial(len(s.genes), s.k); !fits {
		return nil, fault.New(fault.Usage, "give fewer genes or a smaller k", "read perturbations %s: %d genes have more than 2^63 subsets of %d", name, len(s.genes), s.k)
	}
	if spec.Range == nil {
		spec.Range = &Range{0, s.total}
	}
	if spec.Range.First < 0 || spec.Range.First >= spec.Range.End || spec.Range.End > s.total {
		return nil, fault.New(fault.Usage, "subsets count from 0, and the last number is the first that is left out",
			"read perturbations %s: found the range %d to %d, expected one inside 0 to %d", name, spec.Range.First, spec.Range.End, s.total)
	}
	s.first, s.counts.Samples = spec.Range.First, spec.Range.End-spec.Range.First
	s.input.Name = fmt.Sprintf("%s%s:%d:%d:%d", prefix, filepath.Base(spec.Genes), s.k, spec.Range.First, spec.Range.End)
	return s, nil
}

// readGenes reads the gene list.
func (s *Set) readGenes(path string, genes *ingest.Nodes, unknown ingest.UnknownGenes) error {
	r, column, err := openGenes(path)
	if err != nil {
		return err
	}
	defer r.Close()
	listed := make(map[uint32]bool)
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for i := range b.Len {
			id := bytes.TrimSpace(b.Text(column, i))
			gene, known := genes.IndexBytes(id)
			switch {
			case !known && unknown == ingest.DropGene:
				s.counts.UnknownGenes++
			case !known:
				return fault.New(fault.Input, "correct the name, add it to nodes/gene, or pass --unknown-genes drop-gene",
					"read genes %s: gene %q is not in nodes/gene (expected one of its %d ids)", r.Where(b.First+int64(i)), id, genes.Len())
			case listed[gene]:
				s.counts.RepeatedGenes++
			default:
				listed[gene] = true
				s.genes = append(s.genes, gene)
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("hash input: %w", err)
	}
	sum := sha256.Sum256(text)
	s.input.Bytes, s.input.SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
	return nil
}

// openGenes opens a gene list: a table with a column id, or a text without a header and with one gene per line.
func openGenes(path string) (r *table.Reader, column int, err error) {
	if r, err = table.Open(path); err != nil {
		return nil, 0, err
	}
	if column = slices.Index(r.Columns(), "id"); column >= 0 {
		return r, column, nil
	}
	columns := r.Columns()
	if err := r.Close(); err != nil {
		return nil, 0, err
	}
	if len(columns) == 1 {
		if r, err = table.OpenText(path, table.TextOptions{Columns: []string{"id"}}); err != nil {
			return nil, 0, err
		}
		if r.Columns()[0] == "id" {
			return r, 0, nil
		}
		r.Close()
	}
	return nil, 0, fault.New(fault.Input, "name the column of the genes id, or give a text with one gene per line",
		"read genes %s: there is no column id, found %s", path, strings.Join(columns, ", "))
}
