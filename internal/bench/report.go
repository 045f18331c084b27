package bench

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"number": func(n int) string { return formatNumber(float64(n)) },
	"mean":   formatNumber,
	"bytes":  func(n int64) string { return formatBytes(float64(n)) },
	"time":   formatSeconds,
}).Parse(reportText))

// report is report.html: a self-contained file, also well-formed as XML.
func (r *Results) report() ([]byte, error) {
	figures, err := r.figures()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = reportTemplate.Execute(&page, struct {
		*Results
		Figures []figure
		Tables  []table
	}{r, figures, r.tables()})
	return page.Bytes(), err
}
