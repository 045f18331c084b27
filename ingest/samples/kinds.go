package samples

import (
	"bytes"
	"cmp"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// NoKinds, as Spec.KindsColumn, ignores a column of the default name.
const NoKinds = "-"

// kindParser collects the kinds of a sample's perturbations. Its text is the attribute's
// ingest.KindsAttribute.
type kindParser struct {
	removing  []string // kinds that remove a node; nil: all
	kinds     [][]byte // of the current row: one for each name, or one for all
	kept      [][]byte // of the current row: GENE=KIND of genes that stay
	staying   []byte   // the kind of the gene to add, if it is one of these
	perturbed []perturbed
	text      []byte
}

// perturbed is a gene that a sample perturbs.
type perturbed struct {
	gene uint32
	kind []byte
	kept bool // by the table itself
}

// begin reads the kinds of a row, as a list or as one text: first a kind per listed gene, then
// GENE=KIND for each gene that stays, as in ingest.KindsAttribute.
func (k *kindParser) begin(list [][]byte, text, delimiter []byte) {
	k.kinds, k.perturbed, k.staying = k.kinds[:0], k.perturbed[:0], nil
	for _, kind := range list {
		k.kinds = append(k.kinds, bytes.TrimSpace(kind))
	}
	for more := list == nil && len(bytes.TrimSpace(text)) > 0; more; {
		var kind []byte
		kind, text, more = bytes.Cut(text, delimiter)
		k.kinds = append(k.kinds, bytes.TrimSpace(kind))
	}
	names := len(k.kinds)
	for names > 0 && bytes.IndexByte(k.kinds[names-1], '=') > 0 {
		names--
	}
	k.kinds, k.kept = k.kinds[:names], k.kinds[names:]
}

// addKept adds the genes that a row perturbs and says to stay.
func (p *genotypeParser) addKept() error {
	for _, part := range p.kinds.kept {
		at := bytes.LastIndexByte(part, '=')
		p.kinds.staying = part[at+1:]
		if err := p.add(part[:at]); err != nil {
			return fault.New(fault.KindOf(err), fault.HintOf(err), "kind %s: %w", fault.Quote(part), err)
		}
	}
	return nil
}

// add adds the gene that the row's name of this number means.
func (k *kindParser) add(gene uint32, number int) {
	kind := k.staying
	if kind != nil {
		k.perturbed = append(k.perturbed, perturbed{gene, kind, true})
		return
	}
	if len(k.kinds) == 1 {
		kind = k.kinds[0]
	} else if number < len(k.kinds) {
		kind = k.kinds[number]
	}
	k.perturbed = append(k.perturbed, perturbed{gene: gene, kind: kind})
}

const kindsHint = "give each gene its kind, in the order of the genes, or one kind for all"

// end returns the genes that the sample deletes, ascending. names is the number of the row's names.
func (k *kindParser) end(names int, genes *ingest.Nodes, genotype []uint32) ([]uint32, error) {
	if len(k.perturbed) > 0 && len(k.kinds) != 1 && len(k.kinds) != names {
		return nil, fault.New(fault.Input, kindsHint, "found %d kinds for %d names, expected one for each, or one for all", len(k.kinds), names)
	}
	slices.SortFunc(k.perturbed, func(a, b perturbed) int { return cmp.Compare(a.gene, b.gene) })
	genotype = genotype[:0]
	for i, p := range k.perturbed {
		switch {
		case len(p.kind) == 0:
			return nil, fault.New(fault.Input, kindsHint, "found no kind of gene %s, expected one such as deletion", fault.Quote(genes.IDs[p.gene]))
		case !isKind(p.kind):
			return nil, CheckKind(string(p.kind))
		case i > 0 && k.perturbed[i-1].gene == p.gene && k.perturbed[i-1].kept != p.kept:
			return nil, fault.New(fault.Input, "list the gene once", "found gene %s both among the deleted genes and among those that stay, expected one of the two",
				fault.Quote(genes.IDs[p.gene]))
		}
	}
	k.text = k.text[:0]
	for _, p := range k.perturbed {
		if k.deletes(p) {
			genotype = append(genotype, p.gene)
			k.text = ingest.AppendKind(k.text, p.kind)
		}
	}
	for _, p := range k.perturbed {
		if !k.deletes(p) {
			k.text = ingest.AppendKept(k.text, genes.IDs[p.gene], p.kind)
		}
	}
	return genotype, nil
}

// isKind reports whether a text is a valid kind: it can stand in a list, and joined to others by +.
func isKind(kind []byte) bool {
	for part := range bytes.SplitSeq(kind, []byte{'+'}) {
		if len(part) == 0 || bytes.ContainsAny(part, "=|") {
			return false
		}
	}
	return true
}

// CheckKind returns an error for a text that cannot be a kind.
func CheckKind(kind string) error {
	if isKind([]byte(kind)) {
		return nil
	}
	return fault.New(fault.Input, "rename the kind",
		"found kind %s, expected a text without = and |, or several joined by +", fault.Quote(kind))
}

// deletes reports whether a perturbation deletes its gene: the choice of kinds is asked before the
// table, which may have been written with another one.
func (k *kindParser) deletes(p perturbed) bool {
	return removes(k.removing, p.kind) && (k.removing != nil || !p.kept)
}

// defaultKindsColumns name the column of kinds, by precedence, unless an option does.
var defaultKindsColumns = []string{ingest.KindsAttribute, typesAttribute}

// findKinds finds the column of kinds, by its name or a default name. The attribute is called
// kinds, or perturbation_type if the column is, as in a table made from a store.
func (c *perturbationColumns) findKinds(layout *perturbationLayout, options reading) error {
	layout.kinds, layout.kindsAt, layout.kindsName = -1, -1, ingest.KindsAttribute
	if options.KindsColumn == NoKinds {
		return nil
	}
	column, name := -1, options.KindsColumn
	if name != "" {
		var err error
		if column, err = c.find("kinds", name); err != nil {
			return err
		}
	}
	for _, usual := range defaultKindsColumns {
		at, ok := c.at[usual]
		isKinds := ok && c.roles[at] == roleOpen && c.kind(at) != table.Number
		if column < 0 && isKinds {
			column, name, layout.kindsName = at, usual, usual
		}
	}
	if column < 0 {
		return nil
	}
	if kind := c.kind(column); kind == table.Number || kind == table.Other {
		return fault.New(fault.Input, "store a list of texts, or one text with a delimiter between the kinds",
			"read perturbations %s: kinds column %s has type %s", c.path, fault.Quote(name), kind)
	}
	if other, taken := c.at[layout.kindsName]; taken && other != column {
		return fault.New(fault.Input, "rename it, or omit the setting kinds_column",
			"read perturbations %s: found a column kinds beside the kinds column %s", c.path, fault.Quote(name))
	}
	layout.kinds, c.roles[column] = column, roleKinds
	return nil
}

// keep takes the genes out of a record's genotype that no kind of its perturbations removes, and
// appends them, with their kinds, to each text of kinds.
func (p *recordParser) keep(genotype []uint32, kindsOf func(gene uint32) []byte) (deleted []uint32) {
	p.kept = p.kept[:0]
	deleted = genotype[:0]
	for _, gene := range genotype {
		if kinds := kindsOf(gene); removes(p.genotype.options.RemovingKinds, kinds) {
			deleted = append(deleted, gene)
		} else {
			p.kept = ingest.AppendKept(p.kept, p.genotype.genes.IDs[gene], kinds)
		}
	}
	return deleted
}
