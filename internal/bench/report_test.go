package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/internal/testing/pagetest"
	_ "tcbuild/internal/testing/testrun"
)

// testResults are results of all cases, with figures from r.
func testResults(r *rand.Rand, rounds int) *Results {
	results := &Results{Setup: Setup{Rounds: rounds, Workers: 4, TotalSamples: 1000, MaskPositions: 5000}, Machine: Machine{Cores: 4}}
	for _, c := range allCases() {
		result := &CaseResult{Case: c, Samples: 1000, FewSamples: 125, Extrapolated: Extrapolation{Samples: 5000}}
		for range rounds {
			r := reading{0.01 + 0.01*r.Float64(), 7e-7 + 2e-7*r.Float64(), 6e-7 + 1e-7*r.Float64()}
			result.add(cost{1, 0.5, 1, 1e5, 1e5}, cost{2 + r.open, 1.5 + r.open, 2, 1e6 + float64(len(results.Cases)), 1e6}, r, r)
		}
		results.Cases = append(results.Cases, result)
	}
	return results
}

// printed is what the command prints of results.
func printed(t *testing.T, r *Results) string {
	t.Helper()
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// report is the page of results.
func report(t *testing.T, r *Results) string {
	t.Helper()
	html, err := r.page().HTML("test")
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

func TestReportIsAccessible(t *testing.T) {
	pagetest.Axe(t, report(t, testResults(rand.New(rand.NewPCG(1, 0)), 2)))
}

// One round has no spread: nothing of a report claims one.
func TestOneRoundHasNoSpread(t *testing.T) {
	for _, rounds := range []int{1, 2} {
		r := testResults(rand.New(rand.NewPCG(1, 0)), rounds)
		for _, text := range []string{report(t, r), printed(t, r)} {
			if strings.Contains(text, "±") != (rounds > 1) {
				t.Errorf("%d rounds: ± is %v in\n%s", rounds, rounds == 1, text)
			}
		}
	}
}

// What the report says of the measurement is true of it.
func TestStatements(t *testing.T) {
	const all, load, cold = "each dataset holds all of them", "The load was up to 4.5 on 4 cores", "posix_fadvise"
	for _, c := range []struct {
		change func(r *Results)
		said   []string
	}{
		{func(r *Results) {}, []string{all, cold}},
		{func(r *Results) { r.Cases[6].Samples = 999 }, []string{cold}},
		{func(r *Results) { r.Machine.Load = 4 }, []string{all, cold}},
		{func(r *Results) { r.Machine.Load = 4.5 }, []string{all, load, cold}},
		{func(r *Results) {
			for _, c := range r.Cases {
				c.Cold = Reading{}
			}
		}, []string{all}},
	} {
		r := testResults(rand.New(rand.NewPCG(1, 0)), 2)
		c.change(r)
		for _, text := range []string{report(t, r), printed(t, r)} {
			for _, phrase := range []string{all, load, cold} {
				if strings.Contains(text, phrase) != slices.Contains(c.said, phrase) {
					t.Errorf("expected %q alone, found %q: %v, in\n%s", c.said, phrase, strings.Contains(text, phrase), text)
				}
			}
			if strings.Contains(text, "open cold") != slices.Contains(c.said, cold) {
				t.Errorf("a column of cold reading, although there was none, or not:\n%s", text)
			}
		}
	}
}

// The last sentence names the smallest dataset, and ranks builds only where ranges do.
func TestDecision(t *testing.T) {
	const uncertain = ", but build times are too uncertain to rank."
	for _, c := range []struct {
		seconds Stat // of indices zstd; incidence takes 4 to 6 s, and the others 9 s
		want    string
	}{
		{Stat{3, 2, 3.9, 2, nil}, ", and is built in 5 s; indices zstd is built faster, in 3 s."},
		{Stat{7, 6.1, 8, 2, nil}, ", and none is built faster."},
		{Stat{3, 2, 4.1, 2, nil}, uncertain}, {Stat{7, 6, 8, 2, nil}, uncertain},
		{Stat{3, 3, 3, 1, nil}, uncertain}, {Stat{}, uncertain},
	} {
		r := testResults(rand.New(rand.NewPCG(1, 0)), 2)
		for i, e := range r.Cases {
			e.Extrapolated.Seconds, e.Extrapolated.Bytes = Stat{9, 9, 9, 2, nil}, float64(9000+i)
		}
		r.Cases[0].Extrapolated.Seconds, r.Cases[0].Extrapolated.Bytes = Stat{5, 4, 6, 2, nil}, 3210
		r.Cases[1].Extrapolated.Seconds = c.seconds
		lines := strings.Split(strings.TrimSpace(printed(t, r)), "\n")
		want := "  Take incidence, unless training is faster with another: " +
			"at 5,000 samples it is the smallest, with 3.21 kB" + c.want
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// A table with empty cells says why they are.
func TestBlankCells(t *testing.T) {
	for _, samples := range []int{20_000, 20_001} { // 1,000 are measured
		r := testResults(rand.New(rand.NewPCG(1, 0)), 2)
		for _, c := range r.Cases {
			c.Extrapolated = Extrapolation{Samples: samples}
			c.add(cost{1, 0.5, 1, 1e5, 1e5}, cost{2, 1.5, 2, 1e6, 1e6}, reading{}, reading{0.01, 7e-7, 6e-7})
		}
		text := printed(t, r)
		if strings.Contains(text, "blank: ") != (samples > 20_000) {
			t.Errorf("extrapolated to %d samples:\n%s", samples, text)
		}
	}
}

// Labels of the plot cover none other, however near the marks are.
func TestPlotLabels(t *testing.T) {
	r := testResults(rand.New(rand.NewPCG(1, 0)), 2)
	marks := r.plot().Plots[0].Placed.Marks
	if len(marks) != len(r.Cases) {
		t.Fatalf("%d marks of %d cases", len(marks), len(r.Cases))
	}
	pagetest.Check(t, report(t, r))
	for i, a := range marks {
		if min(a.X, a.Y) < 0 || max(a.X, a.Y) > 1 {
			t.Errorf("%+v is outside", a)
		}
		for _, b := range marks[:i] {
			if math.Abs(float64(a.LabelY-b.LabelY)) < 0.0699 {
				t.Errorf("%+v covers %+v", a, b)
			}
		}
	}
}
