package names

import (
	"maps"
	"slices"
)

// entries map names to their meanings. Names of up to 7 bytes, as most are, have a map of their
// own: with one map of all names, reading SGD's features takes a tenth longer.
type entries struct {
	short   map[shortName]Answer
	long    map[string]Answer
	several map[string][]uint32 // the genes of a name that has more than one, in order
}

// shortName is a name of up to 7 bytes, filled up with zeros, and its length. Comparing two takes
// no look at memory elsewhere.
//
//	TFC3    54 46 43 33 00 00 00 04
type shortName [8]byte

func shorten(name []byte) (short shortName, ok bool) {
	short[7] = byte(copy(short[:7], name))
	return short, len(name) <= 7
}

func newEntries(room int) *entries {
	return &entries{
		short:   make(map[shortName]Answer, room),
		long:    make(map[string]Answer),
		several: make(map[string][]uint32),
	}
}

// get returns what a name means; Unknown if nothing has it.
func (e *entries) get(name []byte) Answer {
	if short, ok := shorten(name); ok {
		return e.short[short]
	}
	return e.long[string(name)]
}

func (e *entries) set(name string, answer Answer) {
	if short, ok := shorten([]byte(name)); ok {
		e.short[short] = answer
	} else {
		e.long[name] = answer
	}
}

// setLevel moves all names to one level. No name may be added afterwards.
func (e *entries) setLevel(level int) {
	for short, answer := range e.short {
		answer.Level = int16(level)
		e.short[short] = answer
	}
	for name, answer := range e.long {
		answer.Level = int16(level)
		e.long[name] = answer
	}
}

// names returns all names, ascending.
func (e *entries) names() (all []string) {
	for short := range e.short {
		all = append(all, string(short[:short[7]]))
	}
	all = slices.AppendSeq(all, maps.Keys(e.long))
	slices.Sort(all)
	return all
}

// genes returns the numbers of the genes that have a name.
func (e *entries) genes(name []byte) []uint32 {
	if several := e.several[string(name)]; several != nil {
		return several
	}
	if answer := e.get(name); answer.Meaning != Unknown {
		return []uint32{answer.Gene}
	}
	return nil
}

// add adds a name of a gene, which is a node of the graph or not, unless an earlier level has the
// name. It reports whether it did.
func (e *entries) add(level int16, name string, gene uint32, isNode bool) bool {
	answer := e.get([]byte(name))
	if answer.Meaning == Unknown {
		answer = Answer{gene, level, NotInGraph}
		if isNode {
			answer.Meaning = Gene
		}
		e.set(name, answer)
		return true
	}
	genes := e.genes([]byte(name))
	if answer.Level != level || slices.Contains(genes, gene) {
		return false
	}
	e.several[name] = append(slices.Clip(genes), gene)
	if answer.Meaning != NotInGraph || isNode {
		answer.Meaning = Ambiguous
	}
	e.set(name, answer)
	return true
}
