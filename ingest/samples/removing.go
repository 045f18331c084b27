package samples

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// AllKinds and NoKind, alone in PerturbationOptions.RemovingKinds, say that perturbations of every
// kind, or of no kind, remove their gene's node.
const (
	AllKinds = "all"
	NoKind   = "none"
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
	"kanmxdeletion": true, "natmxdeletion": true, "sgakanmxdeletion": true, "sganatmxdeletion": true,
	"barcodedkanmxdeletion": true, "meandeletion": true, "markerdeletion": true,
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
// torchcell store may have, are joined by +. Without a choice, every kind does: checkedKinds
// refuses sets with kinds that are not losses.
func removes(removing []string, kind []byte) bool {
	switch {
	case removing == nil || removing[0] == AllKinds:
		return true
	case removing[0] == NoKind:
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
			return nil, fault.New(fault.Usage, "write names as in removing_kinds=deletion,knockdown",
				"read removing_kinds: found an empty name, expected a kind")
		case (kind == AllKinds || kind == NoKind) && len(removing) > 1:
			return nil, fault.New(fault.Usage, "write it alone, or omit it",
				"read removing_kinds: found %s beside other kinds", kind)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// Removing returns the kinds that remove nodes as a manifest records them, nil if all do.
func Removing(removing []string) []string {
	if removing, _ = prepareRemoving(removing); len(removing) == 1 && removing[0] == AllKinds {
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

// checkedKinds is a set whose kinds are checked at the end of each Scan, when all are counted.
type checkedKinds struct {
	ingest.SampleSource
	name     string
	removing []string
}

// checkKinds makes a set check its kinds, if it has kinds.
func checkKinds(source ingest.SampleSource, name string, removing []string) ingest.SampleSource {
	if source.Columns().Kinds == "" {
		return source
	}
	return &checkedKinds{source, name, removing}
}

// Batches reads the samples. It fails with a fault.Usage if the options choose no kinds and the set
// has one that is not a loss, or if the set lacks a chosen kind.
func (c *checkedKinds) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		kinds := ingest.NewKindCounter(c.Columns())
		for samples, err := range c.SampleSource.Batches(ctx, account) {
			if err == nil {
				kinds.Add(samples)
			}
			if !yield(samples, err) || err != nil {
				return
			}
		}
		if err := c.check(kinds); err != nil {
			yield(nil, err)
		}
	}
}

func (c *checkedKinds) check(kinds *ingest.KindCounter) error {
	if len(c.removing) == 0 {
		return c.checkLosses(kinds.Deleted())
	}
	if c.removing[0] == AllKinds || c.removing[0] == NoKind {
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
	for _, kind := range c.removing {
		if !slices.Contains(known, kind) {
			hint := fault.DidYouMean(kind, slices.Compact(known), "name kinds of the set")
			return fault.New(fault.Usage, hint, "read perturbations %s: removing_kinds: "+
				"no perturbation is of kind %s, expected kinds of the set: %s",
				c.name, fault.Quote(kind), ListKinds(found))
		}
	}
	return nil
}

// checkLosses returns an error if the kind of a deleted gene is not a loss.
func (c *checkedKinds) checkLosses(deleted map[string]int) error {
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
			"%s, expected losses such as deletion, or the setting removing_kinds", c.name, found)
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
