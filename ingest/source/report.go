package source

import (
	"regexp"

	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// check returns the error of Account.Check. hint is for rows that are dropped for other reasons than
// their names.
func check(account *ingest.Account, hint string, known *names.Resolver, maxDropped float64) error {
	ofNames := "give the genes' other names with aliases"
	if knowsMost(known, account.Names) {
		ofNames = "add the genes to the graph: the tables of names have them"
	}
	ofNames += looksLike(account.Names)
	if hint == severalHint && account.Kept == 0 {
		ofNames = hint
	}
	return account.Check(maxDropped, hint, ofNames)
}

// checkAll is check for all sources.
func checkAll(
	accounts ingest.Accounts, hint string, known *names.Resolver, maxDropped float64,
) error {
	for _, account := range accounts {
		if err := check(account, hint, known, maxDropped); err != nil {
			return err
		}
	}
	return nil
}

// knowsMost reports whether tables know most of the names that were dropped.
func knowsMost(known *names.Resolver, dropped map[string]int) bool {
	n := 0
	for name := range dropped {
		if known.Exact([]byte(name)).Known() {
			n++
		}
	}
	return 2*n > len(dropped)
}

// identifiers are the forms of ids that public files have in place of systematic names.
var identifiers = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"Entrez gene ids", regexp.MustCompile(`^[0-9]+$`)},
	{"SGD ids", regexp.MustCompile(`^(SGD:)?S[0-9]{9}$`)},
	{"UniProt accessions", regexp.MustCompile(`^([OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2})$`)},
	{"names with the prefix of an organism", regexp.MustCompile(`^[0-9]+\.`)},
	{"Ensembl ids with a version", regexp.MustCompile(`^ENS[A-Z]*[GTP][0-9]{11}\.[0-9]+$`)},
	{"Ensembl ids", regexp.MustCompile(`^ENS[A-Z]*[GTP][0-9]{11}$`)},
	{"names that R numbered, as they repeat (AARS.1)", regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*\.[0-9]{1,2}$`)},
	{"systematic names in lower case", regexp.MustCompile(`^y[a-p][lr][0-9]{3}[wc]`)},
}

// looksLike ends a hint by what most of the unknown names look like, if that is known.
func looksLike(dropped map[string]int) string {
	for _, id := range identifiers {
		n := 0
		for name := range dropped {
			if id.pattern.MatchString(name) {
				n++
			}
		}
		if 2*n > len(dropped) {
			return "; they look like " + id.name
		}
	}
	return ""
}

// checkMaxDropped returns a fault.Usage for an invalid share.
func checkMaxDropped(share float64) error {
	if share >= 0 && share <= 1 {
		return nil
	}
	return badSetting("", "max_dropped: found %v, expected a share from 0 to 1", share)
}
