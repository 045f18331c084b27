package samples

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/names"
)

// strains reads a table with a strain, or crossed strains, in each row:
//
//	Query Strain ID  Array Strain ID  score
//	YAL001C_tsq508   YBR150C_dma12    -0.1
//
// gives a record with mentions of YAL001C, an allele of kind ts, and YBR150C, a deletion. Strains
// occur many times; each name is read once.
type strains struct {
	tableValues
	alleles alleles
	names   *names.Resolver
	columns []strainColumns
	known   []map[string][]Mention // by the texts of the columns
	key     []byte
	record  Record
}

// strainColumns is a StrainSpec with its columns.
type strainColumns struct {
	name, detail int
	hasDetail    bool
	read         func(r *alleles, name, detail string) ([]Mention, error)
}

// layOut finds the columns of a strain.
func (s StrainSpec) layOut(place, file string, header []string) (c strainColumns, err error) {
	name, detail := cmp.Or(s.Strain, s.Gene, s.Alleles), cmp.Or(s.Allele, s.Mutation)
	switch s {
	case StrainSpec{Strain: name, Allele: s.Allele}:
		c.read = (*alleles).ofStrain
	case StrainSpec{Gene: name, Mutation: s.Mutation}:
		c.read = func(r *alleles, name, mutation string) ([]Mention, error) {
			return []Mention{r.ofMutation(name, mutation)}, nil
		}
	case StrainSpec{Alleles: name, Split: s.Split}:
		c.read = func(r *alleles, names, _ string) ([]Mention, error) {
			return r.ofAlleles(names, cmp.Or(s.Split, "_"))
		}
	}
	if name == "" || c.read == nil {
		return c, badSetting("", "%s: expected strain, with or without allele, "+
			"or gene, with or without mutation, or alleles", place)
	}
	if c.name, err = columnNamed(file, header, name); err != nil || detail == "" {
		return c, err
	}
	c.detail, err = columnNamed(file, header, detail)
	c.hasDetail = true
	return c, err
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
	return 0, fault.New(fault.Input, "name the columns of this table: "+
		"strains=[{strain: COLUMN, allele: COLUMN}, …]; "+
		"'tcbuild ingest sources NAME' prints a source's columns",
		"read perturbations %s: found no column %q, expected one of %s", file, name,
		fault.List(header))
}

// strainColumns finds the columns of all strains of a table, and returns their names, too.
func (s *Spec) strainColumns(header []string) (all []strainColumns, named []string, err error) {
	for k, spec := range s.Strains {
		place := "strains." + strconv.Itoa(k)
		if spec.Gene == "" && !s.YeastAlleles {
			return nil, nil, badSetting("set yeast_alleles: true for yeast strains and alleles, "+
				"or name a column of genes: {gene: COLUMN}",
				"%s: found a column of strains or alleles, expected yeast_alleles: true with it",
				place)
		}
		c, err := spec.layOut(place, s.File, header)
		if err != nil {
			return nil, nil, err
		}
		all, named = append(all, c), append(named, header[c.name])
		if c.hasDetail {
			named = append(named, header[c.detail])
		}
	}
	return all, named, nil
}

func (s *strains) strict() bool { return false }

func (s *strains) Records(b *tableRows, i int, yield func(*Record) error) error {
	r := &s.record
	r.Mentions = r.Mentions[:0]
	s.readID(b, i, r)
	for k := range s.columns {
		mentions, err := s.mentions(b, i, k)
		if err != nil {
			const hint = "correct the strain, or name the columns of strains and alleles"
			return fault.New(fault.Input, hint, "%w", err)
		}
		r.Mentions = append(r.Mentions, mentions...)
	}
	return yield(r)
}

// mentions returns what the columns of a strain mention.
func (s *strains) mentions(b *tableRows, i, strain int) ([]Mention, error) {
	c := &s.columns[strain]
	s.key = append(s.key[:0], b.Text(c.name, i)...)
	split := len(s.key)
	if c.hasDetail {
		s.key = append(append(s.key, '\t'), b.Text(c.detail, i)...)
	}
	if known, ok := s.known[strain][string(s.key)]; ok {
		return known, nil
	}
	name, err := s.names.Part(s.key[:split])
	if err != nil {
		return nil, err
	}
	detail := strings.TrimPrefix(string(s.key[split:]), "\t")
	mentions, err := c.read(&s.alleles, string(name), detail)
	if err == nil {
		s.known[strain][string(s.key)] = mentions
	}
	return mentions, err
}

func (s *strains) Values(b *tableRows, i int, r *Record, _ *Genotype) error {
	return s.readValues(b, i, r)
}
