package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
)

// strain is a samples.StrainSpec with the numbers of its columns; detail is -1 if it has no second one.
type strain struct {
	name, detail int
	read         func(r *alleleReader, name, detail string) ([]locus, error)
}

// layOutStrain finds the columns of a strain.
func layOutStrain(s samples.StrainSpec, place, file string, columns []string) (laid strain, err error) {
	name, detail := cmp.Or(s.Strain, s.Gene, s.Alleles), cmp.Or(s.Allele, s.Mutation)
	switch s {
	case samples.StrainSpec{Strain: name, Allele: s.Allele}:
		laid.read = (*alleleReader).ofStrain
	case samples.StrainSpec{Gene: name, Mutation: s.Mutation}:
		laid.read = func(r *alleleReader, name, mutation string) ([]locus, error) {
			return []locus{r.ofMutation(name, mutation)}, nil
		}
	case samples.StrainSpec{Alleles: name, Split: s.Split}:
		laid.read = func(r *alleleReader, names, _ string) ([]locus, error) {
			return r.ofAlleles(names, cmp.Or(s.Split, "_"))
		}
	}
	if name == "" || laid.read == nil {
		return laid, badSetting("", "%s: expected strain, with or without allele, or gene, with or without mutation, or alleles", place)
	}
	if laid.name, err = columnNamed(file, columns, name); err == nil && detail != "" {
		laid.detail, err = columnNamed(file, columns, detail)
	} else {
		laid.detail = -1
	}
	return laid, err
}

// columnNamed is the number of the column with a name from the settings.
func columnNamed(file string, header []string, name string) (int, error) {
	if number := slices.Index(header, name); number >= 0 {
		return number, nil
	}
	alike := func(column string) bool { return strings.EqualFold(strings.TrimSpace(column), name) }
	if number := slices.IndexFunc(header, alike); number >= 0 {
		return number, nil
	}
	return -1, fault.New(fault.Input, "name the columns of this table: strains=[{strain: COLUMN, allele: COLUMN}, …]; 'tcbuild ingest sources NAME' prints those of a source",
		"read perturbations %s: found no column %q, expected one of %s", file, name, fault.List(header))
}

// openStrains finds the columns of a table with a strain, or crossed strains, in each row.
func (s opener) openStrains(screen *screen) error {
	in, err := table.OpenFile(screen.file, screen.text)
	if err != nil {
		return err
	}
	columns := slices.Clone(in.Columns())
	in.Close()
	t := &strainTable{strains: make([]strain, len(s.Strains)), alleles: s.alleleReader(screen.genes)}
	var genes []string
	for k, spec := range s.Strains {
		if spec.Gene == "" && !s.YeastAlleles {
			return badSetting("set yeast_alleles: true for yeast strains and alleles, or name a column of genes: {gene: COLUMN}",
				"strains.%d: found a column of strains or alleles, expected yeast_alleles: true with it", k)
		}
		laid, err := layOutStrain(spec, "strains."+strconv.Itoa(k), s.File, columns)
		if err != nil {
			return err
		}
		t.strains[k], genes = laid, append(genes, columns[laid.name])
		if laid.detail >= 0 {
			genes = append(genes, columns[laid.detail])
		}
	}
	columnsOf := s.Spec
	columnsOf.KindsColumn, columnsOf.GenesColumns = samples.NoKinds, genes
	columnsOf.Controls, columnsOf.RemovingKinds = s.controlNames(), nil
	screen.Table, err = samples.NewTable(screen.file, screen.genes.Nodes(), columnsOf,
		screen.genes, screen.text)
	if err != nil {
		return err
	}
	screen.columns, screen.reader = screen.Table.Columns(), t.reader
	return nil
}

// controlNames returns the controls that must not be genes. In yeast's strains, controls are
// markers, which are genes.
func (s opener) controlNames() []string {
	if s.YeastAlleles {
		return nil
	}
	return s.Controls
}

// alleleReader knows controls by their names. Of yeast, these are in upper case, and genes have
// their ids, too.
func (s opener) alleleReader(genes *names.Resolver) alleleReader {
	r := alleleReader{genes: genes, controls: make(map[string]bool), yeast: s.YeastAlleles}
	for _, name := range s.Controls {
		if !r.yeast {
			r.controls[name] = true
			continue
		}
		name = strings.ToUpper(name)
		r.controls[name] = true
		if answer := genes.Find([]byte(name)); answer.Meaning == names.Gene {
			r.controls[genes.ID(answer)] = true
		}
	}
	return r
}

// strainTable is a table of strains, without its file.
type strainTable struct {
	alleles alleleReader
	strains []strain
}

// reader makes the rowReader of one Scan. Strains occur many times; it parses each name once.
func (t *strainTable) reader(r *screenReader) rowReader {
	known := make([]map[string][]locus, len(t.strains))
	for k := range known {
		known[k] = make(map[string][]locus)
	}
	var key []byte
	var loci []locus
	r.sample = r.NewSample()
	r.ids = r.SampleIDs()
	return func(batch *table.Batch, i int) error {
		r.account.Rows++
		r.ReadID(batch, i, &r.sample)
		if err := r.ids.Add(r.sample.ID); err != nil {
			return err
		}
		loci = loci[:0]
		for k, strain := range t.strains {
			key = append(key[:0], batch.Text(strain.name, i)...)
			split := len(key)
			if strain.detail >= 0 {
				key = append(append(key, '\t'), batch.Text(strain.detail, i)...)
			}
			found, ok := known[k][string(key)]
			if !ok {
				var err error
				if found, err = strain.read(&t.alleles, string(key[:split]), strings.TrimPrefix(string(key[split:]), "\t")); err != nil {
					return fault.New(fault.Input, "correct the strain, or name the columns of strains and alleles", "%w", err)
				}
				known[k][string(key)] = found
			}
			loci = append(loci, found...)
		}
		if ok, err := r.genotype(loci); err != nil || !ok {
			return err
		}
		if err := r.ReadValues(batch, i, &r.sample, r.account); err != nil {
			return err
		}
		return r.add()
	}
}
