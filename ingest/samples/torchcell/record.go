package torchcell

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"tcbuild/fault"
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
	// Values of the label, then of its statistic if the phenotype names one.
	Values []Value
	// Unit of the label's values, and what kind of measurement they are; nil if it is not said.
	Unit, Measurement []byte
	// Attributes are what is noted of the experiment: dataset_name, experiment_type,
	// perturbation_type, medium and temperature, those that are there.
	Attributes []Value

	details []detail // of its genotype, environment and reference strain
	things  []detail // the genes and compounds that details are said of, without text
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
	Types bool
	// Detail means that it is no attribute if it is the same in all records.
	Detail bool
}

// decoder reads records. It reuses its memory.
type decoder struct {
	scanner
	record *Record
	found  []member
	// Experiments of a record usually have the same genotype and environment, and records the same
	// references.
	perturbations known[Perturbation]
	conditions    known[Value]
	references    [4]known[detail]
	ofGenotype    told
	ofEnvironment told
	told          []detail // by the reference of the current pair
}

// told is what was read of a genotype or an environment beside its values.
type told struct{ details, things []detail }

// known is a value as it lies, and what was read from it. The same text is not read again.
type known[T any] struct {
	text   []byte
	values []T
}

// member is a member of an object, with the byte at which its value starts.
type member struct {
	name []byte
	at   int
}

// decode reads the text of a record, an experiment with its reference or an array of these, into r,
// whose memory it reuses.
func (d *decoder) decode(r *Record, number int, text []byte) error {
	d.text, d.at, d.depth = text, 0, 0
	d.record, r.Number, r.Experiments = r, number, r.Experiments[:0]
	// values are views
	d.perturbations.text, d.conditions.text = d.perturbations.text[:0], d.conditions.text[:0]
	var err error
	if d.next() == '[' {
		err = d.elements(d.pair)
	} else {
		err = d.pair()
	}
	if d.next(); err == nil && d.at < len(text) {
		err = d.wrong("the end of the record")
	}
	return err
}

// pair reads an experiment and its reference.
func (d *decoder) pair() error {
	found := false
	d.told = d.told[:0]
	err := d.members(func(name []byte) error {
		switch string(name) {
		case "experiment":
			found = true
			return d.experiment()
		case "experiment_reference":
			known := &d.references[len(d.record.Experiments)%len(d.references)]
			return again(d, known, &d.told, func() error { return d.reference(&d.told) })
		}
		return d.skip()
	})
	if found && err == nil {
		d.record.Experiments[len(d.record.Experiments)-1].addReference(d.told)
	}
	return missing(err, found, "experiment")
}

// again reads what comes next with read, which appends to values, unless it is known.
func again[T any](d *decoder, k *known[T], values *[]T, read func() error) error {
	d.next()
	start, before := d.at, len(*values)
	if len(k.text) > 0 && bytes.HasPrefix(d.text[start:], k.text) {
		d.at += len(k.text)
		*values = append(*values, k.values...)
		return nil
	}
	k.text = k.text[:0]
	err := read()
	if err == nil && d.text[d.at-1] == '}' { // an object, whose text nothing can continue
		k.text, k.values = append(k.text, d.text[start:d.at]...), (*values)[before:]
	}
	return err
}

// againWithDetails is again for a value that also has details.
func againWithDetails[T any](d *decoder, k *known[T], values *[]T, e *Experiment, told *told,
	read func() error) error {
	details, things, known := len(e.details), len(e.things), true
	err := again(d, k, values, func() error {
		known = false
		return read()
	})
	if known {
		e.details, e.things = append(e.details, told.details...), append(e.things, told.things...)
	} else {
		told.details = append(told.details[:0], e.details[details:]...)
		told.things = append(told.things[:0], e.things[things:]...)
	}
	return err
}

// missing returns err or, if that is nil, the error for an object without a member.
func missing(err error, found bool, member string) error {
	if err == nil && !found {
		return fmt.Errorf("found no %q", member)
	}
	return err
}

// experiment reads an experiment and appends it to its record.
func (d *decoder) experiment() error {
	n := len(d.record.Experiments)
	d.record.Experiments = slices.Grow(d.record.Experiments, 1)[:n+1]
	e := &d.record.Experiments[n] // reuses the memory of an earlier record
	*e = Experiment{
		Perturbations: e.Perturbations[:0], Values: e.Values[:0], Attributes: e.Attributes[:0],
		details: e.details[:0], things: e.things[:0],
	}
	var genotype, phenotype bool
	err := d.members(func(name []byte) error {
		switch string(name) {
		case "genotype":
			genotype = true
			return againWithDetails(d, &d.perturbations, &e.Perturbations, e, &d.ofGenotype,
				func() error {
					if d.next() == '[' {
						return d.elements(func() error { return d.genotype(e) })
					}
					return d.genotype(e)
				})
		case "phenotype":
			phenotype = true
			return d.phenotype(e)
		case "dataset_name":
			return d.attribute(datasetName, e)
		case "experiment_type":
			return d.attribute(experimentType, e)
		case "environment":
			return againWithDetails(d, &d.conditions, &e.Attributes, e, &d.ofEnvironment,
				func() error { return d.environment(e) })
		}
		return d.walk(e, detail{name: name})
	})
	if slices.ContainsFunc(e.Perturbations, func(p Perturbation) bool { return p.Type != nil }) {
		e.Attributes = append(e.Attributes,
			Value{Name: perturbationType, Number: math.NaN(), Types: true})
	}
	err = missing(err, genotype, "genotype")
	return missing(err, phenotype, "phenotype")
}

// Names of attributes.
var (
	datasetName      = []byte("dataset_name")
	experimentType   = []byte("experiment_type")
	perturbationType = []byte("perturbation_type")
	medium           = []byte("medium")
	temperature      = []byte("temperature")

	experimentNumber  = []byte("experiment")
	perturbationCount = []byte("perturbation_count")
	notFinite         = []byte("not_finite")
)

var errPointer = errors.New(
	`found a pointer "$ref" in place of a genotype, expected the genotype itself`)

// genotype adds the genes of a genotype.
func (d *decoder) genotype(e *Experiment) error {
	found := false
	err := d.members(func(name []byte) error {
		switch string(name) {
		case "perturbations":
			found = true
			return d.elements(func() error { return d.perturbation(e) })
		case "$ref":
			return errPointer
		case "natural_isolate":
			return d.isolate(e, name)
		case "ploidy":
			if next := d.next(); next != '{' && next != '[' {
				text, number, err := d.scalar()
				e.addPloidy(text, number)
				return err
			}
		}
		return d.whole(e, name)
	})
	return missing(err, found, "perturbations")
}

// perturbation adds a perturbation.
func (d *decoder) perturbation(e *Experiment) error {
	found := false
	var p Perturbation
	d.next()
	start := d.at
	err := d.members(func(name []byte) (err error) {
		switch {
		case string(name) == "systematic_gene_name":
			found = true
			d.next()
			p.Gene, err = d.string()
		case string(name) == "perturbation_type" && d.next() == '"':
			if p.Type, err = d.string(); err == nil {
				err = checkType(p.Type)
			}
		default:
			err = d.skip()
		}
		return err
	})
	e.Perturbations = append(e.Perturbations, p)
	if err = missing(err, found, "systematic_gene_name"); err != nil {
		return err
	}
	d.at = start
	return d.geneDetails(e, p)
}

// environment reads the medium, the temperature, and the rest as details. A pointer in place of the
// environment is neither medium nor temperature, but not nothing either.
func (d *decoder) environment(e *Experiment) error {
	if d.next() != '{' {
		return d.walk(e, detail{name: []byte("environment"), always: true})
	}
	return d.members(func(name []byte) error {
		switch string(name) {
		case "media":
			return d.inside("name", medium, e)
		case "temperature":
			return d.temperature(e)
		case "perturbations":
			return d.walk(e, detail{name: compounds, always: true})
		case "$ref":
			e.Attributes = append(e.Attributes,
				Value{Name: medium, Number: math.NaN(), Other: true},
				Value{Name: temperature, Number: math.NaN(), Other: true})
			return d.walk(e, detail{name: []byte("environment"), always: true})
		case "kind", "provenance", "provenance_gaps":
			return d.skip()
		}
		return d.whole(e, name)
	})
}

// temperature reads a temperature. One in another unit than degrees Celsius is a part of its own.
func (d *decoder) temperature(e *Experiment) error {
	before := len(e.Attributes)
	d.next()
	start := d.at
	if err := d.inside("value", temperature, e); err != nil || len(e.Attributes) == before ||
		d.text[start] != '{' {
		return err
	}
	d.at = start
	return d.members(func(name []byte) error {
		if string(name) != "unit" || d.next() != '"' {
			return d.skip()
		}
		unit, err := d.string()
		if string(unit) != "Celsius" {
			e.Attributes[before].Part = unit
		}
		return err
	})
}

// inside reads an attribute that is the given member of an object, or stands in the object's place.
// Other members but the unit are details.
func (d *decoder) inside(member string, attribute []byte, e *Experiment) error {
	if d.next() != '{' {
		return d.attribute(attribute, e)
	}
	start := d.at
	err := d.members(func(name []byte) error {
		if string(name) == member {
			return d.attribute(attribute, e)
		}
		return d.skip()
	})
	if err != nil {
		return err
	}
	d.at = start
	return d.walkMembers(e, detail{name: attribute}, member, "unit")
}

// attribute reads an attribute, unless it is missing.
func (d *decoder) attribute(name []byte, e *Experiment) error {
	v, err := d.value(name, nil)
	if err == nil && (v.Other || v.Text != nil || !math.IsNaN(v.Number)) {
		e.Attributes = append(e.Attributes, v)
	}
	return err
}

// phenotype reads the values of a phenotype's label and statistic, whose names may come after them.
// Of members with the same name, the last counts, as in Python.
func (d *decoder) phenotype(e *Experiment) error {
	d.found = d.found[:0]
	var label, statistic []byte
	err := d.members(func(name []byte) (err error) {
		d.next()
		d.found = append(d.found, member{name, d.at})
		switch {
		case string(name) == "label_name":
			label, err = d.string()
		case string(name) == "label_statistic_name" && d.next() == '"':
			statistic, err = d.string()
		case string(name) == "measurement_type" && d.next() == '"':
			e.Measurement, err = d.string()
		default:
			err = d.skip()
		}
		return err
	})
	if err = missing(err, label != nil, "label_name"); err != nil {
		return err
	}
	e.Label = label
	end := d.at
	if err = d.measurement(label, e); err == nil && statistic != nil {
		err = d.measurement(statistic, e)
	}
	if err == nil {
		err = d.unit(label, e)
	}
	d.at = end
	return err
}

// measurement reads the member of the phenotype with the given name. If there is none, it is
// missing.
func (d *decoder) measurement(name []byte, e *Experiment) error {
	if !d.find(string(name)) {
		e.Values = append(e.Values, Value{Name: name, Number: math.NaN()})
		return nil
	}
	return d.values(name, e)
}

// unit reads the unit of the label, as titer_unit is of titer.
func (d *decoder) unit(label []byte, e *Experiment) (err error) {
	name := string(label) + "_unit"
	if string(label) == "synthesis_rate" {
		name = "rate_unit"
	}
	if d.find(name) && d.next() == '"' {
		e.Unit, err = d.string()
	}
	return err
}

// find moves to the value of the last member of the phenotype with a name.
func (d *decoder) find(name string) bool {
	for i := len(d.found) - 1; i >= 0; i-- {
		if string(d.found[i].name) == name {
			d.at = d.found[i].at
			return true
		}
	}
	return false
}

// values reads a value, or all values of an object or an array.
func (d *decoder) values(name []byte, e *Experiment) error {
	add := func(part []byte) error {
		v, err := d.value(name, part)
		e.Values = append(e.Values, v)
		return err
	}
	switch d.next() {
	case '{':
		return d.members(add)
	case '[':
		i := 0
		return d.elements(func() error {
			i++
			return add(strconv.AppendInt(nil, int64(i-1), 10))
		})
	}
	return add(nil)
}

// value reads a value. Truth values are the numbers 1 and 0.
func (d *decoder) value(name, part []byte) (v Value, err error) {
	v = Value{Name: name, Part: part, Number: math.NaN()}
	switch c := d.next(); {
	case c == '"':
		if v.Text, err = d.string(); err == nil && !utf8.Valid(v.Text) {
			err = fmt.Errorf("found text %s, expected UTF-8", fault.Quote(v.Text))
		}
	case c == '{' || c == '[':
		v.Other, err = true, d.skip()
	case d.take("null"):
	case d.take("true"):
		v.Number = 1
	case d.take("false"):
		v.Number = 0
	default:
		v.Number, err = d.number()
		v.NaN = math.IsNaN(v.Number)
	}
	return v, err
}
