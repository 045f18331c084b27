package encode

import "github.com/klauspost/compress/huff0"

var (
	literalLengthTable = newFSETable(9, guess(36, 9, []int{0, 80, 380}))
	matchLengthTable   = newFSETable(9, guess(53, 9, []int{}))
	literalTree        = train()
)

func train() *huff0.Scratch {
	var in []byte
	w := func(v byte, n int) {
		for range n {
			in = append(in, v)
		}
	}
	for v := range 256 {
		w(byte(v), 4)
	}
	w(0xFF, 9000)
	w(0x00, 600)
	for i := range 8 {
		w(^byte(1<<i), 1100)
	}
	for i := range 8 {
		w(byte(0xFF<<i), 100)
		w(byte(0xFF>>i), 100)
	}
	s := &huff0.Scratch{}
	if _, _, err := huff0.Compress1X(in, s); err != nil {
		panic(err)
	}
	s.OutTable = append([]byte(nil), s.OutTable...)
	return s
}

func guess(n, log int, w []int) []int {
	p := make([]int, n)
	total := 0
	for i := range p {
		p[i] = 1
		if i < len(w) && w[i] > 0 {
			p[i] = w[i]
		}
		total += p[i]
	}
	if len(w) > 0 {
		p[3] += 1<<log - total
		return p
	}
	for i := 43; i < 49; i++ {
		p[i] += 60
		total += 60
	}
	p[46] += 1<<log - total
	return p
}
