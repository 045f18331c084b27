package torchcell

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"tcbuild/fault"
)

// detail is a condition that an experiment states beyond its genes, their types, the medium and the
// temperature: duration_hours is 48, the strain_id of YAL001C is "dma1".
type detail struct {
	name []byte // of the attribute; members of objects follow a dot
	// the gene or compound that it describes; nil: the experiment
	of      []byte
	variant []byte  // the gene's type of perturbation, which another attribute has
	number  float64 // NaN if it is not a number
	text    []byte  // also of a number
	always  bool    // an attribute even if it is the same in all records
}

// Names of attributes made of details.
var (
	compounds = []byte("compounds")
	copies    = []byte("copies")
	ploidy    = []byte("ploidy")

	ofPerturbation = []byte("perturbation")
)

// isProvenance reports whether a member documents a value's source or its class, which are not
// conditions.
func isProvenance(name []byte, next byte) bool {
	switch string(name) {
	case "provenance_gaps", "defers_to", "note", "description":
		return true
	case "provenance": // a text of a gene is engineered or natural
		return next != '"'
	}
	return bytes.HasSuffix(name, []byte("_description")) && string(name) != "source_description"
}

// walk adds a value as a detail, or each of its members.
func (d *decoder) walk(e *Experiment, of detail) error {
	switch d.next() {
	case '{':
		return d.walkMembers(e, of)
	case '[':
		return d.walkElements(e, of)
	}
	text, number, err := d.scalar()
	if err == nil && text != nil {
		of.text, of.number = text, number
		e.add(of)
	}
	return err
}

// walkMembers adds the members of an object, except those that are left out.
func (d *decoder) walkMembers(e *Experiment, of detail, leftOut ...string) error {
	return d.members(func(name []byte) error {
		if slices.Contains(leftOut, string(name)) || isProvenance(name, d.next()) {
			return d.skip()
		}
		member := of
		member.name, member.always = joinName(of.name, name), false
		return d.walk(e, member)
	})
}

func joinName(object, member []byte) []byte {
	if len(object) == 0 {
		return member
	}
	return slices.Concat(object, []byte{'.'}, member)
}

// scalar reads a text, number or truth value as text, and its number. The text of null is nil.
func (d *decoder) scalar() (text []byte, number float64, err error) {
	d.next()
	start := d.at
	v, err := d.value(nil, nil)
	switch {
	case err != nil || v.Text != nil:
		return v.Text, math.NaN(), err
	case !math.IsNaN(v.Number) && !math.IsInf(v.Number, 0):
		return strconv.AppendFloat(nil, v.Number, 'g', -1, 64), v.Number, nil
	case d.text[start] == 'n':
		return nil, math.NaN(), nil
	}
	return d.text[start:d.at], math.NaN(), nil // NaN, Infinity
}

// maxDetail is the most bytes of a list's text; a longer one is replaced by its digest.
const maxDetail = 1000

// walkElements adds a list as one text. It sorts elements with names, as the order of ingredients
// does not matter. Their members other than name and dose become details of their own.
func (d *decoder) walkElements(e *Experiment, of detail) error {
	var texts [][]byte
	named := true // all elements
	err := d.elements(func() error {
		next := d.next()
		start := d.at
		if next != '{' {
			text, err := d.element()
			texts, named = append(texts, text), false
			return err
		}
		label, err := d.label()
		if err != nil {
			return err
		}
		end := d.at
		if label == nil { // as written
			texts, named = append(texts, d.text[start:end]), false
			return nil
		}
		texts = append(texts, label)
		d.at = start
		element := detail{name: of.name, of: slices.Concat(of.of, label)}
		e.present(element)
		return d.walkMembers(e, element, "concentration", "magnitude", "name", "factor")
	})
	if err != nil || len(texts) == 0 {
		return err
	}
	if named {
		slices.SortFunc(texts, bytes.Compare)
	}
	of.text, of.number = bytes.Join(texts, []byte{'|'}), math.NaN()
	if len(of.text) > maxDetail {
		sum := sha256.Sum256(of.text)
		of.text = []byte("sha256:" + hex.EncodeToString(sum[:]))
	}
	e.add(of)
	return nil
}

// element reads an element of a list that is not an object.
func (d *decoder) element() ([]byte, error) {
	if start := d.at; d.next() == '[' {
		err := d.skip()
		return d.text[start:d.at], err
	}
	text, _, err := d.scalar()
	if text == nil {
		text = []byte("null")
	}
	return text, err
}

// label reads an object with a compound, a factor or a name, and returns the name and dose, such as
// "rapamycin 10 nM"; nil if it has no name.
func (d *decoder) label() ([]byte, error) {
	var name, agent, dose []byte
	err := d.members(func(member []byte) (err error) {
		switch next := d.next(); {
		case string(member) == "compound", string(member) == "name", string(member) == "factor":
			name, err = d.nameIn(name)
		case string(member) == "agent":
			agent, err = d.nameIn(nil)
		case (string(member) == "concentration" || string(member) == "magnitude") && next == '{':
			dose, err = d.dose()
		default:
			err = d.skip()
		}
		return err
	})
	if name == nil {
		return nil, err
	}
	if agent != nil {
		name = slices.Concat(name, []byte(" by "), agent)
	}
	return slices.Concat(name, dose), err
}

// nameIn reads a text, or the member name of an object. It returns earlier if there is neither.
func (d *decoder) nameIn(earlier []byte) (name []byte, err error) {
	name = earlier
	switch d.next() {
	case '"':
		return d.string()
	case '{':
		err = d.members(func(member []byte) (err error) {
			if string(member) == "name" && d.next() == '"' {
				name, err = d.string()
				return err
			}
			return d.skip()
		})
		return name, err
	}
	return name, d.skip()
}

// dose reads a concentration as text with a space before each part: its value, unit and basis, then
// anything else.
func (d *decoder) dose() (text []byte, err error) {
	var parts [4][]byte
	err = d.members(func(member []byte) error {
		if isProvenance(member, d.next()) {
			return d.skip()
		}
		at := slices.Index([]string{"value", "unit", "basis"}, string(member))
		if next := d.next(); at < 0 || next == '{' || next == '[' {
			start := d.at
			if err := d.skip(); err != nil || string(d.text[start:d.at]) == "null" {
				return err
			}
			parts[3] = slices.Concat(parts[3], []byte{' '}, member, []byte{'='}, d.text[start:d.at])
			return nil
		}
		part, _, err := d.scalar()
		if part != nil {
			parts[at] = append([]byte{' '}, part...)
		}
		return err
	})
	return slices.Concat(parts[:]...), err
}

func (e *Experiment) add(d detail) { e.details = append(e.details, d) }

// present notes that an experiment has a gene or a compound, even if it says nothing more of it.
func (e *Experiment) present(of detail) { e.things = append(e.things, of) }

// geneDetails adds what an experiment says of a perturbed gene beyond its name and type.
func (d *decoder) geneDetails(e *Experiment, p Perturbation) error {
	of := detail{name: ofPerturbation, of: p.Gene, variant: p.Type}
	e.present(of)
	var number, reference []byte
	err := d.members(func(name []byte) (err error) {
		next := d.next()
		switch {
		case string(name) == "systematic_gene_name", isProvenance(name, next):
			return d.skip()
		case string(name) == "perturbation_type" && next == '"':
			return d.skip()
		case next == '{' || next == '[':
		case string(name) == "copy_number":
			number, _, err = d.scalar()
			return err
		case string(name) == "reference_copy_number":
			reference, _, err = d.scalar()
			return err
		}
		member := of
		member.name = joinName(of.name, name)
		return d.walk(e, member)
	})
	of.name, of.text, of.number, of.always = copies, number, math.NaN(), true
	if reference != nil {
		of.text = slices.Concat(number, []byte{'/'}, reference)
	}
	if of.text != nil {
		e.add(of)
	}
	return err
}

// ploidies are words for numbers of sets of chromosomes.
var ploidies = map[string]float64{
	"haploid": 1, "diploid": 2, "triploid": 3, "tetraploid": 4, "pentaploid": 5, "hexaploid": 6,
}

// addPloidy adds the ploidy, unless there is one: the genotype's takes precedence over the
// reference's.
func (e *Experiment) addPloidy(text []byte, number float64) {
	told := func(d detail) bool { return string(d.name) == string(ploidy) }
	if text == nil || slices.ContainsFunc(e.details, told) {
		return
	}
	if n, known := ploidies[string(bytes.ToLower(text))]; known {
		text, number = strconv.AppendFloat(nil, n, 'g', -1, 64), n
	}
	e.add(detail{name: ploidy, text: text, number: number, always: true})
}

// whole adds a member of a genotype or an environment. It is always an attribute, unless it is an
// object or a list.
func (d *decoder) whole(e *Experiment, name []byte) error {
	next := d.next()
	return d.walk(e, detail{name: name, always: next != '{' && next != '['})
}

// isolate reads the description of a natural isolate.
func (d *decoder) isolate(e *Experiment, name []byte) error {
	if d.next() != '{' {
		return d.whole(e, name)
	}
	start := d.at
	err := d.members(func(member []byte) error {
		if next := d.next(); string(member) != "ploidy" || next == '{' || next == '[' {
			return d.skip()
		}
		text, number, err := d.scalar()
		e.addPloidy(text, number)
		return err
	})
	if err != nil {
		return err
	}
	d.at = start
	return d.walkMembers(e, detail{name: name}, "ploidy")
}

// reference reads what an experiment's reference says of the strain: its ploidy and name. The rest
// describes what values are relative to, not a condition.
func (d *decoder) reference(told *[]detail) error {
	if d.next() != '{' {
		return d.skip()
	}
	return d.members(func(name []byte) error {
		if string(name) != "genome_reference" || d.next() != '{' {
			return d.skip()
		}
		return d.members(func(name []byte) error {
			known := string(name) == "ploidy" || string(name) == "strain"
			if next := d.next(); !known || next == '{' || next == '[' {
				return d.skip()
			}
			text, number, err := d.scalar()
			if err == nil && text != nil { // copies, which outlast the record
				name, text = bytes.Clone(name), bytes.Clone(text)
				*told = append(*told, detail{name: name, text: text, number: number})
			}
			return err
		})
	})
}

// addReference adds the details of an experiment's reference.
func (e *Experiment) addReference(told []detail) {
	for _, t := range told {
		if string(t.name) == string(ploidy) {
			e.addPloidy(t.text, t.number)
		} else {
			t.name = []byte("genome_reference.strain")
			e.add(t)
		}
	}
}

// checkType returns an error for a type that cannot stand in a list of types.
func checkType(kind []byte) error {
	if bytes.ContainsAny(kind, "|=") {
		return fault.New(fault.Input, "rename the type",
			"found perturbation type %s, expected one without | and =", fault.Quote(kind))
	}
	return nil
}
