package where

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

var columns = ingest.Columns{
	Phenotypes: ingest.NamedPhenotypes("fitness", "fitness#2", "in", "missing"),
	Attributes: []ingest.Attribute{
		{Name: "medium", Type: ingest.TextAttribute},
		{Name: "carbon source", Type: ingest.TextAttribute},
		{Name: "temperature", Type: ingest.NumberAttribute},
	},
}

// genes are those of a graph, by their names.
var genes = geneRows{"YAL001C": 0, "YAL002W": 1, "YBR010W": 2, "YDL3": 3, "TFC3": 0}

type geneRows map[string]uint32

func (g geneRows) Row(name string) (uint32, error) {
	gene, known := g[name]
	if !known {
		return 0, fault.New(fault.Input, "did you mean YAL001C?", "gene %s is not in the graph",
			fault.Quote(name))
	}
	return gene, nil
}

func textValue(value string) ingest.Value    { return ingest.Value{Text: []byte(value)} }
func numberValue(value float64) ingest.Value { return ingest.Value{Number: value} }

var nan = math.NaN()

// samples of the table of examples in docs/input.md and of TestKeeps.
var (
	measured = ingest.Sample{
		ID:         []byte("s1"),
		Genes:      []uint32{0, 2},
		Phenotypes: []float64{0.5, 2, 3, 4},
		Attributes: []ingest.Value{textValue("YPD"), textValue("glucose"), numberValue(30)},
	}
	unknown = ingest.Sample{
		ID:         []byte("17"),
		Genes:      nil,
		Phenotypes: []float64{nan, nan, nan, nan},
		Attributes: []ingest.Value{{}, {}, numberValue(nan)},
	}
)

func TestKeeps(t *testing.T) {
	for _, test := range []struct {
		expression        string
		measured, unknown bool
	}{
		{`fitness > 0.4`, true, false},
		{`fitness > 0.5`, false, false},
		{`fitness >= 0.5 and fitness <= 0.5`, true, false},
		{`fitness == 0.5`, true, false},
		{`fitness != 0.5`, false, false},
		{`fitness != 1`, true, false},
		{`not (fitness > 0.4)`, false, true},
		{`!(fitness > 0.4)`, false, true},
		{`not (fitness != 1)`, false, true},
		{`fitness in [0.5, 1]`, true, false},
		{`fitness in [-0.5, 1]`, false, false},
		{`fitness not in [1, 2]`, true, false},
		{`not (fitness in [1, 2])`, true, true},
		{`0.4 < fitness < 0.6`, true, false},
		{`0 < abs(fitness) < 3`, true, false},
		{`0 < -fitness + 1 < 3 > abs(column("fitness#2") - 1) > 0`, true, false},
		{`0 < fitness + column("fitness#2") * deletions() < 4`, false, false},
		{`"A" < medium + "x" < "Z" > sample_id + "" > "a"`, false, false},
		{`"A" < medium + "x" < "Z"`, true, false},
		{`abs(fitness - 1) < 0.6`, true, false},
		{`abs(-fitness) != 0.6`, true, false},
		{`fitness + column("fitness#2") == 2.5`, true, false},
		{`column("fitness#2") / fitness == 4`, true, false},
		{`column("fitness#2") * fitness != 4`, true, false},
		{`column("in") == 3 and column("missing") == 4`, true, false},
		{`missing(fitness)`, false, true},
		{`missing(medium)`, false, true},
		{`missing(temperature)`, false, true},
		{`missing(fitness - 1)`, false, true},
		{`missing(medium + "x")`, false, true},
		{`not missing(fitness)`, true, false},
		{`fitness > 0.4 or missing(fitness)`, true, true},
		{`medium == "YPD"`, true, false},
		{`medium == 'YPD'`, true, false},
		{`medium != "SC"`, true, false},
		{`not (medium == "SC")`, true, true},
		{`medium < "Z"`, true, false},
		{`medium <= "YPD" && medium >= "YPD"`, true, false},
		{`medium > "A"`, true, false},
		{`"A" < medium`, true, false},
		{`"A" != medium`, true, false},
		{`medium == column("carbon source")`, false, false},
		{`medium != column("carbon source")`, true, false},
		{`medium in ["YPD", "SC"]`, true, false},
		{`medium not in ["SC"]`, true, false},
		{`not (medium in ["SC"])`, true, true},
		{`medium contains "P"`, true, false},
		{`medium not contains "Q"`, true, false},
		{`medium startsWith "Y"`, true, false},
		{`medium endsWith "D"`, true, false},
		{`medium matches "^(?i)y.d$"`, true, false},
		{`medium not matches "^S"`, true, false},
		{`medium + "!" == "YPD!"`, true, false},
		{`medium + "!" != "YPD"`, true, false},
		{`missing(fitness / (fitness - fitness) * 0)`, true, true},
		{`deletions() / 0 not in [1]`, true, false},
		{`0 / deletions() != 1`, true, false},
		{`temperature == 30`, true, false},
		{`temperature > 1e-320 and temperature > 0.0e-400`, true, false},
		{`temperature not in [0.0, 5e-324]`, true, false},
		{`temperature in [30, 37]`, true, false},
		{`deletions() == 2`, true, false},
		{`deletions() in [1, 2]`, true, false},
		{`deletions() == 0`, false, true},
		{`deletes("YAL001C")`, true, false},
		{`deletes("YAL001C", "YBR010W")`, true, false},
		{`deletes("YAL001C", "YAL002W")`, false, false},
		{`deletes_any("YAL001C", "YAL002W")`, true, false},
		{`deletes_any("YDL3", "YAL002W")`, false, false},
		{`not deletes("YAL001C")`, false, true},
		{`deletes("YAL001C") == false`, false, true},
		{`sample_id == "s1"`, true, false},
		{`sample_id in ["s1", "s2"]`, true, false},
		{`sample_id not in ["s1"]`, false, true},
		{`sample_id != "s1"`, false, true},
		{`true`, true, true},
		{`(fitness > 0.4) != (medium == "SC")`, true, false},
		{`(fitness > 0.4) == (medium == "YPD")`, true, true},
		{"fitness > 0.4\nand medium == \"YPD\"", true, false},
		{`9007199254740992 * 4 > 9007199254740992`, true, true}, // no integers that overflow
	} {
		filter, err := Compile(test.expression, columns, genes)
		if err != nil {
			t.Errorf("%s: %v", test.expression, err)
			continue
		}
		for sample, want := range map[*ingest.Sample]bool{
			&measured: test.measured, &unknown: test.unknown,
		} {
			if got := filter.Keeps(sample); got != want {
				t.Errorf("%s of %s: got %v, want %v", test.expression, sample.ID, got, want)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, test := range []struct{ expression, message, hint string }{
		{``, `read --where: found no expression`, exampleHint},
		{`fitnes > 0.5`,
			`read --where: column 1, at "fitnes > 0.5": found unknown name "fitnes", expected ` +
				`one of fitness, fitness#2, in, missing, medium, carbon source, temperature, ` +
				`sample_id`,
			"did you mean fitness?"},
		{`fitness > 0.5 and medum == "YPD"`,
			`read --where: column 19, at "medum == \"YPD\"": found unknown name "medum", `,
			"did you mean medium?"},
		{"fitness > 0.5\n and medum == 1",
			`read --where: line 2, column 6, at "medum == 1": found unknown name`,
			"did you mean medium?"},
		{`medium == YPD`, `read --where: column 11, at "YPD": found unknown name "YPD", `,
			`'tcbuild inspect' lists the columns; a text is in quotes`},
		{`column("fitness#3") > 1`,
			`read --where: column 8, at "\"fitness#3\") > 1": found unknown name "fitness#3", `,
			"did you mean fitness#2?"},
		{`column(fitness) > 1`,
			`read --where: column 8, at "fitness) > 1": found an expression, expected the name ` +
				`of a column in quotes`,
			""},
		{`medium > 0.5`, `read --where: column 8, at "> 0.5": found text > number`, typesHint},
		{`fitness == "0.5"`, `read --where: column 9, at "== \"0.5\"": found number == text`,
			typesHint},
		{`fitness contains "5"`,
			`read --where: column 9, at "contains \"5\"": found number contains text`, typesHint},
		{`fitness in ["a"]`,
			`read --where: column 9, at "in [\"a\"]": cannot use number as type text`, typesHint},
		{`medium in [1]`, `read --where: column 8, at "in [1]": cannot use text as type number`,
			typesHint},
		{`fitness in [1, "a"]`,
			`read --where: column 16, at "\"a\"]": found numbers and texts in one list`, ""},
		{`fitness in [1, medium]`,
			`read --where: column 16, at "medium]": found an expression in a list, expected a ` +
				`number or a text in quotes`,
			""},
		{`fitness in []`, `read --where: column 12, at "[]": found no list, expected`, "write in"},
		{`fitness in 1..3`, `read --where: column 13, at "..3": found no list, expected`,
			"write in"},
		{`fitness`,
			`read --where: column 1, at "fitness": the expression is a number, expected a ` +
				`comparison`,
			exampleHint},
		{`deletes("YAL01C")`,
			`read --where: column 9, at "\"YAL01C\")": gene "YAL01C" is not in the graph`,
			"did you mean YAL001C?"},
		{`deletes()`,
			`read --where: column 1, at "deletes()": found no gene, expected names of genes in ` +
				`quotes`,
			""},
		{`deletes(medium)`,
			`read --where: column 9, at "medium)": found an expression, expected the name of a ` +
				`gene in quotes`,
			""},
		{`deletions > 2`,
			`read --where: column 1, at "deletions > 2": found unknown name "deletions", `,
			"the number of deleted genes is deletions()"},
		{`deletes == 2`,
			`read --where: column 1, at "deletes == 2": found unknown name "deletes", `,
			"deletes is a function: write deletes(…)"},
		{`deletions(1) > 2`,
			`read --where: column 11, at "1) > 2": found an argument of deletions, expected none`,
			"the number"},
		{`delets("YAL001C")`,
			`read --where: column 1, at "delets(\"YAL001C\")": there is no function "delets", ` +
				`expected one of abs, column, `,
			"did you mean deletes?"},
		{`len(medium) > 2`,
			`read --where: column 1, at "len(medium) > 2": there is no function "len", `, ""},
		{`now() == now()`,
			`read --where: column 1, at "now() == now()": there is no function "now", `, ""},
		{`any(medium, true)`,
			`read --where: column 1, at "any(medium, true)": there is no function "any", `, ""},
		{`abs() > 1`,
			`read --where: column 1, at "abs() > 1": found 0 arguments of abs, expected one`, ""},
		{`fitness == nil`,
			`read --where: column 12, at "nil": nil is not part of the language of expressions`,
			missingHint},
		{`fitness == NaN`, `read --where: column 12, at "NaN": found unknown name`, missingHint},
		{`missing(fitness > 1)`,
			`read --where: column 17, at "> 1)": found a condition, which is never missing, ` +
				`expected a column`,
			missingHint},
		{`not fitness > 1`, `read --where: column 1, at "not fitness > 1": found not number`,
			"not binds more tightly"},
		{`missing()`,
			`read --where: column 1, at "missing()": found 0 arguments of missing, expected one`,
			""},
		{`fitness = 0.5`, `read --where: column 9, at "= 0.5": found "="`, syntaxHint},
		{`fitness > 0.5 and`,
			`read --where: column 17, at "d": the expression ends after this, expected more`,
			syntaxHint},
		{`(fitness > 0.5`,
			`read --where: column 14, at "5": the expression ends after this, expected more`,
			syntaxHint},
		{`fitness#2 > 0.5`, `read --where: column 8, at "#2 > 0.5": found "#"`, syntaxHint},
		{`growth.rate > 0.5`, `read --where: column `, syntaxHint},
		{`fitness > 1 ? true : false`, `read --where: column `, syntaxHint},
		{`let x = fitness; x > 1`, `read --where: column `, syntaxHint},
		{`fitness % 2 == 0`,
			`read --where: column 9, at "% 2 == 0": found the operator %, expected one of and, `,
			""},
		{`fitness ?? 1 > 0`, `read --where: column `, ""},
		{`$env`, `read --where: column `, ""},
		{`0 < (fitness in [1]) < 2`,
			`read --where: column 3, at "< (fitness in [1]) < 2": found number < condition`,
			typesHint},
		{`deletions() > 1 and deletions > 2`,
			`read --where: column 21, at "deletions > 2": found unknown name "deletions", `,
			"the number of deleted genes is deletions()"},
		{`fitness and medium == "YPD"`,
			`read --where: column 9, at "and medium == \"YPD\"": found number and condition`,
			typesHint},
		{`medium matches "("`,
			"read --where: column 8, at \"matches \\\"(\\\"\": error parsing regexp: missing " +
				"closing ): `(`",
			typesHint},
		{`medium matches medium`,
			`read --where: column 16, at "medium": found an expression, expected a regular ` +
				`expression in quotes`,
			""},
		{`fitness > 9007199254740993`, `read --where: column `, ""},
		{`fitness > 1e-400`,
			`read --where: column 11, at "1e-400": found "1e-400", which is too small for a ` +
				`64-bit floating-point number`,
			""},
		{`medium == "π" and fitness > -1_0.0e-4_00`,
			`read --where: column 30, at "1_0.0e-4_00": found "1_0.0e-4_00", which is too small`,
			""},
		{`fitness in [1, 0.5e-350]`,
			`read --where: column 16, at "0.5e-350]": found "0.5e-350", which is too small`, ""},
		{`fitness > 1e999`, `read --where: column `, syntaxHint},
		{`medium == "` + strings.Repeat("x", 5000) + `" and fitness > "a"`, `read --where: column `,
			typesHint},
	} {
		_, err := Compile(test.expression, columns, genes)
		isRefused := fault.KindOf(err) == fault.Usage &&
			strings.HasPrefix(fmt.Sprint(err), test.message)
		if err == nil || !isRefused || !strings.HasPrefix(fault.HintOf(err), test.hint) {
			t.Errorf("%s:\n got %v\n     %s (%v)\nwant %s\n     %s", fault.Quote(test.expression),
				err, fault.HintOf(err), fault.KindOf(err), test.message, test.hint)
			continue
		}
		if len(err.Error()) > 1000 {
			t.Errorf("%s: the message has %d bytes", fault.Quote(test.expression), len(err.Error()))
		}
	}
}

// The examples of docs/input.md are true.
func TestDocumentedExamples(t *testing.T) {
	input, err := os.ReadFile("../../docs/input.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(input),
		"| expression | fitness 0.5, medium YPD | both missing |\n| --- | --- | --- |\n")
	rows, _, _ := strings.Cut(table, "\n\n")
	found := 0
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, "|")
		filter, err := Compile(strings.Trim(cells[1], " `"), columns, genes)
		if err != nil {
			t.Fatal(err)
		}
		for i, sample := range []*ingest.Sample{&measured, &unknown} {
			want := strings.Contains(cells[i+2], "kept")
			if got := filter.Keeps(sample); got != want {
				t.Errorf("%s of sample %d: got %v, want %v", cells[1], i, got, want)
			}
		}
		found++
	}
	if found < 10 {
		t.Errorf("found %d examples, expected 10 or more", found)
	}
}

func BenchmarkKeeps(b *testing.B) {
	for _, expression := range []string{
		`fitness > 0.4`,
		`fitness > 0.4 and medium == "YPD" and deletions() == 2 and not deletes("YAL001C")`,
	} {
		b.Run(expression, func(b *testing.B) {
			filter, err := Compile(expression, columns, genes)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				filter.Keeps(&measured)
			}
		})
	}
}
