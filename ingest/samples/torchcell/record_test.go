package torchcell

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"tcbuild/internal/testing/seed"
)

// pair is a fitness record as torchcell writes it, with a value and a standard error.
func pair(value, deviation string, genes ...string) string {
	var perturbations []string
	for _, gene := range genes {
		perturbations = append(perturbations, fmt.Sprintf(`{"systematic_gene_name": "%s", "perturbed_gene_name": "x", "perturbation_type": "deletion"}`, gene))
	}
	return fmt.Sprintf(`{"experiment": {"experiment_type": "fitness", "dataset_name": "A+B", "genotype": {"perturbations": [%s]}, `+
		`"environment": {"media": {"name": "YPD"}, "temperature": {"value": 30, "unit": "Celsius"}}, `+
		`"phenotype": {"graph_level": "global", "label_name": "fitness", "label_statistic_name": "fitness_se", "fitness": %s, "fitness_se": %s, "n_samples": Infinity}}, `+
		`"experiment_reference": {"phenotype_reference": {"fitness": NaN, "x": [-Infinity, {}]}}}`, strings.Join(perturbations, ", "), value, deviation)
}

// phenotype is a record with a phenotype and gene A.
func phenotype(members string) string {
	return `{"experiment": {"phenotype": {` + members + `}, "genotype": {"perturbations": [{"systematic_gene_name": "A"}]}}}`
}

func show(r *Record) string {
	var out []string
	for _, e := range r.Experiments {
		genes := []string{}
		for _, p := range e.Perturbations {
			genes = append(genes, string(p.Gene))
		}
		text := fmt.Sprintf("%s %s:", genes, e.Label)
		for _, v := range e.Values {
			if v.Attribute {
				continue
			}
			part := ""
			if v.Part != nil {
				part = "." + string(v.Part)
			}
			text += fmt.Sprintf(" %s%s=%s", v.Name, part, shown(v))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// shown is a value: a text with ", an object or array as ?.
func shown(v Value) string {
	switch {
	case v.Text != nil:
		return strconv.Quote(string(v.Text))
	case v.Other:
		return "?"
	}
	return fmt.Sprint(v.Number)
}

// decode decodes a record.
func decode(text string) (*Record, error) {
	var d decoder
	r := new(Record)
	return r, d.decode(r, []byte(text))
}

func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"single", pair("0.5", "0.01", "YAL001C"), "[YAL001C] fitness: fitness=0.5 fitness_se=0.01"},
		{"array", "[" + pair("1", "null", "A") + ", " + pair("-2e-3", "NaN", "B", "B") + "]", "[A] fitness: fitness=1 fitness_se=NaN; [B B] fitness: fitness=-0.002 fitness_se=NaN"},
		{"empty array", " [ ] ", ""},
		{"wild type", pair("1", "0"), "[] fitness: fitness=1 fitness_se=0"},
		{"infinite", pair("Infinity", "-Infinity", "A"), "[A] fitness: fitness=+Inf fitness_se=-Inf"},
		{"beyond float64", pair("1e999", "1E-320", "A"), "[A] fitness: fitness=+Inf fitness_se=1e-320"},
		{"escapes", pair("1", "1", `ho\u0394\"`), "[hoΔ\"] fitness: fitness=1 fitness_se=1"},
		{"tokens in texts", pair("1", "1", "NaN", "-Infinity", `\"{[`), `[NaN -Infinity "{[] fitness: fitness=1 fitness_se=1`},
		{"label after its value", phenotype(`"p": 0.05, "y": 2, "label_statistic_name": "p", "label_name": "y"`), "[A] y: y=2 p=0.05"},
		{"no statistic named", phenotype(`"label_name": "y", "y": 2`), "[A] y: y=2"},
		{"statistic null", phenotype(`"label_name": "y", "label_statistic_name": null, "y": 2`), "[A] y: y=2"},
		{"statistic not there", phenotype(`"label_name": "y", "label_statistic_name": "y_std", "y": 2`), "[A] y: y=2 y_std=NaN"},
		{"label not there", phenotype(`"label_name": "y"`), "[A] y: y=NaN"},
		{"truth", phenotype(`"label_name": "is_essential", "is_essential": true`), "[A] is_essential: is_essential=1"},
		{"untruth", phenotype(`"label_name": "is_essential", "is_essential": false`), "[A] is_essential: is_essential=0"},
		{"text", phenotype(`"label_name": "y", "y": "high"`), `[A] y: y="high"`},
		{"members", phenotype(`"label_name": "calmorph", "calmorph": {"A101": 1, "": null, "C": "x"}, "label_statistic_name": "sd", "sd": {"A101": 0.5}`),
			"[A] calmorph: calmorph.A101=1 calmorph.=NaN calmorph.C=\"x\" sd.A101=0.5"},
		{"elements", phenotype(`"label_name": "y", "y": [1, NaN, [2]]`), "[A] y: y.0=1 y.1=NaN y.2=?"},
		{"list of genotypes", `{"experiment": {"genotype": [{"perturbations": [{"systematic_gene_name": "A"}]}, {"perturbations": [{"systematic_gene_name": "B"}]}], "phenotype": {"label_name": "y", "y": 1}}}`,
			"[A B] y: y=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d decoder
			var r Record
			for range 2 { // memory is reused
				if err := d.decode(&r, []byte(test.text)); err != nil || show(&r) != test.want {
					t.Errorf("got  %s, %v\nwant %s", show(&r), err, test.want)
				}
			}
		})
	}
}

// One decoder reads records whose values are those of the record or experiment before, or begin
// like them. What it finds is what another decoder finds that has read nothing before.
func TestDecodeAgain(t *testing.T) {
	one := func(genotype, environment, reference string) string {
		return `{"experiment": {"genotype": ` + genotype + `, "environment": ` + environment +
			`, "phenotype": {"label_name": "y", "y": 1}}, "experiment_reference": ` + reference + `}`
	}
	genotypes := []string{`{"perturbations": [{"systematic_gene_name": "A", "perturbation_type": "x"}]}`, `{"perturbations": []}`,
		`{"perturbations": [{"systematic_gene_name": "\u0394"}, {"systematic_gene_name": "B"}]}`, `[{"perturbations": []}]`}
	environments := []string{`{"media": "YPD"}`, `{"media": "YPD", "temperature": {"value": 3, "unit": "Kelvin"}}`, "1", "12", `"x"`, "{}", "null", `{"$ref": "x"}`}
	references := []string{"{}", `{"x": NaN}`, "-1", "-12", "1e3", "1e30", `"x"`, `[{}]`, `[{}, {}]`}
	random := seed.Rand(t)
	oneOf := func(texts []string) string { return texts[random.IntN(len(texts))] }
	var d decoder
	var r Record
	for range 3000 {
		pairs := make([]string, random.IntN(7))
		for i := range pairs {
			pairs[i] = one(oneOf(genotypes), oneOf(environments), oneOf(references))
		}
		text := "[" + strings.Join(pairs, ", ") + "]"
		want, err := decode(text)
		err = errors.Join(err, d.decode(&r, []byte(text)))
		if err != nil || fmt.Sprint(r.Experiments) != fmt.Sprint(want.Experiments) {
			t.Fatalf("%s: %v\ngot  %v\nwant %v", text, err, r.Experiments, want.Experiments)
		}
	}
	for _, bad := range []string{"{}x", "{} {}", "{", "-", "1e", `"x`} {
		text := "[" + one(genotypes[0], "{}", "{}") + ", " + one(genotypes[0], "{}", bad) + "]"
		for range 2 {
			if err := d.decode(&r, []byte(text)); err == nil {
				t.Errorf("%s: no error", text)
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "byte 0: found the end, expected a value"},
		{"pickle", "\x80\x04\x95", `byte 0: found "\x80\x04\x95", expected a value`},
		{"no experiment", `{"experiment_reference": {}}`, `found no "experiment"`},
		{"element without experiment", "[" + pair("1", "1", "A") + ", {}]", `found no "experiment"`},
		{"no genotype", `{"experiment": {"phenotype": {"label_name": "y"}}}`, `found no "genotype"`},
		{"no phenotype", `{"experiment": {"genotype": {"perturbations": []}}}`, `found no "phenotype"`},
		{"no perturbations", `{"experiment": {"genotype": {}}}`, `found no "perturbations"`},
		{"no gene name", `{"experiment": {"genotype": {"perturbations": [{"perturbed_gene_name": "x"}]}}}`, `found no "systematic_gene_name"`},
		{"null gene name", `{"experiment": {"genotype": {"perturbations": [{"systematic_gene_name": null}]}}}`, `found "null", expected a text`},
		{"pointer", `{"experiment": {"genotype": {"$ref": "00", "kind": "genotype"}}}`, `found a pointer "$ref" in place of a genotype`},
		{"label that is no text", phenotype(`"label_name": NaN`), `found "NaN", expected a text`},
		{"no label", phenotype(`"y": 1`), `found no "label_name"`},
		{"cut off", pair("1", "1", "A")[:200], "found the end, expected"},
		{"more behind it", pair("1", "1", "A") + "x", `found "x", expected the end of the record`},
		{"zero bytes behind it", pair("1", "1", "A") + "\x00", `found "\x00", expected the end of the record`},
		{"bad number", pair("1.", "1", "A"), "expected a digit"},
		{"bad token", pair("nan", "1", "A"), "expected a value"},
		{"comma at the end", "[" + pair("1", "1", "A") + ",]", "expected a value"},
		{"bad escape", pair("1", "1", "A")[:30] + `\x"`, "found a text with a wrong escape"},
		{"control character", "{\"experi\nment\": 1}", "expected a text without control characters"},
		{"deep", strings.Repeat("[", 2000), "expected at most 1000 levels"},
		{"deep inside", `{"x": ` + strings.Repeat("[", 2000), "expected at most 1000 levels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := decode(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// quoteTokens puts quotes and a mark around Python's own tokens, so that the standard library can
// read the text.
func quoteTokens(text string) string {
	var out strings.Builder
	inText := false
	for i := 0; i < len(text); {
		rest := text[i:]
		token := ""
		for _, t := range []string{"NaN", "Infinity", "-Infinity"} {
			if !inText && strings.HasPrefix(rest, t) {
				token = t
			}
		}
		switch {
		case token != "":
			out.WriteString(`"\u0001` + token + `"`)
			i += len(token)
			continue
		case inText && rest[0] == '\\' && len(rest) > 1:
			out.WriteString(rest[:2])
			i += 2
			continue
		case rest[0] == '"':
			inText = !inText
		}
		out.WriteByte(rest[0])
		i++
	}
	return out.String()
}

// name is a text of the schema. A token in its place is not one, and panics like any other value.
func name(value any) string {
	text := value.(string)
	if strings.HasPrefix(text, "\x01") {
		panic("a token")
	}
	return text
}

// oracle reads a record with the standard library, independently of the parser.
func oracle(text string) (want string, ok bool) {
	var content any
	if json.Unmarshal([]byte(quoteTokens(text)), &content) != nil {
		return "", false
	}
	pairs, isArray := content.([]any)
	if !isArray {
		pairs = append(pairs, content)
	}
	defer func() {
		if recover() != nil { // a type assertion, or name: the record does not follow the schema
			want, ok = "", false
		}
	}()
	var out []string
	for _, pair := range pairs {
		e := pair.(map[string]any)["experiment"].(map[string]any)
		genotypes, isList := e["genotype"].([]any)
		if !isList {
			genotypes = append(genotypes, e["genotype"])
		}
		genes := []string{}
		for _, genotype := range genotypes {
			if _, isPointer := genotype.(map[string]any)["$ref"]; isPointer {
				return "", false
			}
			for _, perturbation := range genotype.(map[string]any)["perturbations"].([]any) {
				genes = append(genes, name(perturbation.(map[string]any)["systematic_gene_name"]))
			}
		}
		phenotype := e["phenotype"].(map[string]any)
		label := name(phenotype["label_name"])
		line := fmt.Sprintf("%s %s:", genes, label)
		names := []string{label}
		if statistic, named := phenotype["label_statistic_name"].(string); named {
			names = append(names, name(statistic))
		}
		for _, column := range names {
			value := Value{Number: math.NaN()}
			switch v := phenotype[column].(type) {
			case nil:
			case float64:
				value.Number = v
			case bool:
				if value.Number = 0; v {
					value.Number = 1
				}
			case string:
				switch v {
				case "\x01NaN":
				case "\x01Infinity":
					value.Number = math.Inf(1)
				case "\x01-Infinity":
					value.Number = math.Inf(-1)
				default:
					value.Text = []byte(v)
				}
			default:
				return "", false // members have no order in a map: TestDecode
			}
			line += fmt.Sprintf(" %s=%s", column, shown(value))
		}
		out = append(out, line)
	}
	return strings.Join(out, "; "), true
}

// FuzzDecode compares with the oracle: what it reads of UTF-8 text, the decoder must read too, with
// the same result. The decoder additionally accepts numbers beyond float64, repeated members and
// values of objects.
func FuzzDecode(f *testing.F) {
	f.Add(pair("0.5", "NaN", "YAL001C", "YBR002W"))
	f.Add("[" + pair("Infinity", "null", "A") + "," + pair("1e-5", "0", `\u0394`) + "]")
	f.Add(phenotype(`"y": true, "label_name": "y", "label_statistic_name": "z"`))
	f.Add(phenotype(`"y": {"a": 1}, "label_name": "y"`))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := decode(text)
		want, ok := oracle(text)
		if !ok || !utf8.ValidString(text) || strings.Contains(text, "\ufffd") || !json.Valid([]byte(quoteTokens(text))) {
			return
		}
		if err != nil && strings.Contains(err.Error(), "expected one without |") { // in a type, which the oracle does not read
			return
		}
		if err != nil {
			t.Fatalf("%v: the oracle reads %s", err, want)
		}
		if !strings.HasPrefix(strings.TrimSpace(text), "[") {
			twice, err := decode("[" + text + "," + text + "]")
			if one := show(r); err != nil || show(twice) != one+"; "+one {
				t.Errorf("got  %s, %v\nwant %s twice", show(twice), err, one)
			}
		}
		if got := show(r); got != want && !repeats(text) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// repeats reports whether an object has a repeated member, of which a map keeps the last.
func repeats(text string) bool {
	var walk func(d *json.Decoder) bool
	walk = func(d *json.Decoder) bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		seen := make(map[any]bool)
		twice := false
		for delim, open := token.(json.Delim); open && d.More(); {
			if delim == '{' {
				name, _ := d.Token()
				twice = twice || seen[name]
				seen[name] = true
			}
			twice = walk(d) || twice
		}
		if _, open := token.(json.Delim); open {
			d.Token()
		}
		return twice
	}
	return walk(json.NewDecoder(strings.NewReader(quoteTokens(text))))
}

// FuzzParse compares the grammar with the standard library's.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a": [1, -0.5e+3, "x\n\u00e9", null, true, false, {}]}`, "[]", `"`, "01", "-", "1e", `{"a" 1}`, "[1,]", "\"\x01\"", `"\ud800"`, "NaN"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := new(parser).parse([]byte(text))
		got, want := err == nil, json.Valid([]byte(quoteTokens(text)))
		if strings.Contains(text, "\x01") && !want { // the mark may have come from the text
			return
		}
		if got != want && strings.Count(text, "[")+strings.Count(text, "{") < maxDepth {
			t.Errorf("%q: read %v (%v), the standard library %v", text, got, err, want)
		}
	})
}

// BenchmarkDecode reads a record, and for comparison the same record with the standard library,
// which the tokens and infinite values of other records would stop.
func BenchmarkDecode(b *testing.B) {
	record := strings.NewReplacer("-Infinity", "0", "Infinity", "0", "NaN", "0").Replace(
		"[" + pair("0.5", "0.01", "YAL001C", "YBR002W", "YCL003C") + ", " + pair("0.5", "0.02", "YAL001C", "YBR002W", "YCL003C") + "]")
	text := []byte(record)
	run := func(reader string, read func() error) {
		b.Run("reader="+reader, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var d decoder
	var r Record
	run("parser", func() error { return d.decode(&r, text) })
	run("encoding-json", func() error {
		var pairs []struct {
			Experiment struct {
				Genotype struct {
					Perturbations []struct {
						Gene string `json:"systematic_gene_name"`
					}
				}
				Phenotype map[string]any // which member holds the value is known only at the end
			}
		}
		return json.Unmarshal(text, &pairs)
	})
}
