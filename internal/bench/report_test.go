package bench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/encode"
	"tcbuild/internal/page"
	"tcbuild/internal/testing/pagetest"
	"tcbuild/internal/testing/testrun"
	"tcbuild/store"
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
	results := &Results{Setup: Setup{Rounds: rounds, Workers: 4, Samples: 1000, TotalSamples: 1000, MaskPositions: 5000},
		Base:   Variation{Workers: 4, Samples: 1000, EveryNth: 1},
		Limits: Limits{Fill: stat(1e9, 2e9), Copy: stat(1e9, 2e9), DiskWrite: stat(1e8, 2e8)}}
	cases := []Case{{Variant: store.Incidence}}
	for _, variant := range []store.Variant{store.Indices, store.FullMasks} {
		for _, codec := range encode.Codecs(encode.Mode(variant)) {
			cases = append(cases, Case{variant, codec})
		}
	}
	for _, c := range cases {
		result := CaseResult{Case: c, Default: c.Codec == "" || c.Codec == "zstd", Size: Size{BytesPerSample: 180 + 40*r.Float64(), DatasetBytes: 1e6},
			Extrapolated: Extrapolation{Samples: 5000, FromSamples: 1000, Seconds: 1 + r.Float64(), Bytes: 5e6}}
		result.Read.Random = Pass{Milliseconds: stat(0.0007, 0.0009), LimitMilliseconds: 0.0001}
		stages := []string{"read graph", surveyStage, "build incidence", "write graph"}
		if c.Variant != store.Incidence {
			stages = append(stages, masksStage)
		}
		for _, name := range append(stages, restStage) {
			stage := Stage{Stage: name, Seconds: stat(0.1, 1)}
			if name == masksStage {
				stage.Steps = []Step{{"encode", stat(0.01, 0.1)}}
			}
			result.Build.Stages = append(result.Build.Stages, stage)
		}
		result.Build.Seconds, result.Build.SamplesPerSecond = stat(1, 5), stat(1000, 2000)
		results.Cases = append(results.Cases, result)
		for _, v := range []Variation{{4, 1000, 1}, {1, 1000, 1}, {2, 1000, 1}, {4, 100, 1}, {4, 1000, 2}, {4, 1000, 4}} {
			if result.Default {
				results.Points = append(results.Points, Point{Case: c, Variation: v, Edges: 400 / v.EveryNth, Seconds: stat(2, 2.1), SamplesPerSecond: stat(900, 1000),
					DatasetBytes: int64(1000 * v.Samples), BytesPerSample: 100 + r.Float64(), ReadMilliseconds: stat(0.01, 0.011)})
			}
		}
	}
	return results
}

// report is the page of results.
func report(t *testing.T, r *Results) string {
	t.Helper()
	html, err := r.page().HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

// Every plot of a report can be read, whatever the figures; one of a single point is not drawn.
func TestPlots(t *testing.T) {
	for seed := range testrun.Cases(20, 3) {
		r := testResults(rand.New(rand.NewPCG(uint64(seed), 0)), 1)
		if found := pagetest.Check(t, report(t, r)); found != 7 {
			t.Errorf("found %d plots, expected 7", found)
		}
	}
	r := testResults(rand.New(rand.NewPCG(1, 0)), 1)
	r.Base.Workers = 1
	for i := range r.Points {
		r.Points[i].Workers = 1
	}
	if text := report(t, r); pagetest.Check(t, text) != 6 || strings.Contains(text, "Throughput") {
		t.Error("the throughput of a single worker has a plot")
	}
}

func TestReportIsAccessible(t *testing.T) {
	pagetest.Axe(t, report(t, testResults(rand.New(rand.NewPCG(1, 0)), 2)))
}

// Extrapolated lines begin at the largest measured point, and end at the extrapolated one.
func TestExtrapolatedLines(t *testing.T) {
	r := testResults(rand.New(rand.NewPCG(1, 0)), 1)
	for _, d := range r.samplesPlots() {
		at := func(mark page.Mark, hollow bool) bool {
			return slices.ContainsFunc(d.Marks, func(m page.Mark) bool { return m.X == mark.X && m.Y == mark.Y && m.Hollow == hollow })
		}
		dashed := 0
		for _, line := range d.Lines {
			last := line.Points[len(line.Points)-1]
			if !at(line.Points[0], false) || !at(last, line.Dashed) || line.Dashed && (line.Points[0].X != 1000 || last.X != 5000) {
				t.Errorf("%s: found %+v, expected it to join points", d.Title, line)
			}
			if line.Dashed {
				dashed++
			}
		}
		if dashed != 3 {
			t.Errorf("%s: found %d dashed lines, expected 3", d.Title, dashed)
		}
	}
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
		limits := r.limitTable().Rows[0]
		if spread := limits[2] != "-" && limits[3] != "-"; spread != (rounds > 1) {
			t.Errorf("%d rounds: limits %q", rounds, limits)
		}
	}
}

// The columns of the stages are in the order in which they run, the rest last; steps are behind
// their stage.
func TestStageTable(t *testing.T) {
	table := testResults(rand.New(rand.NewPCG(1, 0)), 1).stageTable()
	want := []string{"masks kept as", "read graph", surveyStage, "build incidence", "write graph", masksStage, "› encode", restStage}
	if !slices.Equal(table.Header, want) {
		t.Errorf("got %q, want %q", table.Header, want)
	}
	for _, row := range table.Rows {
		if incidence := row[0] == "incidence"; (row[5] == "-") != incidence || (row[6] == "-") != incidence || row[7] == "-" {
			t.Errorf("got %q", row)
		}
	}
}
