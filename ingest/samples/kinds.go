package samples

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// NoKinds, as PerturbationOptions.KindsColumn, ignores a column of the default name.
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
	k.kinds, k.perturbed, k.staying = append(k.kinds[:0], list...), k.perturbed[:0], nil
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

// end returns the genes that the sample deletes, ascending and without duplicates. names is the
// number of the row's names.
func (k *kindParser) end(names int, genes *ingest.Nodes, genotype []uint32) ([]uint32, error) {
	if len(k.perturbed) > 0 && len(k.kinds) != 1 && len(k.kinds) != names {
		return nil, fault.New(fault.Input, kindsHint, "found %d kinds for %d names, expected one for each, or one for all", len(k.kinds), names)
	}
	slices.SortStableFunc(k.perturbed, func(a, b perturbed) int { return cmp.Compare(a.gene, b.gene) })
	genotype = genotype[:0]
	for i, p := range k.perturbed {
		switch {
		case len(p.kind) == 0:
			return nil, fault.New(fault.Input, kindsHint, "found no kind of gene %s, expected one such as deletion", fault.Quote(genes.IDs[p.gene]))
		case bytes.ContainsAny(p.kind, "=|") || p.kind[0] == '+' || p.kind[len(p.kind)-1] == '+' || bytes.Contains(p.kind, []byte("++")):
			return nil, fault.New(fault.Input, "rename the kind", "found kind %s, expected a text without = and |, or several joined by +", fault.Quote(p.kind))
		case i > 0 && k.perturbed[i-1].gene == p.gene && k.perturbed[i-1].kept != p.kept:
			return nil, fault.New(fault.Input, "list the gene once", "found gene %s both among the deleted genes and among those that stay, expected one of the two",
				fault.Quote(genes.IDs[p.gene]))
		case i > 0 && k.perturbed[i-1].gene == p.gene && !bytes.Equal(k.perturbed[i-1].kind, p.kind):
			return nil, fault.New(fault.Input, "list the gene once", "found gene %s as %s and as %s, expected one kind",
				fault.Quote(genes.IDs[p.gene]), fault.Quote(k.perturbed[i-1].kind), fault.Quote(p.kind))
		}
	}
	k.perturbed = slices.CompactFunc(k.perturbed, func(a, b perturbed) bool { return a.gene == b.gene })
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

// deletes reports whether a perturbation deletes its gene: the choice of kinds is asked before the
// table, which may have been written with another one.
func (k *kindParser) deletes(p perturbed) bool {
	return removes(k.removing, p.kind) && (k.removing != nil || !p.kept)
}

// removes reports whether a kind removes the node of its gene. Several kinds of one gene, which a
// torchcell store may have, are joined by +.
func removes(removing []string, kind []byte) bool {
	if removing == nil {
		return true
	}
	for part := range bytes.SplitSeq(kind, []byte("+")) {
		if slices.Contains(removing, string(part)) {
			return true
		}
	}
	return false
}

// findKinds finds the column of kinds, by its name or the default name.
func (c *perturbationColumns) findKinds(layout *perturbationLayout, options PerturbationOptions) error {
	layout.kinds, layout.kindsAt = -1, -1
	name := cmp.Or(options.KindsColumn, ingest.KindsAttribute)
	column, ok := c.at[name]
	switch {
	case options.KindsColumn == NoKinds, options.KindsColumn == "" && slices.Contains(options.NotPhenotypes, name):
		return nil
	case options.KindsColumn != "" && !ok:
		var err error
		if column, err = c.find("kinds", name); err != nil {
			return err
		}
	case !ok || options.KindsColumn == "" && (c.roles[column] != roleOpen || c.kind(column) == table.Number):
		return nil
	}
	if kind := c.kind(column); kind == table.Number || kind == table.Other {
		return fault.New(fault.Input, "store a list of texts, or one text with a delimiter between the kinds",
			"read perturbations %s: kinds column %s has type %s", c.path, fault.Quote(name), kind)
	}
	if other, taken := c.at[ingest.KindsAttribute]; taken && other != column {
		return fault.New(fault.Input, "rename it, or omit the setting kinds_column",
			"read perturbations %s: found a column kinds beside the kinds column %s", c.path, fault.Quote(name))
	}
	layout.kinds, c.roles[column] = column, roleKinds
	return nil
}

// checkRemoving returns an error for kinds that remove nodes of a set without kinds.
func checkRemoving(removing []string, columns ingest.Columns, path string) error {
	if removing != nil && columns.Kinds == "" {
		return fault.New(fault.Usage, "omit removing_kinds, or give the set a column kinds",
			"read perturbations %s: found removing_kinds %s, but the set does not record kinds of perturbations", path, fault.List(removing))
	}
	for _, kind := range removing {
		if strings.TrimSpace(kind) != kind || kind == "" {
			return fault.New(fault.Usage, "write names as in removing_kinds=deletion,knockdown",
				"read removing_kinds: found %s, expected a name without spaces around it", fault.Quote(kind))
		}
	}
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

// KindsNotFound returns an error for kinds that remove nodes and that no perturbation has.
func KindsNotFound(removing []string, counts map[string]int, path string) error {
	var known []string
	for kind := range counts {
		known = append(known, strings.Split(kind, "+")...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, kind := range removing {
		if !slices.Contains(known, kind) {
			return fault.New(fault.Usage, fault.DidYouMean(kind, known, "the set's kinds are "+fault.List(known)),
				"read perturbations %s: removing_kinds: no perturbation is of kind %s", path, fault.Quote(kind))
		}
	}
	return nil
}
