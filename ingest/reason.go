package ingest

import "fmt"

// A Reason says why rows made no sample, or what is noted of rows, whatever they made. To add one,
// add a constant, and a line in reasons. Accounts list them in this order.
type Reason uint8

const (
	Kept Reason = iota // the row makes a sample

	UnknownGene
	AmbiguousName
	NoGeneLeft
	SelfPair
	OnlyControls

	// Notes on samples, and on what their rows have.
	Wildtype
	ControlName
	ControlSample
	ControlAlias
	UnknownLeftOut
	MissingGene
	RepeatedGene
	InfiniteValue
	TrimmedText
)

// effect is what a reason means for its rows.
type effect uint8

const (
	notes effect = iota // none: it does not drop them
	drops               // they make nothing, which the settings ask for
	loses               // they make nothing because of a name: they count towards max_dropped
)

// reasons has the key of each reason in JSON, and its text after a number.
var reasons = [...]struct {
	key, text string
	effect    effect
}{
	Kept: {"kept", "kept", notes},

	UnknownGene:   {"unknown_gene", "of unknown genes", loses},
	AmbiguousName: {"ambiguous_name", "of ambiguous names", loses},
	NoGeneLeft:    {"no_gene_left", "left without a gene, as theirs are unknown", loses},
	SelfPair:      {"self_pair", "of a gene with itself", drops},
	OnlyControls:  {"only_controls", "with only controls", drops},

	Wildtype:       {"wildtype", "that delete no gene", notes},
	ControlName:    {"control_name", "names of controls, which delete nothing", notes},
	ControlSample:  {"control_sample", "with only controls", notes},
	ControlAlias:   {"control_alias", "controls that are also other names of genes", notes},
	UnknownLeftOut: {"unknown_left_out", "unknown genes left out", notes},
	MissingGene:    {"missing_gene", "without a name in one of several columns of genes", notes},
	RepeatedGene:   {"repeated_gene", "genes listed again in their sample and merged", notes},
	InfiniteValue:  {"infinite_value", "infinite phenotype values, which count as missing", notes},
	TrimmedText: {"trimmed_text", "texts of attributes whose spaces around them were removed",
		notes},
}

// Drops reports whether the rows make nothing.
func (r Reason) Drops() bool { return reasons[r].effect != notes }

// Lost reports whether the rows are lost because of a name: they count towards max_dropped.
func (r Reason) Lost() bool { return reasons[r].effect == loses }

// String returns the reason's key.
func (r Reason) String() string { return reasons[r].key }

// Text says what the rows are, such as "of unknown genes".
func (r Reason) Text() string { return reasons[r].text }

// MarshalText returns the reason's key.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText finds the reason with a key.
func (r *Reason) UnmarshalText(key []byte) error {
	for reason := range reasons {
		if reasons[reason].key == string(key) {
			*r = Reason(reason)
			return nil
		}
	}
	return fmt.Errorf("found reason %q, which this version does not know", key)
}

// UnknownGenes says what to do with names that mean no gene of the graph, or several.
type UnknownGenes string

const (
	// RefuseUnknownGenes fails with an error that names the gene. It is the default.
	RefuseUnknownGenes UnknownGenes = "error"
	// DropSample drops the sample and counts it.
	DropSample UnknownGenes = "drop-sample"
	// DropGene drops the gene from its sample and counts it, as torchcell does. A sample left
	// without genes would be training on the whole graph, so it is dropped and counted.
	DropGene UnknownGenes = "drop-gene"
)

// UnknownGenesChoices are the values of the setting and flag, the default first.
var UnknownGenesChoices = []UnknownGenes{RefuseUnknownGenes, DropSample, DropGene}
