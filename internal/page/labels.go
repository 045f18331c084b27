package page

import "math"

// box is the room of a label: as high as a line, around y.
type box struct{ left, right, y float64 }

// area is where labels may stand; limit is a horizontal line that they should not touch.
type area struct{ left, right, top, bottom, limit float64 }

// leaderFrom is the distance from which on a line joins a label to its point.
const leaderFrom = 9

func (b box) overlaps(other box) bool {
	return b.left < other.right && other.left < b.right && math.Abs(b.y-other.y) < lineHeight
}

// distance is that of a point from the nearest letter.
func (b box) distance(p point) float64 {
	return math.Hypot(max(b.left-p.x, 0, p.x-b.right), max(math.Abs(b.y-p.y)-lineHeight/2, 0))
}

// placeLabels chooses a place for the label of each point, within an area: of what comes out from
// several starts, the best. Labels of lines stand to the right of their ends.
func placeLabels(points []point, widths []float64, area area, taken []box, lines bool) (places []box) {
	candidates := around
	if lines {
		candidates = beside
	}
	least := math.Inf(1)
	for start := range 10 {
		begin := make([]box, len(points))
		for i, p := range points {
			begin[i] = candidates(p, widths[i])[start]
		}
		if cost := moveLabels(begin, candidates, points, widths, area, taken); cost < least-1e-9 {
			places, least = begin, cost
		}
	}
	return places
}

// moveLabels moves one label after the other to where it costs least, until none moves any more. It
// returns what all cost then.
func moveLabels(places []box, candidates func(point, float64) []box, points []point, widths []float64, area area, taken []box) (sum float64) {
	for moved, round := true, 0; moved && round < 20; round++ {
		moved, sum = false, 0
		for i, p := range points {
			if widths[i] == 0 {
				continue
			}
			best, least := places[i], math.Inf(1)
			for rank, place := range candidates(p, widths[i]) {
				cost := float64(rank) / 4
				if place.left < area.left || place.right > area.right || place.y < area.top || place.y > area.bottom-6 {
					cost += 2000
				}
				if math.Abs(place.y-area.limit) < 7 {
					cost += 40
				}
				for _, other := range taken {
					if place.overlaps(other) {
						cost += 40
					}
				}
				own := place.distance(p)
				for k, other := range points {
					switch away := place.distance(other); {
					case away < 7:
						if k != i || own < 4 {
							cost += 400
						}
					case k != i && away <= own+2: // it looks as if it were the other's
						cost += 30
					}
					if k != i && widths[k] > 0 && place.overlaps(places[k]) {
						cost += 400
					}
					if k != i && widths[k] > 0 && crosses(p, place, other, places[k]) {
						cost += 60
					}
					if k != i && widths[k] > 0 && (places[k].cut(p, place) || place.cut(other, places[k])) {
						cost += 300
					}
				}
				if cost < least-1e-9 {
					best, least = place, cost
				}
			}
			sum += least
			if best != places[i] {
				places[i], moved = best, true
			}
		}
	}
	return sum
}

// beside are the places to the right of a point, the best first.
func beside(p point, width float64) (places []box) {
	for rise := 0.0; rise <= 80; rise += 4 {
		places = append(places, box{p.x + 9, p.x + 9 + width, p.y + rise}, box{p.x + 9, p.x + 9 + width, p.y - rise})
	}
	return places
}

// around are the places around a point, the best first.
func around(p point, width float64) (places []box) {
	for away := 0.0; away <= 90; away += 5 {
		right, left, middle := p.x+9+away/2, p.x-9-away/2-width, p.x-width/2
		if away == 0 {
			places = append(places, box{right, right + width, p.y}, box{left, left + width, p.y})
		}
		for _, y := range []float64{p.y - 14 - away, p.y + 15 + away} {
			places = append(places, box{middle, middle + width, y}, box{right, right + width, y}, box{left, left + width, y})
		}
		if away > 0 {
			for _, y := range []float64{p.y - away, p.y + away} {
				places = append(places, box{right, right + width, y}, box{left, left + width, y})
			}
		}
	}
	return places
}

// crosses reports whether the lines from two points to their labels cross.
func crosses(a point, placeA box, b point, placeB box) bool {
	endA, endB := placeA.near(a), placeB.near(b)
	side := func(p, q, r point) bool { return (q.x-p.x)*(r.y-p.y) > (q.y-p.y)*(r.x-p.x) }
	return side(a, endA, b) != side(a, endA, endB) && side(b, endB, a) != side(b, endB, endA)
}

// cut reports whether the line from a point to its label runs through the box.
func (b box) cut(p point, label box) bool {
	end, from, to := label.near(p), 0.0, 1.0
	clip := func(start, end, low, high float64) {
		if start == end {
			if start < low || start > high {
				to = -1
			}
			return
		}
		a, z := (low-start)/(end-start), (high-start)/(end-start)
		from, to = max(from, min(a, z)), min(to, max(a, z))
	}
	clip(p.x, end.x, b.left, b.right)
	clip(p.y, end.y, b.y-lineHeight/2, b.y+lineHeight/2)
	return from <= to && label.distance(p) > leaderFrom
}

// near is the place on the edge of a label that is nearest to a point.
func (b box) near(p point) point {
	return point{max(b.left, min(b.right, p.x)), max(b.y-lineHeight/2, min(b.y+lineHeight/2, p.y))}
}
