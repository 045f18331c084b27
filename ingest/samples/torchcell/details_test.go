package torchcell_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest/samples"
)

// stated returns a record with these members of its genotype and environment.
func stated(genotype, environment string, more ...string) string {
	return fmt.Sprintf(`{"experiment": {"genotype": {%s}, "environment": {%s}, "phenotype": {"label_name": "y", "y": 1}}%s}`,
		genotype, environment, strings.Join(more, ""))
}

// perturbing returns the genotype of a gene with further members of its perturbation.
func perturbing(gene string, more ...string) string {
	return fmt.Sprintf(`"perturbations": [{"systematic_gene_name": "%s"%s}]`, gene, strings.Join(more, ""))
}

func compound(name, dose string, more ...string) string {
	return fmt.Sprintf(`{"perturbation_type": "small_molecule", "description": "%s", "compound": {"name": "%s", "inchikey": null}, "concentration": %s%s}`,
		name, name, dose, strings.Join(more, ""))
}

// TestDetails lists members in which two records of one genotype may differ. Each becomes an
// attribute, unless it is the same in all records.
func TestDetails(t *testing.T) {
	a := perturbing("A")
	reference := func(ploidy string) string {
		return fmt.Sprintf(`, "experiment_reference": {"genome_reference": {"species": "s", "strain": "S288C", "ploidy": %s}, "environment_reference": {"duration_hours": 5}}`, ploidy)
	}
	haploid, diploid := stated(a, "", reference(`"haploid"`)), stated(a, "", reference(`"diploid"`))
	for _, test := range []struct {
		name    string
		records []string
		columns string
		want    []string
	}{
		{"compounds in any order", []string{
			stated(a, `"perturbations": [`+compound("rapamycin", `{"value": 10.0, "unit": "nM", "basis": null}`)+","+compound("DMSO", `{"value": 1e-1, "unit": "percent"}`)+`]`),
			stated(a, `"perturbations": [`+compound("DMSO", `{"unit": "percent", "value": 0.10}`)+","+compound("rapamycin", `{"value": 10, "unit": "nM"}`)+`]`),
			stated(a, `"perturbations": []`), stated(a, `"media": {"name": "SC"}`),
		}, "y compounds medium", []string{`0 [0] [1] "DMSO 0.1 percent|rapamycin 10 nM" -`, `1 [0] [1] "DMSO 0.1 percent|rapamycin 10 nM" -`, `2 [0] [1] - -`, `3 [0] [1] - "SC"`}},
		{"doses, factors and other agents", []string{
			stated(a, `"perturbations": [`+compound("x", `{"value": null, "basis": "IC30"}`)+`]`),
			stated(a, `"perturbations": [{"factor": "pH", "magnitude": {"value": 4.5, "unit": "pH"}, "agent": {"name": "HCl"}}]`),
			stated(a, `"perturbations": [{"factor": "osmolarity", "magnitude": null}]`),
			stated(a, `"perturbations": [{"agent_class": "peptide", "name": "DmAMP1", "concentration": {"value": 2, "unit": "uM"}}]`),
			stated(a, `"perturbations": [{"name": "T4", "multiplicity_of_infection": 0.1}]`),
			stated(a, `"perturbations": [{"name": "T4", "multiplicity_of_infection": 10}]`),
			stated(a, `"perturbations": ["UV"]`), stated(a, `"perturbations": [{"what": 1}]`),
		}, "y compounds compounds.multiplicity_of_infection", []string{`0 [0] [1] "x IC30" -`, `1 [0] [1] "pH by HCl 4.5 pH" -`, `2 [0] [1] "osmolarity" -`,
			`3 [0] [1] "DmAMP1 2 uM" -`, `4 [0] [1] "T4" "T4=0.1"`, `5 [0] [1] "T4" "T4=10"`, `6 [0] [1] "UV" -`, `7 [0] [1] "{\"what\": 1}" -`}},
		{"another solvent of one dose", []string{
			stated(a, `"perturbations": [`+compound("x", `{"value": 1, "unit": "uM"}`, `, "solvent": {"name": "DMSO", "percent": 1}`)+`]`),
			stated(a, `"perturbations": [`+compound("x", `{"value": 1, "unit": "uM"}`, `, "solvent": {"name": "DMSO", "percent": 2}`)+`]`),
			stated(a, `"perturbations": [`+compound("x", `{"value": 1, "unit": "uM"}`, `, "solvent": null`)+`]`),
		}, "y compounds compounds.solvent.name compounds.solvent.percent", []string{`0 [0] [1] "x 1 uM" "x 1 uM=DMSO" "x 1 uM=1"`, `1 [0] [1] "x 1 uM" "x 1 uM=DMSO" "x 1 uM=2"`, `2 [0] [1] "x 1 uM" - -`}},
		{"an environment's own members", []string{stated(a, `"duration_hours": 48, "aerobicity": "aerobic"`), stated(a, `"duration_hours": 48.0, "aerobicity": null`)},
			"y aerobicity duration_hours:", []string{`0 [0] [1] "aerobic" 48`, `1 [0] [1] - 48`}},
		{"a medium's ingredients", []string{
			stated(a, `"media": {"name": "SC", "state": "solid", "components": [{"compound": {"name": "glucose"}, "concentration": {"value": 2, "unit": "percent"}, "provenance": [{"quote": "x"}]}], "dropouts": [{"name": "Ura"}], "provenance": []}`),
			stated(a, `"media": {"name": "SC", "state": "liquid", "components": [{"compound": {"name": "glucose"}, "concentration": {"value": 3, "unit": "percent"}, "provenance": [{"quote": "y"}]}], "dropouts": [{"name": "Ura"}], "provenance": []}`),
		}, "y medium medium.components medium.state", []string{`0 [0] [1] "SC" "glucose 2 percent" "solid"`, `1 [0] [1] "SC" "glucose 3 percent" "liquid"`}},
		{"a culture", []string{stated(a, `"culture_format": {"vessel": "96", "shaking_rpm": 0}`), stated(a, `"culture_format": {"vessel": "24", "shaking_rpm": 0}`), stated(a, `"culture_format": {"vessel": "24", "shaking_rpm": 0, "provenance_gaps": [1]}`)},
			"y culture_format.vessel", []string{`0 [0] [1] "96"`, `1 [0] [1] "24"`, `2 [0] [1] "24"`}},
		{"copies", []string{stated(perturbing("A", `, "copy_number": 1.0, "reference_copy_number": 2`), ""), stated(perturbing("A", `, "copy_number": 3, "reference_copy_number": 2`), ""), stated(perturbing("B", `, "copy_number": 4`), ""), stated(a, "")},
			"y copies", []string{`0 [0] [1] "A=1/2"`, `1 [0] [1] "A=3/2"`, `2 [1] [1] "B=4"`, `3 [0] [1] -`}},
		{"ploidy of the reference, or the genotype", []string{stated(a, "", reference(`"haploid"`)), stated(a, "", reference(`"diploid"`)), stated(a+`, "ploidy": 4`, "", reference(`"haploid"`)),
			stated(a+`, "natural_isolate": {"isolate": "AAB", "ploidy": 3}`, "", reference(`"diploid"`)), stated(a, "")},
			"y genome_reference.strain ploidy: natural_isolate.isolate", []string{`0 [0] [1] "S288C" 1 -`, `1 [0] [1] "S288C" 2 -`, `2 [0] [1] "S288C" 4 -`, `3 [0] [1] "S288C" 3 "AAB"`, `4 [0] [1] - NaN -`}},
		{"ploidies of the references of one record", []string{
			"[" + haploid + "," + diploid + "]",
			"[" + haploid + "," + diploid + "]",
			"[" + diploid + "," + diploid + "]",
		}, "y y#2 ploidy: experiment#2: ploidy#2:",
			[]string{`0 [0] [1 1] 1 1 2`, `1 [0] [1 1] 1 1 2`, `2 [0] [1 1] 2 1 2`}},
		{"what follows from a gene, and what does not", []string{
			stated(perturbing("A", `, "perturbed_gene_name": "a-1", "strain_id": "x", "state": "absent", "perturbation_type": "t"`), ""),
			stated(perturbing("A", `, "perturbed_gene_name": "a-1", "strain_id": "y", "state": "present", "perturbation_type": "u"`), ""),
			stated(perturbing("A", `, "perturbed_gene_name": "a-1", "strain_id": "y", "state": "absent", "perturbation_type": "t"`), ""),
			stated(perturbing("B", `, "perturbed_gene_name": "b", "strain_id": "z", "state": "absent", "perturbation_type": "t"`), ""),
		}, "y perturbation_type perturbation.strain_id", []string{`0 [0] [1] "t" "A=x"`, `1 [0] [1] "u" "A=y"`, `2 [0] [1] "t" "A=y"`, `3 [1] [1] "t" "B=z"`}},
		{"a member that only some records have", []string{stated(perturbing("A", `, "barcode": "ACGT"`), ""), stated(perturbing("A", `, "barcode": null`), ""), stated(perturbing("A", `, "crispr": {"effector": "e"}`), "")},
			"y perturbation.barcode perturbation.crispr.effector", []string{`0 [0] [1] "A=ACGT" -`, `1 [0] [1] - -`, `2 [0] [1] - "A=e"`}},
		{"a member of the experiment that nobody knows", []string{`{"experiment": {"replicate": 1, "genotype": {` + a + `}, "phenotype": {"label_name": "y", "y": 1}}}`, `{"experiment": {"replicate": 2, "genotype": {` + a + `}, "phenotype": {"label_name": "y", "y": 1}}}`},
			"y replicate:", []string{`0 [0] [1] 1`, `1 [0] [1] 2`}},
		{"the experiments of one record", []string{"[" + stated(a, `"perturbations": [`+compound("x", `{"value": 1, "unit": "uM"}`)+`]`) + "," + stated(a, "") + "]"},
			"y y#2 compounds experiment#2:", []string{`0 [0] [1 1] "x 1 uM" 1`}},
		{"a long list", []string{stated(a+`, "blocks": [`+strings.Repeat("[1],", 400)+"[2]]", ""), stated(a+`, "blocks": [`+strings.Repeat("[1],", 400)+"[3]]", "")},
			"y blocks", []string{`0 [0] [1] "sha256:73073f1094b4240e7ad7e45186f8a030add18acc1b738d7a9a4553e526bb8826"`,
				`1 [0] [1] "sha256:76d6b6c3df386a7c0e322710cd5121aa9f5be03637f06e14149cd2f4a1fb8946"`}},
		{"a list in another order", []string{stated(a+`, "span": [1, 2]`, ""), stated(a+`, "span": [2, 1]`, "")}, "y span", []string{`0 [0] [1] "1|2"`, `1 [0] [1] "2|1"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, numbered(test.records))
			columns, found, err := told(dir, abc, samples.Spec{})
			if err != nil || columns != test.columns || !slices.Equal(found, test.want) {
				t.Errorf("got  %s\n%s, %v\nwant %s\n%s", columns, strings.Join(found, "\n"), err, test.columns, strings.Join(test.want, "\n"))
			}
		})
	}
}
