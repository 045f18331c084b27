package testrun

import (
	"testing"

	"tcbuild/fault"
)

// CheckInputError fails unless err is a fault.Input with the given text and a hint.
func CheckInputError(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
	if fault.KindOf(err) != fault.Input || fault.HintOf(err) == "" {
		t.Errorf("kind %d with hint %q, expected bad input with a hint", fault.KindOf(err), fault.HintOf(err))
	}
}
