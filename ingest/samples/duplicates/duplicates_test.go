package duplicates

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// row is a sample of a set in memory.
type row struct {
	id         string
	genes      []uint32
	phenotypes []float64
	attributes []ingest.Value
}

// memory is a set in memory. It implements ingest.SampleSource.
type memory struct {
	columns ingest.Columns
	rows    []row
	size    int // of batches
	scans   int
	failAt  int // batch at which reading fails, from 1, counted over all readings
	batches int
}

func (m *memory) Columns() ingest.Columns { return m.columns }
func (m *memory) Inputs() []ingest.Input  { return nil }
func (m *memory) Unchanged() error        { return nil }
func (m *memory) Close() error            { return nil }

func (m *memory) Place(row int64) (string, error) { return fmt.Sprintf("row %d", row), nil }

// tenGenes are the genes of sets in memory.
var tenGenes, _ = ingest.NewNodes(ingest.Gene, strings.Split("ABCDEFGHIJ", ""), nil)

var errRead = errors.New("the disk failed")

func (m *memory) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		m.scans++
		if err := m.read(ctx, account, yield); err != nil {
			yield(nil, err)
		}
	}
}

func (m *memory) read(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	for first := 0; first < len(m.rows); first += m.size {
		if m.batches++; m.batches == m.failAt {
			return errRead
		}
		batch := ingest.NewSamples(first, m.columns, m.size)
		for _, row := range m.rows[first:min(first+m.size, len(m.rows))] {
			batch.Append([]byte(row.id), row.genes, row.phenotypes, row.attributes)
			account.Rows++
			account.Kept++
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !yield(batch, nil) {
			return nil
		}
	}
	return nil
}

// apply returns what is left of a set.
func apply(t *testing.T, source ingest.SampleSource, rule Rule) (rows []row, columns ingest.Columns, counts ingest.Account, err error) {
	t.Helper()
	left, err := Apply(source, rule, "set.tsv", tenGenes)
	if err != nil {
		return nil, columns, counts, err
	}
	columns = left.Columns()
	counts, err = sets.Read(left, func(samples *ingest.Samples) error {
		if samples.First != len(rows) {
			t.Errorf("a batch starts at %d, expected %d", samples.First, len(rows))
		}
		for i := range samples.Len() {
			rows = append(rows, row{string(samples.ID(i)), slices.Clone(samples.Genes(i)), slices.Clone(samples.Phenotypes(i)), samples.Attributes(i)})
		}
		return nil
	})
	return rows, columns, counts, err
}

func text(value string) ingest.Value    { return ingest.Value{Text: []byte(value)} }
func number64(v float64) ingest.Value   { return ingest.Value{Number: v} }
func measuredAs(v ...float64) []float64 { return v }

var nan = math.NaN()

// show is a row as tests compare it.
func show(r row) string {
	s := fmt.Sprint(r.id, r.genes)
	for _, value := range r.phenotypes {
		s += fmt.Sprintf(" %.13g", value)
	}
	for _, value := range r.attributes {
		if value.Text != nil {
			s += fmt.Sprintf(" %q", value.Text)
		} else {
			s += fmt.Sprintf(" %g", value.Number)
		}
	}
	return s
}

func shown(rows []row) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, show(r))
	}
	return strings.Join(lines, "\n")
}

// screen is a small set, of which each result is plain to see.
func screen() *memory {
	return &memory{size: 2,
		columns: ingest.Columns{
			Phenotypes: ingest.NamedPhenotypes("fitness", "fitness_std", "fitness_se", "gene_interaction", "gene_interaction_p_value"),
			Attributes: []ingest.Attribute{{Name: "medium", Type: ingest.TextAttribute}, {Name: "temperature", Type: ingest.NumberAttribute}},
		},
		rows: []row{
			{"a", []uint32{1, 2}, measuredAs(1, 3, 0.3, 0.1, 0.01), []ingest.Value{text("YPD"), number64(30)}},
			{"b", []uint32{3}, measuredAs(0.5, 0.2, 0.1, nan, nan), []ingest.Value{text("YPD"), number64(30)}},
			{"c", []uint32{1, 2}, measuredAs(2, 4, 0.4, nan, 0.5), []ingest.Value{text("YPD"), number64(30)}},
			{"d", []uint32{1}, measuredAs(nan, nan, nan, nan, nan), []ingest.Value{text("YPD"), number64(30)}},
			{"e", []uint32{1, 2}, measuredAs(3, nan, nan, 0.3, 0.02), []ingest.Value{text("YPD"), number64(37)}},
			{"f", []uint32{1}, measuredAs(nan, nan, 7, nan, nan), []ingest.Value{{}, number64(nan)}},
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
	unmeasured := &memory{size: 2, rows: []row{{id: "a", genes: []uint32{1}}, {id: "b"}, {id: "c", genes: []uint32{1}}, {id: "d", genes: []uint32{1}}}}
	for name, test := range map[string]struct {
		set     *memory
		rule    Rule
		ids     string
		repeats ingest.Repeats
	}{
		"zero":              {screen(), Rule{}, "a b c d e f g", under(0)},
		"keep":              {screen(), Rule{Keep, nil, nil}, "a b c d e f g", under(0)},
		"keep, counting":    {screen(), Rule{Keep, []string{"temperature"}, nil}, "a b c d e f g", under(3)},
		"first":             {noAttributes(screen()), Rule{First, nil, nil}, "a b d g", under(0)},
		"last":              {noAttributes(screen()), Rule{Last, nil, nil}, "b e f g", under(0)},
		"last, ignoring":    {screen(), Rule{Last, nil, []string{"medium", "temperature"}}, "b e f g", under(0)},
		"mean":              {noAttributes(screen()), Rule{Mean, nil, nil}, "a b d g", under(0)},
		"first by medium":   {screen(), Rule{First, []string{"medium"}, []string{"temperature"}}, "a b d f g", under(2)},
		"last by medium":    {screen(), Rule{Last, []string{"medium"}, []string{"temperature"}}, "b d e f g", under(2)},
		"mean by medium":    {screen(), Rule{Mean, []string{"medium"}, []string{"temperature"}}, "a b d f g", under(2)},
		"first by both":     {screen(), Rule{First, []string{"temperature", "medium"}, nil}, "a b d e f g", under(3)},
		"last by both":      {screen(), Rule{Last, []string{"medium", "temperature"}, nil}, "b c d e f g", under(3)},
		"mean by both":      {screen(), Rule{Mean, []string{"medium", "temperature"}, nil}, "a b d e f g", under(3)},
		"mean of nothing":   {unmeasured, Rule{Mean, nil, nil}, "a b", ingest.Repeats{Genotypes: 2, RepeatedGenotypes: 1, RepeatedSamples: 3}},
		"error, all differ": {&memory{size: 1, rows: []row{{"a", []uint32{1}, nil, nil}, {"b", nil, nil, nil}}}, Rule{Error, nil, nil}, "a b", ingest.Repeats{Genotypes: 2}},
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
	names := "fitness fitness_std fitness_se gene_interaction gene_interaction_p_value fitness_n fitness_sd gene_interaction_n gene_interaction_sd"
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
	if found := strings.Join(of, " "); found != " fitness fitness  gene_interaction fitness fitness gene_interaction gene_interaction" {
		t.Errorf("statistics of %q", found)
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
			`read --group-by: found attributes medium, temperature in set.tsv, expected "temprature"`, `did you mean "temperature"?`},
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
		"unknown ignored":        {screen(), Rule{Mean, nil, []string{"temprature"}}, fault.Input, `read --ignore: found columns medium, temperature in set.tsv, expected "temprature"`, `did you mean "temperature"?`},
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

// What a set that changes between two readings has then is never mixed with what it had before,
// even if size and modification time are as before.
func TestChangesBetweenReadings(t *testing.T) {
	const before = "genes\ty\nA\t1\nB\t2\nA\t3\n"
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	for _, after := range []string{"genes\ty\nB\t1\nA\t2\nA\t3\n", "genes\ty\nA\t1\nB\t2\n", before + "B\t4\n"} {
		for _, choice := range []Choice{Last, Mean} {
			path := filepath.Join(t.TempDir(), "set.tsv")
			if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			set, err := samples.OpenFile(path, genes, samples.PerturbationOptions{Phenotypes: []string{"y"}})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			change := func() error {
				return errors.Join(os.WriteFile(path, []byte(after), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
			rows, _, _, err := apply(t, &changing{SampleSource: set, change: change}, Rule{choice, nil, nil})
			if err == nil {
				err = set.Unchanged()
			}
			if fault.KindOf(err) != fault.Busy {
				t.Errorf("%s of %q: got %s, %v", choice, after, shown(rows), err)
			}
		}
	}
	grown := screen()
	rows, _, _, err := apply(t, &changing{SampleSource: grown, change: func() error {
		grown.rows = append(grown.rows, grown.rows[0])
		return nil
	}}, Rule{Last, nil, []string{"medium", "temperature"}})
	if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "found 8 samples, expected 7 as before") {
		t.Errorf("got %s, %v", shown(rows), err)
	}
}

// changing is a set that changes after it is read.
type changing struct {
	ingest.SampleSource
	change func() error
}

func (c *changing) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for batch, err := range c.SampleSource.Batches(ctx, account) {
			if !yield(batch, err) {
				return
			}
		}
		if err := c.change(); err != nil {
			yield(nil, err)
		}
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

// An interrupted run stops at the next batch, in every pass.
func TestInterrupted(t *testing.T) {
	for _, choice := range Choices {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errRead)
		left, err := Apply(without(screen(), 1, "c", "e", "f"), Rule{Choice(choice), nil, nil}, "", tenGenes)
		if err == nil {
			for _, err = range left.Batches(ctx, new(ingest.Account)) {
				if err != nil {
					break
				}
			}
		}
		if !errors.Is(err, errRead) {
			t.Errorf("%s: %v", choice, err)
		}
	}
}

// Random sets are treated as by the maps of an oracle.
func TestOracle(t *testing.T) {
	random := seed.Rand(t)
	for range testrun.Cases(60, 15) {
		set := randomSet(random)
		for _, choice := range Choices {
			var groupBy []string
			for _, name := range set.columns.AttributeNames() {
				if random.IntN(2) == 0 {
					groupBy = append(groupBy, name)
				}
			}
			rule := Rule{Choice(choice), groupBy, nil}
			if rule.Merges() {
				for _, name := range set.columns.AttributeNames() {
					if !slices.Contains(groupBy, name) && random.IntN(2) == 0 {
						rule.Ignore = append(rule.Ignore, name)
					}
				}
			}
			want, repeats, refused := oracle(set, rule)
			rows, _, counts, err := apply(t, set, rule)
			switch {
			case refused != (err != nil):
				t.Fatalf("%+v: %v, expected an error: %v, of\n%s", rule, err, refused, shown(set.rows))
			case refused:
			case !alike(rows, want):
				t.Fatalf("%+v: found\n%s\nwant\n%s\nof\n%s", rule, shown(rows), shown(want), shown(set.rows))
			case counts.Repeats != repeats || counts.Kept != len(want) || !counts.IsComplete():
				t.Fatalf("%+v: found %+v, want %+v", rule, counts.Repeats, repeats)
			}
		}
	}
}

// alike reports whether rows are the same but for the rounding of their numbers.
func alike(found, want []row) bool {
	return slices.EqualFunc(found, want, func(a, b row) bool {
		numbers := slices.EqualFunc(a.phenotypes, b.phenotypes, func(x, y float64) bool {
			return math.Abs(x-y) <= 1e-12*math.Abs(y) || math.IsNaN(x) && math.IsNaN(y)
		})
		a.phenotypes = b.phenotypes
		return numbers && show(a) == show(b)
	})
}

func randomSet(random *rand.Rand) *memory {
	set := &memory{size: 1 + random.IntN(7), columns: ingest.Columns{Phenotypes: ingest.NamedPhenotypes("y", "y_std", "z", "z_se")}}
	for k := range random.IntN(3) {
		set.columns.Attributes = append(set.columns.Attributes, ingest.Attribute{Name: fmt.Sprint("a", k),
			Type: []ingest.AttributeType{ingest.TextAttribute, ingest.NumberAttribute}[k]})
	}
	values, genes := 1+random.IntN(3), 1+random.IntN(4)
	for i := range random.IntN(60) {
		r := row{id: fmt.Sprint("s", i)}
		for gene := range genes {
			if random.IntN(2) == 0 {
				r.genes = append(r.genes, uint32(gene))
			}
		}
		for range set.columns.Phenotypes {
			value := float64(random.IntN(5))
			if random.IntN(4) == 0 {
				value = nan
			}
			r.phenotypes = append(r.phenotypes, value)
		}
		for k := range set.columns.Attributes {
			value := ingest.Value{}
			switch n := random.IntN(values); {
			case k == 0 && n > 0:
				value = text([]string{"", "x"}[n-1])
			case k == 1 && n == 0:
				value.Number = nan
			case k == 1:
				value.Number = float64(n)
			}
			r.attributes = append(r.attributes, value)
		}
		set.rows = append(set.rows, r)
	}
	return set
}

// oracle treats a set as a rule asks, with maps of texts. It reports whether it is refused.
func oracle(set *memory, rule Rule) (rows []row, repeats ingest.Repeats, refused bool) {
	conditionOf := func(r row, among func(name string) bool) string {
		s := ""
		for k, attribute := range set.columns.Attributes {
			if among(attribute.Name) {
				s += fmt.Sprintf("%v %q %v|", r.attributes[k].Text == nil, r.attributes[k].Text, r.attributes[k].Number)
			}
		}
		return s
	}
	grouped := func(name string) bool { return slices.Contains(rule.GroupBy, name) }
	genotypes, conditions, groups := map[string]int{}, map[string]bool{}, map[string][]row{}
	var order []string
	for _, r := range set.rows {
		genotypes[fmt.Sprint(r.genes)]++
		condition := conditionOf(r, grouped)
		conditions[condition] = true
		group := fmt.Sprint(r.genes) + condition
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], r)
	}
	for _, samples := range genotypes {
		if repeats.Genotypes++; samples > 1 {
			repeats.RepeatedGenotypes++
			repeats.RepeatedSamples += samples
		}
	}
	if len(rule.GroupBy) > 0 {
		repeats.Conditions = len(conditions)
	}
	for _, group := range order {
		samples := groups[group]
		for _, r := range samples {
			others := func(name string) bool { return !grouped(name) && !slices.Contains(rule.Ignore, name) }
			differ := conditionOf(r, others) != conditionOf(samples[0], others)
			refused = refused || rule.Merges() && differ
		}
		switch rule.Duplicates {
		case Error:
			refused = refused || len(samples) > 1
		case First:
			rows = append(rows, samples[0])
		case Last:
			rows = append(rows, samples[len(samples)-1])
		case Mean:
			r := samples[0]
			r.attributes = slices.Clone(r.attributes)
			for k, attribute := range set.columns.Attributes {
				one := func(name string) bool { return name == attribute.Name }
				for _, other := range samples {
					if conditionOf(other, one) != conditionOf(samples[0], one) {
						r.attributes[k] = ingest.Value{Number: nan}
					}
				}
			}
			r.phenotypes = append(oracleMean(samples, 0, false), oracleMean(samples, 2, true)...)
			y, z := r.phenotypes[:4], r.phenotypes[4:]
			r.phenotypes = []float64{y[0], y[1], z[0], z[1], y[2], y[3], z[2], z[3]}
			rows = append(rows, r)
		}
	}
	switch rule.Duplicates {
	case Keep, Error:
		rows = set.rows
	case Last:
		slices.SortFunc(rows, func(a, b row) int {
			at := func(r row) int { return slices.IndexFunc(set.rows, func(other row) bool { return other.id == r.id }) }
			return at(a) - at(b)
		})
	}
	return rows, repeats, refused
}

// oracleMean returns mean, statistic, n and sd of phenotype k, whose statistic is k+1. Values are
// small integers, of which sums are exact in any order.
func oracleMean(samples []row, k int, standardError bool) []float64 {
	if len(samples) == 1 {
		r := samples[0].phenotypes
		n := 1.0
		if math.IsNaN(r[k]) {
			n = 0
		}
		return []float64{r[k], r[k+1], n, nan}
	}
	var sum, squares, n, statistics, statisticSquares float64
	for _, r := range samples {
		if value := r.phenotypes[k]; !math.IsNaN(value) {
			n, sum = n+1, sum+value
			if statistic := r.phenotypes[k+1]; !math.IsNaN(statistic) {
				statistics, statisticSquares = statistics+1, statisticSquares+statistic*statistic
			}
		}
	}
	for _, r := range samples {
		if value := r.phenotypes[k]; !math.IsNaN(value) {
			squares += (value - sum/n) * (value - sum/n)
		}
	}
	statistic := math.Sqrt(statisticSquares / statistics)
	if standardError {
		if statistic = math.Sqrt(statisticSquares) / n; statistics != n {
			statistic = nan
		}
	}
	sd := nan
	if n > 1 {
		sd = math.Sqrt(squares / (n - 1))
	}
	return []float64{sum / n, statistic, n, sd}
}
