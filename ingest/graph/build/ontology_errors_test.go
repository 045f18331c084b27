package build

import (
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/inputfile"
)

func TestOntologyErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		obo, gaf string
		set      func(*Spec)
		kind     fault.Kind
		want     string
	}{
		{
			name: "unknown gene",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.UnknownGenes = ingest.RefuseUnknownGenes },
			kind: fault.Input,
			want: `sgd.gaf:12: gene "S000000999" is not in the graph`,
		},
		{
			name: "unknown term",
			obo:  obo,
			gaf:  strings.Replace(gaf, "GO:0003993", "GO:7", 1),
			set:  func(s *Spec) { s.UnknownGenes = ingest.RefuseUnknownGenes },
			kind: fault.Input,
			want: `sgd.gaf:3: term "GO:7" is not in the ontology (8 terms)`,
		},
		{
			name: "another ontology",
			obo:  strings.ReplaceAll(obo, "GO:", "PO:"),
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "kept 0 of 10 entries",
		},
		{
			name: "no ontology",
			obo:  gaf,
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "go.obo: found no [Term]",
		},
		{
			name: "not UTF-8",
			obo:  obo + "\n[Term]\nid: GO:1\nname: caf\xe9\n",
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: `go.obo:69: found "name: caf\xe9", which is not valid UTF-8`,
		},
		{
			name: "evidence not UTF-8",
			obo:  obo,
			gaf:  strings.Replace(gaf, "IMP", "I\xe9", 1),
			set:  func(*Spec) {},
			kind: fault.Input,
			want: `sgd.gaf:3: found "I\xe9", which is not valid UTF-8`,
		},
		{
			name: "two ontologies",
			obo:  obo + "\n[Typedef]\nid: x\n" + strings.ReplaceAll(obo, "GO:", "PO:"),
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "go.obo:69: found the header of a second ontology",
		},
		{
			name: "a term twice",
			obo:  obo + "\n[Term]\nid: GO:0000005\n",
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "found term GO:0000005 twice, first at line 47",
		},
		{
			name: "an alternative id twice",
			obo:  obo + "\n[Term]\nid: GO:1\nalt_id: GO:0008970\n",
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "found alternative id GO:0008970 of term GO:1, which term GO:0003993 has too",
		},
		{
			name: "no id",
			obo:  obo + "\n[Term]\nname: x\n",
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "found a term without an id",
		},
		{
			name: "an obsolete parent",
			obo:  obo + "\n[Term]\nid: GO:1\nis_a: GO:0000004\n",
			gaf:  gaf,
			set:  func(*Spec) {},
			kind: fault.Input,
			want: `found is_a "GO:0000004" of term GO:1`,
		},
		{
			name: "no such relation",
			obo:  obo,
			gaf:  gaf,
			set: func(s *Spec) {
				s.Ontology.Relations = map[string]string{"has_part": "has_part"}
			},
			kind: fault.Input,
			want: "gene_ontology__has_part__gene_ontology: found no entries",
		},
		{
			name: "no such namespace",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.Namespaces = []string{"P"} },
			kind: fault.Input,
			want: "kept 0 of",
		},
		{
			name: "no such gene column",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.Annotations[0].Gene = "symbol" },
			kind: fault.Input,
			want: `sgd.gaf: found no column "symbol"`,
		},
		{
			name: "no gene column",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.Annotations[0].Gene = "" },
			kind: fault.Usage,
			want: "gene_ontology.annotations.0.gene: missing",
		},
		{
			name: "no such terms",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.Terms = "leaves" },
			kind: fault.Usage,
			want: `gene_ontology.terms: found "leaves"`,
		},
		{
			name: "no annotations",
			obo:  obo,
			gaf:  gaf,
			set: func(s *Spec) {
				s.Ontology.Terms = ontologies.AnnotatedTerms
				s.Ontology.Annotations = nil
			},
			kind: fault.Usage,
			want: "gene_ontology: annotations: missing",
		},
		{
			name: "only annotations",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.File = "" },
			kind: fault.Usage,
			want: "gene_ontology.file: missing",
		},
		{
			name: "no such column",
			obo:  obo,
			gaf:  gaf,
			set:  func(s *Spec) { s.Ontology.Annotations[0].Where = `code == "IEA"` },
			kind: fault.Usage,
			want: "gene_ontology.annotations.0.where",
		},
		{
			name: "a file of other columns",
			obo:  obo,
			gaf:  "a\tb\nc\td\n",
			set:  func(*Spec) {},
			kind: fault.Input,
			want: "sgd.gaf:1: found 2 fields, expected 17",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, spec := ontologyFolder(t, c.obo, c.gaf)
			c.set(&spec)
			var files inputfile.Files
			defer files.Close()
			_, _, err := Graph(&files, spec)
			if err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v (kind %v), want %s", err, fault.KindOf(err), c.want)
			}
		})
	}
}
