package chart

import (
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
