package build

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/inputs"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

// genesNamed is a gene list file's spec.
func genesNamed(t testing.TB, ids ...string) GenesSpec {
	t.Helper()
	path := inputs.Write(t, "genes.tsv", "id\n"+strings.Join(ids, "\n")+"\n")
	return GenesSpec{TextSpec: table.TextSpec{File: path}, Column: "id"}
}

// fromSource has the settings of a public source for a file.
func fromSource[T any](
	t testing.TB, name, section string, file func(*T) *string, path string,
) (spec T) {
	t.Helper()
	if err := conf.DecodeSource(name, section, &spec); err != nil {
		t.Fatal(err)
	}
	*file(&spec) = path
	return spec
}

func sgdGenes(t testing.TB, path string) GenesSpec {
	return fromSource(t, "sgd_features", "genes", func(s *GenesSpec) *string { return &s.File },
		path)
}

func sgdAliases(t testing.TB, path string) []names.AliasTable {
	return []names.AliasTable{
		fromSource(t, "sgd_features", "aliases",
			func(s *names.AliasTable) *string { return &s.File }, path),
	}
}

// gafOf has the settings of GAF files, or of another such source.
func gafOf(t testing.TB, source string, paths ...string) (tables []ontologies.AnnotationsSpec) {
	for _, path := range paths {
		tables = append(tables,
			fromSource(t, source, "annotations",
				func(s *ontologies.AnnotationsSpec) *string { return &s.File }, path))
	}
	return tables
}

// edgesOf has the settings of a public source of edges, as changed.
func edgesOf(t testing.TB, name, path string, change func(*networks.Spec)) networks.Spec {
	spec := fromSource(t, name, "edges", func(s *networks.Spec) *string { return &s.File }, path)
	if change != nil {
		change(&spec)
	}
	return spec
}

// stringLinks has the settings of STRING's links, for edges r of columns of scores.
func stringLinks(t testing.TB, path string, least float64, columns ...string) networks.Spec {
	return edgesOf(t, "string", path, func(s *networks.Spec) {
		s.Relation = "r"
		s.Weight = columns
		s.Min = &least
	})
}

// modelText is a model with reactions r1, r2 … of these rules, a line for each, from line 4 on.
func modelText(rules ...string) string {
	text := "metabolites: [{id: M}, {id: N}]\ngenes: []\nreactions:\n"
	for i, rule := range rules {
		text += fmt.Sprintf("- {id: r%d, metabolites: {M: -1, N: 1}, lower_bound: 0, "+
			"upper_bound: 1, gene_reaction_rule: %q}\n",
			i+1, rule)
	}
	return text
}

// reportLines are the reports as text.
func reportLines(report ingest.Accounts) (lines []string) {
	for _, r := range report {
		lines = append(lines, r.String())
	}
	return lines
}
