package source

import (
	"encoding/binary"
	"iter"
	"strings"
)

// nameMap is a map from names. Most names are short: in a number they take less memory than a text
// does, and comparing them takes no look at memory elsewhere.
type nameMap[V any] struct {
	prefix string       // what the names in short begin with
	short  map[uint64]V // by the packed rest of the name
	long   map[string]V // names without the prefix, and those too long to be packed
}

// newNameMap has room for a number of short names.
func newNameMap[V any](prefix string, room int) nameMap[V] {
	return nameMap[V]{prefix, make(map[uint64]V, room), make(map[string]V)}
}

// get does not allocate.
func (m nameMap[V]) get(name []byte) (value V, known bool) {
	if key, ok := m.pack(name); ok {
		value, known = m.short[key]
	} else {
		value, known = m.long[string(name)]
	}
	return value, known
}

func (m nameMap[V]) set(name string, value V) {
	if key, ok := m.pack([]byte(name)); ok {
		m.short[key] = value
	} else {
		m.long[name] = value
	}
}

// all yields the names in any order.
func (m nameMap[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for key, value := range m.short {
			if !yield(m.unpack(key), value) {
				return
			}
		}
		for name, value := range m.long {
			if !yield(name, value) {
				return
			}
		}
	}
}

// pack puts a name of up to 7 bytes behind the prefix into a number: its length, then its bytes at
// the end.
func (m nameMap[V]) pack(name []byte) (key uint64, ok bool) {
	at := len(m.prefix)
	if len(name) < at || len(name) > at+7 || string(name[:at]) != m.prefix {
		return 0, false
	}
	for _, c := range name[at:] {
		key = key<<8 | uint64(c)
	}
	return key | uint64(len(name)-at)<<56, true
}

func (m nameMap[V]) unpack(key uint64) string {
	bytes := binary.BigEndian.AppendUint64(nil, key)
	return m.prefix + string(bytes[8-bytes[0]:])
}

// prefixOf is what comes before the number in an id such as GO:0005737, and "" in others.
func prefixOf(id string) string { return id[:strings.IndexByte(id, ':')+1] }
