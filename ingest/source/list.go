package source

import "slices"

// list is a list that may become long. It grows by blocks: to copy what is there, into memory that
// is new, would take as long as to read a short row. The zero value is empty.
type list[T any] struct {
	blocks [][]T // all but the last have blockLength elements
	length int
}

const blockLength = 1 << 13

func (l *list[T]) append(value T) {
	at := l.length / blockLength
	if at == len(l.blocks) {
		l.blocks = append(l.blocks, nil)
		if at > 0 {
			l.blocks[at] = make([]T, 0, blockLength)
		}
	}
	l.blocks[at] = append(l.blocks[at], value)
	l.length++
}

// at returns element i, which moves only while the list is shorter than a block.
func (l *list[T]) at(i int) *T { return &l.blocks[i/blockLength][i%blockLength] }

// all returns the elements in one piece.
func (l *list[T]) all() []T { return slices.Concat(l.blocks...) }
