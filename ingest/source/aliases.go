package source

import (
	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// AliasesSpec names files with other names of a perturbation set's genes.
type AliasesSpec struct {
	SGDFeatures string // a file SGD_features.tab
	Tables      []AliasTable
}

// NameSettings are the settings of a perturbation set's names that are not flags.
type NameSettings struct {
	Tables []AliasTable `yaml:"alias_tables"` // names of other databases, which --aliases comes before
	// what happens to a sample that names one gene by two names: error, or drop-sample, which
	// counts it (default: error)
	Synonyms ingest.Synonyms `yaml:"synonyms"`
}

// names makes the look-up of a perturbation set's genes.
func (a AliasesSpec) names(genes *ingest.Nodes) (*Names, error) {
	tables := a.Tables
	if a.SGDFeatures != "" {
		var features AliasTable
		if err := conf.DecodeSource("sgd_features", "aliases", &features); err != nil {
			return nil, err
		}
		features.File = a.SGDFeatures
		tables = append([]AliasTable{features}, tables...)
	}
	if err := checkAliases("alias_tables", tables); err != nil {
		return nil, err
	}
	var files inputfile.Files
	defer files.Close()
	names, _, err := ReadNames(&files, tables, genes)
	return names, err
}

// Aliases returns the names that mean exactly one gene, except the gene ids themselves, each with
// that gene's id; nil if there are no other names.
func (n *Names) Aliases() map[string]string {
	if n.kinds == nil {
		return nil
	}
	aliases := make(map[string]string)
	for name, m := range n.meanings.all() {
		if m.kind >= 0 && m.result == gene {
			aliases[name] = n.features[m.gene]
		}
	}
	return aliases
}
