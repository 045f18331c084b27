package torchcell

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/internal/decimal"
)

// Record is the data of one genotype in a build of torchcell: one experiment, or all experiments.
// Its texts and slices are views that are valid until the next record is read.
type Record struct {
	Number      int // number in its key; a store may omit numbers
	Experiments []Experiment
}

// Experiment is one experiment of a record.
type Experiment struct {
	// Perturbations of any type, in order. Several may be of the same gene. A list of genotypes
	// gives the perturbations of all.
	Perturbations []Perturbation
	Label         []byte // name of its phenotype's label
	// Values of the label, then of its statistic if the phenotype names one, then attributes: what
	// else the record notes of the experiment.
	Values []Value
	// Unit of the label's values, and what kind of measurement they are; nil if it is not said.
	Unit, Measurement []byte

	nth     int      // from 1, among the record's experiments with its label
	details []detail // of its genotype, environment and reference strain, by name
	things  []thing  // the genes and compounds that details may be said of
}

// Perturbation is a change of a gene.
type Perturbation struct {
	Gene []byte // systematic name
	Type []byte // nil if it is not said
}

// Value is a measurement or an attribute. A label whose value is an object or an array has a Value
// for each member. A Value that is not one of the following is missing.
type Value struct {
	Name []byte // of the label, of the statistic or of the attribute
	// name or 0-based number of the member; nil unless the value is an object or array
	Part   []byte
	Number float64 // NaN if it is not a number
	NaN    bool    // the record has the number NaN, which is missing too
	Text   []byte  // nil if it is not text
	Other  bool    // an object or an array
	// Types means that the value is the types of the experiment's perturbations.
	Types     bool
	Attribute bool
	// Detail means that it is no attribute if it is the same in all records.
	Detail bool
}

// IsMissing reports whether the value is neither a number nor a text, nor types.
func (v *Value) IsMissing() bool { return v.Text == nil && !v.Types && math.IsNaN(v.Number) }

// Names of attributes.
var (
	perturbationType = []byte("perturbation_type")
	medium           = []byte("medium")
	temperature      = []byte("temperature")
	environment      = []byte("environment")

	experimentNumber  = []byte("experiment")
	perturbationCount = []byte("perturbation_count")
	notFinite         = []byte("not_finite")
)

// decoder makes records of texts. It reuses its memory.
type decoder struct {
	*Experiment // at hand
	parser      parser
	bad         error             // the first
	leftOut     map[string]bool   // names of details
	names       map[string][]byte // of members of details, by themselves
	joined      []byte            // memory for such a name
}

// decode reads the text of a record, an experiment with its reference or an array of these, into r,
// whose memory it reuses.
func (d *decoder) decode(r *Record, text []byte) error {
	r.Experiments, d.bad = r.Experiments[:0], nil
	if d.names == nil {
		d.names = make(map[string][]byte)
	}
	tree, err := d.parser.parse(text)
	switch {
	case err != nil:
		return err
	case tree.kind() == '[':
		for pair := range tree.parts() {
			d.pair(r, pair)
		}
	default:
		d.pair(r, tree)
	}
	if d.bad == nil {
		r.tellApart()
	}
	return d.bad
}

// fail keeps the first error of a record. What is read after it does not matter.
func (d *decoder) fail(err error) { d.bad = cmp.Or(d.bad, err) }

// expect fails unless a value has a kind, which is named for errors.
func (d *decoder) expect(v value, kind byte, name string) value {
	if v != nil && v.kind() != kind {
		d.fail(fmt.Errorf("found %s, expected %s", fault.Quote(v.text()), name))
	}
	return v
}

func (d *decoder) object(v value) value { return d.expect(v, '{', "an object") }

// required returns a member that an object must have.
func (d *decoder) required(object value, name string) value {
	v := d.object(object).member(name)
	if v == nil {
		d.fail(fmt.Errorf("found no %q", name))
	}
	return v
}

// textOf returns the text that a value must be.
func (d *decoder) textOf(v value) []byte {
	return d.expect(v, '"', "a text").string()
}

// pair reads an experiment and its reference.
func (d *decoder) pair(r *Record, v value) {
	n := len(r.Experiments)
	r.Experiments = slices.Grow(r.Experiments, 1)[:n+1]
	e := &r.Experiments[n] // reuses the memory of an earlier record
	*e = Experiment{
		Perturbations: e.Perturbations[:0], Values: e.Values[:0],
		details: e.details[:0], things: e.things[:0],
	}
	d.Experiment = e
	experiment := d.required(v, "experiment")
	d.genotypes(d.required(experiment, "genotype"))
	d.phenotype(d.required(experiment, "phenotype"))
	for member := range experiment.parts() {
		switch string(member.name()) {
		case "genotype", "phenotype":
		case "dataset_name", "experiment_type":
			d.attribute(member.name(), nil, member)
		case "environment":
			d.environment(member)
		default:
			d.walk(member, detail{name: member.name()})
		}
	}
	if slices.ContainsFunc(e.Perturbations, func(p Perturbation) bool { return p.Type != nil }) {
		e.add(Value{Name: perturbationType, Number: math.NaN(), Types: true})
	}
	d.reference(v.member("experiment_reference").member("genome_reference"))
}

// add adds an attribute.
func (e *Experiment) add(v Value) {
	v.Attribute = true
	e.Values = append(e.Values, v)
}

var errPointer = errors.New(
	`found a pointer "$ref" in place of a genotype, expected the genotype itself`)

// genotypes reads a genotype, or a list of them.
func (d *decoder) genotypes(v value) {
	if v.kind() != '[' {
		d.genotype(v)
		return
	}
	for genotype := range v.parts() {
		d.genotype(genotype)
	}
}

// genotype reads the perturbations of a genotype, its ploidy, and the rest as details.
func (d *decoder) genotype(v value) {
	if d.object(v).member("$ref") != nil {
		d.fail(errPointer)
	}
	perturbations := d.expect(d.required(v, "perturbations"), '[', "an array")
	for perturbation := range perturbations.parts() {
		d.perturbation(perturbation)
	}
	for member := range v.parts() {
		switch name := string(member.name()); {
		case name == "perturbations":
		case name == "ploidy" && !member.isNested():
			d.ploidy(member)
		case name == "natural_isolate":
			d.ploidy(member.member("ploidy"))
			d.whole(member, "ploidy")
		default:
			d.whole(member)
		}
	}
}

// perturbation reads a perturbation.
func (d *decoder) perturbation(v value) {
	p := Perturbation{Gene: d.textOf(d.required(v, "systematic_gene_name"))}
	if p.Type = v.member("perturbation_type").string(); bytes.ContainsAny(p.Type, "|=") {
		d.fail(fault.New(fault.Input, "rename the type",
			"found perturbation type %s, expected one without | and =", fault.Quote(p.Type)))
	}
	d.Perturbations = append(d.Perturbations, p)
	d.geneDetails(p, v)
}

// environment reads the medium, the temperature, and the rest as details. A pointer in place of the
// environment is neither medium nor temperature, but not nothing either.
func (d *decoder) environment(v value) {
	if v.kind() != '{' {
		d.walk(v, detail{name: environment, always: true})
		return
	}
	for member := range v.parts() {
		switch string(member.name()) {
		case "media":
			d.inside(medium, nil, member, "name")
		case "temperature":
			d.inside(temperature, otherUnit(member), member, "value")
		case "perturbations":
			d.walk(member, detail{name: compounds, always: true})
		case "$ref":
			d.add(Value{Name: medium, Number: math.NaN(), Other: true})
			d.add(Value{Name: temperature, Number: math.NaN(), Other: true})
			d.walk(member, detail{name: environment, always: true})
		case "kind", "provenance", "provenance_gaps":
		default:
			d.whole(member)
		}
	}
}

// otherUnit is the unit of a temperature unless it is degrees Celsius, the usual one.
func otherUnit(temperature value) []byte {
	unit := temperature.member("unit").string()
	if string(unit) == "Celsius" {
		return nil
	}
	return unit
}

// inside adds an attribute that is a member of an object, or stands in the object's place. Other
// members but the unit are details.
func (d *decoder) inside(attribute, part []byte, v value, member string) {
	if v.kind() == '{' {
		d.walkMembers(v, detail{name: attribute}, member, "unit")
		v = v.member(member)
	}
	d.attribute(attribute, part, v)
}

// attribute adds an attribute, unless it is missing.
func (d *decoder) attribute(name, part []byte, v value) {
	if made := d.measured(name, part, v); made.Other || !made.IsMissing() {
		d.add(made)
	}
}

// phenotype reads the values of a phenotype's label and statistic.
func (d *decoder) phenotype(v value) {
	d.Label = d.textOf(d.required(v, "label_name"))
	label := string(d.Label)
	d.values(d.Label, v.member(label))
	if statistic := v.member("label_statistic_name").string(); statistic != nil {
		d.values(statistic, v.member(string(statistic)))
	}
	unit := label + "_unit" // as titer_unit is of titer
	if label == "synthesis_rate" {
		unit = "rate_unit"
	}
	d.Unit, d.Measurement = v.member(unit).string(), v.member("measurement_type").string()
}

// values adds a value, or all values of an object or an array.
func (d *decoder) values(name []byte, v value) {
	if !v.isNested() {
		d.Values = append(d.Values, d.measured(name, nil, v))
		return
	}
	number := 0
	for member := range v.parts() {
		part := member.name()
		if v.kind() == '[' {
			part = strconv.AppendInt(nil, int64(number), 10)
		}
		d.Values = append(d.Values, d.measured(name, part, member))
		number++
	}
}

// measured reads a value. Truth values are the numbers 1 and 0.
func (d *decoder) measured(name, part []byte, v value) Value {
	made := Value{Name: name, Part: part, Number: math.NaN()}
	switch v.kind() {
	case 0, 'n':
	case '"':
		if made.Text = v.string(); !utf8.Valid(made.Text) {
			d.fail(fmt.Errorf("found text %s, expected UTF-8", fault.Quote(made.Text)))
		}
	case '{', '[':
		made.Other = true
	case 't':
		made.Number = 1
	case 'f':
		made.Number = 0
	default:
		made.Number = d.number(v.text())
		made.NaN = math.IsNaN(made.Number)
	}
	return made
}

// number reads a number. One beyond the range of float64 is infinite, as in Python. A number too
// small for float64, and an integer that it cannot hold exactly, are errors.
func (d *decoder) number(text []byte) float64 {
	// text is a number, so the only possible error is its range
	number, err := decimal.Parse(string(text))
	isInteger := !bytes.ContainsAny(text, ".eEI")
	switch {
	case errors.Is(err, decimal.ErrTooSmall):
		d.fail(fmt.Errorf("found number %s, which is %w", fault.Quote(text), err))
	case math.Abs(number) < 1<<53 || !isInteger:
	case strconv.FormatFloat(number, 'f', 0, 64) != string(text):
		d.fail(fmt.Errorf(
			"found integer %s, which a 64-bit floating-point number cannot hold exactly",
			fault.Quote(text)))
	}
	return number
}

// tellApart adds the attributes by which an experiment differs from the only one of a record with
// finite values: its number, if it is not the first, the number of its perturbations,
// unless it has one of each gene that the record names, and its values that are not finite, or that
// its label has none. Details come last.
func (r *Record) tellApart() {
	genes := r.countGenes()
	for i := range r.Experiments {
		e := &r.Experiments[i]
		e.nth = 1
		for _, earlier := range r.Experiments[:i] {
			if string(earlier.Label) == string(e.Label) {
				e.nth++
			}
		}
		if i > 0 {
			e.add(Value{Name: experimentNumber, Number: float64(i)})
		}
		if n := len(e.Perturbations); n != genes {
			e.add(Value{Name: perturbationCount, Number: float64(n)})
		}
		if text := e.notFinite(); text != nil {
			e.add(Value{Name: notFinite, Number: math.NaN(), Text: text})
		}
		e.addDetails()
	}
}

// countGenes counts the genes that a record names.
func (r *Record) countGenes() int {
	var space [8][]byte
	genes := space[:0]
	for i := range r.Experiments {
		for _, p := range r.Experiments[i].Perturbations {
			genes = append(genes, p.Gene)
		}
	}
	slices.SortFunc(genes, bytes.Compare)
	return len(slices.CompactFunc(genes, bytes.Equal))
}

// notFinite returns the values of an experiment that are NaN or infinite as a JSON object, in which
// they are written as torchcell writes them, and its label as null if that has no number; nil if
// there is nothing to tell.
func (e *Experiment) notFinite() (text []byte) {
	add := func(name, token string) {
		quoted, _ := json.Marshal(name) // text, which JSON can write
		text = fmt.Appendf(text, ",%s:%s", quoted, token)
	}
	measured := false
	for _, v := range e.Values {
		if v.Attribute {
			break
		}
		hasNumber := v.NaN || !math.IsNaN(v.Number)
		measured = measured || hasNumber && string(v.Name) == string(e.Label)
		switch {
		case math.IsInf(v.Number, 1):
			add(v.column(), "Infinity")
		case math.IsInf(v.Number, -1):
			add(v.column(), "-Infinity")
		case v.NaN:
			add(v.column(), "NaN")
		}
	}
	if !measured {
		add(string(e.Label), "null")
	}
	if text != nil {
		text[0] = '{'
		text = append(text, '}')
	}
	return text
}

// column is the name of a value within its experiment.
func (v *Value) column() string {
	if v.Part == nil {
		return string(v.Name)
	}
	return string(v.Name) + "." + string(v.Part)
}
