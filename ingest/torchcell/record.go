package torchcell

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Record is the data of one genotype in a build of torchcell: one experiment, or all experiments.
// Its texts and slices are views that are valid until the next record is read.
type Record struct {
	Number      int // number in its key; a store may omit numbers
	Experiments []Experiment
}

// Experiment is one experiment of a record.
type Experiment struct {
	// Genes are the systematic names of its perturbations in order, of any type. Several
	// perturbations may name the same gene. A list of genotypes gives the genes of all.
	Genes [][]byte
	Label []byte // name of its phenotype's label
	// Values are those of the label, then those of its statistic if the phenotype names one.
	Values []Value
}

// Value is a measurement. A label whose value is an object or an array has a Value for each member.
type Value struct {
	Name []byte // of the label or of the statistic
	// name or 0-based number of the member; nil unless the value is an object or array
	Part   []byte
	Number float64 // NaN if it is missing: null, NaN, or absent
	Other  bool    // the value is neither a number nor missing
}

// decoder reads records. It reuses its memory.
type decoder struct {
	scanner
	record Record
}

// decode reads the text of a record: an experiment with its reference, or an array of these.
func (d *decoder) decode(number int, text []byte) (*Record, error) {
	d.scanner = scanner{text: text}
	d.record.Number, d.record.Experiments = number, d.record.Experiments[:0]
	var err error
	if d.next() == '[' {
		err = d.elements(d.pair)
	} else {
		err = d.pair()
	}
	if d.next(); err == nil && d.at < len(text) {
		err = d.wrong("the end of the record")
	}
	return &d.record, err
}

// pair reads an experiment and skips its reference.
func (d *decoder) pair() error {
	found := false
	err := d.members(func(name []byte) error {
		if string(name) != "experiment" {
			return d.skip()
		}
		found = true
		return d.experiment()
	})
	return missing(err, found, "experiment")
}

// missing returns err or, if that is nil, the error for an object without a member.
func missing(err error, found bool, member string) error {
	if err == nil && !found {
		return fmt.Errorf("found no %q", member)
	}
	return err
}

// experiment reads an experiment and appends it to those of its record.
func (d *decoder) experiment() error {
	n := len(d.record.Experiments)
	d.record.Experiments = slices.Grow(d.record.Experiments, 1)[:n+1]
	e := &d.record.Experiments[n] // reuses the memory of an earlier record
	e.Genes, e.Values = e.Genes[:0], e.Values[:0]
	var genotype, phenotype bool
	err := d.members(func(name []byte) error {
		switch string(name) {
		case "genotype":
			genotype = true
			if d.next() == '[' {
				return d.elements(func() error { return d.genotype(e) })
			}
			return d.genotype(e)
		case "phenotype":
			phenotype = true
			return d.phenotype(e)
		}
		return d.skip()
	})
	err = missing(err, genotype, "genotype")
	return missing(err, phenotype, "phenotype")
}

var errPointer = errors.New(`found a pointer "$ref" in place of a genotype, expected the genotype itself`)

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
		}
		return d.skip()
	})
	return missing(err, found, "perturbations")
}

// perturbation adds the gene of a perturbation.
func (d *decoder) perturbation(e *Experiment) error {
	found := false
	err := d.members(func(name []byte) error {
		if string(name) != "systematic_gene_name" {
			return d.skip()
		}
		found = true
		d.next()
		gene, err := d.string()
		e.Genes = append(e.Genes, gene)
		return err
	})
	return missing(err, found, "systematic_gene_name")
}

// phenotype reads the values of a phenotype's label and statistic. It reads the phenotype twice,
// because the names of those members may come after them.
func (d *decoder) phenotype(e *Experiment) error {
	d.next()
	start := d.at
	var label, statistic []byte
	err := d.members(func(name []byte) (err error) {
		switch {
		case string(name) == "label_name":
			d.next()
			label, err = d.string()
		case string(name) == "label_statistic_name" && d.next() == '"':
			statistic, err = d.string()
		default:
			err = d.skip()
		}
		return err
	})
	if err = missing(err, label != nil, "label_name"); err != nil {
		return err
	}
	e.Label = label
	if err := d.measurement(start, label, e); err != nil || statistic == nil {
		return err
	}
	return d.measurement(start, statistic, e)
}

// measurement reads the member with the given name of the phenotype that starts at a byte. If there
// is none, it is missing.
func (d *decoder) measurement(start int, name []byte, e *Experiment) error {
	d.at = start
	found := false
	err := d.members(func(member []byte) error {
		if string(member) != string(name) {
			return d.skip()
		}
		found = true
		return d.values(name, e)
	})
	if err == nil && !found {
		e.Values = append(e.Values, Value{Name: name, Number: math.NaN()})
	}
	return err
}

// values reads a value, or those of an object or an array.
func (d *decoder) values(name []byte, e *Experiment) error {
	switch d.next() {
	case '{':
		return d.members(func(part []byte) error { return d.value(name, part, e) })
	case '[':
		i := 0
		return d.elements(func() error {
			i++
			return d.value(name, fmt.Append(nil, i-1), e)
		})
	}
	return d.value(name, nil, e)
}

func (d *decoder) value(name, part []byte, e *Experiment) (err error) {
	v := Value{Name: name, Part: part}
	switch c := d.next(); {
	case d.take("null"):
		v.Number = math.NaN()
	case d.take("true"):
		v.Number = 1
	case d.take("false"):
	case c == '"' || c == '{' || c == '[':
		v.Other, err = true, d.skip()
	default:
		v.Number, err = d.number()
	}
	e.Values = append(e.Values, v)
	return err
}
