package torchcell_test

import (
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/check"
)

func TestAttributeErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string
		options samples.Spec
		want    string
		hint    string
	}{
		{
			name: "text behind a number",
			records: []string{
				noted("", ypd30, "y", "1", "A"),
				noted("", `{"temperature": "30"}`, "y", "1", "A"),
			},
			want: `record 1: attribute "temperature": found a text, expected a number as in ` +
				`record 0`,
			hint: "--attributes",
		},
		{
			name: "number behind a text, in the record of another label",
			records: []string{
				noted(`"dataset_name": "x",`, "{}", "y", "1", "A"),
				noted(`"dataset_name": 5,`, "{}", "z", "1", "A"),
			},
			want: `record 0: attribute "dataset_name": found a text, expected a number as in ` +
				`record 1`,
			hint: "--attributes",
		},
		{
			name: "pointer behind an environment",
			records: []string{
				noted("", ypd30, "y", "1", "A"), noted("", `{"$ref": "00"}`, "y", "1", "A"),
			},
			want: `record 1: attribute "medium": found a list, an object or a pointer, expected ` +
				`a text or a number`,
			hint: "--attributes",
		},
		{
			name:    "only pointers, named",
			records: []string{noted("", `{"$ref": "00"}`, "y", "1", "A")},
			options: samples.Spec{Attributes: []string{"medium"}},
			want:    `column "medium": found type`,
			hint:    "--attributes",
		},
		{
			name:    "no such attribute",
			records: []string{noted(smf, ypd30, "y", "1", "A")},
			options: samples.Spec{Attributes: []string{"temprature"}},
			want: `found columns y, experiment_type, dataset_name, medium, temperature, ` +
				`expected attribute column "temprature"`,
			hint: `did you mean "temperature"?`,
		},
		{
			name:    "a type of two",
			records: []string{noted("", "{}", "y", "1", "A:a|b")},
			want:    `record 0: found perturbation type "a|b", expected one without |`,
		},
		{
			name:    "bytes that are no text",
			records: []string{noted("\"dataset_name\": \"\xff\",", "{}", "y", "1", "A")},
			want:    `record 0: found text "\xff", expected UTF-8`,
		},
		{
			name:    "a label that is not UTF-8",
			records: []string{noted("", "{}", "y\xff", "1", "A")},
			want:    `record 0: found text "y\xff", expected UTF-8`,
		},
		{
			name:    "two units",
			records: []string{titer("1", "g/L"), titer("1", "g/L"), titer("1000", "mg/L")},
			want: `record 2: phenotype "titer": found a value in "mg/L", expected "g/L" as in ` +
				`the records before it`,
			hint: "--phenotypes",
		},
		{
			name:    "attribute of text as phenotype",
			records: []string{noted(smf, ypd30, "y", "1", "A")},
			options: samples.Spec{Phenotypes: []string{"medium"}},
			want: `record 0: phenotype "medium": found a text, a list or an object, expected ` +
				`a number`,
			hint: "--phenotypes",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, numbered(test.records))
			_, _, err := told(dir, abc, test.options)
			refused(t, err, test.want, test.hint)
		})
	}
	t.Run("named twice", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, numbered([]string{noted(smf, ypd30, "y", "1", "A")}))
		_, _, err := told(dir, abc,
			samples.Spec{Attributes: []string{"medium"}, Phenotypes: []string{"medium"}})
		check.Fault(t, err, fault.Usage,
			`--attributes: column "medium" of `+dir+" is already a phenotype")
	})
}
