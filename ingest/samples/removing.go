package samples

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// RemoveAll or RemoveNone, as the only element of Spec.RemovingKinds, says that perturbations of
// every kind, or of no kind, remove their gene's node.
const (
	RemoveAll  = "all"
	RemoveNone = "none"
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

// removes reports whether a kind removes the node of its gene. Several kinds of one gene, which a
// torchcell store may have, are joined by +. Without a choice, every kind does: Spec.CheckKinds
// refuses sets with kinds that are not losses.
func removes(removing []string, kind []byte) bool {
	switch {
	case removing == nil || removing[0] == RemoveAll:
		return true
	case removing[0] == RemoveNone:
		return false
	}
	for part := range bytes.SplitSeq(kind, []byte("+")) {
		part = bytes.TrimSpace(part)
		alike := func(one string) bool { return strings.EqualFold(one, string(part)) }
		if slices.ContainsFunc(removing, alike) {
			return true
		}
	}
	return false
}

// prepareRemoving checks the kinds that remove nodes, and returns them trimmed and in lower case.
func prepareRemoving(removing []string) ([]string, error) {
	if len(removing) == 0 {
		return nil, nil
	}
	var kinds []string
	for _, kind := range removing {
		kind = strings.ToLower(strings.TrimSpace(kind))
		switch {
		case kind == "":
			return nil, fault.New(fault.Usage,
				"write names as in removing_kinds=deletion,knockdown",
				"read removing_kinds: found an empty name, expected a kind")
		case (kind == RemoveAll || kind == RemoveNone) && len(removing) > 1:
			return nil, fault.New(fault.Usage, "write it alone, or omit it",
				"read removing_kinds: found %s beside other kinds", kind)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// Removing returns the kinds that remove nodes as a manifest records them, nil if all do.
func Removing(removing []string) []string {
	if removing, _ = prepareRemoving(removing); len(removing) == 1 && removing[0] == RemoveAll {
		return nil
	}
	return removing
}

// checkRemoving returns an error for kinds that remove nodes of a set without kinds.
func checkRemoving(removing []string, columns ingest.Columns, path string) error {
	if columns.Kinds != "" || Removing(removing) == nil {
		return nil
	}
	return fault.New(fault.Usage, "omit removing_kinds, or give the set a column kinds",
		"read perturbations %s: found removing_kinds %s, but the set does not record kinds of "+
			"perturbations",
		path, fault.List(removing))
}

// CheckKinds returns a fault.Usage if the spec chooses no kinds and a set has one that is not a
// loss, or if the set lacks a chosen kind.
func (s *Spec) CheckKinds(kinds *ingest.KindCounter) error {
	removing, err := prepareRemoving(s.RemovingKinds)
	if err != nil {
		return err
	}
	if len(removing) == 0 {
		return s.checkLosses(kinds.Deleted())
	}
	if removing[0] == RemoveAll || removing[0] == RemoveNone {
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
				s.File, fault.Quote(kind), ListKinds(found))
		}
	}
	return nil
}

// checkLosses returns an error if the kind of a deleted gene is not a loss.
func (s *Spec) checkLosses(deleted map[string]int) error {
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
			"%s, expected losses such as deletion, or the setting removing_kinds", s.File, found)
}

// ListKinds lists kinds with their numbers of perturbations; "" stands for no kind.
func ListKinds(counts map[string]int) string {
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		name := kind
		if kind == "" {
			name = "(no kind)"
		}
		texts = append(texts, fmt.Sprintf("%s %s", name, humanize.Comma(int64(counts[kind]))))
	}
	return strings.Join(texts, ", ")
}
