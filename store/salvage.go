package store

import "encoding/binary"

// salvage adds the values of a damaged shard that the walk from its root did not reach. It looks at every page
// that looks like a leaf, and takes each entry that lies within bounds; what the damage hit may be
// missing, and values that were replaced may be among them.
func (s *shardFile) salvage() {
	for number := range uint64(len(s.file) / s.pageSize) {
		page, err := s.page(number)
		if err != nil || binary.LittleEndian.Uint16(page[10:]) != leafPage {
			continue
		}
		for i := range s.nodes(page) {
			node, err := s.node(page, i)
			if err != nil {
				continue
			}
			first, value, err := s.value(node)
			if _, reached := s.values[first]; err == nil && !reached {
				s.values[first] = value
			}
		}
	}
}
