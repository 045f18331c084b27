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
	"tcbuild/ingest"
	"tcbuild/store"
)

// Part is what is known of consecutive samples of a dataset: First to Next-1 are verified, of those
// before End. It is a checkpoint: VerifyPart goes on from it.
type Part struct {
	Dataset string `json:"dataset"` // checksum of its manifest
	Method  Method `json:"method"`
	First   int    `json:"first"`
	Next    int    `json:"next"`
	End     int    `json:"end"`
	Report  Report `json:"report"` // of these samples, and of the shards with any of them
}

// Parts cuts a dataset into count parts, or one per shard.
func Parts(dataset *store.Dataset, method Method, count int) []Part {
	m := dataset.Manifest
	ranges := m.Shards
	if m.Variant == store.Incidence {
		method = Both
		cut := store.Manifest{Samples: m.Samples}
		cut.Cut(min(count, m.Samples))
		ranges = cut.Shards
	}
	parts := make([]Part, len(ranges))
	for i, r := range ranges {
		parts[i] = Part{Dataset: m.Checksum, Method: cmp.Or(method, Both), First: r.First, Next: r.First, End: r.First + r.Samples}
	}
	return parts
}

// Continues reports whether the part is a checkpoint of one that has just begun.
func (p *Part) Continues(begun Part) bool {
	return p.Dataset == begun.Dataset && p.Method == begun.Method && p.First == begun.First && p.End == begun.End &&
		begun.First <= p.Next && p.Next <= p.End
}

// checkpointSamples is how many samples are verified between two checkpoints, some seconds' work.
var checkpointSamples = 1 << 14

// Reference is what masks are regenerated from: a graph, read from one dataset, for all datasets of
// it and of one reaction rule. The zero value reads the first one's.
type Reference struct {
	graphDigest string
	rule        string
	rules       *regenerate.Rules
	lists       *regenerate.Lists // nil before they are needed
	contents    map[string]string // logical contents of sample tables
}

// of returns the rules and, if wanted, the incidence for a dataset.
func (r *Reference) of(dataset *store.Dataset, wantLists bool) (*regenerate.Rules, regenerate.Lists, error) {
	m := dataset.Manifest
	if r.rules == nil || r.graphDigest != m.GraphDigest || r.rule != string(m.Options.ReactionRule) {
		graph, err := dataset.Graph()
		if err != nil {
			return nil, regenerate.Lists{}, err
		}
		rules, err := regenerate.NewRules(graph, m.Options.ReactionRule == "gpr")
		if err != nil {
			return nil, regenerate.Lists{}, err
		}
		*r = Reference{contents: r.contents, graphDigest: m.GraphDigest, rule: string(m.Options.ReactionRule), rules: rules}
	}
	if !wantLists {
		return r.rules, regenerate.Lists{}, nil
	}
	if r.lists == nil {
		lists := regenerate.NewIncidence(r.rules)
		r.lists = &lists
	}
	return r.rules, *r.lists, nil
}

// VerifyPart verifies the rest of a part as Verify does, but for what Gather checks. It calls save
// now and then, and when the part is complete.
func VerifyPart(ctx context.Context, dataset *store.Dataset, part Part, o Options, reference *Reference, save func(Part) error) error {
	if part.Next == part.End {
		return nil
	}
	start := time.Now()
	v, err := newVerifier(dataset, o)
	if err != nil {
		return err
	}
	defer v.release()
	v.end, v.reference = part.End, reference
	ready := false
	prepare := func(context.Context) (err error) {
		ready, err = v.prepare()
		return err
	}
	if part.Next == part.First {
		err = v.checkFiles(ctx, filesOf(dataset.Manifest, part), prepare)
	} else {
		v.report = part.Report
		err = prepare(ctx)
	}
	if err != nil {
		return err
	}
	for part.Next < part.End {
		v.first, v.end = part.Next, part.End
		if o.Devices == nil {
			v.end = min(part.Next+checkpointSamples, part.End)
		}
		v.nextChunk.Store(0)
		if ready {
			if err := v.compareAll(ctx); err != nil {
				return err
			}
		} else {
			v.end = part.End
		}
		part.Next, part.Report = v.end, *v.finish(start)
		start = time.Now()
		if err := save(part); err != nil {
			return err
		}
	}
	return nil
}

// filesOf are the shards' files with samples of a part.
func filesOf(m *store.Manifest, part Part) (files []store.File) {
	for _, file := range m.Files {
		shard, _, _ := strings.Cut(file.Name, "/")
		if slices.ContainsFunc(m.Shards, func(s store.ShardRange) bool {
			return s.Name == shard && s.First < part.End && s.First+s.Samples > part.First
		}) {
			files = append(files, file)
		}
	}
	return files
}

// Gather completes the verification of a dataset whose parts are verified: it checks the files that
// are not shards and the logical content, and adds up the reports. Parts that are not whole or do
// not cover all samples are an error. The sample table that datasets share is read once.
func Gather(ctx context.Context, dataset *store.Dataset, parts []Part, o Options, reference *Reference) (*Report, error) {
	start := time.Now()
	o.Devices = nil
	v, err := newVerifier(dataset, o)
	if err != nil {
		return nil, err
	}
	m := dataset.Manifest
	whole := Part{First: 0, End: m.Samples}
	shards := filesOf(m, whole)
	rest := slices.DeleteFunc(slices.Clone(m.Files), func(f store.File) bool { return slices.Contains(shards, f) })
	if err := v.checkFiles(ctx, rest, func(context.Context) error {
		_, err := dataset.Graph() // a part may have taken that of another dataset
		return v.noted(-1, err)
	}); err != nil {
		return nil, err
	}
	for _, part := range parts {
		if part.Dataset != m.Checksum || part.Method != v.Method || part.First != whole.Next || part.Next != part.End {
			return nil, fmt.Errorf("gather verification of %s: samples %d to %d are not verified", dataset.Dir, whole.Next, part.End-1)
		}
		whole.Next = part.End
		v.report.add(part.Report)
	}
	if whole.Next != m.Samples {
		return nil, fmt.Errorf("gather verification of %s: samples %d to %d are not verified", dataset.Dir, whole.Next, m.Samples-1)
	}
	v.reference = reference
	if err := v.digestTable(ctx); err != nil {
		return nil, err
	}
	return v.finish(start), nil
}

// digestTable computes the logical content from the sample table alone, whose files have been
// compared with their digests.
func (v *verifier) digestTable(ctx context.Context) error {
	m := v.dataset.Manifest
	samples := slices.DeleteFunc(slices.Clone(m.Files), func(f store.File) bool { return !strings.HasPrefix(f.Name, "samples/") })
	key := fmt.Sprint(m.GraphDigest, m.Options.ReactionRule, m.Columns(), m.Samples, samples)
	if content, known := v.reference.contents[key]; known && v.report.Damaged == 0 {
		v.checkContent(content)
		return nil
	}
	table, err := v.dataset.Samples()
	if err != nil {
		return v.noted(-1, err)
	}
	content := store.NewContentDigest(m.GraphDigest, m.Options.ReactionRule, m.Columns())
	reader := table.NewReader()
	defer reader.Close()
	err = reader.ScanRange(0, m.Samples, 4096, func(samples *ingest.Samples) error {
		content.Add(samples)
		return context.Cause(ctx)
	})
	if err != nil {
		return v.noted(-1, err)
	}
	if v.reference.contents == nil {
		v.reference.contents = make(map[string]string)
	}
	v.reference.contents[key] = content.Sum()
	v.checkContent(content.Sum())
	return nil
}

// noted records damage of a sample, or of the dataset (sample -1); other errors are its result.
func (v *verifier) noted(sample int, err error) error {
	if fault.KindOf(err) != fault.Damaged {
		return err
	}
	v.damage(sample, err)
	return nil
}

// add adds the report of a part.
func (r *Report) add(part Report) {
	r.Device = part.Device
	r.Samples += part.Samples
	r.Differences += part.Differences
	r.Damaged += part.Damaged
	r.Seconds += part.Seconds
	r.FirstDifferences = append(r.FirstDifferences, part.FirstDifferences...)
	r.FirstDifferences = r.FirstDifferences[:min(len(r.FirstDifferences), listed)]
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
