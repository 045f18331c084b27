package duplicates

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

func TestBadInput(t *testing.T) {
	columns := func(phenotypes []string, statisticOf ...string) *memory {
		m := &memory{size: 1, columns: ingest.Columns{Phenotypes: ingest.NamedPhenotypes(phenotypes...)}}
		for k, of := range statisticOf {
			m.columns.Phenotypes[k].StatisticOf = of
		}
		return m
	}
	huge := columns([]string{"y"})
	huge.rows = []row{{"a", nil, measuredAs(1.5e308), nil}, {"b", nil, measuredAs(1.5e308), nil}}
	for name, test := range map[string]struct {
		set        *memory
		rule       Rule
		kind       fault.Kind
		want, hint string
	}{
		"error": {screen(), Rule{Error, nil, nil}, fault.Input,
			`read perturbations set.tsv: samples "a" and "c" (numbers 0 and 2, counted from 0) delete the same genes, expected each genotype once`, "--group-by"},
		"error by condition": {screen(), Rule{Error, []string{"temperature"}, nil}, fault.Input, `samples "a" and "c" (numbers 0 and 2, counted from 0) delete the same genes and have the same temperature`, "--duplicates"},
		"unknown column": {screen(), Rule{Keep, []string{"temprature"}, nil}, fault.Input,
			`read --group-by: found attributes medium, temperature in set.tsv, expected "temprature"`, `did you mean temperature?`},
		"no attributes": {columns(nil), Rule{First, []string{"medium"}, nil}, fault.Input, `found attributes (none) in set.tsv, expected "medium"`, "--attributes"},
		"phenotype":     {screen(), Rule{Mean, []string{"fitness"}, nil}, fault.Input, `read --group-by: column "fitness" of set.tsv is a phenotype, expected an attribute`, "--attributes"},
		"named twice":   {screen(), Rule{Mean, []string{"medium", "medium"}, nil}, fault.Usage, `found "medium" twice`, "once"},
		"conflict, number": {screen(), Rule{Mean, []string{"medium"}, nil}, fault.Input,
			`merge samples of set.tsv: "a" and "e" both delete B|C and have the same medium: found column "temperature" with 30 and 37, expected one value in a merged sample`, "name it in --group-by if it is a condition, or in --ignore if it may differ"},
		"conflict, first": {screen(), Rule{First, []string{"medium"}, nil}, fault.Input, `found column "temperature" with 30 and 37`, "--group-by"},
		"conflict, last":  {screen(), Rule{Last, nil, []string{"medium"}}, fault.Input, `"c" and "e" both delete B|C: found column "temperature" with 30 and 37`, "--group-by"},
		"conflict, missing": {without(screen(), 1, "a", "c", "e"), Rule{Mean, nil, nil}, fault.Input,
			`"d" and "f" both delete B: found column "medium" with "YPD" and a missing value, column "temperature" with 30 and a missing value, expected`, "for each column: name it in --group-by"},
		"conflict, guessed": {guessed(screen(), "fitness"), Rule{Last, nil, []string{"medium", "temperature"}}, fault.Input,
			`"a" and "c" both delete B|C: found column "fitness" with 1 and 2, expected`, "name it in --phenotypes if it was measured, in --group-by if it is a condition (with --attributes medium,temperature,fitness), or in --ignore"},
		"unknown ignored":        {screen(), Rule{Mean, nil, []string{"temprature"}}, fault.Input, `read --ignore: found columns medium, temperature in set.tsv, expected "temprature"`, `did you mean temperature?`},
		"ignored phenotype":      {screen(), Rule{Mean, nil, []string{"fitness"}}, fault.Usage, `column "fitness" of set.tsv is a phenotype`, "phenotypes may differ"},
		"ignored and grouped by": {screen(), Rule{Mean, []string{"medium"}, []string{"medium"}}, fault.Usage, `found "medium" in --group-by, too`, "once"},
		"ignored with keep":      {screen(), Rule{Keep, nil, []string{"medium"}}, fault.Usage, `--duplicates keep, which merges no samples`, "omit it"},
		"p-value alone":          {columns([]string{"score", "P-value"}), Rule{Mean, nil, nil}, fault.Input, `phenotype "P-value" is a p-value by its name, expected the phenotype that it belongs to`, "--ignore"},
		"sd of another":          {columns([]string{"score", "y_std"}), Rule{Mean, nil, nil}, fault.Input, `phenotype "y_std" is a standard deviation by its name`, "--ignore"},
		"statistic's":            {columns([]string{"y", "y_se", "y_se_std"}), Rule{Mean, nil, nil}, fault.Input, `"y_se_std" is a standard deviation of "y_se", which is a statistic itself`, "--ignore"},
		"unknown statistic":      {columns([]string{"y", "y_iqr"}, "", "y"), Rule{Mean, nil, nil}, fault.Input, `"y_iqr" is a statistic of "y", expected one that can be pooled`, "--ignore"},
		"statistic of none":      {columns([]string{"y_std"}, "y"), Rule{Mean, nil, nil}, fault.Input, `"y_std" is a standard deviation`, "--ignore"},
		"name taken":             {columns([]string{"y", "y_n"}), Rule{Mean, nil, nil}, fault.Input, `found a column "y_n", but the mean of "y" adds a column of that name`, "leave y_n out"},
		"own sd":                 {columns([]string{"y", "y_sd"}), Rule{Mean, nil, nil}, fault.Input, `found a column "y_sd"`, "leave y_sd out"},
		"mean is infinite":       {huge, Rule{Mean, nil, nil}, fault.Input, `whose "y" is beyond the range`, "correct the values"},
		"source, first pass":     {&memory{size: 1, rows: screen().rows, columns: screen().columns, failAt: 3}, Rule{Last, nil, nil}, fault.Failed, errRead.Error(), ""},
		"source, second reading": {&memory{size: 1, rows: screen().rows, columns: screen().columns, failAt: 10}, Rule{Last, nil, nil}, fault.Failed, errRead.Error(), ""},
	} {
		rows, _, _, err := apply(t, test.set, test.rule)
		if err == nil || fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) || !strings.Contains(fault.HintOf(err), test.hint) {
			t.Errorf("%s: got %v (hint %q), want %s (%s)", name, err, fault.HintOf(err), test.want, test.hint)
		}
		if len(rows) > 0 && test.rule.Duplicates == Mean && name != "conflict, missing" {
			t.Errorf("%s: %d samples were passed on", name, len(rows))
		}
	}
}

// guessed marks all phenotypes as guessed.
func guessed(m *memory, names ...string) *memory {
	m.columns.Guessed = names
	return m
}

// without leaves samples out.
func without(m *memory, size int, ids ...string) *memory {
	m.size = size
	m.rows = slices.DeleteFunc(m.rows, func(r row) bool { return slices.Contains(ids, r.id) })
	return m
}
