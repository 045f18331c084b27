// Package check compares what ingest reads, and its errors, with what a test expects.
package check

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Fault checks an error's kind, that its text holds all parts, and that it is one clean line.
func Fault(t testing.TB, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected one with %q", parts)
		return
	}
	if fault.KindOf(err) != kind {
		t.Errorf("error %q has kind %v, expected %v", err, fault.KindOf(err), kind)
	}
	isIn := func(part string) bool { return strings.Contains(err.Error(), part) }
	for _, part := range parts {
		if !isIn(part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	if slices.ContainsFunc([]string{"\n", "%!"}, isIn) {
		t.Errorf("error %q is not one clean line", err)
	}
}

// Accounts checks that the rows of every source are kept or reported.
func Accounts(t testing.TB, accounts ingest.Accounts) {
	t.Helper()
	for _, a := range accounts {
		if !a.IsComplete() {
			t.Errorf("%s: rows without an account: %+v", a.Made, a)
		}
	}
}

// AccountOf returns the account of what a source made, such as "genes".
func AccountOf(t testing.TB, accounts ingest.Accounts, made string) *ingest.Account {
	t.Helper()
	i := slices.IndexFunc(accounts, func(a *ingest.Account) bool { return a.Made == made })
	if i < 0 {
		t.Fatalf("no account of %s", made)
	}
	return accounts[i]
}
