package samples

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest/names"
)

// controlSamples are the samples whose names are all controls.
type controlSamples struct {
	n     int
	first string // where the first one is
}

func (s *controlSamples) add(where func() string) {
	if s.n++; s.n == 1 {
		s.first = where()
	}
}

// check returns an error if such samples are not allowed, or are all samples. samples is the number
// of those that were kept.
func (s *controlSamples) check(options reading, path string, samples int) error {
	count := func(n int) string {
		return humanize.Comma(int64(n)) + " " + english.PluralWord(n, "sample", "")
	}
	controls := fault.List(slices.Sorted(slices.Values(options.Controls)))
	if !options.AllowWildtype {
		samples += s.n
	}
	switch {
	case s.n > 0 && s.n == samples:
		return fault.New(fault.Input, "check --controls: its names delete nothing",
			"read perturbations %s: all %s have only controls (%s), expected at least one that deletes a gene",
			path, count(s.n), controls)
	case s.n > 0 && !options.AllowWildtype:
		return fault.New(fault.Input, controlsHint,
			"read perturbations %s: %s of %s have only controls (%s), the first %s, expected samples that delete a gene",
			path, humanize.Comma(int64(s.n)), count(samples), controls, s.first)
	}
	return nil
}

const controlsHint = "to train on the unperturbed graph, too, set allow_wildtype=true"

// controlHint is a hint for an unknown name that looks like a control's, or "".
func controlHint(name string) string {
	if names.LooksLikeControl(name) {
		return fmt.Sprintf("if it is a control, which deletes nothing, pass --controls %s", name)
	}
	return ""
}
