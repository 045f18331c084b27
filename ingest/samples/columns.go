package samples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// perturbationLayout records which columns of a table hold what.
type perturbationLayout struct {
	genes      []int
	list       bool // the genes column holds lists; then it is the only one
	kinds      int  // of the genes' perturbations; -1: there is no such column
	kindsAt    int  // the attribute that they are, whose column is -1
	kindsName  string
	id         int // -1: samples are named by their row
	phenotypes []int
	attributes []int
	columns    ingest.Columns // names and types of phenotypes and attributes
}

// findPerturbationLayout finds out what the columns of a table hold. It reads a text table to its
// end, unless the options name both phenotypes and attributes.
func findPerturbationLayout(path string, r *table.Reader, options reading) (perturbationLayout, error) {
	c := newPerturbationColumns(path, r.Columns(), r.Kind, options)
	c.indexes = r.Indexes()
	layout := perturbationLayout{}
	if err := c.findGenes(&layout, options.GenesColumns); err != nil {
		return layout, err
	}
	if err := c.findID(&layout, options.IDColumn); err != nil {
		return layout, err
	}
	if err := c.findKinds(&layout, options); err != nil {
		return layout, err
	}
	if oneText := len(layout.genes) == 1 && !layout.list; options.GeneDelimiter != defaultGeneDelimiter && !oneText && layout.kinds < 0 {
		return layout, fault.New(fault.Usage, "omit gene_delimiter, or name one column of texts with genes_columns",
			"read perturbations %s: found gene_delimiter %s, but no column whose texts it separates: genes are in %s",
			path, fault.Quote(options.GeneDelimiter), fault.List(options.GenesColumns))
	}
	if err := c.takeNamed(); err != nil {
		return layout, err
	}
	if err := c.assignAll(r); err != nil {
		return layout, err
	}
	return layout, c.layOut(&layout)
}

// roleKey is the key under which an Arrow file's schema says whether a column of numbers is an
// attribute, such as a row number, or was measured.
const roleKey, noted, measured = "tcbuild", "attribute", "phenotype"

// notedNames are names, in lower case, of columns of numbers that say how an experiment was done.
// They are attributes unless the options name them as phenotypes.
var notedNames = []string{"temperature", "dose", "concentration", "time", "ph", "ploidy", "copies",
	"replicate", "batch", "plate", "day", "generation", "od"}

// unnamedIndex is the name that pandas gives to an unnamed index in a text table that it reads.
const unnamedIndex = "Unnamed: 0"

// columnRole is the use of a column.
type columnRole string

const (
	roleOpen      columnRole = "" // not yet known; in the end, not part of the samples
	roleGenes     columnRole = "a genes column"
	roleID        columnRole = "the column of sample ids"
	roleKinds     columnRole = "the column of kinds"
	rolePhenotype columnRole = "a phenotype"
	roleAttribute columnRole = "an attribute"
	roleLeftOut   columnRole = "left out"
)

// perturbationColumns are the columns of a perturbation set, with the roles found so far.
type perturbationColumns struct {
	path  string
	names []string
	kind  func(column int) table.Kind
	at    map[string]int // by name
	roles []columnRole
	types []ingest.AttributeType // of attributes
	asked []bool                 // a filter names the column

	options        reading
	indexes        map[string]bool // names of columns that hold an unnamed index
	guessed, named []bool          // see Columns.Guessed and Columns.ByName
}

func newPerturbationColumns(path string, names []string, kind func(column int) table.Kind,
	options reading) *perturbationColumns {
	c := &perturbationColumns{path: path, names: names, kind: kind, options: options,
		guessed: make([]bool, len(names)), named: make([]bool, len(names)),
		at: make(map[string]int), roles: make([]columnRole, len(names)), types: make([]ingest.AttributeType, len(names)),
		asked: make([]bool, len(names))}
	for i, name := range names {
		c.at[name] = i
	}
	return c
}

// hidden reports whether a column is read only for a filter, or to compare samples.
func (c *perturbationColumns) hidden(column int) bool {
	leftOut := c.roles[column] == roleOpen || c.roles[column] == roleLeftOut
	return leftOut && (c.asked[column] || c.compared(column))
}

// compared reports whether merged samples must have the same value in a column that is left out.
func (c *perturbationColumns) compared(column int) bool {
	mayDiffer := c.isIndex(column) || slices.Contains(c.options.Ignore, c.names[column])
	return c.options.Merges() && !mayDiffer
}

func (c *perturbationColumns) isIndex(column int) bool {
	name := c.names[column]
	return c.indexes[name] || name == unnamedIndex && c.types[column] == ingest.NumberAttribute
}

// takeNamed gives the columns that the options name their roles.
func (c *perturbationColumns) takeNamed() error {
	options := c.options
	for _, name := range options.filterColumns {
		if column, ok := c.at[name]; ok {
			c.asked[column] = true
		}
	}
	if err := c.take(options.Phenotypes, "--phenotypes", rolePhenotype); err != nil {
		return err
	}
	if err := c.take(options.Attributes, "--attributes", roleAttribute); err != nil {
		return err
	}
	return c.take(options.NotPhenotypes, "--not-phenotypes", roleLeftOut)
}

// layOut lists the phenotypes and attributes: those that the options name in their order, others in
// the columns' order.
func (c *perturbationColumns) layOut(layout *perturbationLayout) error {
	options := c.options
	for _, name := range options.Phenotypes {
		layout.phenotypes = append(layout.phenotypes, c.at[name])
	}
	for _, name := range options.Attributes {
		if c.roles[c.at[name]] != roleKinds { // which follows
			layout.attributes = append(layout.attributes, c.at[name])
		}
	}
	for column, name := range c.names {
		switch role := c.roles[column]; {
		case role == rolePhenotype && options.Phenotypes == nil:
			layout.phenotypes = append(layout.phenotypes, column)
		case role == roleAttribute && options.Attributes == nil:
			layout.attributes = append(layout.attributes, column)
		case role == roleOpen, role == roleLeftOut:
			layout.columns.Ignored = append(layout.columns.Ignored, name)
		}
	}
	for _, column := range layout.phenotypes {
		layout.columns.Phenotypes = append(layout.columns.Phenotypes, ingest.Phenotype{Name: c.names[column]})
		if c.guessed[column] {
			layout.columns.Guessed = append(layout.columns.Guessed, c.names[column])
		}
	}
	for _, column := range layout.attributes {
		layout.columns.Attributes = append(layout.columns.Attributes, ingest.Attribute{Name: c.names[column], Type: c.types[column]})
		if c.named[column] {
			layout.columns.ByName = append(layout.columns.ByName, c.names[column])
		}
	}
	if layout.kinds >= 0 {
		layout.kindsAt = len(layout.attributes)
		layout.attributes = append(layout.attributes, -1)
		kinds := ingest.Attribute{Name: layout.kindsName, Type: ingest.TextAttribute}
		layout.columns.Attributes = append(layout.columns.Attributes, kinds)
		layout.columns.Kinds, layout.columns.KindsApart = layout.kindsName, true
	}
	if err := layout.columns.Check(c.path); err != nil {
		return err
	}
	return c.addHidden(layout)
}

// rowColumn stands for ingest.RowAttribute in a layout.
const rowColumn = -2

// addHidden adds the attributes that are read only for a filter, or to compare samples.
func (c *perturbationColumns) addHidden(layout *perturbationLayout) error {
	kept := len(layout.attributes)
	for column, name := range c.names {
		if !c.hidden(column) {
			continue
		}
		if c.asked[column] {
			if err := c.checkKind(column, "--where", roleAttribute); err != nil {
				return err
			}
		} else if kind := c.kind(column); kind == table.List || kind == table.Other {
			return fault.New(fault.Input,
				"name it in --ignore if it may differ, or store it as text or numbers",
				"compare samples of %s: column %s: found type %s, expected texts or numbers",
				c.path, fault.Quote(name), kind)
		}
		layout.attributes = append(layout.attributes, column)
		layout.columns.Attributes = append(layout.columns.Attributes, ingest.Attribute{Name: name, Type: c.types[column]})
	}
	hidden := len(layout.attributes) - kept
	if !c.options.Merges() {
		layout.columns.FilterOnly = hidden
		return nil
	}
	layout.attributes = append(layout.attributes, rowColumn)
	layout.columns.Attributes = append(layout.columns.Attributes, ingest.RowAttribute)
	layout.columns.Compared = hidden + 1
	return nil
}

// find returns the number of a required column.
func (c *perturbationColumns) find(what, name string) (int, error) {
	if column, ok := c.at[name]; ok {
		return column, nil
	}
	hint := "rename the column, or name an existing one"
	if len(c.names) == 1 && strings.ContainsAny(c.names[0], " |") {
		return -1, fault.New(fault.Input,
			`separate columns by tabs in .tsv and .txt (in R: sep = "\t"), by commas in .csv, `+
				`or set delimiter=`,
			"read perturbations %s: found one column, %q, expected %s column %s", c.path, c.names[0], what, fault.Quote(name))
	}
	if nearest := fault.Nearest(name, c.names); name == defaultGenesColumn {
		hint = "name the columns of genes with --genes-columns"
	} else if nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return -1, fault.New(fault.Input, hint, "read perturbations %s: found columns %s, expected %s column %s",
		c.path, fault.List(c.names), what, fault.Quote(name))
}

func (c *perturbationColumns) findGenes(layout *perturbationLayout, names []string) error {
	for _, name := range names {
		column, err := c.find("genes", name)
		if err != nil {
			return err
		}
		kind := c.kind(column)
		layout.list = kind == table.List
		if kind == table.Number || kind == table.Other || kind == table.List && len(names) > 1 {
			return fault.New(fault.Input, "store a list of texts, or one text with a delimiter between the genes",
				"read perturbations %s: genes column %s has type %s", c.path, fault.Quote(name), kind)
		}
		layout.genes = append(layout.genes, column)
		c.roles[column] = roleGenes
	}
	return nil
}

// furtherGene matches the name of a column that may hold the second gene of each sample, such as
// gene2 or gene_b.
var furtherGene = regexp.MustCompile(`(?i)^genes?[ _.-]*(name[ _.-]*)?([0-9]|[a-d])$`)

// findGenesColumn finds the column of genes by its name: genes, or gene, in any case.
func findGenesColumn(columns []string, path string) ([]string, error) {
	var found, further []string
	for _, name := range columns {
		switch lower := strings.ToLower(name); {
		case name == defaultGenesColumn:
			return []string{name}, nil
		case lower == "genes", lower == "gene":
			found = append(found, name)
		case furtherGene.MatchString(name):
			further = append(further, name)
		}
	}
	if len(found) == 0 || len(found) == 1 && len(further) == 0 {
		return append(found, defaultGenesColumn)[:1], nil
	}
	return nil, fault.New(fault.Input, "name them with genes_columns",
		"read perturbations %s: found columns %s, expected one of genes",
		path, fault.List(append(found, further...)))
}

// findID finds the column of sample ids, by its name or the default name. It may be a genes column.
func (c *perturbationColumns) findID(layout *perturbationLayout, name string) error {
	column, ok := c.at[defaultIDColumn]
	if name != "" {
		var err error
		if column, err = c.find("sample id", name); err != nil {
			return err
		}
		ok = true
	}
	if !ok {
		layout.id = -1
		return nil
	}
	if kind := c.kind(column); kind == table.List || kind == table.Other {
		return fault.New(fault.Input, "store the sample ids as text or integers",
			"read perturbations %s: column %s: found type %s, expected text or integers", c.path, fault.Quote(c.names[column]), kind)
	}
	layout.id = column
	if c.roles[column] == roleOpen {
		c.roles[column] = roleID
	}
	return nil
}

// expectedOf are the values that a column needs for a role, namedFor is what messages call it.
var (
	expectedOf = map[columnRole]string{rolePhenotype: "numbers", roleAttribute: "texts or numbers"}
	namedFor   = map[columnRole]string{rolePhenotype: "phenotype", roleAttribute: "attribute", roleLeftOut: "phenotype"}
)

// take gives a role to the columns that a flag names. They must not have a role yet, but for genes
// columns, which may be attributes too.
func (c *perturbationColumns) take(names []string, flag string, role columnRole) error {
	for _, name := range names {
		column, err := c.find(namedFor[role], name)
		if err != nil {
			return err
		}
		if c.roles[column] == roleKinds && role == roleAttribute {
			continue
		}
		strain := c.roles[column] == roleGenes && role == roleAttribute // it says more than its genes
		if taken := c.roles[column]; taken != roleOpen && !strain {
			return fault.New(fault.Usage, fmt.Sprintf("name the column once, or leave it out of %s", flag),
				"read %s: column %s of %s is already %s", flag, fault.Quote(name), c.path, taken)
		}
		if err := c.checkKind(column, flag, role); err != nil {
			return err
		}
		c.roles[column] = role
	}
	return nil
}

// checkKind returns an error for a column of a type that cannot have the role for which a flag
// names it.
func (c *perturbationColumns) checkKind(column int, flag string, role columnRole) error {
	if kind := c.kind(column); role != roleLeftOut && (kind == table.List || kind == table.Other) {
		return fault.New(fault.Input, "store the column as "+expectedOf[role]+", or leave it out of "+flag,
			"read perturbations %s: column %s: found type %s, expected %s", c.path, fault.Quote(c.names[column]), kind, expectedOf[role])
	}
	return nil
}

// columnContents is what a column holds: values of its type if the format has types, otherwise
// those that were found.
type columnContents struct {
	number, text, other string // where the first number is, other text, and anything else; "" for none
	noted, measured     bool   // the file says that the numbers are an attribute, or a phenotype

	// Of a column of a text table:
	column int
	mixed  bool   // both numbers and other text are allowed
	codes  bool   // look for codes, such as 007
	found  string // the first other text
	coded  bool   // a number is written as codes are, such as 007, and would not come back as it was
}

// assign gives a column the type of its values and, unless the options named it, its role. A column
// without values has numbers. One with both numbers and texts is no attribute, and no phenotype in
// the end: it is an error, or left out where phenotypes are named.
func (c *perturbationColumns) assign(column int, holds columnContents) {
	options, name := c.options, c.names[column]
	c.types[column] = ingest.NumberAttribute
	if holds.text != "" || holds.coded {
		c.types[column] = ingest.TextAttribute
	}
	isText := c.types[column] == ingest.TextAttribute && (holds.number == "" || holds.text == "")
	textOnly := holds.text != "" && holds.number == ""
	fileSays := holds.noted || holds.measured
	byName := !textOnly && !fileSays && isNoted(name)
	saidToBeNoted := holds.noted || slices.Contains(options.Ignore, name)
	isAttribute := isText || byName || saidToBeNoted
	switch {
	case c.roles[column] != roleOpen || c.isIndex(column):
	case holds.other != "" && holds.number == "" && holds.text == "":
	case isAttribute && options.Attributes == nil:
		c.roles[column], c.named[column] = roleAttribute, byName
	case !isAttribute && options.Phenotypes == nil:
		c.roles[column], c.guessed[column] = rolePhenotype, !holds.measured
	}
}

// isNoted reports whether numbers in a column of this name are an attribute by default.
func isNoted(name string) bool {
	return slices.Contains(notedNames, strings.ToLower(name))
}

// assignAll assigns the columns of a table, by their types or by all their values.
func (c *perturbationColumns) assignAll(r *table.Reader) error {
	options := c.options
	open := options.Phenotypes == nil || options.Attributes == nil
	all, untyped := make([]columnContents, len(c.names)), []*columnContents(nil)
	for column, role := range c.roles {
		holds := &all[column]
		switch c.kind(column) {
		case table.Number:
			said := r.Metadata(column, roleKey)
			holds.number, holds.noted, holds.measured = "its type", said == noted, said == measured
		case table.Text:
			holds.text = "its type"
		case table.List, table.Other:
			holds.other = "its type"
		default:
			mixed := role != roleOpen || options.Phenotypes != nil
			*holds = columnContents{column: column, mixed: mixed}
			holds.codes = mixed || isNoted(c.names[column])
			mayBeAttribute := role == roleAttribute || role == roleOpen && open
			if mayBeAttribute || c.hidden(column) {
				untyped = append(untyped, holds)
			}
		}
	}
	if err := readContents(c.path, r, untyped); err != nil {
		return err
	}
	for column, holds := range all {
		c.assign(column, holds)
	}
	return nil
}

// readContents reads a text table to its end, to find out what columns hold. Missing values (see
// table.Batch.Number) are neither numbers nor text. Both in a column that must not be mixed is a
// fault.Input that names the first such text, and so is a number there in another notation, such as
// 0,5. Without columns it reads nothing.
func readContents(path string, r *table.Reader, columns []*columnContents) error {
	if len(columns) == 0 {
		return nil
	}
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for _, holds := range columns {
			odd := holds.add(r, b)
			if holds.mixed || !odd && (holds.number == "" || holds.text == "") {
				continue
			}
			expected, fix := table.PlainNumber, table.PlainNumberHint
			if !odd {
				expected = "as in line " + strings.TrimPrefix(holds.number, path+":")
				fix = "correct the value, or empty the field if it is missing"
			}
			name := r.Columns()[holds.column]
			column := fault.List([]string{name})
			hint := fmt.Sprintf("%s; or exclude the column with --not-phenotypes %s, or keep it as text with --attributes %s", fix, column, column)
			return fault.New(fault.Input, hint, "read perturbations %s: column %s: found %s, expected a number %s",
				holds.text, fault.Quote(name), holds.found, expected)
		}
	}
	return nil
}

// add records the column's fields in a batch. odd says that text is a number in another notation.
func (h *columnContents) add(r *table.Reader, b *table.Batch) (odd bool) {
	number, oddNumber, text := b.Contents(h.column)
	odd = oddNumber >= 0
	if odd {
		text = oddNumber
	}
	if h.number == "" && number >= 0 {
		h.number = r.Where(b.First + int64(number))
	}
	if text >= 0 && (odd || h.text == "") {
		h.text, h.found = r.Where(b.First+int64(text)), fault.Quote(b.Text(h.column, text))
	}
	for i := 0; h.codes && !h.coded && i < b.Len; i++ {
		digits := strings.TrimLeft(string(b.Text(h.column, i)), "+-")
		h.coded = len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9'
	}
	return odd
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
