package samples_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
)

// TestScreenAccounts reads random screens of every kind under every setting that drops rows. Each
// row is a sample or has a reason, and what is written as .tsv and .arrow is read back as the same
// samples.
func TestScreenAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads the real data")
	}
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	name := func() string {
		return pick("YAL001C", "VPS8", "TBS1", "HO", "SHARED", "NONE1", "NONE2", "YAL016C-B")
	}
	score := func() string {
		return pick("", "N/A", "1", "-0.25", "1e-300", "0", "-0", "123456789.125")
	}
	genes, aliases := screenGenes(t)
	var kept, none int
	for round := range 200 {
		var text strings.Builder
		rows := 1 + random.IntN(12)
		change := func(s *samples.Spec) {}
		source := "matrix"
		entries := rows
		switch kind := random.IntN(3); kind {
		case 0:
			text.WriteString("Query Strain ID\tArray Strain ID\tscore\tp\n")
			for range rows {
				fmt.Fprintf(&text, "%s_%s\t%s_%s\t%s\t%s\n", name(), pick("sn1", "tsq2", "damp3"),
					name(), pick("dma1", "tsa2"), score(), score())
			}
			source, change = "costanzo2016", func(s *samples.Spec) { s.Strains = strainIDs }
		case 1:
			text.WriteString("gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n")
			for range rows {
				fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%s\n", name(), name(),
					pick("DELETION", "DAMP", ""), pick("DELETION", "delta ho", "tfc3-1"), score())
			}
			source = "emap"
		default:
			change = func(s *samples.Spec) {
				s.ColumnsAre = []samples.MatrixColumns{
					samples.Conditions, samples.SecondGenes,
				}[random.IntN(2)]
				s.PartialLoss = []samples.PartialLoss{
					samples.DropPartialLoss, samples.KeepPartialLoss,
				}[random.IntN(2)]
			}
			columns := 1 + random.IntN(3)
			text.WriteString("orf")
			for k := range columns {
				text.WriteString("\t" + []string{name(), pick("het x", "VPS8", "cold"), "NONE3"}[k])
			}
			text.WriteByte('\n')
			for range rows {
				text.WriteString(name())
				for range columns {
					text.WriteString("\t" + score())
				}
				text.WriteByte('\n')
			}
			entries = rows * columns
		}
		spec := screenOf(t, source, text.String(), aliases)
		spec.MaxDropped = new(1.0)
		spec.AllowWildtype = true
		spec.AllowDuplicateIDs = true
		spec.KeepUnmeasured = random.IntN(2) == 0
		spec.UnknownGenes = []ingest.UnknownGenes{
			ingest.DropSample, ingest.DropGene,
		}[random.IntN(2)]
		spec.Alleles = [][]samples.AlleleKind{
			nil, {samples.DeletionAllele, samples.DAmPAllele}, samples.AlleleKinds,
		}[random.IntN(3)]
		change(&spec)
		screen, err := openForm(spec, &ingest.Graph{Genes: genes})
		if err != nil {
			t.Fatalf("seed %d, round %d: %v\n%s", seed, round, err, text.String())
		}
		texts, report, err := readScreen(t, screen, err, genes)
		if err != nil && !strings.Contains(err.Error(), "; dropped: ") {
			t.Fatalf("seed %d, round %d: %v\n%s", seed, round, err, text.String())
		}
		account := screen.Account()
		isWhole := account.Rows == entries && account.IsComplete() && account.Kept == len(texts)
		if isEmpty := len(texts) == 0; !isWhole || isEmpty != (err != nil) {
			t.Fatalf("seed %d, round %d: %d entries, %d samples, error %v, %s\n%s", seed, round,
				entries, len(texts), err, report, text.String())
		}
		if kept += len(texts); err != nil {
			none++
			continue
		}
		for _, format := range []string{".tsv", ".arrow"} {
			path := filepath.Join(t.TempDir(), "p"+format)
			if err := samples.Write(t.Context(), path, screen, genes); err != nil {
				t.Fatal(err)
			}
			if again := readBack(t, path, genes); !slices.Equal(again, texts) {
				t.Fatalf("seed %d, round %d: %s reads\n%s\nwant\n%s", seed, round, format,
					strings.Join(again, "\n"), strings.Join(texts, "\n"))
			}
		}
		screen.Close()
	}
	if kept < 200 || none < 5 {
		t.Errorf("%d samples, %d screens without: the random screens are too much alike", kept,
			none)
	}
}

// TestScreenNames checks that ids that an output could not distinguish, and names that must be
// typos, are errors whatever is dropped.
func TestScreenNames(t *testing.T) {
	genes, aliases := screenGenes(t)
	const pair, wide = "sample_id\tgene_a\tgene_b\tscore\n", "orf\tcold\thot\n"
	for _, c := range []struct {
		text string
		want []string // nil: it is read only if duplicate ids are allowed
	}{
		{pair + "s\tTFC3\tVPS8\t1\ns\tTFC3\tTBS1\t2\n", nil},
		{pair + "s\tTFC3\tVPS8\t1\ns\tNONE1\tTBS1\t2\n", nil},
		{pair + "\tTFC3\tVPS8\t1\n", nil},
		{pair + "s\tTFC3 \tNONE1\t1\n", []string{"s.tsv:2", `"TFC3 "`, "spaces"}},
		{pair + "s\tTFC3\t NONE1\t1\n", []string{"s.tsv:2", `" NONE1"`, "spaces"}},
		{pair + "s\tTFC3|VPS8\tTBS1\t1\n", []string{"s.tsv:2", `"TFC3|VPS8"`, "one gene"}},
		{pair + "s\tTFC3\t\t1\n", []string{"s.tsv:2", "empty gene name"}},
		{wide + "VPS8\t1\t2\nVPS8\t3\t4\n", nil},
		{"orf\tcold\tcold\nVPS8\t1\t2\n", nil},
		{wide + " VPS8\t1\t2\n", []string{"s.tsv:2", `" VPS8"`, "spaces"}},
	} {
		for _, word := range ingest.UnknownGenesChoices {
			for _, allow := range []bool{false, true} {
				spec := screenOf(t, "matrix", c.text, aliases)
				if !strings.HasPrefix(c.text, "orf") {
					spec.Matrix, spec.Strains = false, genePairs
				}
				spec.UnknownGenes = ingest.UnknownGenes(word)
				spec.MaxDropped = new(1.0)
				spec.AllowDuplicateIDs = allow
				screen, err := openForm(spec, &ingest.Graph{Genes: genes})
				_, _, err = readScreen(t, screen, err, genes)
				switch {
				case c.want != nil:
					check.Fault(t, err, fault.Input, c.want...)
				case !allow && !asksToAllow(err):
					t.Errorf("%q: got %v, hint %q, expected a hint at allow_duplicate_ids", c.text,
						err, fault.HintOf(err))
				case allow && err != nil && !strings.Contains(err.Error(), "NONE1"):
					t.Errorf("%q: %v", c.text, err)
				}
			}
		}
	}
}

// asksToAllow reports whether an error is bad input with a hint at allow_duplicate_ids.
func asksToAllow(err error) bool {
	return fault.KindOf(err) == fault.Input &&
		strings.Contains(fault.HintOf(err), "allow_duplicate_ids=true")
}

// readBack reads a perturbation set as readScreen does a screen.
func readBack(t *testing.T, path string, genes *ingest.Nodes) []string {
	t.Helper()
	spec := samples.Spec{
		TextSpec:          table.TextSpec{File: path},
		AllowWildtype:     true,
		AllowDuplicateIDs: true,
	}
	set, err := samples.Open(spec, &ingest.Graph{Genes: genes})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	texts, _, err := readTexts(set, genes)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestUnknownGenesOfScreens gives each kind of screen rows with no, one and two unknown names,
// under each of the three settings.
func TestUnknownGenesOfScreens(t *testing.T) {
	genes, aliases := screenGenes(t)
	sga := sgaHeader + "VPS8_sn1\tvps8\tTBS1_dma1\ttbs1\tx\t1\t1\n" +
		"VPS8_sn1\tvps8\tNONE1_dma1\tnone1\tx\t2\t1\n" +
		"SHARED_sn1\tshared\tNONE1_dma1\tnone1\tx\t3\t1\n" +
		"NONE2_sn1\tnone2\tVPS8_tsa1\tvps8-1\tx\t4\t1\n" +
		"YDL227C+NONE1_tm1\thoΔ+none1Δ\tYDL227C_dma1\tho\tx\t5\t1\n"
	emap := "gene_a\tgene_b\tscore\nVPS8\tTBS1\t1\nVPS8\tNONE1\t2\nSHARED\tNONE1\t3\n"
	wide := "orf\tcold\thot\nVPS8\t1\t2\nNONE1\t3\t4\nSHARED\t5\t\n"
	for _, c := range []struct {
		name, text, word string
		samples          []string
		report           string // with the counts under this setting
	}{
		{
			name:    "sga",
			text:    sga,
			word:    "drop-sample",
			samples: []string{"0 YAL002W+YBR150C [1 1]"},
			report: "dropped: 3 of unknown genes, 1 of ambiguous names; unknown names: NONE1, " +
				"NONE2, SHARED",
		},
		{
			name:    "sga",
			text:    sga,
			word:    "drop-gene",
			samples: []string{"0 YAL002W+YBR150C [1 1]", "1 YAL002W [2 1]"},
			report: "dropped: 2 left without a gene, as theirs are unknown, 1 of allele kind ts, " +
				"which is not among alleles; " +
				"noted: 1 unknown genes left out; unknown names: NONE1, NONE2, SHARED",
		},
		{
			name:    "emap",
			text:    emap,
			word:    "drop-sample",
			samples: []string{"0 YAL002W+YBR150C [1]"},
			report: "dropped: 1 of unknown genes, 1 of ambiguous names; unknown names: NONE1, " +
				"SHARED",
		},
		{
			name:    "emap",
			text:    emap,
			word:    "drop-gene",
			samples: []string{"0 YAL002W+YBR150C [1]", "1 YAL002W [2]"},
			report: "dropped: 1 left without a gene, as theirs are unknown; noted: 1 unknown " +
				"genes left out; unknown names: NONE1, SHARED",
		},
		{
			name:    "matrix",
			text:    wide,
			word:    "drop-sample",
			samples: []string{"VPS8: cold YAL002W [1]", "VPS8: hot YAL002W [2]"},
			report: "dropped: 2 of unknown genes, 2 of ambiguous names; noted: 3 rows; unknown " +
				"names: NONE1, SHARED",
		},
		{
			name:    "matrix",
			text:    wide,
			word:    "drop-gene",
			samples: []string{"VPS8: cold YAL002W [1]", "VPS8: hot YAL002W [2]"},
			report: "dropped: 4 left without a gene, as theirs are unknown; noted: 3 rows; " +
				"unknown names: NONE1, SHARED",
		},
	} {
		for _, word := range []ingest.UnknownGenes{
			ingest.UnknownGenes(c.word), ingest.RefuseUnknownGenes,
		} {
			spec := screenOf(t,
				map[string]string{
					"sga": "costanzo2016", "emap": "emap", "matrix": "matrix",
				}[c.name],
				c.text, aliases)
			if c.name == "emap" {
				spec.Strains = genePairs
			}
			spec.UnknownGenes, spec.MaxDropped, spec.AllowWildtype = word, new(1.0), true
			screen, err := openForm(spec, &ingest.Graph{Genes: genes})
			samples, report, err := readScreen(t, screen, err, genes)
			if word == ingest.RefuseUnknownGenes {
				check.Fault(t, err, fault.Input, "s.tsv:3", `gene "NONE1" is not in the graph`)
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", c.name, word, err)
			}
			checkSamples(t, samples, c.samples)
			if _, counts, _ := strings.Cut(report, "; "); counts != c.report {
				t.Errorf("%s %s: report\n%s\nwant its end to be\n%s", c.name, word, report,
					c.report)
			}
		}
	}
}
