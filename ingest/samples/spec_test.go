package samples

import "testing"

// No phenotypes, or no attributes, are another dataset than the default ones. Manifests must say
// so, and rebuild, which compares what Record returns, must build it.
func TestRecordHasEmptyLists(t *testing.T) {
	keep := func(text string) string { return text }
	if got := (Spec{}).Record(keep); len(got) > 0 {
		t.Errorf("Record of a zero Spec = %v, expected nothing", got)
	}
	none := Spec{Phenotypes: []string{}, Attributes: []string{}}
	recorded := none.Record(keep)
	for _, key := range []string{"phenotypes", "attributes"} {
		if list, isList := recorded[key].([]any); !isList || len(list) > 0 {
			t.Errorf("%s is recorded as %v, expected an empty list", key, recorded[key])
		}
	}
}
