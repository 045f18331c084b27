package names

// meanings maps names to their meanings. Names of up to 7 bytes, as most are, have a map of their own:
// with one map of all names, reading SGD's features takes a tenth longer.
type meanings struct {
	short map[shortName]Answer
	long  map[string]Answer
}

// shortName is a name, filled up with zeros, and its length. Comparing two takes no look at memory
// elsewhere.
//
//	TFC3    54 46 43 33 00 00 00 04
type shortName [8]byte

func shorten(name []byte) (short shortName, ok bool) {
	short[7] = byte(copy(short[:7], name))
	return short, len(name) <= 7
}

func newMeanings(room int) meanings {
	return meanings{make(map[shortName]Answer, room), make(map[string]Answer)}
}

func (m *meanings) get(name []byte) (answer Answer, known bool) {
	if short, ok := shorten(name); ok {
		answer, known = m.short[short]
	} else {
		answer, known = m.long[string(name)]
	}
	return answer, known
}

func (m *meanings) set(name string, answer Answer) {
	if short, ok := shorten([]byte(name)); ok {
		m.short[short] = answer
	} else {
		m.long[name] = answer
	}
}
