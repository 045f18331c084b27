package samples

import (
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
)

// AlleleMeanings are what a name means in a matrix, as an allele and as the id of a strain: a gene
// and a kind, or "".
func AlleleMeanings(
	spec Spec, genes *ingest.Nodes, name string,
) (inMatrix, allele, strain string, err error) {
	var files inputfile.Files
	defer files.Close()
	known, err := spec.Resolver(&files, names.BuilderOf(&ingest.Graph{Genes: genes}), false)
	if err != nil {
		return "", "", "", err
	}
	reader := spec.allelesOf(known)
	text := func(m Mention) string {
		if !m.isGene() {
			return ""
		}
		return known.ID(m.Answer) + " " + m.Allele
	}
	mentions, err := reader.ofStrain(name, "")
	if err != nil {
		return "", "", "", err
	}
	return text(reader.ofName(name)), text(reader.ofAllele(name)), text(mentions[0]), nil
}
