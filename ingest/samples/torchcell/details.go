package torchcell

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strconv"
)

// detail is a condition that an experiment states beyond its genes, their types, the medium and the
// temperature: duration_hours is 48, the strain_id of YAL001C is "dma1".
type detail struct {
	name   []byte  // of the attribute; members of objects follow a dot
	thing          // that it describes
	number float64 // NaN if it is not a number
	text   []byte  // also of a number
	always bool    // an attribute even if it is the same in all records
}

// thing is the gene or compound that a detail describes, or the experiment, whose name is nil.
type thing struct {
	of      []byte
	variant []byte // the gene's type of perturbation, which another attribute has
}

// Names of attributes made of details.
var (
	compounds = []byte("compounds")
	copies    = []byte("copies")
	ploidy    = []byte("ploidy")

	ofPerturbation = []byte("perturbation")
	strain         = []byte("genome_reference.strain")
)

// isProvenance reports whether a member documents a value's source or its class, which are not
// conditions.
func isProvenance(member value) bool {
	switch name := string(member.name()); name {
	case "provenance_gaps", "defers_to", "note", "description":
		return true
	case "provenance": // a text of a gene is engineered or natural
		return member.kind() != '"'
	case "source_description":
		return false
	}
	return bytes.HasSuffix(member.name(), []byte("_description"))
}

// walk adds a value as a detail, or each of its members, except those that are left out.
func (d *decoder) walk(v value, of detail, leftOut ...string) {
	switch v.kind() {
	case '{':
		d.walkMembers(v, of, leftOut...)
	case '[':
		d.walkElements(v, of)
	default:
		if d.leftOut[string(of.name)] { // the pass that found the columns has read it
			return
		}
		if of.text, of.number = d.scalar(v); of.text != nil {
			d.tell(of)
		}
	}
}

// tell adds a detail.
func (d *decoder) tell(of detail) {
	if !d.leftOut[string(of.name)] {
		d.details = append(d.details, of)
	}
}

// whole adds a member of a genotype or an environment. It is always an attribute, unless it is an
// object or a list.
func (d *decoder) whole(member value, leftOut ...string) {
	d.walk(member, detail{name: member.name(), always: !member.isNested()}, leftOut...)
}

// walkMembers adds the members of an object, except those that are left out.
func (d *decoder) walkMembers(v value, of detail, leftOut ...string) {
	for member := range v.parts() {
		if !slices.Contains(leftOut, string(member.name())) && !isProvenance(member) {
			d.walk(member, d.member(of, member.name()))
		}
	}
}

// member is a detail of a member of what a detail describes.
func (d *decoder) member(of detail, name []byte) detail {
	d.joined = append(append(append(d.joined[:0], of.name...), '.'), name...)
	known, ok := d.names[string(d.joined)]
	if !ok {
		known = bytes.Clone(d.joined)
		if len(d.names) < mostNames {
			d.names[string(known)] = known
		}
	}
	of.name, of.always = known, false
	return of
}

// mostNames limits the memory for names of members, which most records have in common.
const mostNames = 1 << 12

// scalar reads a text, number or truth value as text, and its number. The text of null is nil.
func (d *decoder) scalar(v value) (text []byte, number float64) {
	read := d.measured(nil, nil, v)
	switch {
	case read.Text != nil || v == nil || v.kind() == 'n':
		return read.Text, math.NaN()
	case math.IsNaN(read.Number) || math.IsInf(read.Number, 0):
		return v.text(), math.NaN()
	}
	return strconv.AppendFloat(nil, read.Number, 'g', -1, 64), read.Number
}

// maxDetail is the most bytes of a list's text; a longer one is replaced by its digest.
const maxDetail = 1000

// walkElements adds a list as one text. It sorts elements with names, as the order of ingredients
// does not matter. Their members other than name and dose become details of their own.
func (d *decoder) walkElements(v value, of detail) {
	var texts [][]byte
	named := true // all elements
	for element := range v.parts() {
		label := d.label(element)
		if label == nil {
			texts, named = append(texts, d.asWritten(element)), false
			continue
		}
		texts = append(texts, label)
		described := detail{name: of.name, thing: thing{of: slices.Concat(of.of, label)}}
		d.things = append(d.things, described.thing)
		d.walkMembers(element, described, "concentration", "magnitude", "name", "factor")
	}
	if len(texts) == 0 {
		return
	}
	if named {
		slices.SortFunc(texts, bytes.Compare)
	}
	of.text, of.number = bytes.Join(texts, []byte{'|'}), math.NaN()
	if len(of.text) > maxDetail {
		sum := sha256.Sum256(of.text)
		of.text = []byte("sha256:" + hex.EncodeToString(sum[:]))
	}
	d.tell(of)
}

// asWritten is the text of an element of a list that has no name.
func (d *decoder) asWritten(v value) []byte {
	if v.isNested() || v.kind() == 'n' {
		return v.text()
	}
	text, _ := d.scalar(v)
	return text
}

// label returns the name and dose of an object with a compound, a factor or a name, such as
// "rapamycin 10 nM"; nil for any other value.
func (d *decoder) label(v value) []byte {
	var name, by, dose []byte
	for member := range v.parts() {
		switch string(member.name()) {
		case "compound", "name", "factor":
			if found := nameOf(member); found != nil {
				name = found
			}
		case "agent":
			if agent := nameOf(member); agent != nil {
				by = slices.Concat([]byte(" by "), agent)
			}
		case "concentration", "magnitude":
			if found := d.dose(member); found != nil {
				dose = found
			}
		}
	}
	if name == nil {
		return nil
	}
	return slices.Concat(name, by, dose)
}

// nameOf returns a text, or the member name of an object; nil if there is neither.
func nameOf(v value) []byte {
	if v.kind() == '{' {
		v = v.member("name")
	}
	return v.string()
}

// dose returns a concentration as text with a space before each part: its value, unit and basis,
// then anything else; nil for what is not an object.
func (d *decoder) dose(v value) []byte {
	if v.kind() != '{' {
		return nil
	}
	var parts [4][]byte
	for member := range v.parts() {
		if isProvenance(member) || member.kind() == 'n' {
			continue
		}
		at := slices.Index([]string{"value", "unit", "basis"}, string(member.name()))
		if at < 0 || member.isNested() {
			parts[3] = slices.Concat(parts[3], []byte{' '}, member.name(), []byte{'='},
				member.text())
			continue
		}
		part, _ := d.scalar(member)
		parts[at] = slices.Concat([]byte{' '}, part)
	}
	return slices.Concat(parts[:]...)
}

// geneDetails adds what an experiment says of a perturbed gene beyond its name and type.
func (d *decoder) geneDetails(p Perturbation, v value) {
	of := detail{name: ofPerturbation, thing: thing{p.Gene, p.Type}}
	d.things = append(d.things, of.thing)
	var number, reference []byte
	for member := range v.parts() {
		switch name := string(member.name()); {
		case name == "systematic_gene_name" || isProvenance(member):
		case name == "perturbation_type" && member.kind() == '"':
		case name == "copy_number" && !member.isNested():
			number, _ = d.scalar(member)
		case name == "reference_copy_number" && !member.isNested():
			reference, _ = d.scalar(member)
		default:
			d.walk(member, d.member(of, member.name()))
		}
	}
	of.name, of.text, of.number, of.always = copies, number, math.NaN(), true
	if reference != nil {
		of.text = slices.Concat(number, []byte{'/'}, reference)
	}
	if of.text != nil {
		d.tell(of)
	}
}

// ploidies are words for numbers of sets of chromosomes.
var ploidies = map[string]float64{
	"haploid": 1, "diploid": 2, "triploid": 3, "tetraploid": 4, "pentaploid": 5, "hexaploid": 6,
}

// ploidy adds the ploidy, unless there is one: the genotype's takes precedence over the
// reference's.
func (d *decoder) ploidy(v value) {
	isPloidy := func(d detail) bool { return string(d.name) == string(ploidy) }
	if v.isNested() || slices.ContainsFunc(d.details, isPloidy) {
		return
	}
	text, number := d.scalar(v)
	if n, known := ploidies[string(bytes.ToLower(text))]; known {
		text, number = strconv.AppendFloat(nil, n, 'g', -1, 64), n
	}
	if text != nil {
		d.tell(detail{name: ploidy, text: text, number: number, always: true})
	}
}

// reference reads what an experiment's reference says of the strain: its ploidy and name. The rest
// describes what values are relative to, not a condition.
func (d *decoder) reference(genome value) {
	d.ploidy(genome.member("ploidy"))
	if name := genome.member("strain"); !name.isNested() {
		d.walk(name, detail{name: strain})
	}
}

// addDetails adds the details as attributes, by name.
func (e *Experiment) addDetails() {
	slices.SortFunc(e.details, func(a, b detail) int {
		if names := bytes.Compare(a.name, b.name); names != 0 {
			return names
		}
		return cmp.Or(bytes.Compare(a.of, b.of), bytes.Compare(a.variant, b.variant),
			bytes.Compare(a.text, b.text))
	})
	for details := range e.byName() {
		e.add(asValue(details))
	}
}

// byName yields the details of each name.
func (e *Experiment) byName() iter.Seq[[]detail] {
	return func(yield func([]detail) bool) {
		for rest := e.details; len(rest) > 0; {
			end := 1
			for end < len(rest) && bytes.Equal(rest[end].name, rest[0].name) {
				end++
			}
			if !yield(rest[:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// asValue joins the details of one name: GENE=TEXT of each gene or compound.
func asValue(details []detail) Value {
	first := &details[0]
	v := Value{Name: first.name, Number: math.NaN(), Detail: !first.always}
	if len(details) == 1 && first.of == nil {
		if v.Number = first.number; math.IsNaN(v.Number) {
			v.Text = first.text
		}
		return v
	}
	size := 0
	for _, d := range details {
		size += len(d.of) + len("=|") + len(d.text)
	}
	v.Text = make([]byte, 0, size)
	for i, d := range details {
		if i > 0 {
			v.Text = append(v.Text, '|')
		}
		if d.of != nil {
			v.Text = append(append(v.Text, d.of...), '=')
		}
		v.Text = append(v.Text, d.text...)
	}
	return v
}
