package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

// the seed of the second sample is the highest, of the third 0
const testSeed = Seed(math.MaxUint64 - 1)

// appendRecords appends a value of records that each have an id and a payload.
func appendRecords(dst []byte, seed Seed, first int, ids, payloads []string) []byte {
	return AppendValue(dst, seed, first, len(ids),
		func(i int) Record { return Record{ID: []byte(ids[i])} },
		func(dst []byte, i int) []byte { return append(dst, payloads[i]...) })
}

func TestValueRoundTrip(t *testing.T) {
	for _, texts := range [][]string{{}, {""}, {"a"}, {"a", "", "bc"}, {"", "", ""}} {
		value, ok := bytes.CutPrefix(appendRecords([]byte("before"), testSeed, 7, texts, texts), []byte("before"))
		if !ok {
			t.Fatal("AppendValue overwrote what stood before")
		}
		parsed, err := ParseValue(value, testSeed, 7, len(texts))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range texts {
			var got Record
			if _, err := parsed.Record(i, 0, &got); err != nil || string(got.ID) != want || string(got.Payload) != want {
				t.Errorf("record %d of %q is %+v, error %v", i, texts, got, err)
			}
		}
	}
}

// A payload may be built in several steps, and grow the memory of the value.
func TestValueOfLargeRecords(t *testing.T) {
	const count = 64
	payload := func(i int) string { return string(bytes.Repeat([]byte{byte(i)}, 100*i)) }
	ids, payloads := make([]string, count), make([]string, count)
	for i := range count {
		payloads[i] = payload(i)
	}
	parsed, err := ParseValue(appendRecords(nil, testSeed, 0, ids, payloads), testSeed, 0, count)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		var got Record
		if _, err := parsed.Record(i, 0, &got); err != nil || string(got.Payload) != payload(i) {
			t.Errorf("record %d: %d bytes, error %v", i, len(got.Payload), err)
		}
	}
}

// Any damage is found, and a record is only given out damaged together with an error.
func TestDamagedValue(t *testing.T) {
	ids, payloads := []string{"a", "b", ""}, []string{"one", "", "three"}
	whole := appendRecords(nil, testSeed, 0, ids, payloads)
	for damaged := range damaged(whole) {
		parsed, err := ParseValue(damaged, testSeed, 0, len(ids))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: error %v does not wrap ErrDamaged", damaged, err)
			}
			continue
		}
		intact := true
		for i := range ids {
			var got Record
			_, err := parsed.Record(i, 0, &got)
			if err == nil && (string(got.ID) != ids[i] || string(got.Payload) != payloads[i]) || err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: record %d is %+v, error %v", damaged, i, got, err)
			}
			intact = intact && err == nil
		}
		if intact {
			t.Errorf("value % x: nobody noticed the damage", damaged)
		}
	}
}

// A value in place of another one, of this or another dataset, is damage.
func TestValueInAnothersPlace(t *testing.T) {
	ids, payloads := []string{"a", "b"}, []string{"one", "two"}
	value := appendRecords(nil, testSeed, 6, ids, payloads)
	for _, test := range []struct {
		name  string
		seed  Seed
		first int
	}{{"other samples", testSeed, 8}, {"the sample before", testSeed, 5}, {"another dataset", 12345, 6}} {
		parsed, err := ParseValue(value, test.seed, test.first, len(ids))
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			var got Record
			if _, err := parsed.Record(i, 0, &got); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: record %d is %+v, error %v", test.name, i, got, err)
			}
		}
	}
}

func TestValueErrors(t *testing.T) {
	value := appendRecords(nil, testSeed, 0, []string{"x", "y"}, []string{"one", "two"})
	records := DirectoryBytes(2)
	headOf := func(id byte) []byte { return []byte{0, 0, 0, 0, 1, 0, 0, 0, id} }
	for _, test := range []struct {
		damage func(value []byte) []byte
		count  int
		want   string
	}{
		{func(v []byte) []byte { return v[:3] }, 2, "damaged: value of 3 bytes does not start with the directory of 2 records"},
		{func(v []byte) []byte { return v[:27] }, 2, "damaged: value of 27 bytes does not start with the directory of 2 records"},
		{func(v []byte) []byte { return v }, 3, "damaged: value of 52 bytes does not start with the directory of 3 records"},
		{func(v []byte) []byte { v[16] = 2; return v }, 2, "damaged: record spans bytes 12 to 2 of 24"},
		{func(v []byte) []byte { v[16] = 25; return v }, 2, "damaged: record spans bytes 12 to 25 of 24"},
		{func(v []byte) []byte { return append(v, 0) }, 2, "damaged: record spans bytes 12 to 24 of 25"},
		{func(v []byte) []byte { v[records+12+8] = 'z'; return v }, 2,
			fmt.Sprintf("damaged: the head of its record has checksum %08x, expected %08x", testSeed.Checksum(headOf('z'), 1), testSeed.Checksum(headOf('y'), 1))},
		{func(v []byte) []byte { v[records+12+9] = 'T'; return v }, 2,
			fmt.Sprintf("damaged: the payload of its record has checksum %08x, expected %08x", testSeed.Checksum([]byte("Two"), 1), testSeed.Checksum([]byte("two"), 1))},
	} {
		parsed, err := ParseValue(test.damage(bytes.Clone(value)), testSeed, 0, test.count)
		if err == nil {
			_, err = parsed.Record(1, 0, new(Record))
		}
		if !errors.Is(err, ErrDamaged) || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
