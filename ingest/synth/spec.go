package synth

import (
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// named is a synthetic perturbation set that was opened by its name.
type named struct {
	ingest.SampleSource
	name string
}

// Inputs returns the name in place of a file.
func (n named) Inputs() []ingest.Input { return []ingest.Input{{Name: n.name}} }

// IsName reports whether a perturbation set's name has the form synth:SCALE:SAMPLES:SEED.
func IsName(name string) bool { return strings.HasPrefix(name, "synth:") }

// Named returns the set that synth:SCALE:SAMPLES:SEED names: computed samples, see Samples, in any
// number. The graph must have the same scale and seed. A wrong name is a fault.Usage.
func Named(name string, genes *ingest.Nodes) (ingest.SampleSource, error) {
	const hint = "the default set of a yeast-scale graph is synth:yeast:332313:1"
	parts := strings.Split(name, ":")
	if len(parts) != 4 {
		return nil, fault.New(fault.Usage, hint, "read perturbations %s: expected synth:SCALE:SAMPLES:SEED", name)
	}
	scale, err := ParseScale(parts[1])
	if err != nil {
		return nil, err
	}
	count, err1 := strconv.Atoi(parts[2])
	seed, err2 := strconv.ParseUint(parts[3], 10, 64)
	if err1 != nil || err2 != nil || count < 1 {
		return nil, fault.New(fault.Usage, hint,
			"read perturbations %s: found %s samples of seed %s, expected two numbers", name, parts[2], parts[3])
	}
	if genes.Len() != scale.genes {
		return nil, fault.New(fault.Usage, "use the graph that 'tcbuild synth' made with the same scale and seed",
			"read perturbations %s: found a graph of %d genes, expected %d", name, genes.Len(), scale.genes)
	}
	return named{Samples(scale, seed, count), name}, nil
}
