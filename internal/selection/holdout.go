package selection

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/internal/decimal"
)

// holdOut is a rule that puts samples into a part before the others are split: those for which all
// of its conditions are true.
type holdOut struct {
	unit              // of these samples
	text       string // as it was given, with the digest of a file in place of its name
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

// readHoldOuts reads --hold-out. Parts that are not among fractions are appended to s.parts.
func (s *splitter) readHoldOuts() error {
	if len(s.HoldOut) == 0 {
		return nil
	}
	genes, err := s.dataset.Names()
	if err != nil {
		return err
	}
	heldIn := make(map[uint32]int)
	for _, text := range s.HoldOut {
		rule, err := s.readHoldOut(text, genes)
		if err != nil {
			return err
		}
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

// readHoldOut reads a rule: [PART:]COLUMN=VALUE[,COLUMN=VALUE…].
func (s *splitter) readHoldOut(text string, genes *names.Resolver) (*holdOut, error) {
	part, rest, found := strings.Cut(text, ":")
	if !found || part == unplaced || !partName.MatchString(part) {
		part, rest = "test", text
	}
	rule := &holdOut{unit: unit{part: s.partNamed(part)}}
	var words []string
	for _, word := range cutConditions(rest) {
		column, value, _ := strings.Cut(word, "=")
		if column == "" || value == "" {
			return nil, fault.New(fault.Usage, holdOutHint,
				"read --hold-out: found %s, expected COLUMN=VALUE", fault.Quote(text))
		}
		switch {
		case column != geneColumn:
			c, err := s.newCondition(column, value)
			if err != nil {
				return nil, err
			}
			rule.conditions = append(rule.conditions, c)
		case rule.genes != nil:
			return nil, fault.New(fault.Usage, "name one file of genes",
				"read --hold-out: found gene= twice in %s", fault.Quote(text))
		default:
			digest, err := rule.readGenes(value, genes)
			if err != nil {
				return nil, err
			}
			word = column + "=" + digest
		}
		words = append(words, word)
	}
	rule.text = s.parts[rule.part] + ":" + strings.Join(words, ",")
	return rule, nil
}

// newCondition reads a condition on a phenotype or attribute.
func (s *splitter) newCondition(column, value string) (c condition, err error) {
	c = condition{column: column, value: value, want: textKey([]byte(value)),
		seen: make(map[string]bool)}
	var numbers bool
	if c.key, numbers, err = s.columnKey(column, "--hold-out", geneColumn); !numbers {
		return c, err
	}
	number, err := decimal.Parse(value)
	if err != nil {
		return c, fault.New(fault.Usage, "give one of its numbers",
			"read --hold-out: column %s has numbers, found %s", fault.Quote(column),
			fault.Quote(value))
	}
	c.want = numberKey(number)
	return c, nil
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

// heldOut is the rule that holds a sample out, or nil.
func (s *splitter) heldOut(number int, row *ingest.Sample) (by *holdOut, err error) {
	for _, rule := range s.held {
		if !rule.holds(row) || rule.ofUnits(s.By) {
			continue
		}
		if by != nil && by.part != rule.part {
			return nil, fault.New(fault.Usage, "hold each sample out in one part",
				"read --hold-out: sample %d is held out by %s and by %s", number,
				fault.Quote(by.text), fault.Quote(rule.text))
		}
		by = rule
	}
	return by, nil
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

// numberKey is a text that equal numbers share.
func numberKey(value float64) string {
	if math.IsNaN(value) {
		return "missing"
	}
	return strconv.FormatFloat(value+0, 'g', -1, 64) // 0 for -0
}
