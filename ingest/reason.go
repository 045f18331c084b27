package ingest

import "fmt"

// A Reason says why rows of a source made nothing, or what is noted of rows, whatever they made.
// To add one, add a constant, and a line in reasons. Accounts list them in this order.
type Reason uint8

const (
	Kept Reason = iota // the row makes a sample, a node or an edge

	// Rows of any source.
	FilteredOut
	WithoutID
	UnknownGene
	UnknownNode
	AmbiguousName
	OutsideGraph

	// Rows of a perturbation set.
	SeveralGenes
	NoGeneLeft
	SynonymNames
	SelfPair
	OnlyControls
	OtherAllele
	AlleleNotChosen
	PartialLoss
	WholeLoss
	OtherHalf
	OtherTriangle
	WithoutPhenotype
	WhereNotTrue
	Merged

	// Rows of a graph's sources.
	WeightOutside
	SelfLoop
	OtherDirection
	RepeatedRow
	BelowTop
	NotSampled
	Obsolete
	OtherNamespace
	TermWithoutGenes
	TermLeftOut
	RepeatedPair
	RepeatedAnnotation
	RepeatedCoefficient

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
	MatrixRow
	MatrixRowAgain
	PairAgain
	PartialLossKept

	// Notes on nodes and edges.
	DateAlias
	SharedAlias
	NamelessColumn
	RowAgain
	OtherWeight
	LoopAppended
	Rewired
	ReadAs
	WeightsInside
	AlternativeTerm
	ReplacedTerm
	UnusedRelation
	ParentOutside
	UntouchedReaction
	RenamedRule
	ReactionNode
)

// effect is what a reason means for its rows.
type effect uint8

const (
	notes effect = iota // none: it does not drop them
	drops               // they make nothing, which the settings ask for
	loses               // they make nothing: they count towards max_dropped
	// they make nothing, because of a name: they count towards max_dropped, too
	losesName
)

// reasons has the key of each reason in JSON, and its text after a number, with %s for the detail.
var reasons = [...]struct {
	key, text string
	effect    effect
}{
	Kept: {"kept", "kept", notes},

	FilteredOut:   {"filtered_out", "%s", drops}, // the filter's own words
	WithoutID:     {"without_id", "without an id", drops},
	UnknownGene:   {"unknown_gene", "of unknown genes%s", losesName},
	UnknownNode:   {"unknown_node", "of unknown %s", losesName},
	AmbiguousName: {"ambiguous_name", "of ambiguous names%s", losesName},
	OutsideGraph:  {"outside_graph", "of genes that are not in the graph", drops},

	SeveralGenes:    {"several_genes", "with several genes in place of one", losesName},
	NoGeneLeft:      {"no_gene_left", "left without a gene, as theirs are unknown", losesName},
	SynonymNames:    {"synonym_names", "with two names of one gene", drops},
	SelfPair:        {"self_pair", "of a gene with itself", drops},
	OnlyControls:    {"only_controls", "with only controls", drops},
	OtherAllele:     {"other_allele", "of allele kind %s, which is not among alleles", loses},
	AlleleNotChosen: {"allele_not_chosen", "of allele kind %s, which is not among alleles", drops},
	PartialLoss:     {"partial_loss", "of columns without a whole deletion", drops},
	WholeLoss:       {"whole_loss", "of columns with a whole deletion", drops},
	OtherHalf: {"other_half", "equal to the value of the same pair in the other half",
		drops},
	OtherTriangle:    {"other_triangle", "in the other triangle", drops},
	WithoutPhenotype: {"without_phenotype", "without a phenotype", drops},
	WhereNotTrue:     {"where_not_true", "for which --where is not true", drops},
	Merged:           {"merged", "merged with another one of their genotype", drops},

	WeightOutside:    {"weight_outside", "%s", drops}, // what the weight is, such as "below min"
	SelfLoop:         {"self_loop", "self loops", drops},
	OtherDirection:   {"other_direction", "the other direction of an earlier row", drops},
	RepeatedRow:      {"repeated_row", "repeating an earlier row", drops},
	BelowTop:         {"below_top", "not among the top %s of its target", drops},
	NotSampled:       {"not_sampled", "not sampled (%s)", drops},
	Obsolete:         {"obsolete", "%s", drops}, // obsolete, or what of them
	OtherNamespace:   {"other_namespace", "of %s", drops},
	TermWithoutGenes: {"term_without_genes", "without genes, also below them", drops},
	TermLeftOut:      {"term_left_out", "of terms that are left out", drops},
	RepeatedPair:     {"repeated_pair", "repeating an earlier pair of terms", drops},
	RepeatedAnnotation: {"repeated_annotation", "of the gene and term of an earlier row",
		drops},
	RepeatedCoefficient: {"repeated_coefficient",
		"added to an earlier one of the same reaction and metabolite", drops},

	Wildtype:       {"wildtype", "that delete no gene", notes},
	ControlName:    {"control_name", "names of controls, which delete nothing", notes},
	ControlSample:  {"control_sample", "with only controls", notes},
	ControlAlias:   {"control_alias", "controls that are also other names of genes", notes},
	UnknownLeftOut: {"unknown_left_out", "unknown genes left out", notes},
	MissingGene: {"missing_gene", "missing names in one of several columns of genes",
		notes},
	RepeatedGene: {"repeated_gene", "genes listed again in their sample and merged", notes},
	InfiniteValue: {"infinite_value", "infinite phenotype values, which count as missing",
		notes},
	TrimmedText: {"trimmed_text", "texts of attributes whose spaces around them were removed",
		notes},
	MatrixRow:      {"matrix_row", "rows", notes},
	MatrixRowAgain: {"matrix_row_again", "rows of a gene that has an earlier row", notes},
	PairAgain:      {"pair_again", "of pairs that have an earlier cell", notes},
	PartialLossKept: {"partial_loss_kept",
		"of columns without a whole deletion, taken as deletions", notes},

	DateAlias: {"date_alias", "names that Excel made dates, which mean no gene", notes},
	SharedAlias: {"shared_alias", "names of several features, which mean none of them",
		notes},
	NamelessColumn: {"nameless_column", "columns without a name, which are left out", notes},
	RowAgain:       {"row_again", "kept although an earlier row has the same genes", notes},
	OtherWeight: {"other_weight", "with another weight than the first row of the pair",
		notes},
	LoopAppended:    {"loop_appended", "self loops appended", notes},
	Rewired:         {"rewired", "rewired (%s)", notes},
	ReadAs:          {"read_as", "names read as %s", notes},
	WeightsInside:   {"weights_inside", "within min and max, which dropped none", notes},
	AlternativeTerm: {"alternative_term", "of alternative ids of terms", notes},
	ReplacedTerm: {"replaced_term", "of obsolete terms, read as the terms that replace them",
		notes},
	UnusedRelation: {"unused_relation",
		"relations %s, which are not among gene_ontology.relations", notes},
	ParentOutside: {"parent_outside", "relations %s to terms that the file lacks", notes},
	UntouchedReaction: {"untouched_reaction",
		"whose genes are all unknown, so that no deletion removes them", notes},
	RenamedRule:  {"renamed_rule", "rules with a gene's other name replaced by its id", notes},
	ReactionNode: {"reaction_node", "nodes, one per combination of genes and direction", notes},
}

// Drops reports whether the rows make nothing.
func (r Reason) Drops() bool { return reasons[r].effect != notes }

// Lost reports whether the rows count towards max_dropped.
func (r Reason) Lost() bool { return reasons[r].effect >= loses }

func (r Reason) losesName() bool { return reasons[r].effect == losesName }

// String returns the reason's key.
func (r Reason) String() string { return reasons[r].key }

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
	// without genes would be training on the whole graph, so it is dropped and counted. Of a graph,
	// it drops the edge.
	DropGene UnknownGenes = "drop-gene"
)

// UnknownGenesChoices are the values of the setting and flag, the default first.
var UnknownGenesChoices = []UnknownGenes{RefuseUnknownGenes, DropSample, DropGene}

// Synonyms says what to do with a sample that names one gene by two names.
type Synonyms string

const (
	RefuseSynonyms Synonyms = "error"       // fails with an error that has both names; the default
	DropSynonyms   Synonyms = "drop-sample" // drops the sample and counts it
)
