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
		m := &memory{
			size: 1, columns: ingest.Columns{Phenotypes: ingest.NamedPhenotypes(phenotypes...)},
		}
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
		"error": {
			set:  screen(),
			rule: Rule{Error, nil, nil},
			kind: fault.Input,
			want: `read perturbations set.tsv: samples "a" and "c" (numbers 0 and 2, counted ` +
				`from 0) delete the same genes, expected each genotype once`,
			hint: "--group-by",
		},
		"error by condition": {
			set:  screen(),
			rule: Rule{Error, []string{"temperature"}, nil},
			kind: fault.Input,
			want: `samples "a" and "c" (numbers 0 and 2, counted from 0) delete the same genes ` +
				`and have the same temperature`,
			hint: "--duplicates",
		},
		"unknown column": {
			set:  screen(),
			rule: Rule{Keep, []string{"temprature"}, nil},
			kind: fault.Input,
			want: `read --group-by: found attributes medium, temperature in set.tsv, expected ` +
				`"temprature"`,
			hint: `did you mean temperature?`,
		},
		"no attributes": {
			set:  columns(nil),
			rule: Rule{First, []string{"medium"}, nil},
			kind: fault.Input,
			want: `found attributes (none) in set.tsv, expected "medium"`,
			hint: "--attributes",
		},
		"phenotype": {
			set:  screen(),
			rule: Rule{Mean, []string{"fitness"}, nil},
			kind: fault.Input,
			want: `read --group-by: column "fitness" of set.tsv is a phenotype, expected an ` +
				`attribute`,
			hint: "--attributes",
		},
		"named twice": {
			set:  screen(),
			rule: Rule{Mean, []string{"medium", "medium"}, nil},
			kind: fault.Usage,
			want: `found "medium" twice`,
			hint: "once",
		},
		"conflict, number": {
			set:  screen(),
			rule: Rule{Mean, []string{"medium"}, nil},
			kind: fault.Input,
			want: `merge samples of set.tsv: "a" and "e" both delete B|C and have the same ` +
				`medium: found column "temperature" with 30 and 37, expected one value in a ` +
				`merged sample`,
			hint: "name it in --group-by if it is a condition, or in --ignore if it may differ",
		},
		"conflict, first": {
			set:  screen(),
			rule: Rule{First, []string{"medium"}, nil},
			kind: fault.Input,
			want: `found column "temperature" with 30 and 37`,
			hint: "--group-by",
		},
		"conflict, last": {
			set:  screen(),
			rule: Rule{Last, nil, []string{"medium"}},
			kind: fault.Input,
			want: `"c" and "e" both delete B|C: found column "temperature" with 30 and 37`,
			hint: "--group-by",
		},
		"conflict, missing": {
			set:  without(screen(), 1, "a", "c", "e"),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `"d" and "f" both delete B: found column "medium" with "YPD" and a missing ` +
				`value, column "temperature" with 30 and a missing value, expected`,
			hint: "for each column: name it in --group-by",
		},
		"conflict, guessed": {
			set:  guessed(screen(), "fitness"),
			rule: Rule{Last, nil, []string{"medium", "temperature"}},
			kind: fault.Input,
			want: `"a" and "c" both delete B|C: found column "fitness" with 1 and 2, expected`,
			hint: "name it in --phenotypes if it was measured, in --group-by if it is a " +
				"condition (with --attributes medium,temperature,fitness), or in --ignore",
		},
		"unknown ignored": {
			set:  screen(),
			rule: Rule{Mean, nil, []string{"temprature"}},
			kind: fault.Input,
			want: `read --ignore: found columns medium, temperature in set.tsv, expected ` +
				`"temprature"`,
			hint: `did you mean temperature?`,
		},
		"ignored phenotype": {
			set:  screen(),
			rule: Rule{Mean, nil, []string{"fitness"}},
			kind: fault.Usage,
			want: `column "fitness" of set.tsv is a phenotype`,
			hint: "phenotypes may differ",
		},
		"ignored and grouped by": {
			set:  screen(),
			rule: Rule{Mean, []string{"medium"}, []string{"medium"}},
			kind: fault.Usage,
			want: `found "medium" in --group-by, too`,
			hint: "once",
		},
		"ignored with keep": {
			set:  screen(),
			rule: Rule{Keep, nil, []string{"medium"}},
			kind: fault.Usage,
			want: `--duplicates keep, which merges no samples`,
			hint: "omit it",
		},
		"p-value alone": {
			set:  columns([]string{"score", "P-value"}),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `phenotype "P-value" is a p-value by its name, expected the phenotype that it ` +
				`belongs to`,
			hint: "--ignore",
		},
		"sd of another": {
			set:  columns([]string{"score", "y_std"}),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `phenotype "y_std" is a standard deviation by its name`,
			hint: "--ignore",
		},
		"statistic's": {
			set:  columns([]string{"y", "y_se", "y_se_std"}),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `"y_se_std" is a standard deviation of "y_se", which is a statistic itself`,
			hint: "--ignore",
		},
		"unknown statistic": {
			set:  columns([]string{"y", "y_iqr"}, "", "y"),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `"y_iqr" is a statistic of "y", expected one that can be pooled`,
			hint: "--ignore",
		},
		"statistic of none": {
			set:  columns([]string{"y_std"}, "y"),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `"y_std" is a standard deviation`,
			hint: "--ignore",
		},
		"name taken": {
			set:  columns([]string{"y", "y_n"}),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `found a column "y_n", but the mean of "y" adds a column of that name`,
			hint: "leave y_n out",
		},
		"own sd": {
			set:  columns([]string{"y", "y_sd"}),
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `found a column "y_sd"`,
			hint: "leave y_sd out",
		},
		"mean is infinite": {
			set:  huge,
			rule: Rule{Mean, nil, nil},
			kind: fault.Input,
			want: `sample "a" and others of its genotype: their "y" is beyond the range`,
			hint: "correct the values of this genotype, or omit the column",
		},
		"source, first pass": {
			set:  &memory{size: 1, rows: screen().rows, columns: screen().columns, failAt: 3},
			rule: Rule{Last, nil, nil},
			kind: fault.Failed,
			want: errRead.Error(),
		},
		"source, second reading": {
			set:  &memory{size: 1, rows: screen().rows, columns: screen().columns, failAt: 10},
			rule: Rule{Last, nil, nil},
			kind: fault.Failed,
			want: errRead.Error(),
		},
	} {
		rows, _, _, err := apply(t, test.set, test.rule)
		isRefused := err != nil && fault.KindOf(err) == test.kind &&
			strings.Contains(err.Error(), test.want)
		if !isRefused || !strings.Contains(fault.HintOf(err), test.hint) {
			t.Errorf("%s: got %v (hint %q), want %s (%s)", name, err, fault.HintOf(err), test.want,
				test.hint)
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
