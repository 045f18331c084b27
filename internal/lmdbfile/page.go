package lmdbfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// treePage is a page of a branch or a leaf.
type treePage struct {
	bytes  []byte
	number uint64
}

func (p treePage) flags() uint16 { return binary.LittleEndian.Uint16(p.bytes[10:]) }

// nodes counts the page's nodes.
func (p treePage) nodes() int {
	return max(min(int(binary.LittleEndian.Uint16(p.bytes[12:])), len(p.bytes))-pageHeader, 0) / 2
}

// node returns node i, 0 <= i < nodes(), with what lies behind it on the page, and its key.
func (p treePage) node(i int) (node, key []byte, err error) {
	at := int(binary.LittleEndian.Uint16(p.bytes[pageHeader+2*i:]))
	if at < pageHeader || at+nodeHeader > len(p.bytes) {
		return nil, nil, fmt.Errorf("%w: node %d of page %d lies at byte %d", ErrDamaged, i, p.number, at)
	}
	node = p.bytes[at:]
	size := int(binary.LittleEndian.Uint16(node[6:]))
	if nodeHeader+size > len(node) {
		return nil, nil, fmt.Errorf("%w: the key of node %d does not end on page %d", ErrDamaged, i, p.number)
	}
	return node, node[nodeHeader:][:size:size], nil
}

// child returns the number of the page that node i of a branch leads to.
func (p treePage) child(i int) (uint64, error) {
	node, _, err := p.node(i)
	if err != nil {
		return 0, err
	}
	return uint64(binary.LittleEndian.Uint32(node)) | uint64(binary.LittleEndian.Uint16(node[4:]))<<32, nil
}

// firstNotLess returns the first node from first on that suits target: of a leaf, one whose key is not less; of a
// branch, one whose key is greater, as a node holds its own key too.
func (p treePage) firstNotLess(first int, target []byte) (int, error) {
	least := 0
	if p.flags()&branchPage != 0 {
		least = 1
	}
	low, high := first, p.nodes()
	for low < high {
		middle := int(uint(low+high) / 2)
		_, key, err := p.node(middle)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(key, target) < least {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
