package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/table"
	"tcbuild/ingest/table/arrowfile"
)

// WritePerturbations writes a perturbation set with the columns sample_id and genes and one per
// phenotype: an Arrow IPC file if path ends in .arrow, tab-separated text if it ends in .tsv.
// OpenPerturbations reads back the same samples. The bytes depend only on the samples, and memory
// does not depend on their number.
func WritePerturbations(path string, source SampleSource, genes *Nodes) error {
	names := append([]string{"sample_id", "genes"}, source.PhenotypeNames()...)
	format, compression := table.Format(path)
	switch format + compression {
	case ".arrow":
		return writePerturbationsArrow(path, names, source, genes)
	case ".tsv":
		return writePerturbationsTSV(path, names, source, genes)
	}
	return fault.New(fault.Usage, "name the file .arrow or .tsv", "write perturbations %s: found ending %q, expected .arrow or .tsv", path, format+compression)
}

func writePerturbationsArrow(path string, names []string, source SampleSource, genes *Nodes) error {
	fields := []arrowfile.Field{{Name: names[0], Values: arrowfile.Texts{}}, {Name: names[1], Values: arrowfile.Lists{}}}
	for _, name := range names[2:] {
		fields = append(fields, arrowfile.Field{Name: name, Values: arrowfile.Numbers{}})
	}
	w, err := arrowfile.Create(path, fields)
	if err != nil {
		return err
	}
	_, err = source.Scan(func(s *Samples) error {
		ids := make(arrowfile.Texts, s.Len())
		genotypes := make(arrowfile.Lists, s.Len())
		phenotypes := make([]arrowfile.Numbers, len(fields)-2)
		for i := range s.Len() {
			ids[i] = string(s.ID(i))
			for _, gene := range s.Genes(i) {
				genotypes[i] = append(genotypes[i], genes.IDs[gene])
			}
			for k, value := range s.Phenotypes(i) {
				phenotypes[k] = append(phenotypes[k], value)
			}
		}
		columns := []arrowfile.Values{ids, genotypes}
		for _, values := range phenotypes {
			columns = append(columns, values)
		}
		return w.Write(columns...)
	})
	return errors.Join(err, w.Close())
}

func writePerturbationsTSV(path string, names []string, source SampleSource, genes *Nodes) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write perturbations: %w", err)
	}
	w := tsvWriter{Writer: bufio.NewWriterSize(file, 256<<10), genes: genes}
	if err = w.header(names); err == nil {
		_, err = source.Scan(func(s *Samples) error {
			for i := range s.Len() {
				if err := w.sample(s, i); err != nil {
					return fmt.Errorf("write perturbations %s: sample %d: %w", path, s.First+i, err)
				}
			}
			return nil
		})
	}
	if err != nil {
		file.Close()
		return err
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write perturbations: %w", err)
	}
	return nil
}

// tsvWriter writes samples as lines. Write errors stay in the bufio.Writer until its Flush.
type tsvWriter struct {
	*bufio.Writer
	genes *Nodes
}

func (w tsvWriter) header(names []string) error {
	for i, name := range names {
		if err := checkTSV(name, "\t\r\n"); err != nil {
			return fmt.Errorf("write perturbations: column %d: %w", i+1, err)
		}
	}
	w.WriteString(strings.Join(names, "\t"))
	return w.WriteByte('\n')
}

func (w tsvWriter) sample(s *Samples, i int) error {
	if err := checkTSV(string(s.ID(i)), "\t\r\n"); err != nil {
		return err
	}
	w.Write(s.ID(i))
	for k, gene := range s.Genes(i) {
		id := w.genes.IDs[gene]
		if err := checkTSV(id, "\t\r\n|"); err != nil {
			return err
		}
		if k == 0 {
			w.WriteByte('\t')
		} else {
			w.WriteByte('|')
		}
		w.WriteString(id)
	}
	if len(s.Genes(i)) == 0 {
		w.WriteByte('\t')
	}
	for _, value := range s.Phenotypes(i) {
		w.WriteByte('\t')
		if !math.IsNaN(value) {
			w.Write(strconv.AppendFloat(w.AvailableBuffer(), value, 'g', -1, 64))
		}
	}
	return w.WriteByte('\n')
}

// checkTSV returns an error for a text that tab-separated text cannot hold.
func checkTSV(text, separators string) error {
	if strings.ContainsAny(text, separators) {
		return fault.New(fault.Input, "write .arrow instead", "found %s, expected text without any of %q", fault.Quote(text), separators)
	}
	return nil
}
