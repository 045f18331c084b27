package incidence

import "tcbuild/ingest"

// End is one of the two ends of an edge, as the masks of a manifest record it.
type End string

const (
	Source End = "source"
	Target End = "target"
)

// someEnds has the edge types of which not both ends count. A reader that lacks this table reads it
// from the manifest.
var someEnds = map[ingest.EdgeType][]End{
	ingest.GPR: {Source}, // that a gene takes part in a reaction stays known when the reaction goes
}

// EndsThatCount returns the ends of an edge type with whose nodes an edge goes, the source first.
func EndsThatCount(t ingest.EdgeType) []End {
	if ends, found := someEnds[t]; found {
		return ends
	}
	return []End{Source, Target}
}
