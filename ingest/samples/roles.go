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

// columnRole is the use of a column.
type columnRole string

// Roles that the spec can name. Errors call them so.
const (
	roleOpen      columnRole = "" // not named
	roleGenes     columnRole = "a genes column"
	roleID        columnRole = "the column of sample ids"
	roleKinds     columnRole = "the column of kinds"
	rolePhenotype columnRole = "a phenotype"
	roleAttribute columnRole = "an attribute"
	roleLeftOut   columnRole = "left out"
)

// Roles that follow from a column's contents.
const (
	roleGuessed  columnRole = "a phenotype because it holds numbers" // see ingest.Columns.Guessed
	roleByName   columnRole = "an attribute because of its name"     // see ingest.Columns.ByName
	roleFiltered columnRole = "left out, but read for a filter"
	roleCompared columnRole = "left out, but compared" // merged samples must have the same value
)

// notedNames are names, in lower case, of columns of numbers that say how an experiment was done.
// They are attributes unless the options name them as phenotypes.
var notedNames = []string{"temperature", "dose", "concentration", "time", "ph", "ploidy", "copies",
	"replicate", "batch", "plate", "day", "generation", "od"}

// isNoted reports whether numbers in a column of this name are an attribute by default.
func isNoted(name string) bool {
	return slices.Contains(notedNames, strings.ToLower(name))
}

// unnamedIndex is the name that pandas gives to an unnamed index in a text table that it reads.
const unnamedIndex = "Unnamed: 0"

// finalRole returns the role of a column. named is the role that the spec gives it, if any.
func (h *header) finalRole(
	column int, named columnRole, holds columnContents, spec reading,
) columnRole {
	name := h.names[column]
	wasUnnamed := name == unnamedIndex && holds.attributeType() == ingest.NumberAttribute
	isIndex := h.indexes[name] || wasUnnamed
	role := named
	if named == roleOpen && !isIndex {
		role = holds.role(name, spec)
	}
	if role == roleOpen || role == roleLeftOut {
		return leftOutRole(name, isIndex, spec)
	}
	return role
}

// role returns the role of a column that the spec does not name, roleOpen for none. A column
// without values has numbers. One with both numbers and texts is no attribute, and no phenotype in
// the end: it is an error, or left out where phenotypes are named.
func (c columnContents) role(name string, spec reading) columnRole {
	isMixed := c.number != "" && c.text != ""
	textOnly := c.number == "" && c.text != ""
	isText := c.attributeType() == ingest.TextAttribute && !isMixed
	fileSays := c.noted || c.measured
	byName := isNoted(name) && !fileSays && !textOnly
	isDeclared := c.noted || slices.Contains(spec.Ignore, name)
	isAttribute := isText || byName || isDeclared
	canBeRead := c.number != "" || c.text != "" || c.other == ""
	switch {
	case !canBeRead,
		isAttribute && spec.Attributes != nil,
		!isAttribute && spec.Phenotypes != nil:
		return roleOpen
	case byName:
		return roleByName
	case isAttribute:
		return roleAttribute
	case c.measured:
		return rolePhenotype
	}
	return roleGuessed
}

// leftOutRole returns the role of a column that is no part of the samples.
func leftOutRole(name string, isIndex bool, spec reading) columnRole {
	mayDiffer := isIndex || slices.Contains(spec.Ignore, name)
	switch {
	case slices.Contains(spec.filterColumns, name):
		return roleFiltered
	case spec.Merges() && !mayDiffer:
		return roleCompared
	}
	return roleLeftOut
}

// namedRoles returns the roles of the key columns and of those that the spec names. A column has
// one role, but genes columns may be attributes too: a strain says more than its genes.
func (h *header) namedRoles(keys keyColumns, spec reading) ([]columnRole, error) {
	roles := make([]columnRole, len(h.names))
	if keys.id >= 0 {
		roles[keys.id] = roleID
	}
	for _, column := range keys.genes { // one may have the ids too
		roles[column] = roleGenes
	}
	if keys.kinds >= 0 {
		roles[keys.kinds] = roleKinds
	}
	for _, flag := range []struct {
		name    string
		columns []string
		what    string
		role    columnRole
	}{
		{"--phenotypes", spec.Phenotypes, "phenotype", rolePhenotype},
		{"--attributes", spec.Attributes, "attribute", roleAttribute},
		{"--not-phenotypes", spec.NotPhenotypes, "phenotype", roleLeftOut},
	} {
		for _, name := range flag.columns {
			column, err := h.find(flag.what, name)
			if err != nil {
				return nil, err
			}
			taken := roles[column]
			if flag.role == roleAttribute && taken == roleKinds {
				continue
			}
			isStrain := flag.role == roleAttribute && taken == roleGenes
			if taken != roleOpen && !isStrain {
				hint := "name the column once, or leave it out of " + flag.name
				return nil, fault.New(fault.Usage, hint, "read %s: column %s of %s is already %s",
					flag.name, fault.Quote(name), h.path, taken)
			}
			if err := h.checkKind(column, flag.name, flag.role); err != nil {
				return nil, err
			}
			roles[column] = flag.role
		}
	}
	return roles, nil
}

// checkKind returns an error for a column of a type that cannot have the role for which a flag
// names it.
func (h *header) checkKind(column int, flag string, role columnRole) error {
	if kind := h.kinds[column]; role != roleLeftOut && hasNoValues(kind) {
		expected := "texts or numbers"
		if role == rolePhenotype {
			expected = "numbers"
		}
		hint := fmt.Sprintf("store the column as %s, or leave it out of %s", expected, flag)
		return fault.New(fault.Input, hint,
			"read perturbations %s: column %s: found type %s, expected %s",
			h.path, fault.Quote(h.names[column]), kind, expected)
	}
	return nil
}

// hasNoValues reports whether a field of this kind is neither a text nor a number.
func hasNoValues(kind table.Kind) bool { return kind == table.List || kind == table.Other }

// keyColumns are the columns of genes, sample ids and kinds of perturbations.
type keyColumns struct {
	genes     []int
	list      bool   // the genes column holds lists; then it is the only one
	id        int    // none: samples are named by their row
	kinds     int    // of the genes' perturbations, or none
	kindsName string // of the attribute that they are
}

func (h *header) findKeys(spec reading) (keys keyColumns, err error) {
	if keys.genes, err = h.findGenes(spec.GenesColumns); err != nil {
		return keys, err
	}
	keys.list = len(keys.genes) == 1 && h.kinds[keys.genes[0]] == table.List
	if keys.id, err = h.findID(spec.IDColumn); err != nil {
		return keys, err
	}
	keys.kinds, keys.kindsName, err = h.findKinds(spec.KindsColumn, append(keys.genes, keys.id))
	if err != nil {
		return keys, err
	}
	isDelimited := len(keys.genes) == 1 && !keys.list || keys.kinds >= 0
	if !isDelimited && slices.Contains(spec.Given(), "gene_delimiter") {
		return keys, fault.New(fault.Usage,
			"omit gene_delimiter, or name one column of texts with genes_columns",
			"read perturbations %s: found gene_delimiter %s, "+
				"but no column whose texts it separates: genes are in %s",
			h.path, fault.Quote(spec.GeneDelimiter), fault.List(spec.GenesColumns))
	}
	return keys, nil
}

func (h *header) findGenes(names []string) (genes []int, err error) {
	for _, name := range names {
		column, err := h.find("genes", name)
		if err != nil {
			return nil, err
		}
		kind := h.kinds[column]
		if isText := kind == table.Text || kind == table.Unknown; !isText {
			if isOnlyList := kind == table.List && len(names) == 1; !isOnlyList {
				return nil, h.notTexts("genes", column)
			}
		}
		genes = append(genes, column)
	}
	return genes, nil
}

// notTexts is the error for a column of genes or kinds that holds something else.
func (h *header) notTexts(what string, column int) error {
	return fault.New(fault.Input,
		"store a list of texts, or one text with a delimiter between the "+what,
		"read perturbations %s: %s column %s has type %s",
		h.path, what, fault.Quote(h.names[column]), h.kinds[column])
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
func (h *header) findID(name string) (column int, err error) {
	column, ok := h.at[defaultIDColumn]
	switch {
	case name != "":
		if column, err = h.find("sample id", name); err != nil {
			return none, err
		}
	case !ok:
		return none, nil
	}
	if hasNoValues(h.kinds[column]) {
		return none, fault.New(fault.Input, "store the sample ids as text or integers",
			"read perturbations %s: column %s: found type %s, expected text or integers",
			h.path, fault.Quote(h.names[column]), h.kinds[column])
	}
	return column, nil
}

// defaultKindsColumns name the column of kinds, by precedence, unless an option does.
var defaultKindsColumns = []string{ingest.KindsAttribute, typesAttribute}

// findKinds finds the column of kinds, by its name or, among columns that are not taken, a default
// name. The attribute is called kinds, or perturbation_type if the column is, as in a table made
// from a store.
func (h *header) findKinds(name string, taken []int) (column int, attribute string, err error) {
	column, attribute = none, ingest.KindsAttribute
	switch name {
	case IgnoreKindsColumn:
		return none, attribute, nil
	case "":
		for _, usual := range defaultKindsColumns {
			at, ok := h.at[usual]
			isFree := ok && !slices.Contains(taken, at)
			if isFree && h.kinds[at] != table.Number {
				column, attribute = at, usual
				break
			}
		}
		if column < 0 {
			return none, attribute, nil
		}
	default:
		if column, err = h.find("kinds", name); err != nil {
			return none, "", err
		}
	}
	if kind := h.kinds[column]; kind == table.Number || kind == table.Other {
		return none, "", h.notTexts("kinds", column)
	}
	if other, has := h.at[attribute]; has && other != column {
		return none, "", fault.New(fault.Input, "rename it, or omit the setting kinds_column",
			"read perturbations %s: found a column kinds beside the kinds column %s",
			h.path, fault.Quote(h.names[column]))
	}
	return column, attribute, nil
}

// header is what is known of a file's columns before their values are read.
type header struct {
	path    string
	names   []string
	kinds   []table.Kind
	at      map[string]int  // by name
	indexes map[string]bool // names of columns in which pandas stored an unnamed index
}

func newHeader(path string, names []string, kind func(column int) table.Kind) *header {
	h := &header{path: path, names: names, at: make(map[string]int)}
	for i, name := range names {
		h.at[name] = i
		h.kinds = append(h.kinds, kind(i))
	}
	return h
}

// find returns the number of a required column.
func (h *header) find(what, name string) (int, error) {
	if column, ok := h.at[name]; ok {
		return column, nil
	}
	if len(h.names) == 1 && strings.ContainsAny(h.names[0], " |") {
		return none, fault.New(fault.Input,
			`separate columns by tabs in .tsv and .txt (in R: sep = "\t"), by commas in .csv, `+
				`or set delimiter=`,
			"read perturbations %s: found one column, %q, expected %s column %s",
			h.path, h.names[0], what, fault.Quote(name))
	}
	hint := "rename the column, or name an existing one"
	if nearest := fault.Nearest(name, h.names); name == defaultGenesColumn {
		hint = "name the columns of genes with --genes-columns"
	} else if nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return none, fault.New(fault.Input, hint,
		"read perturbations %s: found columns %s, expected %s column %s",
		h.path, fault.List(h.names), what, fault.Quote(name))
}
