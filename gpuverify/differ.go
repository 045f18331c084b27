package gpuverify

import (
	"fmt"

	"tcbuild/encode"
)

// stored is a sample's masks, as far as they can be decoded.
type stored struct {
	masks []byte
	err   error // why some cannot be decoded
}

// storedIndices makes masks from removed positions; after an error, only up to the last position.
func storedIndices(removed []uint32, err error, size int) stored {
	if err != nil {
		size = 0
		if len(removed) > 0 {
			size = int(removed[len(removed)-1]) + 1
		}
	}
	masks := encode.Fill(nil, size)
	for _, position := range removed {
		masks[position] = 0
	}
	return stored{masks, err}
}

// differ records every position where the stored masks differ from the expected ones.
func (w *worker) differ(s sample, method Method, removed []uint32, found stored) {
	expected := encode.Fill(nil, w.rules.size)
	for _, position := range removed {
		expected[position] = 0
	}
	for position, want := range expected {
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
	mask, within := w.rules.at(position)
	w.masks[mask].Differences++
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.report.FirstDifferences) < listed {
		w.report.FirstDifferences = append(w.report.FirstDifferences,
			Difference{s.index, s.id, w.rules.masks[mask].name, within, expected, found, method})
	}
}
