package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/oracle"
	"tcbuild/internal/testing/sets"
)

// The preset human reads releases in their layouts: each name finds its gene, by whatever id the
// source has, and a name that two genes share finds none.
func TestHuman(t *testing.T) {
	spec := humanSpec(t)
	graph, report := build(t, spec)
	check.Accounts(t, report)
	ids := []string{"HK1", "HK2", "HLA-A", "KRAS", "NKX2-1", "TP53"}
	if !slices.Equal(graph.Genes.IDs, ids) {
		t.Errorf("got genes %q, want %q", graph.Genes.IDs, ids)
	}
	var got []string
	for _, edges := range graph.Edges {
		sources, targets := graph.Ends(edges.Type)
		for row := range edges.Len() {
			got = append(got,
				fmt.Sprintf("%s: %s %s", edges.Type, sources.IDs[edges.Src[row]],
					targets.IDs[edges.Dst[row]]))
		}
	}
	slices.Sort(got)
	want := []string{
		"gene__gpr__reaction: HK1 MAR04394", "gene__gpr__reaction: HK2 MAR04394",
		"gene__has_annotation__gene_ontology: HK1 GO:0006096",
		"gene__string12_0__gene: TP53 KRAS",
		"gene__trrust__gene: KRAS TP53", "gene__trrust__gene: NKX2-1 " +
			"HLA-A", "gene__trrust__gene: TP53 KRAS",
		"gene_ontology__is_a__gene_ontology: GO:0006096 GO:0008150",
		"reaction__rmr__metabolite: MAR04394 MAM01965c", "reaction__rmr__metabolite: MAR04394 " +
			"MAM01968c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, source := range report {
		if source.Made == "gene__trrust__gene" &&
			(countOf(source.Dropped, "of ambiguous names") != 1 || len(source.Dropped) != 1) {
			t.Errorf("got %s dropped, want BCH, which two genes have", source)
		}
	}
}

func humanSpec(t *testing.T) (spec Spec) {
	t.Helper()
	settings, err := conf.Load("../../../conf/human.yaml",
		[]string{"data=" + releases(t, "human.txtar")})
	if err == nil {
		err = settings.Decode(&spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// The preset downloads what it reads, and nothing else.
func TestHumanDownloads(t *testing.T) {
	spec := humanSpec(t)
	var files []string
	for _, download := range spec.Downloads {
		files = append(files, download.File)
	}
	if slices.Sort(files); !slices.Equal(files, spec.Files()) {
		t.Errorf("downloads %q, reads %q", files, spec.Files())
	}
}

// What conditions of a human screen remove from the preset's graph is what the oracle says, under
// both rules: of the isozymes HK1 and HK2, the reaction MAR04394 needs either.
func TestHumanMasks(t *testing.T) {
	spec := humanSpec(t)
	graph, _ := build(t, spec)
	p, err := samples.Open(samples.Spec{
		GenesColumns: []string{"condition"}, Controls: []string{"ctrl"},
		TextSpec: table.TextSpec{
			File: inputs.Write(t, "cells.tsv",
				"condition\tx\nctrl\t1\nHK1+ctrl\t2\nHK1+HK2\t3\nNKX2-1+HLA-A\t4\n"+
					"ENSG00000141510+K-ras\t5\n"),
		},
		GeneDelimiter: "+", AliasTables: spec.Aliases, AllowWildtype: true,
	}, graph)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	reaction := uint32(graph.Genes.Len())
	for _, rule := range []incidence.ReactionRule{incidence.RuleAll, incidence.RuleGPR} {
		rules, err := incidence.ReadRules(graph, rule)
		if err != nil {
			t.Fatal(err)
		}
		remover := incidence.NewRemover(graph, incidence.Build(graph), rules)
		var withoutReaction []string
		_, err = sets.Read(p, func(samples *ingest.Samples) error {
			for i := range samples.Len() {
				got := remover.Removed(samples.Genes(i))
				want := oracle.Removed(graph, samples.Genes(i), rule == incidence.RuleGPR)
				if !slices.Equal(got, want) {
					t.Errorf("rule %s, %s: removed %d, want %d", rule,
						sampleText(samples, i, graph.Genes), got, want)
				}
				if slices.Contains(got, reaction) {
					withoutReaction = append(withoutReaction, string(samples.ID(i)))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[incidence.ReactionRule]string{
			incidence.RuleAll: "1 2", incidence.RuleGPR: "2",
		}[rule]
		if strings.Join(withoutReaction, " ") != want {
			t.Errorf("rule %s: samples %q lose the reaction, want %s", rule, withoutReaction, want)
		}
	}
}

// The genes of a graph can be those of its model.
func TestGenesOfModel(t *testing.T) {
	dir := releases(t, "human.txtar")
	graph, _ := build(t, Spec{
		Genes: GenesSpec{GEM: dir + "/Human-GEM.yml"},
		GEM:   models.Spec{File: dir + "/Human-GEM.yml"},
	})
	got, want := graph.Genes.IDs, []string{"ENSG00000156515", "ENSG00000159399"}
	if !slices.Equal(got, want) {
		t.Errorf("got genes %q, want %q", got, want)
	}
	var files inputfile.Files
	defer files.Close()
	_, _, err := Graph(&files, Spec{
		Genes: GenesSpec{GEM: "a.yml", TextSpec: table.TextSpec{File: "genes.tsv"}, Column: "id"},
	})
	if fault.KindOf(err) != fault.Usage ||
		!strings.Contains(err.Error(), "genes.column: it does not apply to a model") {
		t.Errorf("got %v", err)
	}
}

// sampleText is a sample as "id genes values".
func sampleText(batch *ingest.Samples, i int, genes *ingest.Nodes) string {
	var ids []string
	for _, row := range batch.Genes(i) {
		ids = append(ids, genes.IDs[row])
	}
	return fmt.Sprintf("%s %s %v", batch.ID(i), strings.Join(ids, "+"), batch.Phenotypes(i))
}
