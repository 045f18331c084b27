package duplicates

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
)

// screen is a small set, of which each result is plain to see.
func screen() *memory {
	return &memory{size: 2,
		columns: ingest.Columns{
			Phenotypes: ingest.NamedPhenotypes("fitness", "fitness_std", "fitness_se",
				"gene_interaction", "gene_interaction_p_value"),
			Attributes: []ingest.Attribute{
				{Name: "medium", Type: ingest.TextAttribute},
				{Name: "temperature", Type: ingest.NumberAttribute},
			},
		},
		rows: []row{
			{"a", []uint32{1, 2}, measuredAs(1, 3, 0.3, 0.1, 0.01),
				[]ingest.Value{text("YPD"), number64(30)}},
			{"b", []uint32{3}, measuredAs(0.5, 0.2, 0.1, nan, nan),
				[]ingest.Value{text("YPD"), number64(30)}},
			{"c", []uint32{1, 2}, measuredAs(2, 4, 0.4, nan, 0.5),
				[]ingest.Value{text("YPD"), number64(30)}},
			{"d", []uint32{1}, measuredAs(nan, nan, nan, nan, nan),
				[]ingest.Value{text("YPD"), number64(30)}},
			{"e", []uint32{1, 2}, measuredAs(3, nan, nan, 0.3, 0.02),
				[]ingest.Value{text("YPD"), number64(37)}},
			{"f", []uint32{1}, measuredAs(nan, nan, 7, nan, nan),
				[]ingest.Value{{}, number64(nan)}},
			{"g", nil, measuredAs(1, 0.1, 0.1, 0, 1), []ingest.Value{text("YPD"), number64(30)}},
		}}
}

func TestChoices(t *testing.T) {
	repeats := ingest.Repeats{Genotypes: 4, RepeatedGenotypes: 2, RepeatedSamples: 5}
	under := func(conditions int) ingest.Repeats {
		repeats := repeats
		repeats.Conditions = conditions
		return repeats
	}
	noAttributes := func(m *memory) *memory {
		m.columns.Attributes = nil
		for i := range m.rows {
			m.rows[i].attributes = nil
		}
		return m
	}
	unmeasured := &memory{
		size: 2,
		rows: []row{
			{id: "a", genes: []uint32{1}},
			{id: "b"},
			{id: "c", genes: []uint32{1}},
			{id: "d", genes: []uint32{1}},
		},
	}
	for name, test := range map[string]struct {
		set     *memory
		rule    Rule
		ids     string
		repeats ingest.Repeats
	}{
		"zero": {set: screen(), ids: "a b c d e f g", repeats: under(0)},
		"keep": {
			set:     screen(),
			rule:    Rule{Keep, nil, nil},
			ids:     "a b c d e f g",
			repeats: under(0),
		},
		"keep, counting": {
			set:     screen(),
			rule:    Rule{Keep, []string{"temperature"}, nil},
			ids:     "a b c d e f g",
			repeats: under(3),
		},
		"first": {
			set:     noAttributes(screen()),
			rule:    Rule{First, nil, nil},
			ids:     "a b d g",
			repeats: under(0),
		},
		"last": {
			set:     noAttributes(screen()),
			rule:    Rule{Last, nil, nil},
			ids:     "b e f g",
			repeats: under(0),
		},
		"last, ignoring": {
			set:     screen(),
			rule:    Rule{Last, nil, []string{"medium", "temperature"}},
			ids:     "b e f g",
			repeats: under(0),
		},
		"mean": {
			set:     noAttributes(screen()),
			rule:    Rule{Mean, nil, nil},
			ids:     "a b d g",
			repeats: under(0),
		},
		"first by medium": {
			set:     screen(),
			rule:    Rule{First, []string{"medium"}, []string{"temperature"}},
			ids:     "a b d f g",
			repeats: under(2),
		},
		"last by medium": {
			set:     screen(),
			rule:    Rule{Last, []string{"medium"}, []string{"temperature"}},
			ids:     "b d e f g",
			repeats: under(2),
		},
		"mean by medium": {
			set:     screen(),
			rule:    Rule{Mean, []string{"medium"}, []string{"temperature"}},
			ids:     "a b d f g",
			repeats: under(2),
		},
		"first by both": {
			set:     screen(),
			rule:    Rule{First, []string{"temperature", "medium"}, nil},
			ids:     "a b d e f g",
			repeats: under(3),
		},
		"last by both": {
			set:     screen(),
			rule:    Rule{Last, []string{"medium", "temperature"}, nil},
			ids:     "b c d e f g",
			repeats: under(3),
		},
		"mean by both": {
			set:     screen(),
			rule:    Rule{Mean, []string{"medium", "temperature"}, nil},
			ids:     "a b d e f g",
			repeats: under(3),
		},
		"mean of nothing": {
			set:     unmeasured,
			rule:    Rule{Mean, nil, nil},
			ids:     "a b",
			repeats: ingest.Repeats{Genotypes: 2, RepeatedGenotypes: 1, RepeatedSamples: 3},
		},
		"error, all differ": {
			set: &memory{
				size: 1, rows: []row{{"a", []uint32{1}, nil, nil}, {"b", nil, nil, nil}},
			},
			rule:    Rule{Error, nil, nil},
			ids:     "a b",
			repeats: ingest.Repeats{Genotypes: 2},
		},
	} {
		rows, _, counts, err := apply(t, test.set, test.rule)
		var ids []string
		for _, row := range rows {
			ids = append(ids, row.id)
		}
		if found := strings.Join(ids, " "); err != nil || found != test.ids {
			t.Errorf("%s: samples %s, want %s; %v", name, found, test.ids, err)
		}
		if counts.Repeats != test.repeats || counts.Kept != len(rows) || !counts.IsComplete() {
			t.Errorf("%s: %+v of %d, want %+v", name, counts, len(rows), test.repeats)
		}
		readings := 1
		if test.rule.Duplicates == Last || test.rule.Duplicates == Mean {
			readings = 2
		}
		if test.set.scans != readings {
			t.Errorf("%s: the source was read %d times, want %d", name, test.set.scans, readings)
		}
	}
}

// Written by hand: 1, 2 and 3 have mean 2 and sd 1; sqrt((9+16)/2) = 3.53…; of three standard
// errors one is missing; 0.1 and 0.3 have t = 2 with one degree of freedom, p = 0.295….
func TestMean(t *testing.T) {
	set := screen()
	for i := range set.rows {
		set.rows[i].attributes = nil
	}
	set.columns.Attributes = nil
	rows, columns, _, err := apply(t, set, Rule{Mean, nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	names := "fitness fitness_std fitness_se gene_interaction gene_interaction_p_value fitness_n " +
		"fitness_sd gene_interaction_n gene_interaction_sd"
	if found := strings.Join(columns.PhenotypeNames(), " "); found != names {
		t.Errorf("phenotypes %s, want %s", found, names)
	}
	want := `a[1 2] 2 3.535533905933 NaN 0.2 0.2951672353009 3 1 2 0.1414213562373
b[3] 0.5 0.2 0.1 NaN NaN 1 NaN 0 NaN
d[1] NaN NaN NaN NaN NaN 0 NaN 0 NaN
g[] 1 0.1 0.1 0 1 1 NaN 1 NaN`
	if found := shown(rows); found != want {
		t.Errorf("found\n%s\nwant\n%s", found, want)
	}
	var of []string
	for _, phenotype := range columns.Phenotypes {
		of = append(of, phenotype.StatisticOf)
	}
	statistics := []string{
		"", "fitness", "fitness", "", "gene_interaction", "fitness", "fitness",
		"gene_interaction", "gene_interaction",
	}
	if !slices.Equal(of, statistics) {
		t.Errorf("statistics of %q", of)
	}

	// A mean has no medium and temperature where they differ.
	rows, _, _, err = apply(t, screen(), Rule{Mean, nil, []string{"temperature", "medium"}})
	want = `a[1 2] 2 3.535533905933 NaN 0.2 0.2951672353009 3 1 2 0.1414213562373 "YPD" NaN
b[3] 0.5 0.2 0.1 NaN NaN 1 NaN 0 NaN "YPD" 30
d[1] NaN NaN NaN NaN NaN 0 NaN 0 NaN NaN NaN
g[] 1 0.1 0.1 0 1 1 NaN 1 NaN "YPD" 30`
	if found := shown(rows); err != nil || found != want {
		t.Errorf("found\n%s\nwant\n%s; %v", found, want, err)
	}
	rows, _, _, err = apply(t, screen(), Rule{Mean, []string{"temperature", "medium"}, nil})
	want = `a[1 2] 1.5 3.535533905933 0.25 0.1 0.01 2 0.7071067811865 1 NaN "YPD" 30
b[3] 0.5 0.2 0.1 NaN NaN 1 NaN 0 NaN "YPD" 30
d[1] NaN NaN NaN NaN NaN 0 NaN 0 NaN "YPD" 30
e[1 2] 3 NaN NaN 0.3 0.02 1 NaN 1 NaN "YPD" 37
f[1] NaN NaN 7 NaN NaN 0 NaN 0 NaN 0 NaN
g[] 1 0.1 0.1 0 1 1 NaN 1 NaN "YPD" 30`
	if found := shown(rows); err != nil || found != want {
		t.Errorf("found\n%s\nwant\n%s; %v", found, want, err)
	}
}

// Statistics of a measured phenotype may differ as it does. A guessed phenotype counts as a
// condition.
func TestGuessedPhenotypes(t *testing.T) {
	for names, refused := range map[string]bool{
		"":                    false,
		"fitness_std":         false,
		"fitness_se":          false,
		"fitness fitness_std": true,
		"gene_interaction":    true,
	} {
		set := guessed(screen(), strings.Fields(names)...)
		_, _, _, err := apply(t, set, Rule{Mean, nil, []string{"medium", "temperature"}})
		if (err != nil) != refused {
			t.Errorf("%q: %v", names, err)
		}
	}
}
