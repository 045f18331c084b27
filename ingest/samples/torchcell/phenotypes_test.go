package torchcell_test

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/ingest/samples"
)

func titer(value, unit string) string {
	return fmt.Sprintf(`{"experiment": {"genotype": {"perturbations": [{"systematic_gene_name": `+
		`"A"}]}, "phenotype": {"titer": %s, "titer_unit": "%s", "titer_se": 0.5, "label_name": `+
		`"titer", "label_statistic_name": "titer_se"}}}`,
		value, unit)
}

// What a store says of its phenotypes: whose statistic one is, its unit, what was measured.
func TestPhenotypes(t *testing.T) {
	const a = `[{"systematic_gene_name": "A"}]`
	vector := `{"experiment": {"genotype": {"perturbations": ` + a +
		`}, "phenotype": {"label_name": "m", "label_statistic_name": "s", "m": {%s}, "s": {%s}%s}}}`
	for _, test := range []struct {
		name    string
		records []string
		options samples.Spec
		want    string
	}{
		{
			name: "statistics",
			records: []string{
				"[" + fitness("1", "A") + "," + fitness("2", "A") + "," + experiment("y", "p",
					`"y": 1, "p": 0.1`, "A") + "," + experiment("z", "p", `"z": 1, "p": 0.1`, "A") +
					"]",
			},
			want: "fitness; fitness_se of fitness; fitness#2; fitness_se#2 of fitness#2; y; p of " +
				"y; z; z.p of z",
		},
		{
			name: "members",
			records: []string{
				fmt.Sprintf(vector, `"a": 1`, `"a": 2, "b": 3, "c": 4`, ""),
				fmt.Sprintf(vector, `"b": 1`, `"b": 2`, ""),
			},
			want: "m.a; s.a of m.a; s.b of m.b; s.c; m.b",
		},
		{
			name:    "of an attribute",
			records: []string{fitness("1", "A")},
			options: samples.Spec{Attributes: []string{"fitness"}},
			want:    "fitness_se",
		},
		{name: "its own", records: []string{experiment("y", "y", `"y": 1`, "A")}, want: "y"},
		{
			name:    "no statistic named",
			records: []string{experiment("y", "", `"y": 1, "n_samples": 4`, "A")},
			options: samples.Spec{Phenotypes: []string{"y"}},
			want:    "y",
		},
		{
			name:    "units",
			records: []string{titer("1", "g/L"), titer("2", "g/L")},
			want:    "titer in g/L; titer_se of titer",
		},
		{
			name: "unit of a rate",
			records: []string{
				`{"experiment": {"genotype": {"perturbations": ` + a +
					`}, "phenotype": {"label_name": "synthesis_rate", "synthesis_rate": {"a": 1, ` +
					`"b": 2}, "rate_unit": "molecules/min"}}}`,
			},
			want: "synthesis_rate.a in molecules/min; synthesis_rate.b in molecules/min",
		},
		{
			name: "measurements",
			records: []string{
				fmt.Sprintf(vector, `"a": 1`, "", `, "measurement_type": "z_score"`),
				fmt.Sprintf(vector, `"a": 1, "b": 2`, "", `, "measurement_type": "log2_ratio"`),
			},
			want: "m.a (of several measurement types); m.b (log2_ratio)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, numbered(test.records))
			p, err := openFile(dir, abc, test.options)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var phenotypes []string
			for _, phenotype := range p.Columns().Phenotypes {
				text := phenotype.Name
				if phenotype.Unit != "" {
					text += " in " + phenotype.Unit
				}
				if phenotype.Description != "" {
					text += " (" + phenotype.Description + ")"
				}
				if phenotype.StatisticOf != "" {
					text += " of " + phenotype.StatisticOf
				}
				phenotypes = append(phenotypes, text)
			}
			if got := strings.Join(phenotypes, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
