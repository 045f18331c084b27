package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"tcbuild/encode"
	"tcbuild/internal/chart"
	"tcbuild/store"
)

// drawnText is a text of a plot, where it begins: y from the bottom.
type drawnText struct {
	x, y         float64
	words, color string
}

var textElement = regexp.MustCompile(`<text x="([^"]+)" y="-([^"]+)" transform="scale\(1, -1\)"\s+style="[^"]*?(?:fill:(#[0-9A-F]+))?">([^<]*)</text>`)

func drawnTexts(t *testing.T, svg string) (texts []drawnText) {
	t.Helper()
	for _, match := range textElement.FindAllStringSubmatch(svg, -1) {
		x, errX := strconv.ParseFloat(match[1], 64)
		y, errY := strconv.ParseFloat(match[2], 64)
		if errX != nil || errY != nil {
			t.Fatalf("found %q", match[0])
		}
		texts = append(texts, drawnText{x, y, match[4], match[3]})
	}
	return texts
}

// box is a filled rectangle of a plot.
type box struct {
	left, right, low, high float64
	color                  string
}

var boxElement = regexp.MustCompile(`<path d="M([0-9.]+),([0-9.]+)L([0-9.]+),([0-9.]+)L([0-9.]+),([0-9.]+)L[0-9.,]+Z" style="fill:(#[0-9A-F]+)" />`)

func drawnBoxes(svg string) (boxes []box) {
	for _, match := range boxElement.FindAllStringSubmatch(svg, -1) {
		var corner [6]float64
		for i := range corner {
			corner[i], _ = strconv.ParseFloat(match[i+1], 64)
		}
		// from corner to corner
		boxes = append(boxes, box{corner[0], corner[4], corner[1], corner[5], match[7]})
	}
	return boxes
}

// testResults are results of all cases, with figures from r.
func testResults(r *rand.Rand, rounds int) *Results {
	stat := func(low, high float64) Stat {
		var values []float64
		for range rounds {
			values = append(values, low+(high-low)*r.Float64())
		}
		return newStat(values)
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

// Labels of points that lie close together are in the order of the points, and in their colours.
func TestLabelsAreInTheOrderOfTheirPoints(t *testing.T) {
	for seed := range uint64(200) {
		r := testResults(rand.New(rand.NewPCG(seed, 0)), 1)
		svg, err := chart.SVG(r.sizeAgainstTime(), wide, high)
		if err != nil {
			t.Fatal(err)
		}
		texts := drawnTexts(t, string(svg))
		var labels []drawnText // by time
		cases := slices.Clone(r.Cases)
		slices.SortFunc(cases, func(a, b CaseResult) int {
			return cmp.Compare(a.Read.Random.Milliseconds.Median, b.Read.Random.Milliseconds.Median)
		})
		for _, c := range cases {
			i := slices.IndexFunc(texts, func(text drawnText) bool { return text.words == c.String() })
			red, green, blue, _ := variantColors[c.Variant].RGBA()
			if i < 0 || texts[i].color != fmt.Sprintf("#%02X%02X%02X", red>>8, green>>8, blue>>8) {
				t.Fatalf("seed %d: %s is not there in its colour: %+v", seed, c, texts)
			}
			labels = append(labels, texts[i])
		}
		for i, low := range labels {
			for _, top := range labels[i+1:] {
				meet := low.x < top.x+charWidth*float64(len(top.words)) && top.x < low.x+charWidth*float64(len(low.words))
				if meet && top.y-low.y < lineHeight-0.1 {
					t.Errorf("seed %d: the label %s at %.1f is not above %s at %.1f", seed, top.words, top.y, low.words, low.y)
				}
			}
		}
	}
}

func TestPlaceLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for n := range 12 {
		var labels []label
		var points []vg.Point
		for range n {
			labels = append(labels, label{words: strings.Repeat("x", 1+r.IntN(20))})
			points = append(points, vg.Point{X: vg.Length(r.IntN(60)), Y: vg.Length(r.IntN(30))})
		}
		if got := len(placeLabels(labels, points)); got != n {
			t.Errorf("%d labels: %d places", n, got)
		}
	}
	if got := placeLabels([]label{{words: "alone"}}, []vg.Point{{X: 5, Y: 5}}); got[0] != 0 {
		t.Errorf("a label alone is moved by %v", got[0])
	}
	for n, want := range [][]int{nil, {0}, {0, 1}, {1, 2, 0}, {1, 2, 0, 3}} {
		got := outward(n)
		if sorted := slices.Sorted(slices.Values(got)); len(got) != n || len(slices.Compact(sorted)) != n {
			t.Errorf("outward(%d) is %d, want an order such as %d", n, got, want)
		}
	}
}

// The bars of a build are in the order of their stages, each in the colour of the legend, beside
// their case and time.
func TestStageBars(t *testing.T) {
	r := testResults(rand.New(rand.NewPCG(1, 0)), 3)
	drawn, err := chart.SVG(r.stageBars(), wide, high)
	if err != nil {
		t.Fatal(err)
	}
	svg := string(drawn)
	texts := drawnTexts(t, svg)
	at := func(words string) drawnText {
		i := slices.IndexFunc(texts, func(text drawnText) bool { return text.words == words })
		if i < 0 {
			t.Fatalf("%s is not in the plot", words)
		}
		return texts[i]
	}
	boxes := drawnBoxes(svg)
	colorOf := make(map[string]string) // of a stage, by the legend: the swatch beside the name
	for _, name := range r.stageNames() {
		text := at(name)
		for _, b := range boxes {
			if b.left > text.x && b.low <= text.y+4 && text.y+4 <= b.high {
				colorOf[name] = b.color
			}
		}
	}
	for _, c := range r.Cases {
		label, total := at(c.String()), 0.0
		if time := formatSeconds(c.Build.Seconds.Median); !slices.ContainsFunc(texts, func(text drawnText) bool {
			return text.words == time && label.y-5 < text.y && text.y < label.y+5
		}) {
			t.Errorf("%s does not stand beside %s", time, c)
		}
		for _, stage := range c.Build.Stages {
			total += stage.Seconds.Median
		}
		var own []box
		for _, b := range boxes {
			if b.low < label.y+3 && label.y+3 < b.high && 0 < b.left && b.left < 455 {
				own = append(own, b)
			}
		}
		if len(own) != len(c.Build.Stages) {
			t.Fatalf("%s has %d bars, want %d", c, len(own), len(c.Build.Stages))
		}
		whole := own[len(own)-1].right - own[0].left
		for i, stage := range c.Build.Stages {
			if part := (own[i].right - own[i].left) / whole; part < stage.Seconds.Median/total-0.01 || part > stage.Seconds.Median/total+0.01 || own[i].color != colorOf[stage.Stage] {
				t.Errorf("%s: bar %d has %.2f in %s, want %.2f in %s (%s)", c, i, part, own[i].color, stage.Seconds.Median/total, colorOf[stage.Stage], stage.Stage)
			}
		}
	}
}

// One round has no spread: nothing of a report claims one.
func TestOneRoundHasNoSpread(t *testing.T) {
	for _, rounds := range []int{1, 2} {
		r := testResults(rand.New(rand.NewPCG(1, 0)), rounds)
		page, err := r.report()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		for _, report := range []string{string(page), text.String()} {
			if strings.Contains(report, "±") != (rounds > 1) {
				t.Errorf("%d rounds: ± is %v in\n%s", rounds, rounds == 1, report)
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
