package gpuverify

import (
	"fmt"

	"tcbuild/encode"
	"tcbuild/store"
)

// stored is a sample's masks, as far as they can be decoded.
type stored struct {
	masks []byte
	err   error // why some cannot be decoded
}

// decodedPositions is how many positions, of size, are known from removed: all, or after an error
// those up to the last one removed.
func decodedPositions(removed []uint32, err error, size int) int {
	switch {
	case err == nil:
		return size
	case len(removed) == 0:
		return 0
	}
	return int(removed[len(removed)-1]) + 1
}

// stored lays out the masks of a payload, as far as these are known.
func (w *worker) stored(payload []byte) stored {
	if w.dataset.Manifest.Variant == store.FullMasks {
		masks, err := w.decoder.Masks(payload)
		return stored{masks, err}
	}
	removed, err := w.decoder.Removed(payload)
	return stored{masksOf(removed, decodedPositions(removed, err, w.rules.Size)), err}
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
func (w *worker) differ(s sample, method Method, removed []uint32, found stored) {
	for position, want := range masksOf(removed, w.rules.Size) {
		if position == len(found.masks) {
			w.difference(s, method, position, int(want), -1)
			break
		}
		if have := found.masks[position]; have != want {
			w.difference(s, method, position, int(want), int(have))
		}
	}
	if found.err != nil {
		w.damage(s.index, fmt.Errorf("sample %d: %w", s.index, found.err))
	}
}

func (w *worker) difference(s sample, method Method, position, expected, found int) {
	mask, within := w.rules.At(position)
	w.masks[mask].Differences++
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.report.FirstDifferences) < listed {
		w.report.FirstDifferences = append(w.report.FirstDifferences,
			Difference{s.index, s.id, w.rules.Masks[mask].Name, within, expected, found, method})
	}
}
