// Package check compares what ingest reads, and its errors, with what a test expects.
package check

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
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
