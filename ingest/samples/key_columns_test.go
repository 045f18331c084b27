package samples

import (
	"fmt"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

// TestReservedColumns reads one row of tables whose headers name the columns of genes, ids and
// kinds in ways that people write them. want is a sample, with its kinds, or an error.
func TestReservedColumns(t *testing.T) {
	fitness := []string{"fitness"}
	for _, test := range []struct {
		header, row string
		spec        Spec
		roles, want string
	}{
		{"Sample_ID,Genes,Fitness", "1017,A,0.7", Spec{}, "Fitness? /", "1017 [0] [0.7]"},
		{"sample id,GENE,y", "s1,A,1", Spec{}, "y? /", "s1 [0] [1]"},
		{"Sample-Id,genes,y", "7,A,1", Spec{}, "y? /", "7 [0] [1]"},
		{"Sample.ID,genes,y", "7,A,1", Spec{}, "y? /", "7 [0] [1]"},
		{"SampleID,genes,y", "7,A,1", Spec{}, "y? /", "7 [0] [1]"},
		{"genes,Gene,y", "A,x,1", Spec{}, "y? / Gene", `0 [0] [1] "x"`},
		{"genes,KINDS,y", "A,deletion,1", Spec{}, "y? / kinds", `0 [0] [1] "deletion"`},
		{"genes,kind,y", "A,deletion,1", Spec{}, "y? / kinds", `0 [0] [1] "deletion"`},
		{"genes,Perturbation Type,y", "A,deletion,1", Spec{}, "y? / perturbation_type",
			`0 [0] [1] "deletion"`},
		{"genes,kinds,kind,y", "A,knockout,x,1", Spec{}, "y? / kind kinds",
			`0 [0] [1] "x" "knockout"`},
		{"genes,kinds,perturbation-type,y", "A,knockout,x,1", Spec{},
			"y? / perturbation-type kinds", `0 [0] [1] "x" "knockout"`},
		{"genes,Kind,y", "A,x,1", Spec{KindsColumn: IgnoreKindsColumn}, "y? / Kind",
			`0 [0] [1] "x"`},
		{"genes,Kinds,y", "A,overexpression,1", Spec{}, "",
			"kinds of perturbations that may leave their gene in place: overexpression 1"},
		{"genes,Dose_,y", "A,2,1", Spec{}, "y? / Dose_!", "0 [0] [1] 2"},

		{"genes,Genes,y", "A,B,1", Spec{}, "",
			`found columns "genes" and "Genes", expected one column genes`},
		{"Gene,GENE,y", "A,B,1", Spec{}, "",
			`found columns "Gene" and "GENE", expected one column gene`},
		{"sample_id,Sample ID,genes", "1,2,A", Spec{}, "",
			`found columns "sample_id" and "Sample ID", expected one column sample_id`},
		{"genes,kinds,Kinds", "A,deletion,deletion", Spec{}, "",
			`found columns "kinds" and "Kinds", expected one column kinds`},
		{"genes,Perturbation_Type,perturbation type", "A,deletion,deletion", Spec{}, "",
			`found columns "Perturbation_Type" and "perturbation type", expected one column ` +
				`perturbation_type`},
		{"Genes,gene 2,y", "A,B,1", Spec{}, "",
			"found columns Genes, gene 2, expected one of genes"},
		{"genes,gene 2,y", "A,B,1", Spec{GenesColumns: []string{"genes"}}, "y? / gene 2",
			`0 [0] [1] "B"`},
		{" genes,y", "A,1", Spec{}, "", `found column " genes", expected a name without spaces`},
		{"genes,kinds ", "A,deletion", Spec{}, "",
			`found column "kinds ", expected a name without spaces`},

		{"genes,ID,y", "A,s1,1", Spec{}, "y? / ID", `0 [0] [1] "s1"`},
		{"genes,ID,y", "A,5,1", Spec{IDColumn: "ID"}, "y? /", "5 [0] [1]"},
		{"genes,ID,y", "A,5,1", Spec{Attributes: []string{"ID"}}, "y? / ID", "0 [0] [1] 5"},
		{"genes,ID,y", "A,5,1", Spec{Phenotypes: []string{"ID", "y"}}, "ID y /", "0 [0] [5 1]"},
		{"genes,ID,fitness", "A,5,1", Spec{Phenotypes: fitness}, "fitness /", "0 [0] [1]"},
	} {
		set, err := openSet(inputs.Write(t, "p.csv", test.header+"\n"+test.row+"\n"), threeGenes,
			test.spec)
		var found string
		if err == nil {
			if roles := showRoles(set.Columns()); roles != test.roles && test.roles != "" {
				t.Errorf("%s: roles are %s, want %s", test.header, roles, test.roles)
			}
			var samples []string
			samples, _, err = showSamples(set)
			found = strings.Join(samples, "; ")
			set.Close()
		}
		if err != nil {
			found = err.Error()
		}
		if found != test.want && !(err != nil && strings.Contains(found, test.want)) {
			t.Errorf("%s with %+v: got %s, want %s", test.header, test.spec.Given(), found,
				test.want)
		}
	}
}

// Numbers in a column that is named like an id are never a phenotype unless the spec says so.
func TestIdentifiers(t *testing.T) {
	for _, name := range []string{"id", "ID", "Sample", "strain", "Gene ID", "gene-id", "GeneID",
		"BARCODE", "Strain_ID", "sample name", "index", "Unnamed: 0", "unnamed: 1", "gene", "Unnamed: 0.1"} {
		path := inputs.Write(t, "p.csv", "genes,"+name+",y\nA,5,1\nB,7,2\n")
		_, err := openFile(path, threeGenes, Spec{})
		want := fmt.Sprintf("read perturbations %s: column %q: found numbers under the name of an "+
			"identifier, expected measured values", path, name)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		for _, setting := range []string{"id_column=" + name, "--attributes", "--phenotypes"} {
			if !strings.Contains(fault.HintOf(err), setting) {
				t.Errorf("%s: hint %q does not name %s", name, fault.HintOf(err), setting)
			}
		}
	}
	for _, name := range []string{"idx", "samples", "strains", "barcodes", "Unnamed", "wid"} {
		set, err := openFile(inputs.Write(t, "p.csv", "genes,"+name+"\nA,5\n"), threeGenes, Spec{})
		if err != nil || showRoles(set.Columns()) != name+"? /" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A name that is missing in a list of genes is an error whatever happens to unknown names: the
// others would keep the value of a mutant of all.
func TestMissingInList(t *testing.T) {
	for _, missing := range []string{"NA", "nan", "NaN", "None", "null", "N/A", "<NA>", ""} {
		for _, genes := range []string{"A|%s", "%s|B", "A|%s|B", "A | %s"} {
			for _, unknown := range ingest.UnknownGenesChoices {
				path := inputs.Write(t, "p.tsv", "genes\ty\nC\t1\n"+fmt.Sprintf(genes, missing)+
					"\t2\n")
				set, err := openFile(path, threeGenes, Spec{UnknownGenes: unknown})
				if err == nil {
					_, err = sets.ReadAll(set)
				}
				where := "read perturbations " + path + ":3: found "
				isRight := err != nil && strings.HasPrefix(err.Error(), where) &&
					strings.HasSuffix(err.Error(), ", expected a name in a list of genes")
				if !isRight {
					t.Errorf("%s of %q and %s: got %v", genes, missing, unknown, err)
				}
			}
		}
	}
	path := inputs.Write(t, "k.tsv", "genes\tkinds\nA\tdeletion|NA=overexpression\n")
	set, err := openFile(path, threeGenes, Spec{UnknownGenes: ingest.DropGene})
	if err == nil {
		_, err = sets.ReadAll(set)
	}
	if err == nil || !strings.Contains(err.Error(), `found gene "NA"`) {
		t.Errorf("a gene that stays: got %v", err)
	}
}
