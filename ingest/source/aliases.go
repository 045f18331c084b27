package source

import (
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

// AliasTables are the alias tables of a perturbation set, in its settings.
type AliasTables struct {
	Tables []AliasTable `yaml:"alias_tables"` // names of other databases, which --aliases comes before
}

// names makes the look-up of a perturbation set's genes.
func (a AliasesSpec) names(genes *ingest.Nodes) (*Names, error) {
	if err := a.check("alias_tables"); err != nil {
		return nil, err
	}
	var files inputfile.Files
	defer files.Close()
	names, _, err := ReadNames(&files, a, genes)
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
