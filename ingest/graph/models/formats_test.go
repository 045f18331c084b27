package models

import (
	"fmt"
	"html"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

const smallSBML = `<?xml version="1.0" encoding="UTF-8"?>
<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" xmlns:fbc="http://www.sbml.org/sbml/level3/version1/fbc/version2"
    xmlns:groups="http://www.sbml.org/sbml/level3/version1/groups/version1" level="3" version="1">
<model id="small" fbc:strict="true">
<listOfSpecies>
<species id="M_m1" compartment="c"/>
<species id="M_m2" compartment="c"><notes><p>a note: of it</p></notes></species>
<species id="M_m__45__3" compartment="c"/>
</listOfSpecies>
<listOfParameters>
<parameter id="low" value="-1000" constant="true"/>
<parameter id="high" value="1000" constant="true"/>
<parameter id="zero" value="0" constant="true"/>
</listOfParameters>
<listOfReactions>
<reaction id="R_r1" reversible="true" fbc:lowerFluxBound="low" fbc:upperFluxBound="high">
<notes><body xmlns="http://www.w3.org/1999/xhtml"><p>GENE_ASSOCIATION: B</p></body></notes>
<listOfReactants><speciesReference species="M_m2" stoichiometry="1"/></listOfReactants>
<listOfProducts><speciesReference species="M_m1" stoichiometry="2.5"/><speciesReference species="M_m2" stoichiometry="0.5"/></listOfProducts>
<fbc:geneProductAssociation><fbc:or>
<fbc:and><fbc:geneProductRef fbc:geneProduct="G_C__45__D"/><fbc:geneProductRef fbc:geneProduct="gp1"/></fbc:and>
<fbc:geneProductRef fbc:geneProduct="gp1"/></fbc:or></fbc:geneProductAssociation>
</reaction>
<reaction id="R_r2" reversible="false" fbc:lowerFluxBound="zero" fbc:upperFluxBound="high">
<listOfReactants><speciesReference species="M_m__45__3" stoichiometry="1e-05"/></listOfReactants>
</reaction>
</listOfReactions>
<fbc:listOfGeneProducts>
<fbc:geneProduct fbc:id="G_C__45__D" fbc:label="something else"/>
<fbc:geneProduct fbc:id="gp1" fbc:label="A"/>
</fbc:listOfGeneProducts>
<groups:listOfGroups><groups:group groups:name="Glycolysis" groups:kind="partonomy"><groups:listOfMembers><groups:member groups:idRef="R_r1"/></groups:listOfMembers></groups:group></groups:listOfGroups>
</model></sbml>
`

const oldSBML = `<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="old">
<listOfSpecies><species id="M_m1"/><species id="M_m2"/></listOfSpecies>
<listOfReactions>
<reaction id="R_r1">
<notes><html:p xmlns:html="http://www.w3.org/1999/xhtml">GENE_ASSOCIATION: (A AND B) or C&amp;A</html:p>
<html:p xmlns:html="http://www.w3.org/1999/xhtml">SUBSYSTEM: Glycolysis&nbsp;</html:p></notes>
<listOfReactants><speciesReference species="M_m1"/></listOfReactants>
<listOfProducts><speciesReference species="M_m2" stoichiometry="2"/></listOfProducts>
<kineticLaw><listOfParameters><parameter id="LOWER_BOUND" value="-1000"/><parameter id="UPPER_BOUND" value="INF"/></listOfParameters></kineticLaw>
</reaction>
<reaction id="R_r2" reversible="false"><notes><p>GENE ASSOCIATION: </p></notes><listOfReactants><speciesReference species="M_m2"/></listOfReactants></reaction>
</listOfReactions>
<fbc:listOfFluxBounds xmlns:fbc="http://www.sbml.org/sbml/level3/version1/fbc/version1"><fbc:fluxBound fbc:reaction="R_r2" fbc:operation="equal" fbc:value="5"/>
<fbc:fluxBound fbc:reaction="R_r1" fbc:operation="greaterEqual" fbc:value="-500"/></fbc:listOfFluxBounds>
</model></sbml>
`

// unquoted has names as RAVEN wrote them, which are no YAML.
const unquoted = `---
!!omap
- metabolites:
  - !!omap
    - id: m1
    - name: [cytochrome c]-L-lysine
  - !!omap
    - id: m2
    - name: 5'-"quoted" {x}: \ @
  - !!omap
    - id: m3
    - name: "quoted: here"
- reactions:
  - !!omap
    - id: r1
    - name: coenzyme A: cytoplasm to LP
    - metabolites: !!omap
      - m1: -1
    - gene_reaction_rule: A
- genes:
  - !!omap
    - id: A
`

// textOf writes a model, a line per reaction.
func textOf(m *Model) string {
	var text strings.Builder
	for _, metabolite := range m.metabolites {
		text.WriteString(metabolite.id + " ")
	}
	for _, r := range m.reactions {
		fmt.Fprintf(&text, "\n%s [%v %v %v] %s; %s;", r.id, r.lower, r.upper, r.reversible,
			r.ruleText, r.subsystem)
		for _, c := range r.stoichiometry {
			fmt.Fprintf(&text, " %s:%v", c.metabolite.id, c.value)
		}
	}
	return text.String()
}

func TestGEMFormats(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		merged           int
	}{
		{
			name: "small.xml",
			text: smallSBML,
			want: "m1 m2 m-3 \nr1 [-1000 1000 true] (C-D and A) or A; Glycolysis; m2:-0.5 " +
				"m1:2.5\nr2 [0 1000 false] ; ; m-3:-1e-05",
			merged: 1,
		},
		{
			name: "old.sbml",
			text: oldSBML,
			want: "m1 m2 \nr1 [-500 +Inf true] (A AND B) or C&A; Glycolysis; m1:-1 m2:2\n" +
				"r2 [5 5 false] ; ; m2:-1",
		},
		{name: "unquoted.yml", text: unquoted, want: "m1 m2 m3 \nr1 [NaN NaN false] A; ; m1:-1"},
	} {
		model, err := Read(inputs.Opened(t), inputs.Write(t, test.name, test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := textOf(model); got != test.want || model.merged != test.merged {
			t.Errorf("%s: %d merged, model\n%s\nwant %d and\n%s", test.name, model.merged, got,
				test.merged, test.want)
		}
	}
	_, err := Read(inputs.Opened(t), inputs.Write(t, "model.mat", "x"))
	check.Fault(t, err, fault.Input, "model.mat", `".mat"`)
}

func TestGEMFormatErrors(t *testing.T) {
	for _, test := range []struct {
		file, text, old, new string
		wants                []string
	}{
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   "</model></sbml>\n",
			wants: []string{"m.xml:", "expected XML"},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   "sbml",
			new:   "html",
			wants: []string{"m.xml", `"html", expected sbml`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `fbc:lowerFluxBound="low"`,
			new:   `fbc:lowerFluxBound="lower"`,
			wants: []string{"m.xml:16", `"lower"`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `value="-1000"`,
			new:   `value="x"`,
			wants: []string{"m.xml:11", `"x"`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `fbc:geneProduct="gp1"`,
			new:   `fbc:geneProduct="gp2"`,
			wants: []string{"m.xml:16", `"gp2"`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `stoichiometry="2.5"`,
			new:   `stoichiometry="two"`,
			wants: []string{"m.xml:16", `"two"`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   "fbc:and",
			new:   "fbc:not",
			wants: []string{"m.xml:16", `"not"`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `"R_r2"`,
			new:   `"R_r1"`,
			wants: []string{"m.xml:24", "twice"},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `"M_m1"`,
			new:   `"M_m2"`,
			wants: []string{"m.xml:7", "twice"},
		},
		{
			file:  "m.xml",
			text:  oldSBML,
			old:   "(A AND B)",
			new:   "(A AND",
			wants: []string{"m.xml:4", "r1", "byte"},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   `stoichiometry="2.5"`,
			new:   `stoichiometry="1e-400"`,
			wants: []string{"m.xml:16", `found "1e-400", which is too small`},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   "</model></sbml>\n",
			new:   "</model></sbml>\n<!-- end -->\n" + smallSBML,
			wants: []string{"m.xml:", "found more XML after the model"},
		},
		{
			file:  "m.xml",
			text:  smallSBML,
			old:   "</sbml>\n",
			new:   "</sbml>\nend\n",
			wants: []string{"m.xml:", "found more XML after the model"},
		},
		{
			file:  "m.xml",
			text:  "<sbml></sbml>",
			wants: []string{"m.xml", "0 species and 0 reactions"},
		},
	} {
		_, err := Read(inputs.Opened(t),
			inputs.Write(t, test.file, strings.ReplaceAll(test.text, test.old, test.new)))
		check.Fault(t, err, fault.Input, test.wants...)
	}
}

// yeastModel reads yeast-GEM's YAML.
func yeastModel(t testing.TB) *Model {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it reads the real data")
	}
	const path = "../../../../shared/data/yeast_gem_v9.0.2/yeast-GEM.yml.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the public yeast data is not there: %v", err)
	}
	model, err := Read(inputs.Opened(t), path)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// TestYeastSBML writes yeast-GEM as SBML, in both ways of writing rules, and reads it back.
func TestYeastSBML(t *testing.T) {
	want := yeastModel(t)
	// SBML lists what a reaction consumes before what it produces.
	order := func(m *Model) {
		for _, r := range m.reactions {
			slices.SortStableFunc(r.stoichiometry, func(a, b Coefficient) int {
				return strings.Compare(a.metabolite.id, b.metabolite.id)
			})
		}
	}
	order(want)
	for i := range want.reactions {
		want.reactions[i].ruleText = want.reactions[i].rule.String()
	}
	for _, level := range []int{2, 3} {
		got, err := Read(inputs.Opened(t), inputs.Write(t, "yeast.xml", sbmlText(want, level)))
		if err != nil {
			t.Fatal(err)
		}
		order(got)
		wantLines, gotLines := strings.Split(textOf(want), "\n"), strings.Split(textOf(got), "\n")
		for i, line := range wantLines {
			if len(gotLines) != len(wantLines) || gotLines[i] != line {
				t.Fatalf("level %d, line %d is\n%s\nwant\n%s", level, i, gotLines[i], line)
			}
		}
	}
}

// sbmlText writes a model as SBML of level 2 with notes, or 3 with fbc.
func sbmlText(m *Model, level int) string {
	encode := func(id string) string { return strings.ReplaceAll(id, "-", "__45__") }
	var text strings.Builder
	fmt.Fprintf(&text,
		"<sbml xmlns:fbc=\"f\" xmlns:groups=\"g\" level=\"%d\"><model>\n<listOfSpecies>\n", level)
	for _, metabolite := range m.metabolites {
		fmt.Fprintf(&text, "<species id=\"M_%s\"/>\n", encode(metabolite.id))
	}
	text.WriteString("</listOfSpecies><listOfReactions>\n")
	products, groups, parameters := make(map[string]bool), "", ""
	for _, r := range m.reactions {
		fmt.Fprintf(&text,
			"<reaction id=\"R_%s\" fbc:lowerFluxBound=\"l_%s\" fbc:upperFluxBound=\"u_%s\">",
			encode(r.id), r.id, r.id)
		if level == 2 {
			fmt.Fprintf(&text, "<notes><p>GENE_ASSOCIATION: %s</p><p>SUBSYSTEM: %s</p></notes>",
				r.ruleText, html.EscapeString(r.subsystem))
		} else if r.subsystem != "" {
			for _, name := range strings.Split(r.subsystem, "|") {
				groups += fmt.Sprintf("<groups:group "+
					"groups:name=\"%s\"><groups:listOfMembers><groups:member "+
					"groups:idRef=\"R_%s\"/></groups:listOfMembers></groups:group>\n",
					html.EscapeString(name), encode(r.id))
			}
		}
		for side, list := range []string{"listOfReactants", "listOfProducts"} {
			text.WriteString("<" + list + ">")
			for _, c := range r.stoichiometry {
				if c.value > 0 == (side == 1) {
					fmt.Fprintf(&text, "<speciesReference species=\"M_%s\" stoichiometry=\"%v\"/>",
						encode(c.metabolite.id), math.Abs(c.value))
				}
			}
			text.WriteString("</" + list + ">")
		}
		if level == 3 && r.rule != nil {
			text.WriteString("<fbc:geneProductAssociation>")
			writeAssociation(&text, r.rule, encode)
			text.WriteString("</fbc:geneProductAssociation>")
		}
		text.WriteString("</reaction>\n")
		parameters += fmt.Sprintf("<parameter id=\"l_%s\" value=\"%v\"/><parameter id=\"u_%s\" "+
			"value=\"%v\"/>\n",
			r.id, r.lower, r.id, r.upper)
		for _, gene := range r.rule.Genes() {
			products[gene] = true
		}
	}
	text.WriteString("</listOfReactions><listOfParameters>" + parameters +
		"</listOfParameters><fbc:listOfGeneProducts>")
	for gene := range products {
		fmt.Fprintf(&text, "<fbc:geneProduct fbc:id=\"G_%s\" fbc:label=\"G_%s\"/>", encode(gene),
			encode(gene))
	}
	return text.String() + "</fbc:listOfGeneProducts><groups:listOfGroups>" + groups +
		"</groups:listOfGroups></model></sbml>\n"
}

func writeAssociation(text *strings.Builder, rule *gpr.Rule, encode func(string) string) {
	if rule.Op == gpr.Gene {
		fmt.Fprintf(text, "<fbc:geneProductRef fbc:geneProduct=\"G_%s\"/>", encode(rule.Name))
		return
	}
	word := map[gpr.Op]string{gpr.And: "fbc:and", gpr.Or: "fbc:or"}[rule.Op]
	text.WriteString("<" + word + ">")
	for _, operand := range rule.Operands {
		writeAssociation(text, operand, encode)
	}
	text.WriteString("</" + word + ">")
}

func FuzzSBML(f *testing.F) {
	f.Add([]byte(smallSBML))
	f.Add([]byte(oldSBML))
	f.Fuzz(func(t *testing.T, text []byte) { checkParse(t, text, parseSBML) })
}

// checkParse checks that a text becomes a model, whole and expanded, or an error of the input.
func checkParse(t *testing.T, text []byte, parse func(string, []byte) (*Model, error)) {
	model, err := parse("model.x", text)
	if err == nil {
		ids := make(map[string]bool)
		for _, r := range model.reactions {
			if r.id == "" || ids[r.id] {
				t.Fatalf("reaction id %q", r.id)
			}
			ids[r.id] = true
		}
		_, err = model.combinations()
	}
	if err != nil &&
		(fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "model.x")) {
		t.Fatalf("error %q", err)
	}
}
