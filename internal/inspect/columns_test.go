package inspect

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/page"
	"tcbuild/internal/testing/pagetest"
	"tcbuild/internal/testing/testrun"
)

// Numbers at the ends of float64 have no result that JSON cannot hold.
func TestNumbersBeyondRange(t *testing.T) {
	var c numberCounter
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1)} {
		c.add(x)
	}
	s := c.summary()
	if math.Abs(s.Mean) > 1e293 || s.SD != nil || s.Values != 4 || s.Missing != 2 {
		t.Errorf("found %+v, expected mean 0, no sd, 4 values, two missing", s)
	}
	p := &page.Page{Title: "x", Sections: []page.Section{{Plots: s.plots("x", "")}}}
	html, err := p.HTML("test")
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(html))
}

// countedValues adds n values of which each is there twice, but for the first, which is there once
// more.
func countedValues(t *testing.T, n int, value func(i int) ingest.Value, kind ingest.AttributeType) AttributeSummary {
	t.Helper()
	c := newSampleCounter(&ingest.Nodes{}, ingest.Columns{Attributes: []ingest.Attribute{{Name: "a", Type: kind}}})
	for i := range 2 * n {
		c.add(nil, nil, []ingest.Value{value(i % n)})
	}
	c.add(nil, nil, []ingest.Value{value(0)})
	c.add(nil, nil, []ingest.Value{{Number: math.NaN()}})
	return c.summary().Attributes[0]
}

// Values are told apart up to a limit of their number, and of the size of texts.
func TestManyValues(t *testing.T) {
	text := func(i int) ingest.Value {
		return ingest.Value{Text: fmt.Appendf([]byte{}, "%06d", i), Number: math.NaN()}
	}
	long := func(i int) ingest.Value {
		return ingest.Value{Text: fmt.Appendf([]byte{}, "%065536d", i), Number: math.NaN()}
	}
	number := func(i int) ingest.Value { return ingest.Value{Number: float64(i)} }
	for _, c := range []struct {
		name  string
		n     int
		value func(i int) ingest.Value
		kind  ingest.AttributeType
		known bool
	}{
		{"texts", mostDifferent, text, ingest.TextAttribute, true},
		{"too many texts", mostDifferent + 1, text, ingest.TextAttribute, false},
		{"long texts", mostText >> 16, long, ingest.TextAttribute, true},
		{"too long texts", mostText>>16 + 1, long, ingest.TextAttribute, false},
		{"numbers", mostDifferent, number, ingest.NumberAttribute, true},
		{"too many numbers", mostDifferent + 1, number, ingest.NumberAttribute, false},
		{"an empty text", 1, func(int) ingest.Value { return ingest.Value{Text: []byte{}} }, ingest.TextAttribute, true},
	}[:testrun.Cases(7, 2)] {
		s := countedValues(t, c.n, c.value, c.kind)
		if s.Values != 2*c.n+1 || s.Missing != 1 || c.known != (s.Different != nil) {
			t.Errorf("%s: found %d values, %d missing, distinct values counted: %t", c.name, s.Values, s.Missing, s.Different != nil)
		}
		if !c.known && len(s.MostFrequent) == 0 {
			continue
		}
		if *s.Different != c.n || len(s.MostFrequent) != min(c.n, mostFrequent) || s.MostFrequent[0].Samples != 3 {
			t.Errorf("%s: found %d values, first %d times, expected %d, 3 times", c.name, *s.Different, s.MostFrequent[0].Samples, c.n)
		}
		for i, value := range s.MostFrequent { // the lowest first of equals
			if i > 0 && (value.Samples != 2 || fmt.Sprint(value.Value) <= fmt.Sprint(s.MostFrequent[i-1].Value) && i < 9) {
				t.Errorf("%s: found %v after %v", c.name, value, s.MostFrequent[i-1])
			}
		}
	}
}

// The rows of a value table add up to all samples.
func TestValueTable(t *testing.T) {
	value := func(i int) ingest.Value { return ingest.Value{Text: []byte(strings.Repeat("a", i))} }
	for n, want := range map[int]string{1: "[[\"\" 3 75.0] [(missing) 1 25.0]]", mostFrequent + 1: "[(1 more value) 2 8.3] [(missing) 1 4.2]]", mostFrequent + 2: "[(2 more values) 4 15.4] [(missing) 1 3.8]]"} {
		s := countedValues(t, n, value, ingest.TextAttribute)
		if got := fmt.Sprint(s.valueTable().Rows); !strings.HasSuffix(got, want) {
			t.Errorf("%d values: found %s, expected %s at its end", n, got, want)
		}
	}
}
