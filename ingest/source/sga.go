package source

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// SGASpec names a table of a synthetic genetic array, as published by Costanzo et al. (2010, 2016)
// and Kuzmin et al. (2018): each row has a query and an array strain, or the alleles of a strain
// joined in one name.
type SGASpec struct {
	StrainsSpec `yaml:",inline"` // nil Controls are SGAControls
	// StrainColumns hold strain ids such as YAL001C_tsq508, and AlleleColumns the names of the
	// strains' alleles, in the same order. nil means the columns that the papers call "Query Strain
	// ID" (in 2010 "Query ORF"), "Query allele name" and so on.
	StrainColumns []string `yaml:"strain_columns"`
	AlleleColumns []string `yaml:"allele_columns"`
	// AlleleDelimiter separates alleles in a table with only AlleleColumns; "" is _, as in
	// act1-129_hoΔ_ost3Δ.
	AlleleDelimiter string `yaml:"allele_delimiter"`
}

// SGAControls are the genes that markers replace in strains of synthetic genetic arrays: HO in
// control queries of Kuzmin et al. 2018, the others in the parents of all strains (Y7092 and
// BY4741, Tong and Boone 2006).
var SGAControls = []string{"HO", "CAN1", "LYP1", "HIS3", "LEU2", "URA3", "MET17", "MET15"}

var sgaControlIDs = []string{"YDL227C", "YEL063C", "YNL268W", "YOR202W", "YCL018W", "YEL021W", "YLR303W"}

// sgaColumns are the names, in lower case, of the columns of a query and an array strain, and of
// their alleles.
var sgaColumns = [2][2][]string{
	{{"query strain id", "query orf"}, {"query allele name"}},
	{{"array strain id", "array orf"}, {"array allele name"}},
}

// Open finds the layout of the table. A marker, by default in HO and in the markers of the strains'
// parents, does not count as a deletion. An unknown or ambiguous gene name is an error of Scan,
// unless UnknownGenes says otherwise.
func (s SGASpec) Open(genes *ingest.Nodes) (*Screen, error) {
	delimiter := s.AlleleDelimiter
	if delimiter == "" {
		delimiter = "_"
	}
	if s.Controls == nil {
		s.Controls = slices.Concat(SGAControls, sgaControlIDs)
	}
	return s.open(genes, "SGA samples", s.columns, func(r *alleleReader, id, allele string) ([]locus, error) {
		if id != "" {
			return r.ofStrain(id, allele)
		}
		var loci []locus
		for _, name := range strings.Split(allele, delimiter) {
			if name == "" {
				return nil, fault.New(fault.Input, "",
					"strain %s: found an empty allele name, expected one such as tfc3-g349e or vps8Δ", fault.Quote(allele))
			}
			loci = append(loci, r.ofAllele(name))
		}
		return loci, nil
	})
}

// columns finds the columns of the strains.
func (s SGASpec) columns(header []string) ([]strainColumns, error) {
	if s.StrainColumns == nil && s.AlleleColumns == nil {
		return s.publishedColumns(header)
	}
	if len(s.StrainColumns) > 0 && len(s.AlleleColumns) > 0 && len(s.StrainColumns) != len(s.AlleleColumns) {
		return nil, badSetting("name an allele column for each strain column", "found %d strain columns and %d allele columns",
			len(s.StrainColumns), len(s.AlleleColumns))
	}
	strains := make([]strainColumns, max(len(s.StrainColumns), len(s.AlleleColumns)))
	var err error
	for k := range strains {
		strains[k] = strainColumns{-1, -1}
		if k < len(s.StrainColumns) {
			strains[k].id, err = columnNamed(s.File, header, s.StrainColumns[k])
		}
		if err == nil && k < len(s.AlleleColumns) {
			strains[k].allele, err = columnNamed(s.File, header, s.AlleleColumns[k])
		}
		if err != nil {
			return nil, err
		}
	}
	return strains, nil
}

func (s SGASpec) publishedColumns(header []string) ([]strainColumns, error) {
	find := func(names []string) int {
		return slices.IndexFunc(header, func(column string) bool {
			return slices.Contains(names,
				strings.ToLower(strings.TrimSpace(column)))
		})
	}
	strains := make([]strainColumns, len(sgaColumns))
	for k, names := range sgaColumns {
		strains[k] = strainColumns{find(names[0]), find(names[1])}
		if strains[k].id < 0 {
			return nil, fault.New(fault.Input,
				"name the columns with --strain-columns, or with --allele-columns if there are no strain ids",
				"read perturbations %s: found no column %q, expected it among %s", s.File, names[0][0], strings.Join(header, ", "))
		}
	}
	return strains, nil
}

// columnNamed is the number of the column with a name from the settings.
func columnNamed(file string, header []string, name string) (int, error) {
	number := slices.Index(header, name)
	if number < 0 {
		return -1, fault.New(fault.Input, "name an existing column", "read perturbations %s: found no column %q, expected one of %s",
			file, name, strings.Join(header, ", "))
	}
	return number, nil
}
