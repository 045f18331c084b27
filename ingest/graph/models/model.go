// Package models reads genome-scale metabolic models. In goes YAML of cobrapy and RAVEN, or SBML;
// out come reactions and metabolites with their edges, and the genes that rules name:
//
//   - id: r_0001
//   - metabolites: !!omap
//   - s_0025: -1
//   - s_1399: 1
//   - gene_reaction_rule: YDL174C and YEL039C
package models

import (
	"cmp"
	"fmt"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// Spec names the metabolic part.
type Spec struct {
	// model in the YAML of cobrapy and RAVEN (.yml, .yaml) or in SBML (.xml, .sbml); may be
	// compressed (.gz, .zst)
	File string `yaml:"file" required:"name the model's file; for a graph without metabolism, remove the section: ~gem"`
	// nodes per reaction: one (whole), or one per alternative set of genes and direction, as in
	// torchcell (combinations) (default: whole)
	ReactionNodes ReactionNodes `yaml:"reaction_nodes" words:"whole combinations" default:"whole"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// ReactionNodes says how a reaction of a metabolic model becomes nodes.
type ReactionNodes string

const (
	WholeReactions ReactionNodes = "whole" // one node each, with its rule
	// as in torchcell: one node per alternative set of genes and direction
	Combinations ReactionNodes = "combinations"
)

// Model is a genome-scale metabolic model: its metabolites and reactions in the order of the file.
type Model struct {
	modelFile
	metabolites []Entry
	reactions   []Reaction
	// number of stoichiometric entries added to an earlier one of the same reaction and metabolite
	merged int
}

// modelFile is the file of a model, and a hint for errors in it.
type modelFile struct{ path, hint string }

// wrong is an error in a line.
func (f modelFile) wrong(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return fault.New(fault.Input, cmp.Or(fault.HintOf(err), f.hint),
		"read model %s:%d: %w", f.path, line, err)
}

// checkIDs returns an error for metabolites or reactions without an id, or with the same.
func (m *Model) checkIDs() error {
	lines := make(map[string]int)
	check := func(what string, e Entry) error {
		first, seen := lines[what+e.id]
		lines[what+e.id] = e.line
		switch {
		case e.id == "":
			return m.wrong(e.line, "found a %s without an id", what)
		case seen:
			return m.wrong(e.line, "found %s id %q twice, first at line %d", what, e.id, first)
		}
		return nil
	}
	for _, metabolite := range m.metabolites {
		if err := check("metabolite", metabolite); err != nil {
			return err
		}
	}
	for _, r := range m.reactions {
		if err := check("reaction", r.Entry); err != nil {
			return err
		}
	}
	return nil
}

// Entry is the id and line of an entry.
type Entry struct {
	id   string
	line int
}

type Reaction struct {
	Entry
	origin        string  // reaction that a node of combinations is made from, or ""
	lower, upper  float64 // flux bounds; NaN if the model has none
	reversible    bool    // it can run in both directions
	ruleText      string
	rule          *gpr.Rule // nil without a rule
	genes         []string  // of the rule, once its names are ids
	subsystem     string    // several are joined by "|"
	stoichiometry []Coefficient
	merged        int // coefficients added to an earlier one of the same metabolite
}

// add adds the coefficient of a metabolite, to that which it has already if there is one.
func (r *Reaction) add(metabolite Entry, value float64) {
	for k := range r.stoichiometry {
		if r.stoichiometry[k].metabolite.id == metabolite.id {
			r.stoichiometry[k].value += value
			r.merged++
			return
		}
	}
	r.stoichiometry = append(r.stoichiometry, Coefficient{metabolite, value})
}

type Coefficient struct {
	metabolite Entry
	value      float64 // negative for what the reaction consumes
}

// Read reads a model in the format of its name's ending. For YAML it holds the file's tree
// meanwhile, some 15 times the file's size.
func Read(files *inputfile.Files, path string) (*Model, error) {
	text, err := table.ReadWhole(files, path)
	if err != nil {
		return nil, err
	}
	switch format, _ := table.Format(path); format {
	case ".xml", ".sbml":
		return parseSBML(path, text)
	case ".yml", ".yaml":
		return parseYAML(path, text)
	default:
		return nil, fault.New(fault.Input, "give the file the ending of its format",
			"read model %s: found ending %q, "+
				"expected .yml, .yaml, .xml or .sbml (also .gz or .zst of these)", path, format)
	}
}
