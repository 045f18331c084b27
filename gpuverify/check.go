package gpuverify

import (
	"fmt"
	"slices"

	"tcbuild/encode"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// worker checks samples; it is for one goroutine.
type worker struct {
	*verifier
	reader  *store.Reader
	decoder encode.Decoder        // nil in the incidence variant
	scatter *regenerate.Scatterer // nil for edges only, and before it is needed
	look    *regenerate.Looker    // nil for incidence only, and before it is needed
	read    int                   // samples
	masks   []MaskReport
}

// merge adds the worker's counts to the report.
func (w *worker) merge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.Samples += w.read
	for i, mask := range w.masks {
		w.report.Masks[i].Removed += mask.Removed
		w.report.Masks[i].Differences += mask.Differences
		w.report.Differences += mask.Differences
	}
}

func newWorker(v *verifier) *worker {
	w := &worker{
		verifier: v, reader: v.dataset.NewReader(), masks: make([]MaskReport, len(v.report.Masks)),
	}
	if v.dataset.Manifest.Variant != store.Incidence {
		w.decoder = v.codec.NewDecoder(v.rules.Size)
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

// check checks a chunk. It records damage; the error is for failures to read.
func (w *worker) check(c chunk) error {
	var samples []sample
	for index := c.first; index < c.next; index++ {
		s, ok, err := w.row(index)
		if err != nil {
			return err
		}
		if ok {
			samples = append(samples, s)
		}
	}
	_, err := w.checkSamples(samples, w.payload)
	return err
}

// row reads a sample without its payload. It records damage; ok is false if the sample's masks
// cannot be compared. The error is for failures to read.
func (w *worker) row(index int) (s sample, ok bool, err error) {
	row, err := w.reader.Row(index)
	if err != nil {
		return s, false, w.noted(index, err)
	}
	w.read++
	if err := checkGenes(row.Genes, w.rules.Graph.Genes.Len()); err != nil {
		w.damage(index, fmt.Errorf("sample %d: %w", index, err))
		return s, false, nil
	}
	return sample{index: index, id: string(row.ID), genes: slices.Clone(row.Genes)}, true, nil
}

// payload reads a sample's masks as they are stored. It records damage; the result is nil if they
// cannot be compared. The error is for failures to read.
func (w *worker) payload(index int) ([]byte, error) {
	payload, err := w.reader.Payload(index)
	return payload, w.noted(index, err)
}

// checkSamples compares the masks of at most regenerate.BatchSamples samples, and returns how many
// of them are wrong. payload reads what is stored of a sample, as worker.payload does.
func (w *worker) checkSamples(
	samples []sample, payload func(index int) ([]byte, error),
) (wrong int, err error) {
	if w.scatter == nil && w.Method != ByEdges {
		w.scatter = regenerate.NewScatterer(w.rules, w.incidence)
	}
	if w.look == nil && w.Method != ByIncidence {
		w.look = regenerate.NewLooker(w.rules)
	}
	byEdges := make([][]uint32, len(samples))
	if w.look != nil {
		genotypes := make([][]uint32, len(samples))
		for k, s := range samples {
			genotypes[k] = s.genes
		}
		byEdges = w.look.Regenerate(genotypes)
	}
	for k, s := range samples {
		if w.decoder != nil {
			if s.payload, err = payload(s.index); err != nil {
				return wrong, err
			}
			if s.payload == nil {
				continue
			}
		}
		removed, right := w.compare(s, byEdges[k])
		if !right {
			wrong++
		}
		w.count(removed, 1)
	}
	return wrong, nil
}

// checkGenes checks that perturbation indices can be looked up.
func checkGenes(genes []uint32, count int) error {
	for i, gene := range genes {
		if int(gene) >= count || i > 0 && gene <= genes[i-1] {
			return fmt.Errorf("found perturbation index %d, expected ascending indices below %d",
				gene, count)
		}
	}
	return nil
}

// compare compares a sample's masks: those regenerated with each other, and the stored ones with
// them. The incidence variant stores none; its incidence cache has already been compared with the
// edges. byEdges has the positions that are removed by edges, if that is a method. It returns the
// removed positions, those by incidence if the methods differ, and whether all are equal.
func (w *worker) compare(s sample, byEdges []uint32) (removed []uint32, right bool) {
	var found []uint32
	var err error
	if w.decoder != nil {
		found, err = w.decoder.Removed(s.payload)
	}
	method := ByEdges
	removed, right = byEdges, true
	if w.scatter != nil {
		method = ByIncidence
		w.scatter.Regenerate(s.genes)
		if w.look == nil {
			removed = found
		}
		if !w.scatter.Equals(removed) {
			removed = w.scatter.Sorted()
			if w.look != nil {
				w.differ(s, ByEdges, byEdges, masksOf(removed, w.rules.Size))
				right = false
			}
		}
	}
	if w.decoder != nil && (err != nil || !slices.Equal(found, removed)) {
		masks, err := w.stored(s.payload)
		w.differ(s, method, removed, masks)
		if err != nil {
			w.damage(s.index, fmt.Errorf("sample %d: %w", s.index, err))
		}
		right = false
	}
	return removed, right
}

// count adds a sample's removed positions, ascending, to the masks' counts so many times.
func (w *worker) count(removed []uint32, times int) {
	for i, mask := range w.rules.Masks {
		end, _ := slices.BinarySearch(removed, uint32(mask.Start+mask.Size))
		w.masks[i].Removed += int64(times * end)
		removed = removed[end:]
	}
}

// stored lays out the masks of a payload, as far as they can be decoded: if removed positions are
// stored, up to the last one before the damage.
func (w *worker) stored(payload []byte) ([]byte, error) {
	if w.dataset.Manifest.Variant == store.FullMasks {
		return w.decoder.Masks(payload)
	}
	removed, err := w.decoder.Removed(payload)
	size := w.rules.Size
	if err != nil {
		size = 0
		if len(removed) > 0 {
			size = int(removed[len(removed)-1]) + 1
		}
	}
	return masksOf(removed, size), err
}

// masksOf lays out the masks of removed positions.
func masksOf(removed []uint32, size int) []byte {
	masks := encode.Fill(nil, size)
	for _, position := range removed {
		masks[position] = 0
	}
	return masks
}

// differ records every position where the stored masks differ from the expected ones.
func (w *worker) differ(s sample, method Method, removed []uint32, found []byte) {
	for position, want := range masksOf(removed, w.rules.Size) {
		if position == len(found) {
			w.difference(s, method, position, int(want), -1)
			break
		}
		if have := found[position]; have != want {
			w.difference(s, method, position, int(want), int(have))
		}
	}
}

func (w *worker) difference(s sample, method Method, position, expected, found int) {
	mask, within := w.rules.At(position)
	w.masks[mask].Differences++
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.differ(Difference{s.index, s.id, w.rules.Masks[mask].Name, within, expected, found,
		method})
}
