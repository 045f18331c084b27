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

func appendPayloads(dst []byte, seed Seed, first int, payloads ...string) []byte {
	return AppendValue(dst, seed, first, len(payloads), func(dst []byte, i int) []byte { return append(dst, payloads[i]...) })
}

func TestValueRoundTrip(t *testing.T) {
	for _, texts := range [][]string{{}, {""}, {"a"}, {"a", "", "bc"}, {"", "", ""}} {
		value, ok := bytes.CutPrefix(appendPayloads([]byte("before"), testSeed, 7, texts...), []byte("before"))
		if !ok {
			t.Fatal("AppendValue overwrote what stood before")
		}
		parsed, err := ParseValue(value, testSeed, 7, len(texts))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range texts {
			if got, err := parsed.Payload(i); err != nil || string(got) != want {
				t.Errorf("payload %d of %q is %q, error %v", i, texts, got, err)
			}
		}
	}
}

// A payload may be built in several steps, and grow the memory of the value.
func TestValueOfLargePayloads(t *testing.T) {
	const count = 64
	payload := func(i int) string { return string(bytes.Repeat([]byte{byte(i)}, 100*i)) }
	payloads := make([]string, count)
	for i := range count {
		payloads[i] = payload(i)
	}
	parsed, err := ParseValue(appendPayloads(nil, testSeed, 0, payloads...), testSeed, 0, count)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		if got, err := parsed.Payload(i); err != nil || string(got) != payload(i) {
			t.Errorf("payload %d: %d bytes, error %v", i, len(got), err)
		}
	}
}

// Any damage is found, and a payload is only given out damaged together with an error.
func TestDamagedValue(t *testing.T) {
	payloads := []string{"one", "", "three"}
	whole := appendPayloads(nil, testSeed, 0, payloads...)
	for damaged := range damaged(whole) {
		parsed, err := ParseValue(damaged, testSeed, 0, len(payloads))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: error %v does not wrap ErrDamaged", damaged, err)
			}
			continue
		}
		intact := true
		for i, want := range payloads {
			got, err := parsed.Payload(i)
			if err == nil && string(got) != want || err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("value % x: payload %d is %q, error %v", damaged, i, got, err)
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
	value := appendPayloads(nil, testSeed, 6, "one", "two")
	for _, test := range []struct {
		name  string
		seed  Seed
		first int
	}{{"other samples", testSeed, 8}, {"the sample before", testSeed, 5}, {"another dataset", 12345, 6}} {
		parsed, err := ParseValue(value, test.seed, test.first, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if got, err := parsed.Payload(i); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: payload %d is %q, error %v", test.name, i, got, err)
			}
		}
	}
}

func TestValueErrors(t *testing.T) {
	value := appendPayloads(nil, testSeed, 0, "one", "two")
	payloads := DirectoryBytes(2)
	checksum := func(payload string) uint32 {
		var c checksummer
		return c.of([]byte(payload), testSeed, 1)
	}
	for _, test := range []struct {
		damage func(value []byte) []byte
		count  int
		want   string
	}{
		{func(v []byte) []byte { return v[:3] }, 2, "damaged: value of 3 bytes does not start with the directory of 2 payloads"},
		{func(v []byte) []byte { return v[:19] }, 2, "damaged: value of 19 bytes does not start with the directory of 2 payloads"},
		{func(v []byte) []byte { return v }, 3, "damaged: value of 26 bytes does not start with the directory of 3 payloads"},
		{func(v []byte) []byte { v[12] = 2; return v }, 2, "damaged: payload spans bytes 3 to 2 of 6"},
		{func(v []byte) []byte { v[12] = 7; return v }, 2, "damaged: payload spans bytes 3 to 7 of 6"},
		{func(v []byte) []byte { return append(v, 0) }, 2, "damaged: payload spans bytes 3 to 6 of 7"},
		{func(v []byte) []byte { v[payloads+3] = 'T'; return v }, 2,
			fmt.Sprintf("damaged: its payload has checksum %08x, expected %08x", checksum("Two"), checksum("two"))},
	} {
		parsed, err := ParseValue(test.damage(bytes.Clone(value)), testSeed, 0, test.count)
		if err == nil {
			_, err = parsed.Payload(1)
		}
		if !errors.Is(err, ErrDamaged) || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
