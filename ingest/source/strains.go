package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// StrainsSpec names a table with a strain, or a pair of crossed strains, in each row.
type StrainsSpec struct {
	SampleSpec `yaml:",inline"`
	// "" is sample_id or, without that column, the row's number from 0
	IDColumn   string   `yaml:"id_column"`
	Phenotypes []string `yaml:"phenotypes"` // nil is every other column of numbers
	// columns to ignore
	NotPhenotypes []string `yaml:"not_phenotypes"`
	// columns to keep besides phenotypes; nil is every other column of text
	Attributes []string `yaml:"attributes"`
	// kinds that count as a deletion of their gene; nil is only deletion
	Alleles []AlleleKind `yaml:"alleles"`
	// genes whose replacement is a marker, not a mutation
	Controls []string `yaml:"controls"`
}

// strainColumns are the columns that describe one strain of a row, or -1.
type strainColumns struct{ id, allele int }

// lociReader finds the loci of a strain from the texts of its columns.
type lociReader func(r *alleleReader, id, allele string) ([]locus, error)

// open opens a table of strains. find returns the columns of each strain in a table with the given
// columns.
func (s StrainsSpec) open(genes *ingest.Nodes, made string, find func(columns []string) ([]strainColumns, error),
	read lociReader) (*Screen, error) {
	kinds, err := checkAlleles(s.Alleles)
	if err != nil {
		return nil, err
	}
	return s.openScreen(genes, made, func(screen *Screen) error {
		columns, err := columnNames(screen.file, screen.text)
		if err != nil {
			return err
		}
		strains, err := find(columns)
		if err != nil {
			return err
		}
		screen.Perturbations, err = ingest.NewPerturbations(screen.file, genes, ingest.PerturbationOptions{
			GenesColumns: genesColumns(columns, strains), IDColumn: s.IDColumn, Phenotypes: s.Phenotypes, NotPhenotypes: s.NotPhenotypes,
			Attributes: s.Attributes, FilterColumns: where.Names(s.Where),
			AllowDuplicateIDs: s.AllowDuplicateIDs, Text: screen.text,
		})
		if err != nil {
			return err
		}
		screen.columns, screen.ignored = screen.Perturbations.Columns(), screen.Perturbations.IgnoredColumns()
		t := &strainTable{
			alleles: alleleReader{names: screen.names, controls: s.controls(screen.names)}, read: read, accepted: kinds,
			strains: strains, id: slices.Index(columns, cmp.Or(s.IDColumn, "sample_id")),
		}
		for _, name := range screen.columns.PhenotypeNames() {
			t.phenotypes = append(t.phenotypes, slices.Index(columns, name))
		}
		screen.reader = t.reader
		return nil
	})
}

func columnNames(file *inputfile.File, text table.TextOptions) ([]string, error) {
	in, err := table.OpenFile(file, text)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return slices.Clone(in.Columns()), nil
}

func genesColumns(columns []string, strains []strainColumns) (names []string) {
	for _, strain := range strains {
		for _, column := range []int{strain.id, strain.allele} {
			if column >= 0 {
				names = append(names, columns[column])
			}
		}
	}
	return names
}

// controls returns the names of the control genes, in upper case, and their ids.
func (s StrainsSpec) controls(names *Names) map[string]bool {
	controls := make(map[string]bool)
	for _, name := range s.Controls {
		name = strings.ToUpper(name)
		controls[name] = true
		if m := names.find([]byte(name)); m.result == gene {
			controls[names.genes.IDs[m.gene]] = true
		}
	}
	return controls
}

// strainTable is a table of strains, without its file.
type strainTable struct {
	alleles    alleleReader
	read       lociReader
	accepted   []AlleleKind
	strains    []strainColumns
	id         int // column of the sample ids, or -1
	phenotypes []int
}

// reader makes the rowReader of one Scan. Strains occur many times; it parses each name once.
func (t *strainTable) reader(r *screenReader) rowReader {
	known := make([]map[string][]locus, len(t.strains))
	for k := range known {
		known[k] = make(map[string][]locus)
	}
	var key, id []byte
	var loci []locus
	var genes []uint32
	values := make([]float64, len(t.phenotypes))
	attributes := make([]ingest.Value, len(r.Perturbations.Columns().Attributes))
	ids := r.SampleIDs()
	return func(batch *table.Batch, i int) error {
		r.rows++
		row := batch.First + int64(i)
		if id = strconv.AppendInt(id[:0], row, 10); t.id >= 0 {
			id = append(id[:0], batch.Text(t.id, i)...)
		}
		if err := ids.Add(id, row); err != nil {
			return err
		}
		loci = loci[:0]
		for k, columns := range t.strains {
			key = key[:0]
			if columns.id >= 0 {
				key = append(key, batch.Text(columns.id, i)...)
			}
			split := len(key)
			if columns.allele >= 0 {
				key = append(append(key, '\t'), batch.Text(columns.allele, i)...)
			}
			strain, ok := known[k][string(key)]
			if !ok {
				var err error
				if strain, err = t.read(&t.alleles, string(key[:split]), strings.TrimPrefix(string(key[split:]), "\t")); err != nil {
					return fault.New(fault.Input, "correct the strain, or name the columns of strains and alleles", "%w", err)
				}
				known[k][string(key)] = strain
			}
			loci = append(loci, strain...)
		}
		ok, err := r.genotype(loci, t.accepted, &genes)
		if err != nil || !ok {
			return err
		}
		for k, column := range t.phenotypes {
			if values[k], err = phenotype(batch, column, i, r.columns.Phenotypes[k].Name); err != nil {
				return err
			}
		}
		if err := r.ReadAttributes(batch, i, attributes); err != nil {
			return err
		}
		return r.add(id, genes, values, attributes)
	}
}
