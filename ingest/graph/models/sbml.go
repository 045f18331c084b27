package models

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/internal/decimal"
)

const sbmlHint = "use a complete model in SBML: level 3 with fbc, " +
	"or level 2 with gene associations in notes"

// parseSBML reads a model in SBML. In level 3 with the package fbc, version 2, reactions refer to
// gene products and to the parameters of their bounds. In older models, rules are in notes
// (GENE_ASSOCIATION: …), and bounds are parameters of a kinetic law or, in version 1 of fbc, a
// separate list. As in cobrapy, ids lose the prefixes R_, M_ and G_, and their encoded characters
// are decoded.
func parseSBML(path string, text []byte) (*Model, error) {
	d := sbmlDocument{
		modelFile:  modelFile{path, sbmlHint},
		bounds:     make(map[string]float64),
		products:   make(map[string]string),
		subsystems: make(map[string][]string),
	}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	decoder.Entity = xml.HTMLEntity
	var file sbmlFile
	err := decoder.Decode(&file)
	for err == nil { // only comments and instructions may follow the document
		var next xml.Token
		next, err = decoder.Token()
		if hasContent(next) {
			line, _ := decoder.InputPos()
			return nil, d.wrong(line,
				"found more XML after the model, expected the end of the file")
		}
	}
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF) && file.XMLName.Local == "sbml":
		return d.model(&file)
	case errors.Is(err, io.EOF) && file.XMLName.Local != "":
		return nil, fault.New(fault.Input, sbmlHint,
			"read model %s: found element %q, expected sbml", path, file.XMLName.Local)
	case errors.As(err, &syntax):
		return nil, d.wrong(syntax.Line, "%s, expected XML", syntax.Msg)
	}
	return nil, fault.New(fault.Input, sbmlHint, "read model %s: %w", path, err)
}

// hasContent reports whether a token is an element or text.
func hasContent(token xml.Token) bool {
	switch token := token.(type) {
	case xml.StartElement:
		return true
	case xml.CharData:
		return len(bytes.TrimSpace(token)) > 0
	}
	return false
}

// lined is an element and the line on which it begins.
type lined[T any] struct {
	line int
	at   T
}

func (l *lined[T]) UnmarshalXML(decoder *xml.Decoder, start xml.StartElement) error {
	l.line, _ = decoder.InputPos()
	return decoder.DecodeElement(&l.at, &start)
}

type sbmlFile struct {
	XMLName    xml.Name
	Species    []lined[sbmlParameter] `xml:"model>listOfSpecies>species"`
	Products   []lined[sbmlParameter] `xml:"model>listOfGeneProducts>geneProduct"`
	Parameters []lined[sbmlParameter] `xml:"model>listOfParameters>parameter"`
	FluxBounds []lined[struct {
		Reaction  string `xml:"reaction,attr"`
		Operation string `xml:"operation,attr"`
		Value     string `xml:"value,attr"`
	}] `xml:"model>listOfFluxBounds>fluxBound"`
	Reactions []lined[sbmlReaction] `xml:"model>listOfReactions>reaction"`
	Groups    []struct {
		Name    string `xml:"name,attr"`
		Members []struct {
			Reaction string `xml:"idRef,attr"`
		} `xml:"listOfMembers>member"`
	} `xml:"model>listOfGroups>group"`
}

// sbmlDocument is what reactions refer to.
type sbmlDocument struct {
	modelFile
	bounds     map[string]float64  // parameters by id; for fbc version 1, "<reaction> <operation>"
	products   map[string]string   // gene product id -> gene
	subsystems map[string][]string // reaction id -> names of its groups
}

type sbmlReaction struct {
	ID          string           `xml:"id,attr"`
	Lower       string           `xml:"lowerFluxBound,attr"`
	Upper       string           `xml:"upperFluxBound,attr"`
	Reversible  string           `xml:"reversible,attr"`
	Reactants   []sbmlSpecies    `xml:"listOfReactants>speciesReference"`
	Products    []sbmlSpecies    `xml:"listOfProducts>speciesReference"`
	Association *sbmlAssociation `xml:"geneProductAssociation"`
	Notes       sbmlNotes        `xml:"notes"`
	Parameters  []sbmlParameter  `xml:"kineticLaw>listOfParameters>parameter"`
	Local       []sbmlParameter  `xml:"kineticLaw>listOfLocalParameters>localParameter"`
}

type sbmlSpecies struct {
	ID            string `xml:"species,attr"`
	Stoichiometry string `xml:"stoichiometry,attr"` // "" means 1
}

// sbmlParameter is a parameter, a species or a gene product.
type sbmlParameter struct {
	ID    string `xml:"id,attr"`
	Label string `xml:"label,attr"`
	Value string `xml:"value,attr"`
}

// sbmlAssociation is a node of a rule: the association itself, and, or, or a gene product.
type sbmlAssociation struct {
	XMLName  xml.Name
	Product  string            `xml:"geneProduct,attr"`
	Operands []sbmlAssociation `xml:",any"`
}

// sbmlNotes is XHTML: paragraphs "KEY: value" at any depth.
type sbmlNotes struct {
	Text     string      `xml:",chardata"`
	Elements []sbmlNotes `xml:",any"`
}

// geneOfProduct is the gene of a gene product: its id if that has the prefix G_, otherwise its
// label.
func geneOfProduct(id, label string) string {
	if label == "" || strings.HasPrefix(id, "G_") {
		label = id
	}
	return plainID(label, "G_")
}

// model assembles the model.
func (d *sbmlDocument) model(file *sbmlFile) (*Model, error) {
	if len(file.Species) == 0 || len(file.Reactions) == 0 {
		return nil, fault.New(fault.Input, sbmlHint,
			"read model %s: found %d species and %s, expected at least one of each", d.path,
			len(file.Species), ingest.Plural(len(file.Reactions), "reaction", ""))
	}
	for _, product := range file.Products {
		if product.at.ID == "" {
			return nil, d.wrong(product.line, "found a geneProduct without an id")
		}
		d.products[product.at.ID] = geneOfProduct(product.at.ID, product.at.Label)
	}
	var err error
	for _, p := range file.Parameters {
		if p.at.Value != "" && err == nil {
			d.bounds[p.at.ID], err = d.number(p.line, p.at.Value)
		}
	}
	for _, bound := range file.FluxBounds {
		if err == nil {
			d.bounds[bound.at.Reaction+" "+bound.at.Operation], err = d.number(bound.line,
				bound.at.Value)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, group := range file.Groups {
		for _, member := range group.Members {
			d.subsystems[member.Reaction] = append(d.subsystems[member.Reaction], group.Name)
		}
	}
	model := &Model{modelFile: d.modelFile}
	for _, species := range file.Species {
		model.metabolites = append(model.metabolites,
			Entry{plainID(species.at.ID, "M_"), species.line})
	}
	for i := range file.Reactions {
		reaction, err := d.reaction(&file.Reactions[i].at, file.Reactions[i].line)
		if err != nil {
			return nil, err
		}
		model.reactions = append(model.reactions, reaction)
		model.merged += reaction.merged
	}
	return model, model.checkIDs()
}

func (d *sbmlDocument) reaction(r *sbmlReaction, line int) (Reaction, error) {
	notes := make(map[string]string)
	r.Notes.collect(notes)
	made := Reaction{
		Entry:     Entry{plainID(r.ID, "R_"), line},
		subsystem: cmp.Or(strings.Join(d.subsystems[r.ID], "|"), notes["SUBSYSTEM"]),
		ruleText:  notes["GENE ASSOCIATION"],
	}
	err := d.setBounds(&made, r, line)
	if err == nil && r.Association != nil {
		made.ruleText, err = d.ruleText(r, line)
	}
	if err != nil {
		return made, err
	}
	if made.rule, err = gpr.Parse(made.ruleText); err != nil {
		return made, d.wrong(line, "reaction %s: %w", made.id, err)
	}
	if r.Association != nil {
		made.ruleText = made.rule.String()
	}
	for side, sign := range []float64{-1, 1} {
		for _, species := range [][]sbmlSpecies{r.Reactants, r.Products}[side] {
			id := plainID(species.ID, "M_")
			value, err := stoichiometry(species.Stoichiometry)
			if err != nil {
				return made, d.wrong(line, "reaction %s: stoichiometry of %q: %w", made.id, id, err)
			}
			made.add(Entry{id, line}, sign*value)
		}
	}
	return made, nil
}

// stoichiometry reads a finite number; "" means 1.
func stoichiometry(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	value, err := parseNumber(text)
	if err == nil && math.IsInf(value, 0) {
		err = fmt.Errorf("found %q, expected a finite number", text)
	}
	return value, err
}

// setBounds finds a reaction's flux bounds. Without them, its attribute says whether it is
// reversible.
func (d *sbmlDocument) setBounds(made *Reaction, r *sbmlReaction, line int) (err error) {
	made.lower, err = d.bound(r, r.Lower, "LOWER_BOUND", "greaterEqual", line)
	if err != nil {
		return err
	}
	made.upper, err = d.bound(r, r.Upper, "UPPER_BOUND", "lessEqual", line)
	made.reversible = made.lower < 0 && made.upper > 0
	if math.IsNaN(made.lower) && math.IsNaN(made.upper) {
		// level 2 omits true
		made.reversible = r.Reversible != "false" && r.Reversible != "0"
	}
	return err
}

// bound finds a flux bound. It looks at the parameter that the reaction refers to, then at the
// separate list of bounds, then at the kinetic law. It returns NaN if none of them has one.
func (d *sbmlDocument) bound(
	r *sbmlReaction, reference, local, operation string, line int,
) (bound float64, err error) {
	if reference != "" {
		value, ok := d.bounds[reference]
		if !ok {
			err = d.wrong(line,
				"reaction %s: found no value for the parameter %q of its flux bound",
				plainID(r.ID, "R_"), reference)
		}
		return value, err
	}
	for _, operation := range []string{"equal", operation} {
		if value, ok := d.bounds[r.ID+" "+operation]; ok {
			return value, nil
		}
	}
	bound = math.NaN()
	for _, parameter := range append(r.Parameters, r.Local...) {
		if strings.EqualFold(parameter.ID, local) && parameter.Value != "" && err == nil {
			bound, err = d.number(line, parameter.Value)
		}
	}
	return bound, err
}

// ruleText writes a reaction's association as a rule.
func (d *sbmlDocument) ruleText(r *sbmlReaction, line int) (string, error) {
	if len(r.Association.Operands) != 1 {
		return "", d.wrong(line,
			"reaction %s: found %d elements in the geneProductAssociation, expected one",
			r.ID, len(r.Association.Operands))
	}
	var text strings.Builder
	var write func(node *sbmlAssociation) error
	write = func(node *sbmlAssociation) error {
		switch kind := node.XMLName.Local; kind {
		case "geneProductRef":
			gene, ok := d.products[node.Product]
			if !ok {
				return d.wrong(line,
					"reaction %s: gene product %q is not in the listOfGeneProducts", r.ID,
					node.Product)
			}
			text.WriteString(gene)
			return nil
		case "and", "or":
			text.WriteByte('(')
			for i := range node.Operands {
				if i > 0 {
					text.WriteString(" " + kind + " ")
				}
				if err := write(&node.Operands[i]); err != nil {
					return err
				}
			}
			text.WriteByte(')')
			return nil
		default:
			return d.wrong(line,
				"reaction %s: found element %q in its rule, expected and, or or geneProductRef",
				r.ID, kind)
		}
	}
	err := write(&r.Association.Operands[0])
	return text.String(), err
}

// collect stores the paragraphs "KEY: value". Keys become upper case, with spaces instead of
// underscores.
func (n *sbmlNotes) collect(notes map[string]string) {
	if key, value, ok := strings.Cut(n.Text, ":"); ok && len(n.Elements) == 0 {
		key = strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(key)), "_", " ")
		if value = strings.TrimSpace(value); value != "" {
			notes[key] = value
		}
	}
	for i := range n.Elements {
		n.Elements[i].collect(notes)
	}
}

// plainID returns an id without its prefix and with its characters decoded: M_s_0001 is s_0001,
// G_YAL016C__45__B is YAL016C-B.
func plainID(id, prefix string) string {
	id = strings.TrimPrefix(id, prefix)
	var plain strings.Builder
	for {
		before, rest, found := strings.Cut(id, "__")
		number, after, closed := strings.Cut(rest, "__")
		code, err := strconv.ParseUint(number, 10, 7)
		if !found {
			plain.WriteString(id)
			return plain.String()
		}
		if !closed || err != nil || code < ' ' {
			plain.WriteString(before + "__")
			id = rest
			continue
		}
		plain.WriteString(before + string(rune(code)))
		id = after
	}
}

// parseNumber reads a number, including INF and -INF.
func parseNumber(text string) (float64, error) {
	value, err := decimal.Parse(strings.TrimSpace(text))
	if errors.Is(err, decimal.ErrTooSmall) {
		return 0, fmt.Errorf("found %q, which is %w", text, err)
	}
	if err != nil || math.IsNaN(value) {
		return 0, fmt.Errorf("found %q, expected a number", text)
	}
	return value, nil
}

// number reads a number in a line.
func (d *sbmlDocument) number(line int, text string) (float64, error) {
	value, err := parseNumber(text)
	if err != nil {
		return 0, d.wrong(line, "%w", err)
	}
	return value, nil
}
