package samples

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// deltas are the signs and words after a gene's name that mark a deletion: Greek capital delta, the
// increment sign that some tables use instead, and plain words.
var deltas = []string{"Δ", "∆", "-delta", "-del", "delta"}

// suppressor is the end of an allele's name or strain id with a spontaneous suppressor mutation.
var suppressor = regexp.MustCompile(`(?i)[-_]supp?[0-9]*$`)

// cutDelta returns an allele's name without its deletion sign.
func cutDelta(allele string) (name string, deleted bool) {
	for _, delta := range deltas {
		if name, found := strings.CutSuffix(allele, delta); found && name != "" {
			return name, true
		}
	}
	return allele, false
}

// kindOfAllele returns the kind of an allele, given the rest of its name after the gene's name; ""
// if the name is the gene's own.
func kindOfAllele(rest string) AlleleKind {
	switch {
	case rest == "":
		return DeletionAllele
	case suppressor.MatchString(rest):
		return OtherAllele
	case strings.EqualFold(strings.Trim(rest, "-_()"), "damp"):
		return DAmPAllele
	default:
		return TSAllele
	}
}

// kindOfStrain returns the kind of a strain's allele from the part of the strain id after the gene:
// sn and dma are deletion strains of queries and arrays, tsq and tsa temperature-sensitive ones,
// damp is DAmP (Costanzo et al. 2010, 2016). ok is false if that part does not determine the kind,
// as for tm, strains with several mutations.
func kindOfStrain(suffix string) (kind AlleleKind, ok bool) {
	letters := suffix[:len(suffix)-len(strings.TrimLeft(suffix, "abcdefghijklmnopqrstuvwxyz"))]
	switch {
	case suppressor.MatchString("_" + suffix):
		return OtherAllele, true
	case letters == "sn", letters == "dma":
		return DeletionAllele, true
	case letters == "tsq", letters == "tsa", letters == "ts":
		return TSAllele, true
	case letters == "damp":
		return DAmPAllele, true
	}
	return "", false
}

// alleles finds what the names of strains and alleles mention, such as TFC3 and its kind ts of
// YAL001C_tsq508. A gene that is a marker of every strain counts as a control.
type alleles struct {
	genes    *names.Resolver
	controls map[string]bool // of yeast, gene ids and other names, in upper case
	yeast    bool            // names may be of yeast's strains and alleles, not only of genes
}

// allelesOf reads strains and alleles. Of yeast, controls are in upper case, and genes have their
// ids, too.
func (s *Spec) allelesOf(genes *names.Resolver) alleles {
	r := alleles{genes: genes.WithoutPattern(), controls: make(map[string]bool),
		yeast: s.YeastAlleles}
	if !r.yeast {
		return r // whose names have controls
	}
	for _, name := range s.Controls {
		name = strings.ToUpper(name)
		r.controls[name] = true
		if answer := genes.Find([]byte(name)); answer.Meaning == names.Gene {
			r.controls[genes.ID(answer)] = true
		}
	}
	return r
}

// find looks a gene up by its name, as tables spell it.
func (r *alleles) find(name string) names.Answer {
	return r.genes.Find([]byte(r.spelling(name)))
}

// spelling returns a name as tables spell it: yeast's alleles are written in lower case, its genes
// in upper case. Elsewhere, Kras is a mouse's and KRAS a human's.
func (r *alleles) spelling(name string) string {
	if r.yeast && !r.genes.Exact([]byte(name)).Known() {
		if upper := strings.ToUpper(name); r.genes.Exact([]byte(upper)).Known() {
			return upper
		}
	}
	return name
}

// gene returns the mention of a gene by its name.
func (r *alleles) gene(name string, kind AlleleKind) Mention {
	m := Mention{Text: []byte(name), Allele: kind, Answer: r.find(name)}
	m.Genes = r.genesIn(name)
	if r.controls[strings.ToUpper(name)] || m.isGene() && r.controls[r.genes.ID(m.Answer)] {
		m.Answer.Meaning = names.Control
	}
	return m
}

// separators are the characters between the genes of a name that names several.
const separators = "_-:;,|+/& "

// designation matches what follows the hyphen of an allele's name and can also be an alias of
// another gene: L4A is a substitution in cdc42-L4A, and a ribosomal protein.
var designation = regexp.MustCompile(`^[A-Za-z]?[0-9]+[A-Za-z]?$`)

// suppressorStrain is the end of a suppressor strain's id, as in YAL001C_S1 (Costanzo et al. 2016),
// and can also be an alias of a ribosomal protein.
var suppressorStrain = regexp.MustCompile(`^S[0-9]+$`)

// genesIn returns the genes of a name that names several, whatever else it has: YAL001C_YAL002W,
// tfc3Δ-vps8Δ, TP53-KO_VARS1-KO. Taken for a strain or an allele of the first, it would delete that
// gene alone.
func (r *alleles) genesIn(name string) []string {
	if r.isName(name) {
		return nil
	}
	for at, separator := range name {
		if strings.ContainsRune(separators, separator) && r.isName(name[:at]) {
			if others := r.genesBehind(name[at:]); others != nil {
				return append([]string{name[:at]}, others...)
			}
		}
	}
	return nil
}

// genesBehind returns the genes in what follows the first one, each the longest name between
// separators.
func (r *alleles) genesBehind(rest string) (genes []string) {
	for rest != "" {
		part := strings.TrimLeft(rest, separators)
		hyphen := strings.Contains(rest[:len(rest)-len(part)], "-")
		next := len(part)
		for end := len(part); end > 0; end = strings.LastIndexAny(part[:end], separators) {
			next = end
			if hyphen && end < len(part) && part[end] == '-' {
				continue // an allele: sdo1-VMA1-ts
			}
			if r.isSecond(part[:end], hyphen) {
				genes = append(genes, part[:end])
				break
			}
		}
		rest = part[next:]
	}
	return genes
}

// isSecond reports whether a part of a name, perhaps after a hyphen, is another gene and not a
// strain (dma1, not DMA1) or a substitution, which only the gene's own id takes precedence over.
func (r *alleles) isSecond(part string, hyphen bool) bool {
	_, strain := kindOfStrain(strings.ToLower(part))
	if strain && !r.genes.Exact([]byte(part)).Known() {
		return false
	}
	if hyphen && designation.MatchString(part) || r.yeast && suppressorStrain.MatchString(part) {
		m := r.find(part)
		return m.Known() && strings.EqualFold(r.genes.ID(m), part)
	}
	return r.isName(part)
}

// systematicName matches systematic names of yeast's genes: open reading frames of the nucleus
// (YAL016C-B), of mitochondria (Q0010) and of the 2-micron plasmid (R0010W), tRNAs (tK(CUU)K), and
// other RNAs (YNCA0001W).
var systematicName = regexp.MustCompile(`(?i)^(Y[A-P][LR][0-9]{3}[WC](-[A-Z])?|Q[0-9]{4}|` +
	`R[0-9]{4}[WC]|T[A-Z]([A-Z]{2})?\([ACGTUN]{3}\)[A-Q][0-9]*|YNC[A-Q][0-9]{4}[WC])$`)

// isName reports whether a part of a name is the name of a gene, in the graph or not, or of a
// control.
func (r *alleles) isName(name string) bool {
	name, _ = cutDelta(name)
	answer := r.find(name)
	isKnown := answer.Known() || answer.Meaning == names.Control
	return isKnown || systematicName.MatchString(name)
}

// isWhole is isName for a name without a deletion sign. What follows such a name is an allele.
func (r *alleles) isWhole(name string) bool {
	return r.find(name).Known() || systematicName.MatchString(name)
}

// ofAllele returns the mention of an allele given only by name: ost3Δ, act1-129, YBR004C-PH. The
// gene is the longest prefix, up to a hyphen, that names one, in the graph or not: YBL008W-A is not
// an allele of YBL008W.
func (r *alleles) ofAllele(allele string) Mention {
	whole := Mention{Text: []byte(allele), Allele: OtherAllele, Genes: r.genesIn(allele)}
	if whole.Genes != nil {
		return whole
	}
	name, deleted := cutDelta(allele)
	if deleted {
		return r.gene(name, DeletionAllele)
	}
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '-') {
		l := r.gene(name[:end], kindOfAllele(name[end:]))
		if l.isControl() || r.isWhole(string(l.Text)) {
			return l
		}
	}
	return whole
}

// ofAlleles returns the mentions of alleles that are given by name, joined in one text.
func (r *alleles) ofAlleles(names, separator string) (mentions []Mention, err error) {
	for name := range strings.SplitSeq(names, separator) {
		if name == "" {
			return nil, fmt.Errorf(
				"strain %s: found an empty allele name, expected one such as tfc3-g349e or vps8Δ",
				fault.Quote(names))
		}
		mentions = append(mentions, r.ofAllele(name))
	}
	return mentions, nil
}

// ofName returns the mention of a name in a matrix: a gene's, which is deleted, or of yeast, a
// strain id (YAL001C_tsq508), or an allele's (cdc28-4, TFC3 - DAMP).
func (r *alleles) ofName(name string) Mention {
	whole := r.gene(name, DeletionAllele)
	hasMeaning := whole.isControl() || whole.Genes != nil || r.isWhole(name)
	if !r.yeast || hasMeaning {
		return whole
	}
	if orf, suffix, found := strings.Cut(name, "_"); found && r.isWhole(orf) {
		kind, ok := kindOfStrain(strings.ToLower(suffix))
		if !ok {
			kind = OtherAllele
		}
		return r.gene(orf, kind)
	}
	if l := r.ofAllele(strings.ReplaceAll(name, " - ", "-")); r.isWhole(string(l.Text)) {
		return l
	}
	return whole
}

// ofStrain returns the mentions of a strain id: YAL001C_tsq508, or YBR150C+YDR034C_tm1234 for a
// strain with several mutations. allele names them, joined by "+" in the same order; it is "" if
// the table has no such column. It is used only for what the strain id does not say.
func (r *alleles) ofStrain(id, allele string) ([]Mention, error) {
	orfs, suffix, _ := strings.Cut(id, "_")
	names := strings.Split(orfs, "+")
	alleles := make([]string, len(names))
	if allele != "" {
		if alleles = strings.Split(allele, "+"); len(alleles) != len(names) {
			return nil, fmt.Errorf(
				"found %s in strain %s and %d in its allele name %s, expected the same number",
				ingest.Plural(len(names), "gene", ""), fault.Quote(id), len(alleles),
				fault.Quote(allele))
		}
	}
	mentions := make([]Mention, len(names))
	for i, name := range names {
		if name == "" {
			return nil, fmt.Errorf(
				"strain %s: found an empty gene name, expected one such as YAL001C",
				fault.Quote(id))
		}
		kind, several := r.strainKind(name, alleles[i], suffix, len(names) > 1)
		mentions[i] = r.gene(name, kind)
		if several == nil && len(names) == 1 {
			if several = r.genesIn(id); several != nil {
				mentions[i].Text = []byte(id)
			}
		}
		if several != nil {
			mentions[i].Genes = several
		}
	}
	return mentions, nil
}

// strainKind returns the kind of one allele of a strain, and the genes of an allele that names
// several.
func (r *alleles) strainKind(orf, allele, suffix string,
	multiple bool) (kind AlleleKind, several []string) {
	kind, ok := kindOfStrain(suffix)
	switch {
	case suppressor.MatchString(allele):
		return OtherAllele, nil
	case ok && !multiple:
		return kind, nil
	case allele == "" && suffix == "", allele != "" && strings.EqualFold(allele, orf):
		return DeletionAllele, nil
	case allele == "":
		return OtherAllele, nil
	}
	l := r.ofAllele(allele)
	if r.ofAnother(l, r.gene(orf, l.Allele)) {
		return OtherAllele, l.Genes
	}
	return l.Allele, l.Genes
}

// ofAnother reports whether an allele is named after a gene other than its owner.
func (r *alleles) ofAnother(allele, owner Mention) bool {
	switch {
	case allele.Answer.Meaning == names.Ambiguous, !r.isWhole(string(allele.Text)):
		return false
	case allele.Answer.Known() && owner.Answer.Known():
		return allele.Answer.Gene != owner.Answer.Gene
	}
	return !bytes.EqualFold(allele.Text, owner.Text)
}

// ofMutation returns the mention of a gene and its mutation from another column: DELETION, DAMP, an
// allele's name, or "delta NAME" for the deletion of the open reading frame NAME.
func (r *alleles) ofMutation(name, mutation string) Mention {
	first, frame, _ := strings.Cut(strings.ToLower(mutation), " ")
	switch {
	case mutation == "", first == "deletion", first == "del", mutation == "Δ",
		first == "delta" && (frame == "" || strings.EqualFold(frame, name)):
		return r.gene(name, DeletionAllele)
	case first == "damp" && frame == "":
		return r.gene(name, DAmPAllele)
	case first == "delta":
		return r.gene(name, OtherAllele) // a neighbour's frame that overlaps the gene
	}
	allele := Mention{Allele: OtherAllele}
	if r.yeast {
		allele = r.ofAllele(mutation)
	}
	l := r.gene(name, allele.Allele)
	if r.ofAnother(allele, l) {
		l.Allele = OtherAllele
	}
	if allele.Genes != nil {
		l.Genes = allele.Genes
	}
	return l
}
