package torchcell_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/sets"
)

// noted is a record of one experiment with attributes. environment and perturbations are JSON; a
// perturbation is gene:type, or a gene alone.
func noted(members, environment, label, value string, perturbations ...string) string {
	var list []string
	for _, perturbation := range perturbations {
		gene, kind, typed := strings.Cut(perturbation, ":")
		text := fmt.Sprintf(`{"systematic_gene_name": "%s"`, gene)
		if typed {
			text += fmt.Sprintf(`, "perturbation_type": "%s"`, kind)
		}
		list = append(list, text+"}")
	}
	return fmt.Sprintf(`{"experiment": {%s "genotype": {"perturbations": [%s]}, "environment": `+
		`%s, "phenotype": {"label_name": "%s", "%s": %s}}}`,
		members, strings.Join(list, ", "), environment, label, label, value)
}

const (
	ypd30 = `{"media": {"name": "YPD", "state": "solid"}, "temperature": {"value": 30, "unit": ` +
		`"Celsius"}}`
	sc26 = `{"media": {"name": "SC", "state": "solid"}, "temperature": {"unit": "Celsius", ` +
		`"value": 26.5}}`
	smf = `"experiment_type": "fitness", "dataset_name": "Smf",`
	dmi = `"experiment_type": "gene interaction", "dataset_name": "Dmi",`
)

// told describes columns and samples as texts: of an attribute NAME, or NAME: for numbers.
func told(
	dir string, genes *ingest.Nodes, options samples.Spec,
) (columns string, found []string, err error) {
	p, err := openFile(dir, genes, options)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	columnNames := p.Columns().PhenotypeNames()
	for _, attribute := range p.Columns().Attributes {
		name := attribute.Name
		if attribute.Type == ingest.NumberAttribute {
			name += ":"
		}
		columnNames = append(columnNames, name)
	}
	_, err = sets.Read(p, func(s *ingest.Samples) error {
		for i := range s.Len() {
			text := fmt.Sprintf("%s %v %v", s.ID(i), s.Genes(i), s.Phenotypes(i))
			for k, value := range s.Attributes(i) {
				switch {
				case p.Columns().Attributes[k].Type == ingest.NumberAttribute:
					text += fmt.Sprintf(" %v", value.Number)
				case value.Text == nil:
					text += " -"
				default:
					text += fmt.Sprintf(" %q", value.Text)
				}
			}
			found = append(found, text)
		}
		return nil
	})
	return strings.Join(columnNames, " "), found, err
}

func TestAttributes(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string // by number
		options samples.Spec
		columns string
		want    []string
	}{
		{
			name: "all",
			records: []string{
				noted(smf, ypd30, "fitness", "1", "A:deletion", "B:damp"),
				noted(smf, sc26, "fitness", "2", "C:allele"),
			},
			columns: "fitness experiment_type dataset_name medium temperature: perturbation_type",
			want: []string{
				`0 [0 1] [1] "fitness" "Smf" "YPD" 30 "deletion|damp"`,
				`1 [2] [2] "fitness" "Smf" "SC" 26.5 "allele"`,
			},
		},
		{
			name: "missing",
			records: []string{
				noted("", "null", "fitness", "1", "A"),
				noted(`"dataset_name": null,`, `{"media": {"name": null}, "temperature": null}`,
					"fitness", "1", "A:damp"),
				noted(smf, `{"media": null}`, "fitness", "1", "A", "B:damp"),
			},
			columns: "fitness perturbation_type experiment_type dataset_name",
			want: []string{
				`0 [0] [1] - - -`, `1 [0] [1] "damp" - -`, `2 [0 1] [1] "|damp" "fitness" "Smf"`,
			},
		},
		{
			name: "types in the order of the sample's genes",
			records: []string{
				noted("", "{}", "y", "1", "C:c", "A:a", "B:b"),
				noted("", "{}", "y", "1", "A:a", "C:c", "A:b", "A:a"),
			},
			columns: "y perturbation_type perturbation_count:",
			want:    []string{`0 [0 1 2] [1] "a|b|c" NaN`, `1 [0 2] [1] "a+b|c" 4`},
		},
		{
			name: "types of genes that the experiment does not have, or the graph",
			records: []string{
				"[" + noted("", "{}", "y", "1", "C:c") + "," + noted("", "{}", "y", "2", "X:x",
					"A:a") + "]",
			},
			options: samples.Spec{UnknownGenes: ingest.DropGene},
			columns: "y y#2 perturbation_type perturbation_count: perturbation_type#2 " +
				"experiment#2: perturbation_count#2: kinds",
			want: []string{`0 [0 2] [1 2] "|c" 1 "a|" 1 2 "a|c"`},
		},
		{
			name:    "types of a wild type",
			records: []string{noted("", "{}", "y", "1"), noted("", "{}", "y", "1", "A:a")},
			options: samples.Spec{AllowWildtype: true},
			columns: "y perturbation_type",
			want:    []string{`0 [] [1] -`, `1 [0] [1] "a"`},
		},
		{
			name:    "types of an alias",
			records: []string{noted("", "{}", "y", "1", "alpha:a", "A:b")},
			columns: "y perturbation_type",
			want:    []string{`0 [0 2] [1] "b|a"`},
		},
		{
			name: "types that remove no node",
			records: []string{
				noted("", "{}", "y", "1", "C:over", "A:del", "B:damp"),
				noted("", "{}", "y", "1", "A:over", "A:del", "B:over"),
				noted("", "{}", "y", "1", "C:over", "A"),
			},
			options: samples.Spec{RemovingKinds: []string{"del"}},
			columns: "y perturbation_type perturbation_count:",
			want: []string{
				`0 [0] [1] "del|B=damp|C=over" NaN`, `1 [0] [1] "over+del|B=over" 3`,
				`2 [] [1] "A=|C=over" NaN`,
			},
		},
		{
			name: "experiments with one label",
			records: []string{
				"[" + noted(smf, ypd30, "fitness", "1", "A") + "," + noted(smf, sc26, "fitness",
					"2", "A") + "]",
			},
			columns: "fitness fitness#2 experiment_type dataset_name medium temperature: " +
				"experiment_type#2 dataset_name#2 medium#2 temperature#2: experiment#2:",
			want: []string{`0 [0] [1 2] "fitness" "Smf" "YPD" 30 "fitness" "Smf" "SC" 26.5 1`},
		},
		// A column of attributes serves all labels as long as that is no question of order.
		{
			name: "labels in records of their own",
			records: []string{
				noted(smf, ypd30, "fitness", "1", "A"),
				noted(dmi, sc26, "gene_interaction", "2", "A"),
			},
			columns: "fitness gene_interaction experiment_type dataset_name medium temperature:",
			want: []string{
				`0 [0] [1 NaN] "fitness" "Smf" "YPD" 30`,
				`1 [0] [NaN 2] "gene interaction" "Dmi" "SC" 26.5`,
			},
		},
		{
			name: "labels in one record, in any order",
			records: []string{
				"[" + noted(smf, ypd30, "fitness", "1", "A") + "," + noted(dmi, sc26,
					"gene_interaction", "2", "A") + "]",
				"[" + noted(dmi, sc26, "gene_interaction", "3", "A") + "," + noted(smf, ypd30,
					"fitness", "4", "A") + "]",
			},
			options: samples.Spec{
				Attributes: []string{
					"dataset_name", "gene_interaction.dataset_name",
					"gene_interaction.temperature",
				},
			},
			columns: "fitness gene_interaction dataset_name gene_interaction.dataset_name " +
				"gene_interaction.temperature:",
			want: []string{`0 [0] [1 2] "Smf" "Dmi" 26.5`, `1 [0] [4 3] "Smf" "Dmi" 26.5`},
		},
		// Plain names are those of one label, whatever the others have.
		{
			name: "labels in one record, the first without an environment",
			records: []string{
				"[" + noted(smf, "null", "fitness", "1", "A") + "," + noted(dmi, sc26,
					"gene_interaction", "2", "A") + "]",
				noted(smf, ypd30, "fitness", "3", "A"),
			},
			columns: "fitness gene_interaction experiment_type dataset_name " +
				"gene_interaction.experiment_type gene_interaction.dataset_name " +
				"gene_interaction.medium gene_interaction.temperature: " +
				"gene_interaction.experiment: gene_interaction.medium.state medium temperature: " +
				"medium.state",
			want: []string{
				`0 [0] [1 2] "fitness" "Smf" "gene interaction" "Dmi" "SC" 26.5 1 "solid" - NaN -`,
				`1 [0] [3 NaN] "fitness" "Smf" - - - NaN NaN - "YPD" 30 "solid"`,
			},
		},
		{
			name: "another unit",
			records: []string{
				noted("", `{"temperature": {"value": 303.15, "unit": "Kelvin"}}`, "y", "1", "A"),
				noted("", `{"temperature": {"unit": "Celsius", "value": 30}}`, "y", "1", "A"),
				noted("", `{"temperature": {"value": 28}}`, "y", "1", "A"),
			},
			columns: "y temperature.Kelvin: temperature:",
			want:    []string{`0 [0] [1] 303.15 NaN`, `1 [0] [1] NaN 30`, `2 [0] [1] NaN 28`},
		},
		{
			name: "texts as they are",
			records: []string{
				noted(`"dataset_name": "a+ho\u0394|\t\"",`, `{"media": "YPD", "temperature": 30}`,
					"y", "1", "A"),
			},
			columns: "y dataset_name medium temperature:",
			want:    []string{`0 [0] [1] "a+hoΔ|\t\"" "YPD" 30`},
		},
		{
			name: "a temperature that is no number",
			records: []string{
				noted("", `{"temperature": {"value": NaN}}`, "y", "1", "A"),
				noted("", `{"temperature": {"value": -Infinity}}`, "y", "1", "A"),
			},
			columns: "y temperature:",
			want:    []string{`0 [0] [1] NaN`, `1 [0] [1] NaN`},
		},
		{
			name: "values that are not finite",
			records: []string{
				noted("", "{}", "y",
					`{"a": NaN, "b": -Infinity, "c": null, "d|": Infinity, "e": 1}`, "A"),
				noted("", "{}", "y", `{"a": 1}`, "A"),
				"[" + noted("", "{}", "y", `{"a": 2}`, "A") + "," + noted("", "{}", "z", "1e999",
					"A") + "]",
			},
			options: samples.Spec{Phenotypes: []string{"y.a", "z"}},
			columns: "y.a z not_finite z.experiment: z.not_finite",
			want: []string{
				`0 [0] [NaN NaN] "{\"y.a\":NaN,\"y.b\":-Infinity,\"y.d|\":Infinity}" NaN -`,
				`1 [0] [1 NaN] - NaN -`, `2 [0] [2 NaN] - 1 "{\"z\":Infinity}"`,
			},
		},
		{
			name:    "a pointer",
			records: []string{noted(smf, `{"$ref": "00", "kind": "environment"}`, "y", "1", "A")},
			columns: "y experiment_type dataset_name environment",
			want:    []string{`0 [0] [1] "fitness" "Smf" "00"`},
		},
		{
			name:    "columns in other roles",
			records: []string{noted(smf, ypd30, "fitness", "1", "A")},
			options: samples.Spec{
				Phenotypes: []string{"temperature"}, Attributes: []string{"fitness", "medium"},
			},
			columns: "temperature fitness: medium",
			want:    []string{`0 [0] [30] 1 "YPD"`},
		},
		{
			name:    "no attributes",
			records: []string{noted(smf, ypd30, "fitness", "1", "A")},
			options: samples.Spec{Attributes: []string{}},
			columns: "fitness",
			want:    []string{`0 [0] [1]`},
		},
		{
			name: "a label of texts",
			records: []string{
				noted("", "{}", "visual", `"high"`, "A"), noted("", "{}", "visual", "null", "A"),
			},
			columns: "visual not_finite",
			want: []string{
				`0 [0] [] "high" "{\"visual\":null}"`, `1 [0] [] - "{\"visual\":null}"`,
			},
		},
		{
			name: "a label without a number",
			records: []string{
				noted("", "{}", "y", "null", "A"), noted("", "{}", "y", `{"a": NaN}`, "A"),
				noted("", "{}", "y", `{"a": null}`, "A"), noted("", "{}", "y", "{}", "A"),
			},
			options: samples.Spec{Phenotypes: []string{}},
			columns: "not_finite",
			want: []string{
				`0 [0] [] "{\"y\":null}"`, `1 [0] [] "{\"y.a\":NaN}"`, `2 [0] [] "{\"y\":null}"`,
				`3 [0] [] "{\"y\":null}"`,
			},
		},
		{
			name:    "a label named as an attribute",
			records: []string{noted(smf, ypd30, "medium", "1", "A")},
			options: samples.Spec{Attributes: []string{"medium.medium"}},
			columns: "medium medium.medium",
			want:    []string{`0 [0] [1] "YPD"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, numbered(test.records))
			columns, samples, err := told(dir, genesOf(test.name), test.options)
			if err != nil || columns != test.columns || !slices.Equal(samples, test.want) {
				t.Errorf("got  %s %q, %v\nwant %s %q", columns, samples, err, test.columns,
					test.want)
			}
		})
	}
}

func numbered(records []string) map[string]string {
	byNumber := make(map[string]string)
	for i, record := range records {
		byNumber[fmt.Sprint(i)] = record
	}
	return byNumber
}

// Stores of more records than are read ahead, with the last one of a kind of its own, and bad.
func TestManyRecords(t *testing.T) {
	const count = 5_000
	dir := t.TempDir()
	records := make(map[string]string)
	var want []string
	for i := range count {
		records[fmt.Sprint(i)] = noted(smf, fmt.Sprintf(`{"temperature": %d}`, i%7), "fitness",
			fmt.Sprint(i), "B") + strings.Repeat(" ", i%3000)
		want = append(want, fmt.Sprintf(`%d [1] [%d NaN] %d`, i, i, i%7))
	}
	records[fmt.Sprint(count)] = noted("", "{}", "last", "5", "A")
	want = append(want, fmt.Sprintf(`%d [0] [NaN 5] NaN`, count))
	write(t, dir, records)
	options := samples.Spec{Attributes: []string{"temperature"}}
	for range 2 {
		columns, samples, err := told(dir, abc, options)
		if err != nil || columns != "fitness last temperature:" || !slices.Equal(samples, want) {
			t.Fatalf("got %s, %d samples, %v", columns, len(samples), err)
		}
	}
	write(t, dir, map[string]string{fmt.Sprint(count): "{}"})
	_, _, err := told(dir, abc, options)
	refused(t, err, fmt.Sprintf(`record %d: found no "experiment"`, count), "")
}
