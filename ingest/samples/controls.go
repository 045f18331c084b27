package samples

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// controls are names that stand where a gene's does and delete nothing, such as ctrl.
type controls struct {
	names map[string]bool
	// those that contain the delimiter of genes, the longest first
	spanning [][]byte
}

// newControls checks the names for the genes of a graph; nil genes have no names.
func newControls(names []string, delimiter string, genes *ingest.Nodes, path string) (c controls, err error) {
	if len(names) == 0 {
		return c, nil
	}
	c.names = make(map[string]bool, len(names))
	for _, name := range names {
		switch {
		case strings.TrimSpace(name) != name || name == "":
			return c, fault.New(fault.Usage, "write names as in --controls ctrl,non-targeting",
				"read --controls: found %s, expected a name without spaces around it", fault.Quote(name))
		case genes != nil && hasGene(genes, name):
			return c, fault.New(fault.Usage, "remove the name from --controls, or rename the gene",
				"read --controls for %s: found %s, which is a gene of the graph, expected names that delete nothing", path, fault.Quote(name))
		}
		c.names[name] = true
		if strings.Contains(name, delimiter) {
			c.spanning = append(c.spanning, []byte(name))
		}
	}
	slices.SortFunc(c.spanning, func(a, b []byte) int { return len(b) - len(a) })
	return c, nil
}

func hasGene(genes *ingest.Nodes, name string) bool {
	_, known := genes.Index(name)
	return known
}

// cut returns the first name of a text of names, as bytes.Cut does. A control is a name even if it
// contains the delimiter.
func (c controls) cut(text, delimiter []byte) (name, rest []byte, more bool) {
	for _, control := range c.spanning {
		if rest, found := bytes.CutPrefix(text, control); found {
			if len(rest) == 0 {
				return text, nil, false
			}
			if rest, found := bytes.CutPrefix(rest, delimiter); found {
				return text[:len(control)], rest, true
			}
		}
	}
	return bytes.Cut(text, delimiter)
}

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
func (s *controlSamples) check(options PerturbationOptions, path string, samples int) error {
	count := func(n int) string {
		return humanize.Comma(int64(n)) + " " + english.PluralWord(n, "sample", "")
	}
	names := fault.List(slices.Sorted(maps.Keys(options.controls.names)))
	if !options.AllowWildtype {
		samples += s.n
	}
	switch {
	case s.n > 0 && s.n == samples:
		return fault.New(fault.Input, "check --controls: its names delete nothing",
			"read perturbations %s: all %s have only controls (%s), expected at least one that deletes a gene",
			path, count(s.n), names)
	case s.n > 0 && !options.AllowWildtype:
		return fault.New(fault.Input, controlsHint,
			"read perturbations %s: %s of %s have only controls (%s), the first %s, expected samples that delete a gene",
			path, humanize.Comma(int64(s.n)), count(samples), names, s.first)
	}
	return nil
}

const controlsHint = "to train on the unperturbed graph, too, set allow_wildtype=true"

// usualControls are names that published screens give their controls.
var usualControls = []string{"ctrl", "control", "controls", "non-targeting", "non_targeting", "nontargeting", "nt", "ntc", "neg", "negctrl", "scramble", "safe-targeting", "unperturbed", "wt", "wildtype"}

// controlHint is a hint for an unknown name that looks like a control's, or "".
func controlHint(name string) string {
	if slices.Contains(usualControls, strings.ToLower(name)) {
		return fmt.Sprintf("if it is a control, which deletes nothing, pass --controls %s", name)
	}
	return ""
}
