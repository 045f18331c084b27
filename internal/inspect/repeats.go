package inspect

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// repeats counts exactly how many added 64-bit hashes were added before. Memory is bounded: beyond
// heldHashes, hashes go to an unnamed temporary file, 8 bytes each, as sorted runs that are merged
// at the end.
type repeats struct {
	held  []uint64
	file  *os.File // nil until needed
	ends  []int64  // of the runs in the file, in bytes
	count int
}

// heldHashes take 2 MB.
const heldHashes = 1 << 18

func (r *repeats) add(hash uint64) error {
	if r.held = append(r.held, hash); len(r.held) < heldHashes {
		return nil
	}
	return r.spill()
}

// settle sorts the held hashes, and counts and drops repeats among them.
func (r *repeats) settle() {
	slices.Sort(r.held)
	distinct := slices.Compact(r.held)
	r.count += len(r.held) - len(distinct)
	r.held = distinct
}

// spill moves the held hashes to the file, as a run.
func (r *repeats) spill() error {
	r.settle()
	if r.file == nil {
		file, err := os.CreateTemp("", "tcbuild-inspect-")
		if err != nil {
			return fmt.Errorf("count repeated samples: %w", err)
		}
		r.file, r.ends = file, []int64{0}
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("count repeated samples: %w", err)
		}
	}
	out := bufio.NewWriter(r.file)
	for _, hash := range r.held {
		// Flush returns the error
		_, _ = out.Write(binary.LittleEndian.AppendUint64(out.AvailableBuffer(), hash))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("count repeated samples: %w", err)
	}
	r.ends = append(r.ends, r.ends[len(r.ends)-1]+8*int64(len(r.held)))
	r.held = r.held[:0]
	return nil
}

// total ends the counting.
func (r *repeats) total() (int, error) {
	if r.file == nil {
		r.settle()
		return r.count, nil
	}
	if err := r.spill(); err != nil {
		return 0, err
	}
	var runs mergedRuns
	for i, end := range r.ends[1:] {
		next := &run{in: bufio.NewReader(io.NewSectionReader(r.file, r.ends[i], end-r.ends[i]))}
		if err := runs.enter(next); err != nil {
			return 0, err
		}
	}
	last, begun := uint64(0), false
	for len(runs) > 0 {
		lowest := runs[len(runs)-1]
		runs = runs[:len(runs)-1]
		if begun && lowest.hash == last {
			r.count++
		}
		last, begun = lowest.hash, true
		if err := runs.enter(lowest); err != nil {
			return 0, err
		}
	}
	return r.count, nil
}

func (r *repeats) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// run is a sorted run being read; hash is its next hash.
type run struct {
	in   *bufio.Reader
	hash uint64
}

// mergedRuns are runs by their next hash, the lowest last.
type mergedRuns []*run

// enter reads the next hash of a run and puts the run in its place, unless it is at its end.
func (m *mergedRuns) enter(next *run) error {
	var bytes [8]byte
	if _, err := io.ReadFull(next.in, bytes[:]); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("count repeated samples: %w", err)
	}
	next.hash = binary.LittleEndian.Uint64(bytes[:])
	at, _ := slices.BinarySearchFunc(*m, next.hash, func(r *run, hash uint64) int { return cmp.Compare(hash, r.hash) })
	*m = slices.Insert(*m, at, next)
	return nil
}
