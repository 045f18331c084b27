package bench

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tcbuild/internal/testing/pagetest"
	_ "tcbuild/internal/testing/testrun"
)

// testResults are results of all cases, with figures from r.
func testResults(r *rand.Rand, rounds int) *Results {
	stat := func(low, high float64) Stat {
		var values []float64
		for range rounds {
			values = append(values, low+(high-low)*r.Float64())
		}
		return statOf(values...)
	}
	results := &Results{Setup: Setup{Rounds: rounds, Workers: 4, TotalSamples: 1000, MaskPositions: 5000}, FillMilliseconds: stat(0.0001, 0.0002)}
	for _, c := range allCases() {
		result := &CaseResult{Case: c, Default: c.isDefault(), Samples: 1000, Size: Size{BytesPerSample: 180 + 40*r.Float64(), DatasetBytes: 1e6}}
		result.Read.Milliseconds = stat(0.0007, 0.0009)
		result.Build.Seconds, result.Build.SamplesPerSecond = stat(1, 5), stat(1000, 2000)
		result.extrapolate(5000)
		results.Cases = append(results.Cases, result)
	}
	return results
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
		var text strings.Builder
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{report(t, r), text.String()} {
			if strings.Contains(text, "±") != (rounds > 1) {
				t.Errorf("%d rounds: ± is %v in\n%s", rounds, rounds == 1, text)
			}
		}
	}
}
