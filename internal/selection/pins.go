package selection

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

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
	part := slices.IndexFunc(fractions, func(f Fraction) bool { return f.Part == name })
	if part < 0 {
		var names []string
		for _, f := range fractions {
			names = append(names, f.Part)
		}
		hint := fault.DidYouMean(name, names, "the parts are "+strings.Join(names, ", "))
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
