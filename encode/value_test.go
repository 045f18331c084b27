package encode

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// appendTexts appends a value whose records are texts.
func appendTexts(dst []byte, texts ...string) []byte {
	return AppendValue(dst, len(texts), func(dst []byte, i int) []byte { return append(dst, texts[i]...) })
}

func TestValueRoundTrip(t *testing.T) {
	for _, texts := range [][]string{{}, {""}, {"a"}, {"a", "", "bc"}, {"", "", ""}} {
		value, ok := bytes.CutPrefix(appendTexts([]byte("before"), texts...), []byte("before"))
		if !ok {
			t.Fatal("AppendValue overwrote what stood before")
		}
		parsed, err := ParseValue(value, len(texts))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range texts {
			if got, err := parsed.Record(i); err != nil || string(got) != want {
				t.Errorf("record %d of %q is %q, error %v", i, texts, got, err)
			}
		}
	}
}

// A record may be built in several steps, and grow the memory of the value.
func TestValueOfLargeRecords(t *testing.T) {
	const count = 64
	record := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 100*i) }
	value := AppendValue(nil, count, func(dst []byte, i int) []byte { return append(dst, record(i)...) })
	parsed, err := ParseValue(value, count)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		if got, err := parsed.Record(i); err != nil || !bytes.Equal(got, record(i)) {
			t.Errorf("record %d: %d bytes, error %v", i, len(got), err)
		}
	}
}

// Any damage is found, and a record is only given out damaged together with an error.
func TestDamagedValue(t *testing.T) {
	texts := []string{"one", "", "three"}
	for damaged := range damaged(appendTexts(nil, texts...)) {
		parsed, err := ParseValue(damaged, len(texts))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: error %v does not wrap ErrDamaged", damaged, err)
			}
			continue
		}
		intact := true
		for i, want := range texts {
			got, err := parsed.Record(i)
			if err == nil && string(got) != want || err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: record %d is %q, error %v", damaged, i, got, err)
			}
			intact = intact && err == nil
		}
		if intact && len(damaged) == len(appendTexts(nil, texts...)) {
			t.Errorf("value % x: nobody noticed the damage", damaged)
		}
	}
}

func TestValueErrors(t *testing.T) {
	value := appendTexts(nil, "one", "two")
	for _, test := range []struct {
		damage func(value []byte) []byte
		count  int
		want   string
	}{
		{func(v []byte) []byte { return v[:3] }, 2, "damaged: value of 3 bytes does not start with the directory of 2 records"},
		{func(v []byte) []byte { return v[:19] }, 2, "damaged: value of 19 bytes does not start with the directory of 2 records"},
		{func(v []byte) []byte { return v }, 3, "damaged: value of 26 bytes does not start with the directory of 3 records"},
		{func(v []byte) []byte { v[12] = 2; return v }, 2, "damaged: record spans bytes 3 to 2 of 6"},
		{func(v []byte) []byte { v[12] = 7; return v }, 2, "damaged: record spans bytes 3 to 7 of 6"},
		{func(v []byte) []byte { v[23] ^= 1; return v }, 2,
			fmt.Sprintf("damaged: record has checksum %08x (its directory says %08x)", Checksum([]byte("uwo")), Checksum([]byte("two")))},
	} {
		parsed, err := ParseValue(test.damage(bytes.Clone(value)), test.count)
		if err == nil {
			_, err = parsed.Record(1)
		}
		if !errors.Is(err, ErrDamaged) || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
