package samples

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// losses are the kinds that remove their gene unless the options choose others: the gene is gone,
// or does less. Names are in lower case, without spaces and punctuation.
var losses = map[string]bool{
	"deletion": true, "del": true, "genedeletion": true, "deleted": true, "crisprdeletion": true,
	"knockout": true, "ko": true, "geneknockout": true, "crisprko": true, "crisprknockout": true,
	"null": true, "nullmutation": true, "nullmutant": true, "nullallele": true,
	"homozygousdeletion": true, "disruption": true, "genedisruption": true,
	"lossoffunction": true, "lof": true,

	"knockdown": true, "kd": true, "rnai": true, "sirna": true, "shrna": true,
	"crispri": true, "crisprinterference": true,
	"hypomorph": true, "hypomorphic": true, "damp": true, "dampallele": true, "degron": true,
	"ts": true, "tsallele": true, "temperaturesensitive": true, "temperaturesensitiveallele": true,

	// the rest of torchcell's
	"allele": true, "conditionalallele": true,
	"kanmxdeletion": true, "natmxdeletion": true, "sgakanmxdeletion": true,
	"sganatmxdeletion": true, "barcodedkanmxdeletion": true,
	"meandeletion": true, "markerdeletion": true,
	"deletionstrain": true, "spandeletioncall": true, "transposoninsertion": true,
	"naturalgeneabsence": true, "naturallossoffunction": true,
}

// IsLoss reports whether a kind removes its gene unless the options choose others. Several kinds of
// one gene are joined by +.
func IsLoss(kind string) bool {
	for part := range strings.SplitSeq(kind, "+") {
		plain := strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(part))
		if !losses[plain] {
			return false
		}
	}
	return true
}

// RemovingKinds are the kinds of perturbations that remove their gene from the graph, or removeAll
// or removeNone alone. nil: every kind does, and Spec.CheckKinds refuses sets with kinds that are
// not losses.
type RemovingKinds []string

const (
	removeAll  = "all"
	removeNone = "none"
)

// prepare checks the kinds, trims them and writes them in lower case.
func (k *RemovingKinds) prepare() error {
	var kinds RemovingKinds
	for _, kind := range *k {
		kind = strings.ToLower(strings.TrimSpace(kind))
		switch {
		case kind == "":
			return fault.New(fault.Usage, "write names as in removing_kinds=deletion,knockdown",
				"found an empty name, expected a kind")
		case (kind == removeAll || kind == removeNone) && len(*k) > 1:
			return fault.New(fault.Usage, "write it alone, or omit it",
				"found %s beside other kinds", kind)
		}
		kinds = append(kinds, kind)
	}
	*k = kinds
	return nil
}

// chosen returns the kinds, nil if all remove their gene.
func (k RemovingKinds) chosen() []string {
	if len(k) == 0 || k[0] == removeAll {
		return nil
	}
	return k
}

// include reports whether a kind removes its gene. Several kinds of one gene, which a torchcell
// store may have, are joined by +.
func (k RemovingKinds) include(kind []byte) bool {
	if k.chosen() == nil {
		return true
	}
	for part := range bytes.SplitSeq(kind, []byte("+")) {
		part = bytes.TrimSpace(part)
		alike := func(one string) bool { return strings.EqualFold(one, string(part)) }
		if k[0] != removeNone && slices.ContainsFunc(k, alike) {
			return true
		}
	}
	return false
}

// checkRemoving returns an error for a choice of kinds for a set without kinds.
func (s *Spec) checkRemoving(columns ingest.Columns) error {
	if columns.Kinds != "" || s.RemovingKinds.chosen() == nil {
		return nil
	}
	return fault.New(fault.Usage, "omit removing_kinds, or give the set a column kinds",
		"read perturbations %s: found removing_kinds %s, but the set does not record kinds of "+
			"perturbations",
		s.File, fault.List(s.RemovingKinds))
}

// RemovingKinds returns the kinds that remove their gene, nil if all do.
func (s *Set) RemovingKinds() []string { return s.spec.RemovingKinds.chosen() }

// mostKinds is the number of kinds that Python's int8 codes of them can tell apart; -1 is no kind.
const mostKinds = 127

// CheckKinds returns a fault.Usage if the spec chooses no kinds and the set has one that is not a
// loss, or if the set lacks a chosen kind. Too many kinds are a fault.Input.
func (s *Set) CheckKinds(kinds *ingest.KindCounter) error {
	if found := len(kinds.Counts()); found > mostKinds {
		return fault.New(fault.Input,
			"give similar kinds one name in the perturbation set",
			"read perturbations %s: found %s different kinds of perturbations, expected at most %d",
			s.spec.File, ingest.Grouped(found), mostKinds)
	}
	removing := s.spec.RemovingKinds
	if len(removing) == 0 {
		return s.checkLosses(kinds.Deleted())
	}
	if removing[0] == removeAll || removing[0] == removeNone {
		return nil
	}
	found := kinds.Counts()
	var known []string
	for kind := range found {
		for part := range strings.SplitSeq(kind, "+") {
			known = append(known, strings.ToLower(strings.TrimSpace(part)))
		}
	}
	slices.Sort(known)
	for _, kind := range removing {
		if !slices.Contains(known, kind) {
			hint := fault.DidYouMean(kind, slices.Compact(known), "name kinds of the set")
			return fault.New(fault.Usage, hint, "read perturbations %s: removing_kinds: "+
				"no perturbation is of kind %s, expected kinds of the set: %s",
				s.spec.File, fault.Quote(kind), ListKinds(found))
		}
	}
	return nil
}

// checkLosses returns an error if the kind of a deleted gene is not a loss.
func (s *Set) checkLosses(deleted map[string]int) error {
	others := maps.Clone(deleted)
	maps.DeleteFunc(others, func(kind string, _ int) bool { return IsLoss(kind) })
	if len(others) == 0 {
		return nil
	}
	found := ListKinds(others)
	if len(others) < len(deleted) {
		maps.DeleteFunc(deleted, func(kind string, _ int) bool { return !IsLoss(kind) })
		found += " (beside " + ListKinds(deleted) + ")"
	}
	return fault.New(fault.Usage,
		"removing_kinds says which kinds remove their gene from the graph: a list of kinds, "+
			"all (as in torchcell), or none",
		"read perturbations %s: found kinds of perturbations that may leave their gene in place: "+
			"%s, expected losses such as deletion, or the setting removing_kinds", s.spec.File,
		found)
}

// ListKinds lists kinds with their numbers of perturbations; "" stands for no kind.
func ListKinds(counts map[string]int) string {
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		name := kind
		if kind == "" {
			name = "(no kind)"
		}
		texts = append(texts, fmt.Sprintf("%s %s", name, ingest.Grouped(counts[kind])))
	}
	return strings.Join(texts, ", ")
}
