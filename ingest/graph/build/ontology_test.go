package build

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/testing/check"
)

// obo has what releases of the gene ontology have: trailing modifiers and comments, alternative
// ids, obsolete terms with and without a replacement, and relations between namespaces.
const obo = `format-version: 1.2
data-version: releases/2024-01-17
default-namespace: gene_ontology
ontology: go

[Term]
id: GO:0003674
name: molecular_function
namespace: molecular_function

[Term]
id: GO:0003993
name: acid phosphatase activity
namespace: molecular_function
alt_id: GO:0008970
def: "Catalysis of the reaction: an orthophosphoric monoester \"!\"." [EC:3.1.3.2]
synonym: "acid phosphatase" EXACT [EC:3.1.3.2]
is_a: GO:0003674 {is_inferred="true"} ! molecular_function
relationship: part_of GO:0016311 ! dephosphorylation

[Term]
id: GO:0008150
name: biological_process
namespace: biological_process

[Term]
id: GO:0016311
name: dephosphorylation\, of what\! ! a comment
namespace: biological_process
is_a: GO:0008150 ! biological_process

[Term]
id: GO:0030643
name: phosphate ion homeostasis
namespace: biological_process
is_a: GO:0008150 ! biological_process
relationship: regulates GO:0016311 {source="x"} ! dephosphorylation
relationship: part_of GO:0008150

[Term]
id: GO:0000004
name: obsolete biological process unknown
namespace: biological_process
is_obsolete: true
replaced_by: GO:0008150

[Term]
id: GO:0000005
name: obsolete ribosomal chaperone activity
namespace: molecular_function
is_obsolete: true
consider: GO:0003674

[Term]
id: GO:0000006
name: obsolete, replaced by what is obsolete
namespace: biological_process
is_obsolete: true
replaced_by: GO:0000004

[Typedef]
id: part_of
name: part of
namespace: external
is_a: GO:0003674
`

// gaf has the columns of SGD's file.
const gaf = `!gaf-version: 2.2
!generated-by: SGD
SGD	S000000296	PHO3	enables	GO:0003993	PMID:1	IMP		F	phosphatase	YBR092C|PHO	gene	taxon:559292	20010118	SGD		UniProtKB:P24031
SGD	S000000296	PHO3	NOT|enables	GO:0003674	PMID:1	IMP		F	phosphatase	YBR092C|PHO	gene	taxon:559292	20010118	SGD		
! a comment between
SGD	S000000297	PHO5	enables	GO:0008970	PMID:1	IDA		F	phosphatase	YBR093C	gene	taxon:559292	20010118	SGD		
SGD	S000000297	PHO5	involved_in	GO:0016311	PMID:1	IDA		P	phosphatase	YBR093C	gene	taxon:559292	20010118	SGD		
SGD	S000000297	PHO5	involved_in	GO:0016311	PMID:2	IEA		P	phosphatase	YBR093C	gene	taxon:559292	20010118	SGD		
SGD	S000000297	PHO5	acts_upstream_of	GO:0016311	PMID:2	IDA		P	phosphatase	YBR093C	gene	taxon:559292	20010118	SGD		
SGD	S000000296	PHO3	involved_in	GO:0000006	PMID:1	ND		P	phosphatase	YBR092C|PHO	gene	taxon:559292	20010118	SGD		
SGD	S000000296	PHO3	enables	GO:0000005	PMID:1	ND		F	phosphatase	YBR092C|PHO	gene	taxon:559292	20010118	SGD		
SGD	S000000999	NONE1	involved_in	GO:0008150	PMID:1	ND		P		YAL999C	gene	taxon:559292	20010118	SGD		
SGD	S000000297	PHO5	involved_in	GO:9999999	PMID:1	ND		P		YBR093C	gene	taxon:559292	20010118	SGD		
`

// ontologyFolder writes a gene list that knows SGD ids, an ontology and its annotations.
func ontologyFolder(t testing.TB, obo, gaf string) (dir string, spec Spec) {
	dir = t.TempDir()
	features := filepath.Join(dir, "SGD_features.tab")
	for name, text := range map[string]string{
		"SGD_features.tab": "S000000296\tORF\tVerified\tYBR092C\tPHO3\t" +
			strings.Repeat("\t", 10) +
			"\n" +
			"S000000297\tORF\tVerified\tYBR093C\tPHO5\t" + strings.Repeat("\t", 10) + "\n",
		"go.obo": obo, "sgd.gaf": gaf,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, Spec{
		Genes: sgdGenes(t, features), Aliases: sgdAliases(t, features), UnknownGenes: ingest.DropGene,
		Ontology: ontologies.Spec{
			File:        filepath.Join(dir, "go.obo"),
			Annotations: gafOf(t, "gaf", filepath.Join(dir, "sgd.gaf")),
		},
	}
}

func TestOntology(t *testing.T) {
	_, spec := ontologyFolder(t, obo, gaf)
	graph, report := build(t, spec)
	terms := graph.NodesOf("gene_ontology")
	ids := []string{"GO:0003674", "GO:0003993", "GO:0008150", "GO:0016311", "GO:0030643"}
	if !slices.Equal(terms.IDs, ids) {
		t.Errorf("got terms %v, want %v", terms.IDs, ids)
	}
	if got := terms.Column("name")[3]; got != "dephosphorylation, of what!" {
		t.Errorf("got name %q", got)
	}
	if got := terms.Column("namespace")[3]; got != "biological_process" {
		t.Errorf("got namespace %q", got)
	}
	for relation, want := range map[string]string{
		"is_a":    "GO:0003993-GO:0003674 GO:0016311-GO:0008150 GO:0030643-GO:0008150",
		"part_of": "GO:0003993-GO:0016311 GO:0030643-GO:0008150",
	} {
		edges := graph.EdgesOf(ingest.EdgeType{
			Source: "gene_ontology", Relation: relation, Target: "gene_ontology",
		})
		if got := check.EdgeText(edges, terms, terms); got != want {
			t.Errorf("%s: got %s, want %s", relation, got, want)
		}
	}
	const annotations = "YBR092C-GO:0003993:IMP:enables YBR093C-GO:0003993:IDA:enables " +
		"YBR093C-GO:0016311:IDA|IEA:involved_in|acts_upstream_of " +
		"YBR092C-GO:0008150:ND:involved_in"
	if got := annotationText(graph); got != annotations {
		t.Errorf("got annotations\n%s\nwant\n%s", got, annotations)
	}
	want := []string{
		"genes: 2 of 2 entries of SGD_features.tab",
		"aliases: 2 of 2 entries of SGD_features.tab",
		"gene_ontology: 5 of 8 entries of go.obo; dropped: 3 obsolete; noted: 1 relations " +
			"regulates, which are not among gene_ontology.relations",
		"gene_ontology__is_a__gene_ontology: 3 of 3 entries of go.obo",
		"gene_ontology__part_of__gene_ontology: 2 of 2 entries of go.obo",
		"gene__has_annotation__gene_ontology: 4 of 10 entries of sgd.gaf; dropped: 1 with the " +
			"qualifier NOT, 1 of unknown genes, 1 of unknown terms, " +
			"1 of obsolete terms that no single term replaces, 2 of the gene and term of an " +
			"earlier row; " +
			"noted: 1 of alternative ids of terms, 1 of obsolete terms, read as the terms that " +
			"replace them; unknown names: GO:9999999, S000000999",
	}
	if got := reportLines(report); !slices.Equal(got, want) {
		t.Errorf("got report\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	check.Accounts(t, report)
}

// annotationText writes annotations as "gene-term:evidence:qualifier".
func annotationText(graph *ingest.Graph) string {
	edges := graph.EdgesOf(ingest.EdgeType{
		Source: "gene", Relation: "has_annotation", Target: "gene_ontology",
	})
	if edges == nil {
		return ""
	}
	texts := make([]string, edges.Len())
	for i := range texts {
		texts[i] = graph.Genes.IDs[edges.Src[i]] + "-" +
			graph.NodesOf("gene_ontology").IDs[edges.Dst[i]]
		for _, column := range edges.Columns {
			texts[i] += ":" + column.Values.ValueStr(i)
		}
	}
	return strings.Join(texts, " ")
}

func TestOntologyChoices(t *testing.T) {
	const all = "GO:0003674 GO:0003993 GO:0008150 GO:0016311 GO:0030643"
	for _, c := range []struct {
		name              string
		set               func(*ontologies.Spec)
		terms, parents    string // of is_a, or parent
		annotated, report string
	}{
		{
			name: "evidence",
			set: func(o *ontologies.Spec) {
				o.Annotations[0].Where = `evidence not in ["IEA", "ND"]`
			},
			terms:   all,
			parents: "GO:0003993-GO:0003674 GO:0016311-GO:0008150 GO:0030643-GO:0008150",
			annotated: "YBR092C-GO:0003993:IMP:enables YBR093C-GO:0003993:IDA:enables " +
				"YBR093C-GO:0016311:IDA:involved_in|acts_upstream_of",
			report: "dropped: 5 not kept by where, 1 with the qualifier NOT, 1 of the gene",
		},
		{
			name:      "aspect",
			set:       func(o *ontologies.Spec) { o.Annotations[0].Where = `aspect == "F"` },
			terms:     all,
			parents:   "GO:0003993-GO:0003674 GO:0016311-GO:0008150 GO:0030643-GO:0008150",
			annotated: "YBR092C-GO:0003993:IMP:enables YBR093C-GO:0003993:IDA:enables",
			report:    "dropped: 6 not kept by where",
		},
		{
			name:    "namespace",
			set:     func(o *ontologies.Spec) { o.Namespaces = []string{"biological_process"} },
			terms:   "GO:0008150 GO:0016311 GO:0030643",
			parents: "GO:0016311-GO:0008150 GO:0030643-GO:0008150",
			annotated: "YBR093C-GO:0016311:IDA|IEA:involved_in|acts_upstream_of " +
				"YBR092C-GO:0008150:ND:involved_in",
			report: "2 of terms in other namespaces",
		},
		{
			name: "annotated",
			set: func(o *ontologies.Spec) {
				o.Terms, o.Annotations[0].Where = ontologies.AnnotatedTerms, `evidence == "IMP"`
			},
			terms:     "GO:0003674 GO:0003993 GO:0008150 GO:0016311",
			parents:   "GO:0003993-GO:0003674 GO:0016311-GO:0008150",
			annotated: "YBR092C-GO:0003993:IMP:enables",
			report:    "not kept by where",
		},
		{
			name: "one edge type",
			set: func(o *ontologies.Spec) {
				o.Relations = map[string]string{"is_a": "is_child_of", "part_of": "is_child_of"}
			},
			terms: all,
			parents: "GO:0003993-GO:0003674 GO:0003993-GO:0016311 GO:0016311-GO:0008150 " +
				"GO:0030643-GO:0008150",
			report: "1 repeating an earlier pair of terms",
		},
		{
			name: "symbols",
			set: func(o *ontologies.Spec) {
				o.Annotations[0].Gene = "db_object_symbol"
				o.Annotations[0].Where = `go_id == "GO:0003993"`
			},
			terms:     all,
			parents:   "GO:0003993-GO:0003674 GO:0016311-GO:0008150 GO:0030643-GO:0008150",
			annotated: "YBR092C-GO:0003993:IMP:enables",
		},
		{
			name: "systematic names",
			set: func(o *ontologies.Spec) {
				o.Annotations[0].Gene = "db_object_synonym"
				o.Annotations[0].Split = "|"
				o.Annotations[0].Where = `go_id == "GO:0003993"`
			},
			terms:     all,
			parents:   "GO:0003993-GO:0003674 GO:0016311-GO:0008150 GO:0030643-GO:0008150",
			annotated: "YBR092C-GO:0003993:IMP:enables",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, spec := ontologyFolder(t, obo, gaf)
			c.set(&spec.Ontology)
			graph, report := build(t, spec)
			check.Accounts(t, report)
			terms := graph.NodesOf("gene_ontology")
			if got := strings.Join(terms.IDs, " "); got != c.terms {
				t.Errorf("got terms %s, want %s", got, c.terms)
			}
			relation := "is_a"
			if c.set(&spec.Ontology); spec.Ontology.Relations != nil {
				relation = "is_child_of"
			}
			got := check.EdgeText(graph.EdgesOf(ingest.EdgeType{
				Source: "gene_ontology", Relation: relation, Target: "gene_ontology",
			}),
				terms, terms)
			if got != c.parents {
				t.Errorf("got %s, want %s", got, c.parents)
			}
			if got := annotationText(graph); c.annotated != "" && got != c.annotated {
				t.Errorf("got annotations\n%s\nwant\n%s", got, c.annotated)
			}
			if got := strings.Join(reportLines(report), "\n"); !strings.Contains(got, c.report) {
				t.Errorf("got report\n%s\nwant %s", got, c.report)
			}
		})
	}
}

// TestOntologyFiles reads several compressed GAF files, of which one has the columns of GAF 1.0.
func TestOntologyFiles(t *testing.T) {
	dir, spec := ontologyFolder(t, obo, gaf)
	rows := strings.Split(gaf, "\n")
	old := "!version: $Revision: 1.1500 $\n" + strings.TrimSuffix(rows[2], "\t\tUniProtKB:P24031") +
		"\n"
	for name, text := range map[string]string{
		"gene_association.sgd.gz": old,
		"more.gaf.gz":             strings.Join(rows[:2], "\n") + "\n" + rows[5] + "\n",
		"go-basic.obo.gz":         obo,
	} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := gzip.NewWriter(file)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil || file.Close() != nil {
			t.Fatal(err)
		}
	}
	spec.Ontology.File = filepath.Join(dir, "go-basic.obo.gz")
	spec.Ontology.Annotations = append(gafOf(t, "gaf", filepath.Join(dir, "more.gaf.gz")),
		gafOf(t, "gaf1", filepath.Join(dir, "gene_association.sgd.gz"))...)
	graph, report := build(t, spec)
	check.Accounts(t, report)
	got := annotationText(graph)
	want := "YBR093C-GO:0003993:IDA:enables YBR092C-GO:0003993:IMP:enables"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := spec.Files(), 4; len(got) != want {
		t.Errorf("got files %v, want %d", got, want)
	}
}

// TestSlim reads a part of an ontology: parents outside of it make no edges, and are counted.
func TestSlim(t *testing.T) {
	slim := obo + "\n[Term]\nid: GO:1\nis_a: GO:2\nis_a: GO:0003674\nrelationship: part_of GO:3\n"
	_, spec := ontologyFolder(t, slim, gaf)
	graph, report := build(t, spec)
	check.Accounts(t, report)
	terms := graph.NodesOf("gene_ontology")
	isA := ingest.EdgeType{Source: "gene_ontology", Relation: "is_a", Target: "gene_ontology"}
	got := check.EdgeText(graph.EdgesOf(isA), terms, terms)
	if !strings.HasSuffix(got, " GO:1-GO:0003674") {
		t.Errorf("got %s", got)
	}
	const want = "1 relations is_a to terms that the file lacks, 1 relations part_of to terms " +
		"that the file lacks"
	if got := check.AccountOf(t, report, "gene_ontology").String(); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func build(t testing.TB, spec Spec) (*ingest.Graph, ingest.Accounts) {
	t.Helper()
	var files inputfile.Files
	defer files.Close()
	graph, report, err := Graph(&files, spec)
	if err != nil {
		t.Fatal(err)
	}
	return graph, report
}
