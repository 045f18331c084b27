package selection

import (
	"maps"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/decimal"
)

// holdOut is a rule that puts samples into a part before the others are split: those for which all
// of its conditions are true.
type holdOut struct {
	text       string // as it was given, with the digest of a file in place of its name
	part       int
	conditions []condition
	genes      map[uint32]bool // of the condition gene=FILE; nil: there is none
	found      bool            // a sample that is held out
}

type condition struct {
	column, value string
	key           func(*ingest.Sample) string // of the column; equal for equal values
	want          string
	seen          map[string]bool // values of the column, some, for a hint
}

// geneColumn is the name of the condition on perturbed genes.
const geneColumn = string(ByGene)

const holdOutHint = "write it as in --hold-out cell_type=K562, --hold-out gene=genes.txt, " +
	"--hold-out val:batch=3, or --hold-out cell_type=K562,gene=genes.txt, " +
	"of which both must be true"

// readHoldOuts reads --hold-out: [PART:]COLUMN=VALUE[,COLUMN=VALUE…]. Parts that are not among
// fractions are appended to s.parts.
func (s *splitter) readHoldOuts() error {
	if len(s.HoldOut) == 0 {
		return nil
	}
	heldIn := make(map[uint32]int)
	genes, err := s.dataset.Names()
	if err != nil {
		return err
	}
	for _, text := range s.HoldOut {
		rule := &holdOut{part: -1}
		rest := text
		if part, behind, found := strings.Cut(text, ":"); found && partName.MatchString(part) &&
			part != unplaced && !strings.Contains(part, "=") {
			rule.part, rest = s.partNamed(part), behind
		}
		if rule.part < 0 {
			rule.part = s.partNamed("test")
		}
		for _, word := range cutConditions(rest) {
			column, value, found := strings.Cut(word, "=")
			if !found || column == "" || value == "" {
				return fault.New(fault.Usage, holdOutHint,
					"read --hold-out: found %s, expected COLUMN=VALUE", fault.Quote(text))
			}
			if column == geneColumn {
				if rule.genes != nil {
					return fault.New(fault.Usage, "name one file of genes",
						"read --hold-out: found gene= twice in %s", fault.Quote(text))
				}
				digest, err := rule.readGenes(value, genes)
				if err != nil {
					return err
				}
				rule.text += "," + column + "=" + digest
				continue
			}
			c := condition{column: column, value: value, want: textKey([]byte(value)),
				seen: make(map[string]bool)}
			var numbers bool
			if c.key, numbers, err = s.columnKey(column, "--hold-out", geneColumn); err != nil {
				return err
			}
			if numbers {
				number, err := decimal.Parse(value)
				if err != nil {
					return fault.New(fault.Usage, "give one of its numbers",
						"read --hold-out: column %s has numbers, found %s", fault.Quote(column),
						fault.Quote(value))
				}
				c.want = numberKey(number)
			}
			rule.conditions = append(rule.conditions, c)
			rule.text += "," + word
		}
		rule.text = s.parts[rule.part] + ":" + strings.TrimPrefix(rule.text, ",")
		s.held = append(s.held, rule)
		if !rule.ofUnits(s.By) {
			continue // it holds out samples, before genes are looked at
		}
		for gene := range rule.genes {
			if part, known := heldIn[gene]; known && part != rule.part {
				return fault.New(fault.Usage, "hold each gene out in one part",
					"read --hold-out: gene %s is held out in %s and in %s",
					genes.Nodes().IDs[gene], s.parts[part], s.parts[rule.part])
			}
			heldIn[gene] = rule.part
		}
	}
	return nil
}

// cutConditions splits at the commas that a column follows: a value may have commas.
func cutConditions(text string) (words []string) {
	for word := range strings.SplitSeq(text, ",") {
		if last := len(words) - 1; last >= 0 && !strings.Contains(word, "=") {
			words[last] += "," + word
		} else {
			words = append(words, word)
		}
	}
	return words
}

// partNamed is the number of the part with a name, which is appended if there is none.
func (s *splitter) partNamed(name string) int {
	if at := slices.Index(s.parts, name); at >= 0 {
		return at
	}
	s.parts = append(s.parts, name)
	return len(s.parts) - 1
}

// readGenes reads a list of genes, and returns the digest of its file.
func (h *holdOut) readGenes(path string, genes *names.Resolver) (digest string, err error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	list, err := genes.ReadList(file, false)
	if err != nil {
		return "", err
	}
	h.genes = make(map[uint32]bool)
	for _, gene := range list.Genes {
		h.genes[gene] = true
	}
	return file.Input("").SHA256, nil
}

// ofUnits reports whether the rule holds out genes, which are the units of the split.
func (h *holdOut) ofUnits(by By) bool { return by == ByGene && len(h.conditions) == 0 }

// holds reports whether all conditions are true for a sample.
func (h *holdOut) holds(row *ingest.Sample) bool {
	holds := h.genes == nil ||
		slices.ContainsFunc(row.Genes, func(gene uint32) bool { return h.genes[gene] })
	for i := range h.conditions {
		c := &h.conditions[i]
		key := c.key(row)
		if len(c.seen) < maxStrata {
			c.seen[key] = true
		}
		holds = holds && key == c.want
	}
	h.found = h.found || holds
	return holds
}

// heldOut is the part in which a sample is held out, or none.
func (s *splitter) heldOut(number int, row *ingest.Sample) (part int, err error) {
	part = none
	var by *holdOut
	for _, rule := range s.held {
		if !rule.holds(row) || rule.ofUnits(s.By) {
			continue
		}
		if part != none && part != rule.part {
			return none, fault.New(fault.Usage, "hold each sample out in one part",
				"read --hold-out: sample %d is held out by %s and by %s", number,
				fault.Quote(by.text), fault.Quote(rule.text))
		}
		part, by = rule.part, rule
	}
	return part, nil
}

// checkHeldOut returns an error for a rule that holds out nothing.
func (s *splitter) checkHeldOut() error {
	for k, rule := range s.held {
		if rule.found {
			continue
		}
		hint := "check the names: no sample has them all"
		for _, c := range rule.conditions {
			if c.seen[c.want] {
				continue
			}
			var values []string
			for _, key := range slices.Sorted(maps.Keys(c.seen)) {
				values = append(values, strings.TrimPrefix(key, textPrefix))
			}
			hint = fault.DidYouMean(c.value, values,
				"values of "+c.column+" are "+fault.List(values[:min(len(values), 10)]))
		}
		return fault.New(fault.Usage, hint,
			"read --hold-out: %s matches none of the samples of dataset %s, expected at least one",
			fault.Quote(s.HoldOut[k]), s.dataset.Dir)
	}
	return nil
}

// columnKey returns what tells the values of a phenotype or attribute apart, and whether they are
// numbers. others are further names that the flag takes.
func (s *splitter) columnKey(name, flag string,
	others ...string) (key func(*ingest.Sample) string, numbers bool, err error) {
	columns := s.dataset.Manifest.Columns()
	if k := slices.Index(columns.PhenotypeNames(), name); k >= 0 {
		return func(row *ingest.Sample) string { return numberKey(row.Phenotypes[k]) }, true, nil
	}
	if k := slices.Index(columns.AttributeNames(), name); k >= 0 {
		if columns.Attributes[k].Type == ingest.NumberAttribute {
			return func(row *ingest.Sample) string {
				return numberKey(row.Attributes[k].Number)
			}, true, nil
		}
		return func(row *ingest.Sample) string {
			return textKey(row.Attributes[k].Text)
		}, false, nil
	}
	known := slices.Concat(columns.AttributeNames(), columns.PhenotypeNames(), others)
	hint := fault.DidYouMean(name, known, "name an attribute with few values")
	return nil, false, fault.New(fault.Usage, hint,
		"read %s: found %s, expected one of %s", flag, fault.Quote(name), fault.List(known))
}

// textPrefix tells texts from missing values.
const textPrefix = "text "

func textKey(text []byte) string {
	if text == nil {
		return "missing"
	}
	return textPrefix + string(text)
}

// pins are the samples that a file fixes in parts.
type pins struct {
	digest string // SHA-256 of the file
	ids    []string
	byID   map[string]*pin
}

type pin struct {
	where  string // row of the file
	part   int
	sample int // that has the id; none: no sample yet
}

// readPins reads a table with the columns sample_id and part. The path "" stands for no pins.
func readPins(path string, fractions []Fraction) (*pins, error) {
	p := &pins{byID: make(map[string]*pin)}
	if path == "" {
		return p, nil
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p.digest = file.Input("").SHA256
	r, err := table.OpenFile(file, table.TextOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	id, part := slices.Index(r.Columns(), "sample_id"), slices.Index(r.Columns(), "part")
	if id < 0 || part < 0 {
		return nil, fault.New(fault.Input, "name them in the first line",
			"read pins %s: found columns %s, expected sample_id and part", path,
			fault.List(r.Columns()))
	}
	for _, column := range []int{id, part} {
		if kind := r.Kind(column); kind == table.List || kind == table.Other {
			return nil, fault.New(fault.Input, "store it as text",
				"read pins %s: column %s: found type %s, expected text", path, r.Columns()[column],
				kind)
		}
	}
	err = r.Each(func(b *table.Batch, i int) error {
		return p.add(string(b.Text(id, i)), string(b.Text(part, i)), r.Where(b.First+int64(i)),
			fractions)
	})
	if err != nil {
		return nil, err
	}
	if len(p.ids) == 0 {
		return nil, fault.New(fault.Input, "omit --pin",
			"read pins %s: found no samples, expected at least one", path)
	}
	return p, nil
}

func (p *pins) add(id, name, where string, fractions []Fraction) error {
	part, hint := partIndex(fractions, name)
	if part < 0 {
		return fault.New(fault.Input, hint,
			"read pins %s: found part %s, expected one of --fractions", where, fault.Quote(name))
	}
	if earlier := p.byID[id]; earlier != nil {
		return fault.New(fault.Input, "name each sample once",
			"read pins %s: sample %s is also in %s", where, fault.Quote(id), earlier.where)
	}
	p.ids = append(p.ids, id)
	p.byID[id] = &pin{where, part, none}
	return nil
}

// pinOf returns the pin of a sample; nil for none.
func (p *pins) pinOf(number int, id []byte) (*pin, error) {
	found := p.byID[string(id)]
	if found == nil {
		return nil, nil
	}
	if found.sample != none {
		return nil, fault.New(fault.Input, "pin only samples with unique ids",
			"read pins %s: found sample %s, which is the id of the samples %d and %d, expected one",
			found.where, fault.Quote(id), found.sample, number)
	}
	found.sample = number
	return found, nil
}

// unknown is the error of ids that no sample has.
func (p *pins) unknown(dataset string) error {
	for _, id := range p.ids {
		if pin := p.byID[id]; pin.sample == none {
			return fault.New(fault.Input,
				"give ids as 'tcbuild inspect DATASET --samples :' shows them",
				"read pins %s: found sample %s, expected an id of dataset %s",
				pin.where, fault.Quote(id), dataset)
		}
	}
	return nil
}
