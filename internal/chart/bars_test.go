package chart

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

// Charts of any size are well-formed elements, and their labels leave room for each other.
func TestBars(t *testing.T) {
	const width, height = 360, 220
	for _, n := range []int{1, 2, 10, 50, 1000} {
		var bars []Bar
		for i := range n {
			bars = append(bars, Bar{Label: fmt.Sprintf("n%d", i*i), Value: i * 1500})
		}
		p := Bars("x", "y", bars, width)
		labels, last := 0, -1.0
		for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			labels++
			if room := (tick.Value - last) * width / float64(n); last >= 0 && room < 6*float64(len(tick.Label)) {
				t.Errorf("%d bars: label %s has %.0f points", n, tick.Label, room)
			}
			last = tick.Value
		}
		if labels == 0 || n <= 2 && labels < n {
			t.Errorf("%d bars have %d labels", n, labels)
		}
		svg, err := SVG(p, width, height)
		if err != nil {
			t.Fatal(err)
		}
		text := string(svg)
		if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil || !strings.HasPrefix(text, "<svg") || strings.Contains(text, "NaN") {
			t.Errorf("%d bars: %v in\n%s", n, err, text)
		}
		if n == 10 && (!strings.Contains(text, ">n81<") || !strings.Contains(text, ">12k<")) {
			t.Errorf("labels are missing:\n%s", text)
		}
	}
}

// Histograms of any range are well-formed elements with a label that is not that of its neighbour.
func TestHistogram(t *testing.T) {
	for _, c := range []struct{ first, width float64 }{
		{0, 1}, {0.25, 1.0 / 32}, {-1e9, 2.5e8}, {0.37, 1e-17}, {0, 5e-324}, {1000, 1e-12}, {-8e307, 1.6e307}, {-3, 0.5}, {1e6, 1 << 17},
	} {
		for _, n := range []int{1, 2, 10} {
			var bins []Bin
			for i := range n {
				bins = append(bins, Bin{From: c.first + float64(i)*c.width, To: c.first + float64(i+1)*c.width, Value: 1000 * i})
			}
			p := Histogram("<x> & y", "samples", bins)
			last := ""
			for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
				if tick.Label != "" && (tick.Label == last || len(tick.Label) > 15) {
					t.Errorf("from %g, width %g, %d bins: found label %s after %s", c.first, c.width, n, tick.Label, last)
				}
				last = cmp.Or(tick.Label, last)
			}
			svg, err := SVG(p, 360, 220)
			if err != nil {
				t.Fatal(err)
			}
			text := string(svg)
			if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || !strings.Contains(text, "&lt;x&gt;") {
				t.Errorf("from %g, width %g, %d bins: %v in\n%s", c.first, c.width, n, err, text)
			}
		}
	}
}
