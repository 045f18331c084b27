package bench

import (
	"tcbuild/encode"
	"tcbuild/store"
)

// allCases are the incidence variant and every codec of the other variants, each variant's default
// first.
func allCases() []Case {
	cases := []Case{{Variant: store.Incidence}}
	for _, variant := range []store.Variant{store.Indices, store.FullMasks} {
		for _, codec := range encode.Codecs(encode.Mode(variant)) {
			cases = append(cases, Case{variant, codec})
		}
	}
	return cases
}

func (c Case) isDefault() bool {
	return c.Variant == store.Incidence || c.Codec == encode.Codecs(encode.Mode(c.Variant))[0]
}

// folder is the name of a case's dataset.
func (c Case) folder() string {
	if c.Codec == "" {
		return string(c.Variant)
	}
	return string(c.Variant) + "-" + c.Codec
}

// The axes of the variations, limited by the size of the perturbation set.
const (
	baseSamples = 10_000
	mostSamples = 100_000
)

// baseVariation is the point that the variations start from.
func baseVariation(total, workers int) Variation {
	return Variation{Workers: workers, Samples: min(baseSamples, total), EveryNth: 1}
}

// variations differ from the base along one axis each: fewer workers, fewer or more samples, fewer
// edges.
func variations(total, workers int) []Variation {
	base := baseVariation(total, workers)
	all := []Variation{base}
	for w := 1; w < workers; w *= 2 {
		v := base
		v.Workers = w
		all = append(all, v)
	}
	for _, samples := range []int{base.Samples / 10, min(mostSamples, total)} {
		if v := base; samples > 0 && samples != base.Samples {
			v.Samples = samples
			all = append(all, v)
		}
	}
	for _, nth := range []int{4, 2} {
		v := base
		v.EveryNth = nth
		all = append(all, v)
	}
	return all
}
