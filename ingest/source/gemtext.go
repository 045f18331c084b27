package source

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/gpr"
)

// gemTextColumns are the columns of the table, as named in RAVEN's exports and yeast-GEM's
// releases.
var gemTextColumns = []string{"Rxn name", "Formula", "Gene-reaction association", "LB", "UB"}

// parseGEMText reads the table in yeast-GEM's releases: a reaction per line with its formula, such
// as "2 A[c] + B[m] <=> C[c]". Metabolites have no ids: they are named name[compartment], in the
// order of their first mention. The table has no subsystems. A second table, of metabolites, is not
// read.
func parseGEMText(path string, text []byte) (*gem, error) {
	model, columns, line := new(gem), []int(nil), 0
	known, reactions := make(map[string]bool), make(map[string]int)
	for row := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line++
		where := gemReader{path}.where(line)
		fields := strings.Split(strings.TrimRight(string(row), "\r\n"), "\t")
		if columns == nil {
			var err error
			if columns, err = gemTextHeader(where, fields); err != nil {
				return nil, err
			}
			continue
		}
		if len(fields) == 1 && fields[0] == "" {
			continue
		}
		if strings.EqualFold(fields[0], "Metabolite name") { // a second table follows in yeast-GEM 7.6
			break
		}
		reaction, err := gemTextReaction(columns, fields)
		if err != nil {
			return nil, fault.New(fault.Input, fault.HintOf(err), "read model %s: %w", where, err)
		}
		reaction.line = line
		if first, seen := reactions[reaction.id]; seen {
			return nil, fault.New(fault.Input, gemHint, "read model %s: found reaction %q twice, first at line %d",
				where, reaction.id, first)
		}
		reactions[reaction.id] = line
		for k := range reaction.stoichiometry {
			metabolite := &reaction.stoichiometry[k].metabolite
			metabolite.line = line
			if !known[metabolite.id] {
				known[metabolite.id] = true
				model.metabolites = append(model.metabolites, *metabolite)
			}
		}
		model.reactions = append(model.reactions, reaction)
		model.merged += reaction.merged
	}
	if len(model.reactions) == 0 {
		return nil, fault.New(fault.Input, gemHint, "read model %s: found no reactions, expected a line for each", path)
	}
	return model, nil
}

func gemTextHeader(where string, fields []string) ([]int, error) {
	columns := make([]int, len(gemTextColumns))
	for k, name := range gemTextColumns {
		columns[k] = -1
		for number, field := range fields {
			if strings.EqualFold(strings.TrimSpace(field), name) {
				columns[k] = number
			}
		}
		if columns[k] < 0 {
			return nil, fault.New(fault.Input, "use the .txt file of a yeast-GEM release",
				"read model %s: found no column %q in the header, expected %s", where, name, strings.Join(gemTextColumns, ", "))
		}
	}
	return columns, nil
}

// gemTextReaction reads a line. Its errors do not name the line.
func gemTextReaction(columns []int, fields []string) (reaction gemReaction, err error) {
	for _, column := range columns {
		if column >= len(fields) {
			return reaction, fault.New(fault.Input, gemHint,
				"found %s, expected at least %d", plural(len(fields), "field", ""), column+1)
		}
	}
	if reaction.id = strings.TrimSpace(fields[columns[0]]); reaction.id == "" {
		return reaction, fault.New(fault.Input, gemHint, "found a reaction without a name")
	}
	bounds := [2]*float64{&reaction.lower, &reaction.upper}
	for k, bound := range bounds {
		text := strings.TrimSpace(fields[columns[3+k]])
		if *bound, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(*bound) {
			return reaction, fault.New(fault.Input, gemHint, "reaction %s: %s: found %q, expected a number",
				reaction.id, gemTextColumns[3+k], text)
		}
	}
	reaction.reversible = reaction.lower < 0 && reaction.upper > 0
	reaction.ruleText = strings.TrimSpace(fields[columns[2]])
	if reaction.rule, err = gpr.Parse(reaction.ruleText); err == nil {
		err = reaction.addFormula(fields[columns[1]])
	}
	if err != nil {
		return reaction, fault.New(fault.Input, fault.HintOf(err), "reaction %s: %w", reaction.id, err)
	}
	return reaction, nil
}

// formulaArrows separate what a reaction consumes from what it produces.
var formulaArrows = []string{"<=>", "=>", "<->", "->", "<==>", "==>", "-->"}

// addFormula adds the metabolites of "2 A[c] + B[m] => C[c]"; either side may be empty.
func (r *gemReaction) addFormula(formula string) (err error) {
	words := strings.Fields(formula)
	sign, arrow := -1.0, false
	var term []string
	add := func() error {
		value, name, err := formulaTerm(term)
		term = term[:0]
		if err == nil {
			r.add(gemEntry{id: name}, sign*value)
		}
		return err
	}
	for i, word := range words {
		isArrow := slices.Contains(formulaArrows, word)
		switch {
		case isArrow && arrow:
			return fault.New(fault.Input, gemHint, "found two arrows in formula %q, expected one", formula)
		case isArrow || word == "+":
			empty := len(term) == 0 && isArrow && i == 0
			if !empty {
				err = add()
			}
			if arrow = arrow || isArrow; isArrow {
				sign = 1
			}
		default:
			term = append(term, word)
		}
		if err != nil {
			return err
		}
	}
	if !arrow {
		return fault.New(fault.Input, gemHint, "found no arrow in formula %q, expected => or <=>", formula)
	}
	if len(term) > 0 {
		err = add()
	} else if words[len(words)-1] == "+" {
		err = fault.New(fault.Input, gemHint, "found + at the end of formula %q, expected a metabolite", formula)
	}
	return err
}

// formulaTerm reads a coefficient, 1 if missing, and a metabolite's name, which may contain blanks.
func formulaTerm(words []string) (value float64, name string, err error) {
	if len(words) > 1 {
		if value, err := strconv.ParseFloat(words[0], 64); err == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			return value, strings.Join(words[1:], " "), nil
		}
	}
	if len(words) == 0 {
		return 0, "", fault.New(fault.Input, gemHint, "found no metabolite before a + or arrow")
	}
	return 1, strings.Join(words, " "), nil
}
