package gpuverify

import (
	"bytes"
	"fmt"
	"slices"

	"tcbuild/encode"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/ingest"
	"tcbuild/store"
)

// worker checks samples; it is for one goroutine.
type worker struct {
	*verifier
	reader  *store.Reader
	decoder encode.Decoder        // nil in the incidence variant
	scatter *regenerate.Scatterer // nil for edges only
	look    *regenerate.Looker    // nil for incidence only
	// the regenerated masks of a sample; the regenerate.Scatterer's if there is one
	expected *regenerate.MaskBuffer
	masks    []MaskReport
}

// merge adds the worker's counts to the report.
func (w *worker) merge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, mask := range w.masks {
		w.report.Masks[i].Removed += mask.Removed
		w.report.Masks[i].Differences += mask.Differences
		w.report.Differences += mask.Differences
	}
}

func newWorker(v *verifier) *worker {
	w := &worker{verifier: v, reader: v.dataset.NewReader(), masks: make([]MaskReport, len(v.report.Masks))}
	if v.dataset.Manifest.Variant != store.Incidence {
		w.decoder = v.codec.NewDecoder(v.rules.Size)
	}
	if v.Method != ByEdges {
		w.scatter = regenerate.NewScatterer(v.rules, v.incidence)
		w.expected = &w.scatter.MaskBuffer
	} else {
		buffer := regenerate.NewMaskBuffer(v.rules.Size)
		w.expected = &buffer
	}
	if v.Method != ByIncidence {
		w.look = regenerate.NewLooker(v.rules)
	}
	return w
}

// sample is one sample of a chunk, as read.
type sample struct {
	index   int
	id      string
	genes   []uint32
	payload []byte // view, valid while the sample is compared
}

// check checks a chunk and returns its samples. It records damage; the error is for failures to
// read.
func (w *worker) check(c chunk) (*ingest.Samples, error) {
	var samples []sample
	all := ingest.NewSamples(c.first, w.dataset.Manifest.Columns(), c.next-c.first)
	for index := c.first; index < c.next; index++ {
		stored, err := w.read(w.reader, index, all)
		if err != nil {
			return nil, err
		}
		if stored == nil {
			continue
		}
		samples = append(samples, sample{index: index, id: string(stored.ID), genes: slices.Clone(stored.Genes)})
	}
	var byEdges [][]uint32
	if w.look != nil {
		genotypes := make([][]uint32, len(samples))
		for k, s := range samples {
			genotypes[k] = s.genes
		}
		byEdges = w.look.Regenerate(genotypes)
	}
	for k, s := range samples {
		again, err := w.reader.Stored(s.index) // again: a chunk may be too large for memory
		if again == nil {
			return nil, err
		}
		s.payload = again.Payload
		method := ByIncidence
		if w.scatter != nil {
			w.scatter.Regenerate(s.genes)
			if w.look != nil && !w.scatter.Equals(byEdges[k]) {
				w.differ(s, ByEdges, byEdges[k], stored{masks: w.scatter.Masks})
			}
		} else {
			method = ByEdges
			for _, position := range byEdges[k] {
				w.expected.Remove(int(position))
			}
		}
		w.compare(s, method)
		w.expected.Reset()
	}
	return all, nil
}

// checkGenes checks that perturbation indices can be looked up.
func checkGenes(genes []uint32, count int) error {
	for i, gene := range genes {
		if int(gene) >= count || i > 0 && gene <= genes[i-1] {
			return fmt.Errorf("found perturbation index %d, expected ascending indices below %d", gene, count)
		}
	}
	return nil
}

// compare compares the stored masks with the regenerated ones. The incidence variant stores no
// masks; its incidence cache has already been compared with the edges.
func (w *worker) compare(s sample, method Method) {
	switch w.dataset.Manifest.Variant {
	case store.Incidence:
		w.count(w.expected.Sorted())
	case store.Indices:
		removed, err := w.decoder.Removed(s.payload)
		if err != nil || !w.expected.Equals(removed) {
			w.differ(s, method, w.expected.Sorted(), storedIndices(removed, err, w.rules.Size))
			removed = w.expected.Sorted()
		}
		w.count(removed)
	default:
		removed := w.expected.Sorted()
		if masks, err := w.decoder.Masks(s.payload); err != nil || !bytes.Equal(masks, w.expected.Masks) {
			w.differ(s, method, removed, stored{masks, err})
		}
		w.count(removed)
	}
}

// count adds a sample's removed positions, ascending, to the masks' counts.
func (w *worker) count(removed []uint32) {
	for i, mask := range w.rules.Masks {
		end, _ := slices.BinarySearch(removed, uint32(mask.Start+mask.Size))
		w.masks[i].Removed += int64(end)
		removed = removed[end:]
	}
}
