package gpuverify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// Part is consecutive samples of a dataset, First to End-1, and what was found when they were
// verified. A part that is interrupted starts again.
type Part struct {
	Dataset string `json:"dataset"` // checksum of its manifest
	Method  Method `json:"method"`
	First   int    `json:"first"`
	End     int    `json:"end"`
	// of these samples, and of the files that begin in them; nil: not verified
	Report *Report `json:"report"`
	// of the files of the sample table that begin in them; "" of a damaged one
	Digests []string `json:"digests"`
}

// partSamples is how many samples a part has at most: less than a minute's work.
const partSamples = 1 << 18

// Parts cuts a dataset into at least count parts, none of samples of two shards.
func Parts(dataset *store.Dataset, method Method, count int) (parts []Part) {
	m := dataset.Manifest
	ranges := m.Shards
	if m.Variant == store.Incidence {
		cut := store.Manifest{Samples: m.Samples}
		cut.Cut(min(count, m.Samples))
		ranges = cut.Shards
	}
	part := Part{Dataset: m.Checksum, Method: methodFor(dataset, method)}
	for _, r := range ranges {
		end := r.First + r.Samples
		for part.First = r.First; part.First < end; part.First = part.End {
			part.End = min(part.First+partSamples, end)
			parts = append(parts, part)
		}
	}
	return parts
}

// Verifies reports whether the part is another one, verified.
func (p *Part) Verifies(other Part) bool {
	sameWork := p.Dataset == other.Dataset && p.Method == other.Method
	sameSamples := p.First == other.First && p.End == other.End
	return p.Report != nil && sameWork && sameSamples
}

// Reference is what masks are regenerated from: a graph, read from one dataset, for all datasets of
// it and of one reaction rule. The zero value reads the first one's.
type Reference struct {
	of    source
	rules *regenerate.Rules
	lists *regenerate.Lists // nil before they are needed
}

// source is what rules depend on.
type source struct{ graphDigest, rule string }

// read makes it the reference for a dataset and, if wanted, finds the incidence.
func (r *Reference) read(dataset *store.Dataset, wantLists bool) error {
	m := dataset.Manifest
	of := source{m.GraphDigest, string(m.Options.ReactionRule)}
	if r.rules == nil || r.of != of {
		graph, err := dataset.Graph()
		if err != nil {
			return err
		}
		rules, err := regenerate.NewRules(graph, of.rule == "gpr")
		if err != nil {
			return err
		}
		*r = Reference{of: of, rules: rules}
	}
	if wantLists && r.lists == nil {
		lists := regenerate.NewIncidence(r.rules)
		r.lists = &lists
	}
	return nil
}

// VerifyPart verifies a part as Verify does, but for what Gather checks.
func VerifyPart(
	ctx context.Context, dataset *store.Dataset, part Part, o Options, reference *Reference,
) (Part, error) {
	start := time.Now()
	v := newVerifier(dataset, o)
	v.reference = reference
	files := filesOf(dataset.Manifest, part.First, part.End)
	var err error
	if part.Digests, err = v.verify(ctx, part.First, part.End, files); err == nil {
		part.Report = v.finish(time.Since(start))
	}
	return part, err
}

// filesOf are the files of shards and samples that begin in the samples first to end-1.
func filesOf(m *store.Manifest, first, end int) (files []store.File) {
	from, to := m.Parts(first, end)
	for _, file := range m.Files {
		folder, name, _ := strings.Cut(file.Name, "/")
		var number int
		_, err := fmt.Sscanf(name, "part-%d.arrow", &number)
		isPart := folder == "samples" && err == nil
		inSamples := isPart && from <= number && number < to
		inShard := slices.ContainsFunc(m.Shards, func(s store.ShardRange) bool {
			return s.Name == folder && first <= s.First && s.First < end
		})
		if inSamples || inShard {
			files = append(files, file)
		}
	}
	return files
}

// Gather completes the verification of a dataset whose parts are verified: it checks the files that
// are in no part, and adds up the reports, their times, and the logical content. Parts may come in
// any order. One that is missing, repeated or of another dataset is a fault.Input.
func Gather(ctx context.Context, dataset *store.Dataset, parts []Part, o Options) (*Report, error) {
	start := time.Now()
	v := newVerifier(dataset, o)
	m := dataset.Manifest
	checked := filesOf(m, 0, m.Samples)
	rest := slices.DeleteFunc(slices.Clone(m.Files),
		func(f store.File) bool { return slices.Contains(checked, f) })
	begin := func() error { return nil }
	if _, err := v.check(ctx, rest, begin, func(context.Context) error {
		_, err := dataset.Graph() // a part may have read another dataset's
		return v.noted(-1, err)
	}); err != nil {
		return nil, err
	}
	if err := v.add(parts); err != nil {
		return nil, err
	}
	ofParts := time.Duration(v.report.Seconds * float64(time.Second))
	return v.finish(ofParts + time.Since(start)), nil
}

// noted records damage of a sample, or of the dataset (sample -1); other errors are its result.
func (v *verifier) noted(sample int, err error) error {
	if fault.KindOf(err) != fault.Damaged {
		return err
	}
	v.damage(sample, err)
	return nil
}

// add adds up the reports of parts, which must be all samples of the dataset, each once, and their
// logical content.
func (v *verifier) add(parts []Part) error {
	m := v.dataset.Manifest
	refused := func(hint, format string, args ...any) error {
		return fault.New(fault.Input, hint, "gather verification of %s: "+format,
			append([]any{v.dataset.Dir}, args...)...)
	}
	verified, digests := 0, []string(nil)
	missing := func(end int) error {
		return refused("verify them, too", "samples %d to %d are not verified", verified, end-1)
	}
	const again = "verify this part again"
	inOrder := func(a, b Part) int { return cmp.Or(a.First-b.First, a.End-b.End) }
	for _, part := range slices.SortedFunc(slices.Values(parts), inOrder) {
		samples := fmt.Sprintf("samples %d to %d", part.First, part.End-1)
		switch {
		case part.Dataset != m.Checksum:
			return refused(again,
				"the report on %s is of another dataset, or of an earlier build", samples)
		case part.Method != v.Method:
			return refused("verify all parts by one method, which --method names here, too",
				"%s were verified by %s, others by %s", samples, part.Method, v.Method)
		case part.First < verified:
			return refused("give each part once", "%s are in several parts", samples)
		case part.First > verified:
			return missing(part.First)
		case part.End > m.Samples:
			return refused("give parts that verify wrote", "%s are beyond the last, %d", samples,
				m.Samples-1)
		case part.Report == nil:
			return missing(part.End)
		}
		if from, to := m.Parts(part.First, part.End); len(part.Digests) != to-from {
			return refused(again, "the report on %s has %d digests, expected %d", samples,
				len(part.Digests), to-from)
		}
		for _, digest := range part.Digests {
			isDamaged := digest == "" && part.Report.Damaged > 0
			if _, err := readDigest(digest); err != nil && !isDamaged {
				return refused(again, "the report on %s has the digest %s, expected one of SHA-256",
					samples, fault.Quote(digest))
			}
		}
		verified, digests = part.End, append(digests, part.Digests...)
		v.report.add(*part.Report)
	}
	if verified != m.Samples {
		return missing(m.Samples)
	}
	v.checkContent(digests)
	return nil
}

// add adds the report of a part.
func (r *Report) add(part Report) {
	r.Device = part.Device
	r.Samples += part.Samples
	r.Differences += part.Differences
	r.Damaged += part.Damaged
	r.Seconds += part.Seconds
	for _, d := range part.FirstDifferences {
		r.differ(d)
	}
	r.list(part.FirstDamaged...)
	if r.Masks == nil {
		r.Masks = slices.Clone(part.Masks)
		return
	}
	for i := range part.Masks {
		r.Masks[i].Removed += part.Masks[i].Removed
		r.Masks[i].Differences += part.Masks[i].Differences
	}
}
