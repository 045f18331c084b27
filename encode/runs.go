package encode

import (
	"encoding/binary"
)

// runs is a sample's removed positions as runs of consecutive ones: a gap of kept positions since
// the previous run, and a length. Edges are sorted by source, so a deleted gene's outgoing edges
// are one run, and its incoming ones runs of length one.
//
// Both numbers have 16 bits: a longer gap is bridged by runs of length 0, a longer run continues in
// a run with gap 0. Lengths other than 1 are listed separately and marked in a bitmap.
type runs struct {
	gaps    []uint16
	marks   []byte   // bit i of byte i/8: run i's length is listed
	lengths []uint16 // of the marked runs, in order
}

const maxRun = 1<<16 - 1

func (r *runs) reset() { r.gaps, r.marks, r.lengths = r.gaps[:0], r.marks[:0], r.lengths[:0] }

// set replaces the runs with the runs of removed, which is strictly ascending.
func (r *runs) set(removed []uint32) {
	r.reset()
	next := uint32(0) // position after the previous run
	for i := 0; i < len(removed); {
		first := removed[i]
		last := first
		for i++; i < len(removed) && removed[i] == last+1; i++ {
			last++
		}
		gap, length := first-next, last-first+1
		next = last + 1
		if gap > maxRun || length > maxRun {
			gap, length = r.split(gap, length)
		}
		r.add(gap, length)
	}
}

// split adds runs for the parts of a gap and a length beyond 16 bits, and returns the rest.
func (r *runs) split(gap, length uint32) (restOfGap, restOfLength uint32) {
	for ; gap > maxRun; gap -= maxRun {
		r.add(maxRun, 0)
	}
	for ; length > maxRun; length -= maxRun {
		r.add(gap, maxRun)
		gap = 0
	}
	return gap, length
}

func (r *runs) add(gap, length uint32) {
	run := len(r.gaps)
	r.gaps = append(r.gaps, uint16(gap))
	if run%8 == 0 {
		r.marks = append(r.marks, 0)
	}
	if length != 1 {
		r.marks[run/8] |= 1 << (run % 8)
		r.lengths = append(r.lengths, uint16(length))
	}
}

// appendRemoved appends the positions of the runs, up to the first invalid run.
func (r *runs) appendRemoved(dst []uint32, size int) ([]uint32, error) {
	next, listed := 0, 0
	for run, gap := range r.gaps {
		length := 1
		if r.marks[run/8]>>(run%8)&1 != 0 {
			if listed == len(r.lengths) {
				return dst, damagedf("run %d has no length", run)
			}
			length = int(r.lengths[listed])
			listed++
		}
		first := next + int(gap)
		next = first + length
		if next > size {
			return dst, damagedf("run of %d positions from %d leaves the masks (%d positions)",
				length, first, size)
		}
		for position := first; position < next; position++ {
			dst = append(dst, uint32(position))
		}
	}
	if listed != len(r.lengths) {
		return dst, damagedf("%d run lengths for %d marked runs", len(r.lengths), listed)
	}
	return dst, nil
}

// runsEncoder writes: run count u32 | gaps u16… | marks | lengths u16…
type runsEncoder struct{ runs runs }

func newRunsEncoder(int) Encoder { return &runsEncoder{} }

func (e *runsEncoder) Append(dst []byte, removed []uint32) []byte {
	r := &e.runs
	r.set(removed)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.gaps)))
	for _, gap := range r.gaps {
		dst = binary.LittleEndian.AppendUint16(dst, gap)
	}
	dst = append(dst, r.marks...)
	for _, length := range r.lengths {
		dst = binary.LittleEndian.AppendUint16(dst, length)
	}
	return dst
}

type runsDecoder struct {
	expand
	parse   func(r *runs, payload []byte) error
	runs    runs
	removed []uint32
}

func newRunsDecoder(size int) Decoder {
	return &runsDecoder{expand: expand{size: size}, parse: (*runs).parse}
}

func (d *runsDecoder) Removed(payload []byte) ([]uint32, error) {
	if err := d.parse(&d.runs, payload); err != nil {
		return nil, err
	}
	var err error
	d.removed, err = d.runs.appendRemoved(d.removed[:0], d.size)
	return d.removed, err
}

func (d *runsDecoder) Masks(payload []byte) ([]byte, error) {
	removed, err := d.Removed(payload)
	return d.masks(removed), err
}

// parse parses the output of runsEncoder.
func (r *runs) parse(payload []byte) error {
	count, payload, err := runCount(payload, 2)
	if err != nil {
		return err
	}
	r.reset()
	for i := range count {
		r.gaps = append(r.gaps, binary.LittleEndian.Uint16(payload[2*i:]))
	}
	payload = payload[2*count:]
	marks := (count + 7) / 8
	if len(payload) < marks || (len(payload)-marks)%2 != 0 {
		return damagedf("payload has %d bytes after the gaps of %d runs", len(payload), count)
	}
	r.marks = append(r.marks, payload[:marks]...)
	for at := marks; at < len(payload); at += 2 {
		r.lengths = append(r.lengths, binary.LittleEndian.Uint16(payload[at:]))
	}
	return nil
}

// runCount reads the run count that a payload starts with, and returns the rest, which
// holds at least bytesPerRun bytes for each run.
func runCount(payload []byte, bytesPerRun int) (count int, rest []byte, err error) {
	if len(payload) < 4 {
		return 0, nil, damagedf("payload of %d bytes has no run count", len(payload))
	}
	count = int(binary.LittleEndian.Uint32(payload))
	if rest = payload[4:]; len(rest) < bytesPerRun*count {
		return 0, nil, damagedf("payload has %d bytes for the gaps of %d runs", len(rest), count)
	}
	return count, rest, nil
}
