package duplicates

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/sets"
)

// row is a sample of a set in memory.
type row struct {
	id         string
	genes      []uint32
	phenotypes []float64
	attributes []ingest.Value
}

// memory is a set in memory. It implements ingest.SampleSource.
type memory struct {
	columns ingest.Columns
	rows    []row
	size    int // of batches
	scans   int
	failAt  int // batch at which reading fails, from 1, counted over all readings
	batches int
}

func (m *memory) Columns() ingest.Columns { return m.columns }
func (m *memory) Inputs() []ingest.Input  { return nil }
func (m *memory) Unchanged() error        { return nil }
func (m *memory) Close() error            { return nil }

func (m *memory) Place(row int64) (string, error) { return fmt.Sprintf("row %d", row), nil }

// tenGenes are the genes of sets in memory.
var tenGenes, _ = ingest.NewNodes(ingest.Gene, strings.Split("ABCDEFGHIJ", ""), nil)

var errRead = errors.New("the disk failed")

func (m *memory) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		m.scans++
		if err := m.read(ctx, account, yield); err != nil {
			yield(nil, err)
		}
	}
}

func (m *memory) read(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	for first := 0; first < len(m.rows); first += m.size {
		if m.batches++; m.batches == m.failAt {
			return errRead
		}
		batch := ingest.NewSamples(first, m.columns, m.size)
		for _, row := range m.rows[first:min(first+m.size, len(m.rows))] {
			batch.Append([]byte(row.id), row.genes, row.phenotypes, row.attributes)
			account.Rows++
			account.Kept++
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !yield(batch, nil) {
			return nil
		}
	}
	return nil
}

// apply returns what is left of a set.
func apply(
	t *testing.T, source ingest.SampleSource, rule Rule,
) (rows []row, columns ingest.Columns, counts ingest.Account, err error) {
	t.Helper()
	left, err := Apply(source, rule, "set.tsv", tenGenes)
	if err != nil {
		return nil, columns, counts, err
	}
	columns = left.Columns()
	counts, err = sets.Read(left, func(samples *ingest.Samples) error {
		if samples.First != len(rows) {
			t.Errorf("a batch starts at %d, expected %d", samples.First, len(rows))
		}
		for i := range samples.Len() {
			rows = append(rows, row{
				string(samples.ID(i)), slices.Clone(samples.Genes(i)),
				slices.Clone(samples.Phenotypes(i)), samples.Attributes(i),
			})
		}
		return nil
	})
	return rows, columns, counts, err
}

func text(value string) ingest.Value    { return ingest.Value{Text: []byte(value)} }
func number64(v float64) ingest.Value   { return ingest.Value{Number: v} }
func measuredAs(v ...float64) []float64 { return v }

var nan = math.NaN()

// show is a row as tests compare it.
func show(r row) string {
	s := fmt.Sprint(r.id, r.genes)
	for _, value := range r.phenotypes {
		s += fmt.Sprintf(" %.13g", value)
	}
	for _, value := range r.attributes {
		if value.Text != nil {
			s += fmt.Sprintf(" %q", value.Text)
		} else {
			s += fmt.Sprintf(" %g", value.Number)
		}
	}
	return s
}

func shown(rows []row) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, show(r))
	}
	return strings.Join(lines, "\n")
}
