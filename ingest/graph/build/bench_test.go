package build

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
	"tcbuild/internal/testing/inputs"
)

// BenchmarkGraphSources reads a text in the layout of each release, with the share of rows that
// make edges in the release, and reports how much of it a second of one core reads.
func BenchmarkGraphSources(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 0))
	const genes = 6600
	ids := make([]string, genes)
	var features strings.Builder
	for i := range ids {
		ids[i] = fmt.Sprintf("Y%c%c%03d%c", 'A'+i%16, "LR"[i/16%2], i/32, "WC"[i%2])
		fmt.Fprintf(&features,
			"S%09d\tORF\tVerified\t%s\tN%d\tA%d|B%d\tchromosome "+
				"1\t\t1\t%d\t%d\tW\t\t2011-02-03\t1996-07-31\tA description of the gene, as SGD "+
				"has one\n",
			i, ids[i], i, i, i, 100*i, 100*i+90)
	}
	gene := func() int { return random.IntN(genes) }
	made := 0
	sorted := func() int {
		made++
		return made / 32 % genes
	} // releases are sorted by one of their genes
	rows := func(n int, header string, row func() string) func() string {
		return func() string {
			var text strings.Builder
			text.WriteString(header)
			for range n {
				text.WriteString(row())
			}
			return text.String()
		}
	}
	biogrid := func(human int) func() string {
		const rest = "\tAuthor A (2010)\tPUBMED:20093466\t%s\t%s\tHigh Throughput\t-0.13\t-\tA " +
			"Synthetic Genetic Array analysis of " +
			"it\t-\tBIOGRID\tP32471\t-\tNP_009362\tP47068\t-\tNP_012494\t-\t-\t-\t-\t-\t-\tSaccharomyces cerevisiae (S288c)\tSaccharomyces cerevisiae (S288c)\n"
		excerpts, err := os.ReadFile("testdata/sources.txtar")
		if err != nil {
			b.Fatal(err)
		}
		header := string(regexp.MustCompile(`#BioGRID .*\n`).Find(excerpts))
		return rows(150_000, header, func() string {
			a, c, taxon := gene(), gene(), "559292"
			if random.IntN(100) < human {
				taxon = "9606"
			}
			return fmt.Sprintf("%d\t851262\t853748\t31623\t35334\t%s\t%s\tN%d\tN%d\tFUN24|tau "+
				"138|TSV115\tBAF1|OBF1|SBF1\tNegative Genetic\tgenetic"+rest,
				a*genes+c, ids[a], ids[c], a, c, taxon, taxon)
		})
	}
	cells := strings.Repeat(";0", 198) + ";1;1\n"
	matrix := func() string {
		return "target;" + strings.Join(ids[:200], ";") + "\n" + strings.Repeat(strings.Join(ids,
			cells)+cells,
			5)
	}
	links := func(n int) func() string {
		return rows(n,
			"protein1 protein2 neighborhood fusion cooccurence coexpression experimental "+
				"database textmining combined_score\n",
			func() string {
				return fmt.Sprintf("4932.%s 4932.%s 0 0 0 %d %d 0 %d %d\n", ids[sorted()],
					ids[gene()], random.IntN(300), random.IntN(900), random.IntN(900),
					150+random.IntN(849))
			})
	}
	detailed := links(600_000)
	const gafRow = "SGD\tS%09d\tN%d\tinvolved_in\tGO:%07d\tPMID:19910365\tIDA\t\tP\tA protein of " +
		"the yeast\t%s|A%d|B%d\tprotein\ttaxon:559292\t20200101\tSGD\t\tUniProtKB:P%05d\n"
	const terms = 40_000
	oboText := func() string {
		n := 0
		return rows(terms, "format-version: 1.2\ndefault-namespace: gene_ontology\n",
			func() string {
				n++
				return fmt.Sprintf("\n[Term]\nid: GO:%07d\nname: a process of the cell number %d\n"+
					"namespace: biological_process\ndef: \"What the process does, which takes a "+
					"sentence or two to say, as in the releases of the ontology.\" [GOC:mah, "+
					"PMID:10873824]\nsynonym: \"a process\" EXACT [GOC:mah]\n"+
					"synonym: \"another name of it\" RELATED []\nis_a: GO:%07d ! a parent\n"+
					"relationship: part_of GO:%07d ! a whole\n",
					n, n, max(1, n/2), max(1, n/3))
			})()
	}
	for _, kind := range []struct {
		name, file string
		text       func() string
		edges      networks.Spec
		set        func(spec *Spec, file string)
	}{
		{
			name:  "string, one column",
			file:  "l.txt",
			text:  detailed,
			edges: stringLinks(b, "", 700, "combined_score"),
		},
		{
			name: "string, four columns",
			file: "l.txt",
			text: detailed,
			edges: edgesOf(b, "string", "", func(s *networks.Spec) {
				s.Weight = []string{"coexpression", "experimental", "textmining", "combined_score"}
			}),
		},
		{
			name: "actions as table",
			file: "a.txt",
			text: rows(600_000,
				"item_id_a\titem_id_b\tmode\taction\tis_directional\ta_is_acting\tscore\n",
				func() string {
					return fmt.Sprintf("4932.%s\t4932.%s\t%s\t\t%c\t%c\t%d\n", ids[sorted()],
						ids[gene()], []string{"binding", "catalysis", "reaction"}[random.IntN(3)],
						"tf"[random.IntN(2)], "tf"[random.IntN(2)], random.IntN(999))
				}),
			edges: edgesOf(b, "string_actions", "", nil),
		},
		{
			name:  "biogrid, one organism",
			file:  "b.txt",
			text:  biogrid(0),
			edges: edgesOf(b, "biogrid_genetic", "", nil),
		},
		{
			name:  "biogrid, all organisms",
			file:  "b.txt",
			text:  biogrid(65),
			edges: edgesOf(b, "biogrid_genetic", "", nil),
		},
		{
			name: "biogrid as table",
			file: "b.txt",
			text: biogrid(65),
			edges: networks.Spec{
				Relation:   "r",
				From:       []string{"Systematic Name Interactor A"},
				To:         []string{"Systematic Name Interactor B"},
				Undirected: new(true),
				RowsSpec:   where.RowsSpec{Where: `column("Organism ID Interactor A") == "559292"`},
			},
		},
		{
			name: "table of names",
			file: "t.tsv",
			text: rows(600_000,
				"UniprotID.TF\tUniprotID.Target\tName.TF\tName.Target\tDetection.method\tPubmedID\tSource.database\n",
				func() string {
					return fmt.Sprintf("P14164\tP34111\tN%d\tN%d\tchromatin immunoprecipitation "+
						"assay;inferred by curator\t19111667;19158363\tGTRD;YEASTRACT\n",
						random.IntN(200), gene())
				}),
			edges: networks.Spec{
				Relation:   "r",
				From:       []string{"Name.TF"},
				To:         []string{"Name.Target"},
				Undirected: new(false),
				Keep:       map[string]networks.KeptType{"Detection.method": networks.KeptText},
			},
		},
		{
			name: "tf-matrix",
			file: "m.csv",
			text: matrix,
			edges: networks.Spec{
				TextSpec: table.TextSpec{Delimiter: ";"},
				Matrix:   networks.TargetRows,
				Relation: "r",
			},
		},
		{
			name: "features",
			file: "f.tab",
			text: features.String,
			set:  func(spec *Spec, file string) { spec.Aliases = sgdAliases(b, file) },
		},
		{
			name: "ontology",
			file: "go.obo",
			text: oboText,
			set:  func(spec *Spec, file string) { spec.Ontology.File = file },
		},
		{name: "annotations", file: "sgd.gaf", text: rows(600_000, "!gaf-version: 2.2\n",
			func() string {
				g := sorted()
				return fmt.Sprintf(gafRow, g, g, 1+random.IntN(terms), ids[g], g, g, g)
			}), set: func(spec *Spec, file string) {
			spec.Ontology = ontologies.Spec{
				File: inputs.Write(b, "go.obo", oboText()), Annotations: gafOf(b, "gaf", file),
			}
			spec.Ontology.Annotations[0].Gene = "db_object_synonym"
			spec.Ontology.Annotations[0].Split = "|"
		}},
	} {
		b.Run("kind="+strings.ReplaceAll(kind.name, " ", "_"), func(b *testing.B) {
			known := inputs.Write(b, "SGD_features.tab", features.String())
			spec := Spec{Genes: genesNamed(b, ids...), UnknownGenes: ingest.DropGene}
			text := kind.text()
			size := len(text)
			file := inputs.Write(b, kind.file, text)
			if kind.edges.File = file; kind.name == "table of names" {
				spec.Aliases = sgdAliases(b, known)
			}
			if kind.set != nil {
				kind.set(&spec, file)
			} else {
				spec.Edges = []networks.Spec{kind.edges}
			}
			b.SetBytes(int64(size))
			before := cpuTime(b)
			for b.Loop() {
				if _, _, err := Graph(inputs.Opened(b), spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

// cpuTime is the processor time of this process, which other load on the machine does not affect.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
