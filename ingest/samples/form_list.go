package samples

import (
	"bytes"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/table/rows"
)

// list reads a table of genes: one column of lists, or of texts with a delimiter, or several
// columns with a gene each. A column of kinds has one for each gene, or one for all.
//
//	sample_id  genes       kinds               fitness
//	s1         TFC3|VPS8   deletion|knockdown  0.5
//
// gives the record s1 with mentions of TFC3, a deletion, and VPS8, a knockdown.
type list struct {
	tableValues
	genotyper *Genotyper
	names     *names.Resolver
	delimiter []byte

	record Record
	kinds  [][]byte
	text   []byte // of the sample's kinds
}

func (l *list) strict() bool { return true }

func (l *list) Record(b *table.Batch, i int) (*Record, error) {
	r := &l.record
	r.Mentions, r.MissingGene = r.Mentions[:0], false
	var err error
	switch columns := l.layout.genes; {
	case l.layout.list:
		err = l.addList(b.List(columns[0], i))
	case len(columns) == 1:
		err = l.addListed(b.Text(columns[0], i))
	default:
		for _, column := range columns {
			l.addUnlessMissing(b.Text(column, i))
		}
	}
	if err == nil && l.layout.hasKinds {
		err = l.addKinds(b, i)
	}
	l.readID(b, i, r)
	return r, err
}

// addList adds the genes of a list.
func (l *list) addList(names [][]byte) error {
	for _, name := range names {
		if err := l.addInList(name); err != nil {
			return err
		}
	}
	return nil
}

// addListed adds the genes of a text: A|B, or A, B with spaces.
func (l *list) addListed(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	name, rest, more := l.names.Cut(text)
	if !more {
		l.mention(name)
		return nil
	}
	for {
		if err := l.addInList(bytes.TrimSpace(name)); err != nil || !more {
			return err
		}
		name, rest, more = l.names.Cut(bytes.TrimLeft(rest, " "))
	}
}

// addInList adds a gene of a list. A missing name is an error, unless a gene has it: without the
// gene, the values of a double mutant would become a single mutant's.
func (l *list) addInList(name []byte) error {
	l.mention(name)
	if !l.lastIsMissing() {
		return nil
	}
	found := "gene " + fault.Quote(name)
	if len(name) == 0 {
		found = "an empty gene name"
	}
	return fault.New(fault.Input, "write the gene's name, or remove the row: its values are those "+
		"of a mutant of all genes in the list; a gene that is called so must be in the graph",
		"found %s, expected a name in a list of genes", found)
}

// addUnlessMissing adds the gene of one column of several, or notes that it is missing.
func (l *list) addUnlessMissing(name []byte) {
	l.mention(name)
	if l.lastIsMissing() {
		l.record.Mentions = l.record.Mentions[:len(l.record.Mentions)-1]
		l.record.MissingGene = true
	}
}

// lastIsMissing reports whether the last mention has no name: it is empty, or R or pandas wrote it
// for a missing one, such as NA, which may also be the name of a gene.
func (l *list) lastIsMissing() bool {
	last := &l.record.Mentions[len(l.record.Mentions)-1]
	return rows.IsMissing(last.Text) && last.Answer.Meaning == names.Unknown
}

func (l *list) mention(name []byte) {
	l.record.Mentions = append(l.record.Mentions, Mention{Text: name, Answer: l.names.Find(name)})
}

// addKinds reads the kinds of a row, as a list or as one text: first a kind per listed gene, then
// GENE=KIND for each gene that stays, as in ingest.KindsAttribute.
func (l *list) addKinds(b *table.Batch, i int) error {
	r, column := &l.record, l.layout.kinds
	l.kinds = l.kinds[:0]
	listed := b.List(column, i)
	for _, kind := range listed {
		l.kinds = append(l.kinds, bytes.TrimSpace(kind))
	}
	if listed == nil && !b.Missing(column, i) {
		for kind := range bytes.SplitSeq(b.Text(column, i), l.delimiter) {
			l.kinds = append(l.kinds, bytes.TrimSpace(kind))
		}
	}
	r.ListedKinds, r.ListedGenes = len(l.kinds), len(r.Mentions)
	for r.ListedKinds > 0 && bytes.IndexByte(l.kinds[r.ListedKinds-1], '=') > 0 {
		r.ListedKinds--
	}
	for k := range r.Mentions {
		switch {
		case r.ListedKinds == 1:
			r.Mentions[k].Kind = l.kinds[0]
		case k < r.ListedKinds:
			r.Mentions[k].Kind = l.kinds[k]
		}
	}
	for _, part := range l.kinds[r.ListedKinds:] {
		at := bytes.LastIndexByte(part, '=')
		if err := l.addInList(part[:at]); err != nil {
			return err
		}
		last := &r.Mentions[len(r.Mentions)-1]
		last.Kind, last.Stays = part[at+1:], true
	}
	return nil
}

func (l *list) Values(b *table.Batch, i int, r *Record, genotype *Genotype) error {
	if err := l.readValues(b, i, r); err != nil {
		return err
	}
	if at := slices.Index(l.layout.attributes, source{origin: fromKinds}); at >= 0 {
		r.Attributes[at] = l.genotyper.kindsText(l.text[:0], r, r.Mentions, genotype)
		l.text = r.Attributes[at].Text
	}
	return nil
}
