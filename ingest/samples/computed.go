package samples

import (
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/combinations"
	"tcbuild/ingest/synth"
	"tcbuild/ingest/where"
)

// OpenComputed opens a computed set for a graph, with the samples that Where keeps.
func OpenComputed(spec Spec, cell *ingest.Graph) (source ingest.SampleSource, err error) {
	known := names.Of(cell)
	if synth.IsName(spec.File) {
		source, err = synth.Named(spec.File, cell.Genes)
	} else {
		var named combinations.Spec
		if named, err = combinations.ParseName(spec.File); err != nil {
			return nil, err
		}
		source, err = combinations.Open(named, known, spec.UnknownGenes)
	}
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(source, spec.File, spec.Where, known)
	if err != nil {
		source.Close()
	}
	return filtered, err
}
