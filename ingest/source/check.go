package source

import (
	"fmt"
	"regexp"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// check returns the error of Account.Check. hint is for rows that are dropped for other reasons than
// their names.
func check(
	account *ingest.Account, hint string, known *names.Resolver, maxDropped float64,
) error {
	ofNames := known.Advice(account.Names)
	if hint == severalHint && account.Kept == 0 {
		ofNames = hint
	}
	return account.Check(maxDropped, hint, ofNames)
}

// checkMaxDropped returns a fault.Usage for an invalid share.
func checkMaxDropped(share float64) error {
	if share >= 0 && share <= 1 {
		return nil
	}
	return badSetting("", "max_dropped: found %v, expected a share from 0 to 1", share)
}

// prepareAliases checks the tables, and returns them with the places of their settings.
func prepareAliases(tables []names.AliasTable) ([]names.AliasTable, error) {
	section := struct {
		Tables []names.AliasTable `yaml:"alias_tables"`
	}{tables}
	err := conf.Check(&section)
	return section.Tables, err
}

// checkPattern returns an error for a pattern without a group, which would be the name.
func checkPattern(key, text string) error {
	if err := conf.Pattern(text).Check(); err != nil {
		return badSetting(fault.HintOf(err), "%s: %w", key, err)
	}
	return nil
}

// nameIn returns a function that finds a name in a field: what the first group of a pattern
// matches, or all of it without one.
func nameIn(pattern string) func(field []byte) ([]byte, error) {
	expression := regexp.MustCompile(pattern)
	return func(field []byte) ([]byte, error) {
		if pattern == "" {
			return field, nil
		}
		found := expression.FindSubmatch(field)
		if found == nil {
			return nil, fmt.Errorf("found %s, expected what matches %s", fault.Quote(field), pattern)
		}
		return found[1], nil
	}
}
