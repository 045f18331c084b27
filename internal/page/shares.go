package page

// Shares are bars that are divided into parts, each bar as long as the others.
type Shares struct {
	Legend []Part // Name and Color
	Rows   []Share
}

// Share is one bar.
type Share struct {
	Label string
	Total string // at its end
	Parts []Part
}

// Part is a part of a bar.
type Part struct {
	Name  string
	Color int
	Value float64
	Text  string // of its value
}

func (d Shares) draw(c *canvas) float64 {
	y := 10.0
	x := 0.0
	for _, part := range d.Legend {
		width := 16 + textWidth(part.Name) + 14
		if x > 0 && x+width > c.width {
			x, y = 0, y+18
		}
		c.rect(x, y-6, 12, 12, color(part.Color), "")
		c.text(x+16, y, "start", "", part.Name)
		x += width
	}
	y += 24
	for _, row := range d.Rows {
		total := 0.0
		for _, part := range row.Parts {
			total += part.Value
		}
		c.text(0, y, "start", "", row.Label)
		c.text(c.width, y, "end", "", row.Total)
		left := 0.0
		for _, part := range row.Parts {
			width := c.width * part.Value / max(total, 1e-300)
			c.rect(left, y+9, width, 14, color(part.Color), row.Label+", "+part.Name+": "+part.Text)
			left += width
		}
		y += 40
	}
	return y - 8
}
