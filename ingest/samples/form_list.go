package samples

import (
	"bytes"
	"slices"

	"tcbuild/ingest/names"
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

func (l *list) Records(b *tableRows, i int, yield func(*Record) error) error {
	r := &l.record
	r.Mentions = r.Mentions[:0]
	switch columns := l.layout.genes; {
	case l.layout.list:
		for _, name := range b.List(columns[0], i) {
			l.mention(name)
		}
	case len(columns) == 1:
		l.addListed(b.Text(columns[0], i))
	default:
		for _, column := range columns {
			if name := b.Text(column, i); len(name) > 0 {
				l.addUnlessMissing(name)
			}
		}
	}
	if l.layout.hasKinds {
		l.addKinds(b, i)
	}
	l.readID(b, i, r)
	return yield(r)
}

// addListed adds the genes of a text: A|B, or A, B with spaces.
func (l *list) addListed(text []byte) {
	if len(text) == 0 {
		return
	}
	name, rest, more := l.names.Cut(text)
	if !more {
		l.mention(name)
		return
	}
	for {
		l.addUnlessMissing(bytes.TrimSpace(name))
		if !more {
			return
		}
		name, rest, more = l.names.Cut(bytes.TrimLeft(rest, " "))
	}
}

// addUnlessMissing adds a gene of several. R writes NA for one that is missing, but NA may be a
// gene.
func (l *list) addUnlessMissing(name []byte) {
	l.mention(name)
	last := len(l.record.Mentions) - 1
	isMissing := len(name) > 0 && rows.IsMissing(name)
	if isMissing && l.record.Mentions[last].Answer.Meaning == names.Unknown {
		l.record.Mentions = l.record.Mentions[:last]
	}
}

func (l *list) mention(name []byte) {
	l.record.Mentions = append(l.record.Mentions, Mention{Text: name, Answer: l.names.Find(name)})
}

// addKinds reads the kinds of a row, as a list or as one text: first a kind per listed gene, then
// GENE=KIND for each gene that stays, as in ingest.KindsAttribute.
func (l *list) addKinds(b *tableRows, i int) {
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
		l.mention(part[:at])
		last := &r.Mentions[len(r.Mentions)-1]
		last.Kind, last.Stays = part[at+1:], true
	}
}

func (l *list) Values(b *tableRows, i int, r *Record, genotype *Genotype) error {
	if err := l.readValues(b, i, r); err != nil {
		return err
	}
	if at := slices.Index(l.layout.attributes, source{origin: fromKinds}); at >= 0 {
		r.Attributes[at] = l.genotyper.kindsText(l.text[:0], r, r.Mentions, genotype)
		l.text = r.Attributes[at].Text
	}
	return nil
}
