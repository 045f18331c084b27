package main

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// published are files of public sources: an SGD_features.tab of three genes, and others that name
// them.
var published = map[string]string{
	"features.tab": strings.NewReplacer("ORF", "S1\tORF\tVerified\t", "\n",
		strings.Repeat("\t", 9)+"\n").Replace(
		"ORFYDL227C\tHO\t\t1\nORFYAL001C\tTFC3\t\t1\nORFYAL002W\tVPS8\tOLD\t1\n"),
	"sga.txt": "Query Strain ID\tQuery allele name\tArray Strain ID\tArray allele name\tscore\n" +
		"YDL227C+YAL001C_tm1\thoΔ+tfc3Δ\tYAL002W_dma1\tvps8\t0.5\n" +
		"YAL001C_tsq1\ttfc3-1\tYAL002W_dma1\tvps8\t1\n",
	"emap.tsv": "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
		"TFC3\told\tDELETION\tDELETION\t-1\nTFC3\tOLD\tDELETION\tDELETION\t2\n",
	"wide.tsv": "orf\tcold\thot\nVPS8\t1\t\nTFC3\t3\t4\n",
	"tf.tsv":   "target\tHO\tTFC3\nVPS8\t0\t2\nTFC3\t1\t0\n",
	"biogrid.txt": "Systematic Name Interactor A\tSystematic Name Interactor B\tOfficial Symbol " +
		"Interactor A\tOfficial Symbol Interactor B\t" +
		"Experimental System Type\tOrganism ID Interactor A\tOrganism ID Interactor B\n" +
		"YAL001C\tYAL002W\tTFC3\tVPS8\tphysical\t559292\t559292\n" +
		"YAL001C\tYDL227C\tTFC3\tHO\tgenetic\t559292\t559292\n",
	"gem.yml": "metabolites: [{id: A}, {id: B}]\ngenes: []\nreactions:\n" +
		"- {id: r1, metabolites: {A: -1, B: 1}, lower_bound: -1000, upper_bound: 1000, " +
		"gene_reaction_rule: TFC3 or VPS8}\n",
	"sgd.yaml": "genes: {source: sgd_features, file: features.tab}\n" +
		"aliases: [{source: sgd_features, file: features.tab}]\nout: made\n",
	"biogrid.yaml": "defaults: [sgd]\nedges: [{source: biogrid_physical, file: biogrid.txt}, " +
		"{source: biogrid_genetic, file: biogrid.txt}]\n",
	"tf.yaml":  "defaults: [sgd]\nedges: [{file: tf.tsv, matrix: targets, relation: regulatory}]\n",
	"gem.yaml": "defaults: [sgd]\ngem: {file: gem.yml, reaction_nodes: combinations}\n",
}

func TestIngestKinds(t *testing.T) {
	const genes = "ingest graph +genes.source=sgd_features +genes.file=features.tab --out g --quiet"
	const samples = " --graph g --aliases features.tab --out p.tsv "
	for _, c := range []struct{ name, run, out, want, stdout string }{
		{
			name: "sga",
			run:  "ingest perturbations sga.txt --source costanzo2016" + samples,
			out:  "p.tsv",
			want: "sample_id\tgenes\tscore\n0\tYAL001C|YAL002W\t0.5\n",
			stdout: "samples: 1 of 2 entries of sga.txt; dropped: 1 of allele kind ts, which is " +
				"not among alleles; noted: 1 names of controls, which delete nothing\n" +
				"phenotypes: score\nattributes: none\ncolumns left out: none\n",
		},
		{
			name: "sga with options",
			run: "ingest perturbations sga.txt --source costanzo2016" + samples +
				"alleles=[deletion,ts] controls=[VPS8]",
			out:  "p.tsv",
			want: "sample_id\tgenes\tscore\n0\tYAL001C|YDL227C\t0.5\n1\tYAL001C\t1\n",
		},
		{
			name: "emap",
			run: "ingest perturbations emap.tsv --source emap" + samples +
				"--unknown-genes drop-sample",
			out:  "p.tsv",
			want: "sample_id\tgenes\tscore\n0\tYAL001C|YAL002W\t-1\n1\tYAL001C|YAL002W\t2\n",
		},
		{
			name: "matrix",
			run:  "ingest perturbations wide.tsv --source matrix" + samples,
			out:  "p.tsv",
			want: "sample_id\tgenes\tvalue\tcondition\nVPS8: cold\tYAL002W\t1\tcold\n" +
				"TFC3: cold\tYAL001C\t3\tcold\nTFC3: hot\tYAL001C\t4\thot\n",
			stdout: "samples: 3 of 4 entries of wide.tsv; dropped: 1 without a phenotype; noted: " +
				"2 rows\ngenotypes: 2; repeated: 1, in 2 samples; all are kept\n" +
				"phenotypes: value\nattributes: condition\ncolumns left out: none\n",
		},
		{
			name: "biogrid",
			run:  "ingest graph --config biogrid.yaml",
			out:  "made/edges/gene__biogrid_genetic__gene.arrow",
		},
		{
			name: "tf matrix",
			run:  "ingest graph --config tf.yaml",
			out:  "made/edges/gene__regulatory__gene.arrow",
		},
		{
			name: "gem",
			run:  "ingest graph --config gem.yaml",
			out:  "made/edges/reaction__rmr__metabolite.arrow",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := inFolder(t, published, genes, c.run)
			if code != 0 || c.stdout != "" && stdout != c.stdout {
				t.Fatalf("got exit code %d, stdout\n%s\nstderr\n%s", code, stdout, stderr)
			}
			text, err := os.ReadFile(c.out)
			if err != nil || c.want != "" && string(text) != c.want {
				t.Errorf("got\n%s%v\nwant\n%s", text, err, c.want)
			}
		})
	}
}

// TestIngestScreenLayouts reads screens as they are released: strain ids as attributes, matrices of
// strains and of conditions, preambles, and alias tables.
func TestIngestScreenLayouts(t *testing.T) {
	const genes = "ingest graph +genes.source=sgd_features +genes.file=features.tab --out g --quiet"
	const samples = " --graph g --aliases features.tab --out p.tsv "
	files := maps.Clone(published)
	files["chem.tsv"] = "orf\thom | caffeine\thet | caffeine\nYAL002W::chr1_4\t1.5\t2.5\n" +
		"YAL001C::chr1_1\t\t3\n"
	files["square.tsv"] = "ORF\tVPS8\tTFC3 - DAMP\tHO\nVPS8\t\t1.5\t-2\nTFC3 - DAMP\t1.5\t\t0\n" +
		"HO\t-2\t0\t\n"
	files["strains.tsv"] = "\tYAL002W_dma1\tYAL001C_tsa2\nYDL227C_sn7\t1\t2\n" +
		"YAL001C_damp3\t3\t4\nYAL001C_x1\t5\t6\n"
	files["strains.txt"] = "query\tarray\tscore\nYAL001C_tsq508\tYAL002W_dma1\t1\n"
	files["wide.dat"] = "# released in 2008\nE-MAP\n# of\norf;cold\n# rows\nVPS8;1\n"
	files["ids.yaml"] = "alias_tables: [{file: ids.tsv, id: locus, names: [entry], split: ;}]\n"
	files["ids.tsv"] = "entry\tlocus\nP1; P2\tVPS8\n"
	files["uniprot.tsv"] = "genes\tscore\nP2\t1\n"
	for _, c := range []struct{ name, run, want, stdout string }{
		{
			name: "strain ids",
			run: "ingest perturbations strains.txt --source costanzo2016 " +
				"strains=[{\"strain\":query},{\"strain\":array}] --attributes query,array " +
				"alleles=[deletion,ts]" + samples,
			want: "sample_id\tgenes\tscore\tquery\tarray\n" +
				"0\tYAL001C|YAL002W\t1\tYAL001C_tsq508\tYAL002W_dma1\n",
		},
		{
			name: "homozygous",
			run: "ingest perturbations chem.tsv --source matrix gene_pattern=^([^:]+) " +
				"partial_loss=drop" + samples,
			want: "sample_id\tgenes\tvalue\tcondition\n" +
				"YAL002W::chr1_4: hom | caffeine\tYAL002W\t1.5\thom | caffeine\n",
			stdout: "1 of 4 entries of chem.tsv; dropped: 2 of columns without a whole deletion, " +
				"1 without a phenotype",
		},
		{
			name: "heterozygous",
			run: "ingest perturbations chem.tsv --source matrix gene_pattern=^([^:]+) " +
				"partial_loss=only" + samples,
			want: "sample_id\tgenes\tvalue\tcondition\n" +
				"YAL002W::chr1_4: het | caffeine\tYAL002W\t2.5\thet | caffeine\n" +
				"YAL001C::chr1_1: het | caffeine\tYAL001C\t3\thet | caffeine\n",
			stdout: "2 of 4 entries of chem.tsv; dropped: 2 of columns with a whole deletion",
		},
		{
			name: "both",
			run: "ingest perturbations chem.tsv --source matrix gene_pattern=^([^:]+) " +
				"partial_loss=keep --where value<2" + samples,
			want: "sample_id\tgenes\tvalue\tcondition\n" +
				"YAL002W::chr1_4: hom | caffeine\tYAL002W\t1.5\thom | caffeine\n",
			stdout: "1 without a phenotype, 2 for which --where is not true",
		},
		{
			name: "square",
			run: "ingest perturbations square.tsv --source matrix columns_are=genes " +
				"yeast_alleles=true alleles=[deletion,damp] --duplicates first" + samples,
			want: "sample_id\tgenes\tvalue\nVPS8: TFC3 - DAMP\tYAL001C|YAL002W\t1.5\n" +
				"VPS8: HO\tYAL002W|YDL227C\t-2\nTFC3 - DAMP: HO\tYAL001C|YDL227C\t0\n",
			stdout: "6 of 9 entries of square.tsv; dropped: 3 of a gene with itself; noted: 3 " +
				"rows, 3 of pairs that have an earlier cell",
		},
		{
			name: "square, deletions",
			run: "ingest perturbations square.tsv --source matrix columns_are=genes " +
				"yeast_alleles=true" + samples,
			want: "sample_id\tgenes\tvalue\nVPS8: HO\tYAL002W|YDL227C\t-2\n",
			stdout: "1 of 9 entries of square.tsv; dropped: 3 of a gene with itself, " +
				"4 of allele kind damp, which is not among alleles, " +
				"1 equal to the value of the same pair in the other half",
		},
		{
			name: "strains",
			run: "ingest perturbations strains.tsv --source matrix columns_are=genes " +
				"yeast_alleles=true alleles=[deletion,ts]" + samples,
			want: "sample_id\tgenes\tvalue\nYDL227C_sn7: YAL002W_dma1\tYAL002W|YDL227C\t1\n" +
				"YDL227C_sn7: YAL001C_tsa2\tYAL001C|YDL227C\t2\n",
			stdout: "2 of 6 entries of strains.tsv; dropped: 2 of a gene with itself, " +
				"1 of allele kind damp, which is not among alleles, " +
				"1 of allele kind other, which is not among alleles",
		},
		{
			name: "preamble",
			run: "ingest perturbations wide.dat --source matrix delimiter=; skip_lines=2 " +
				"comment=#" + samples,
			want:   "sample_id\tgenes\tvalue\tcondition\nVPS8: cold\tYAL002W\t1\tcold\n",
			stdout: "1 of 1 entry",
		},
		{
			name: "alias table",
			run:  "ingest perturbations uniprot.tsv --config ids.yaml" + samples,
			want: "sample_id\tgenes\tscore\n0\tYAL002W\t1\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := inFolder(t, files, genes, c.run)
			if code != 0 || !strings.Contains(stdout, c.stdout) {
				t.Fatalf("got exit code %d, stdout\n%s\nstderr\n%s\nwant %s", code, stdout, stderr,
					c.stdout)
			}
			text, err := os.ReadFile("p.tsv")
			if err != nil || c.want != "" && string(text) != c.want {
				t.Errorf("got\n%s%v\nwant\n%s", text, err, c.want)
			}
		})
	}
}

// Every ingest command applies the values of unknown_genes, which for a graph are two.
func TestIngestUnknownGenes(t *testing.T) {
	files := maps.Clone(published)
	files["graph.yaml"] = "genes: {file: ids.tsv, column: id}\n" +
		"edges: [{file: edges.tsv, relation: x, from: a, to: b, undirected: false}]\n" +
		"unknown_genes: drop-gene\n"
	files["ids.tsv"] = "id\nYAL001C\nYAL002W\n"
	files["edges.tsv"] = "a\tb\nYAL001C\tYAL002W\nYAL001C\tNONE1\n"
	files["sga.txt"] += "NONE1_sn1\tnone1Δ\tYAL002W_dma1\tvps8\t1\n"
	files["emap.tsv"] += "NONE1\tVPS8\tDELETION\tDELETION\t3\n"
	files["wide.tsv"] += "NONE1\t5\t6\n"
	files["tf.tsv"] += "NONE1\t1\t0\n"
	files["biogrid.txt"] += "NONE1\tYAL002W\tNONE1\tVPS8\tphysical\t559292\t559292\n"
	files["gem.yml"] += "- {id: r2, metabolites: {A: -1, B: 1}, lower_bound: 0, upper_bound: " +
		"1000, gene_reaction_rule: TFC3 and NONE1}\n"
	files["set.tsv"] = "genes\tscore\nYAL001C|YAL002W\t1\nNONE1|YAL002W\t2\nNONE1\t3\nYAL002W\t4\n"
	const samples = " --graph g --aliases features.tab --max-dropped 0.7 --out made.tsv"
	// what the reports say under drop-gene and drop-sample
	for _, c := range []struct{ run, gene, sample string }{
		{"perturbations set.tsv" + samples,
			"1 left without a gene, as theirs are unknown; noted: 1 unknown genes left out",
			"samples: 2 of 4 entries of set.tsv; dropped: 2 of unknown genes"},
		{"perturbations sga.txt --source costanzo2016" + samples, "1 unknown genes left out",
			"dropped: 1 of unknown genes"},
		{"perturbations emap.tsv --source emap" + samples, "1 unknown genes left out",
			"dropped: 1 of unknown genes"},
		{"perturbations wide.tsv --source matrix" + samples, "2 left without a gene",
			"2 of unknown genes"},
		{"graph --config graph.yaml --out made", "dropped: 1 of unknown genes", ""},
		{"graph --config biogrid.yaml", "1 of unknown genes", ""},
		{"graph --config tf.yaml", "dropped: 1 of unknown genes", ""},
		{"graph --config gem.yaml", "dropped: 1 of unknown genes, which the rules keep", ""},
	} {
		for word, want := range map[string]string{
			"error": "", "drop-gene": c.gene, "drop-sample": c.sample, "ignore": "",
		} {
			t.Run(c.run+" "+word, func(t *testing.T) {
				testrun.OneIn(t, 3)
				code, stdout, stderr := inFolder(t, files,
					"ingest graph +genes.source=sgd_features +genes.file=features.tab --out g "+
						"--quiet",
					"ingest "+c.run+" unknown_genes="+word)
				made, _ := filepath.Glob("*made*")
				switch {
				case word == "ignore" || word == "drop-sample" && want == "":
					if code != 2 || !strings.Contains(stderr, strconv.Quote(word)) ||
						len(made) > 0 {
						t.Errorf("got exit code %d, %v, %s", code, made, stderr)
					}
				case word == "error":
					isExplained := strings.Contains(stderr, `"NONE1"`) &&
						strings.Contains(stderr, "hint: ")
					if code != 3 || !isExplained || len(made) > 0 {
						t.Errorf("got exit code %d, %v, %s", code, made, stderr)
					}
				case code != 0 || !strings.Contains(stdout+stderr, want) || len(made) != 1:
					t.Errorf("got exit code %d, %v, %s%s\nwant a report with %s", code, made,
						stdout, stderr, want)
				}
			})
		}
	}
}

func TestIngestKindErrors(t *testing.T) {
	files := maps.Clone(published)
	files["none.tsv"] = "gene_a\tgene_b\tscore\nNONE1\t0\t1\nNONE2\t0\t2\n"
	files["nopair.tsv"] = "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tscore\n" +
		"NONE1\tHO\t\t\t1\nNONE2\tHO\t\t\t2\n"
	files["physical.txt"], _, _ = strings.Cut(published["biogrid.txt"], "YAL001C\tYDL227C")
	files["square.tsv"] = "gene\tTFC3\tVPS8\nTFC3\t\t1\nVPS8\t1\t\n"
	files["het.tsv"] = "orf\thet | growth\thom | growth\nVPS8\t1\t2\n"
	files["twice.tsv"] = "orf\tcold\nVPS8\t1\nVPS8\t2\n"
	files["unknown.tsv"] = "orf\tcold\nVPS8\t1\nYZZ999W\t2\n"
	const genes = "ingest graph +genes.source=sgd_features +genes.file=features.tab --out g --quiet"
	for _, c := range []struct {
		name, run string
		code      int
		want      string
	}{
		{
			name: "unknown gene",
			run: "ingest perturbations unknown.tsv --source matrix --graph g --out made.tsv " +
				"--aliases features.tab",
			code: 3,
			want: "unknown.tsv:3: gene \"YZZ999W\"",
		},
		{
			name: "no row left",
			run: "ingest perturbations nopair.tsv --source emap --graph g --out made.tsv " +
				"--unknown-genes drop-sample",
			code: 3,
			want: "kept 0 of 2 entries; dropped: 2 of unknown genes",
		},
		{
			name: "no edge left",
			run:  "ingest graph --config tf.yaml edges.0.file=none.tsv unknown_genes=drop-gene",
			code: 3,
			want: "kept 0 of 4 entries; dropped: 2 of unknown genes, 2 with a weight of 0 or none",
		},
		{
			name: "no interaction of a type",
			run:  "ingest graph --config biogrid.yaml edges.1.file=physical.txt",
			code: 3,
			want: "for gene__biogrid_genetic__gene: kept 0 of 1 entry",
		},
		{
			name: "double mutants",
			run: "ingest perturbations square.tsv --source matrix --graph g --out made.tsv " +
				"--aliases features.tab",
			code: 3,
			want: "hint: set columns_are=genes",
		},
		{
			name: "heterozygous",
			run: "ingest perturbations het.tsv --source matrix --graph g --out made.tsv " +
				"--aliases features.tab",
			code: 3,
			want: "hint: set partial_loss=drop",
		},
		{
			name: "a row twice",
			run: "ingest perturbations twice.tsv --source matrix --graph g --out made.tsv " +
				"--aliases features.tab",
			code: 3,
			want: "twice.tsv:3: found a second row \"VPS8\"",
		},
		{
			name: "no strain column",
			run:  "ingest perturbations wide.tsv --source costanzo2016 --graph g --out made.tsv",
			code: 3,
			want: "strains=[{strain: COLUMN, allele: COLUMN}, …]",
		},
		{
			name: "unknown kind of allele",
			run: "ingest perturbations emap.tsv --source emap --graph g --out made.tsv " +
				"alleles=[dead]",
			code: 2,
			want: `"dead"`,
		},
		{
			name: "a setting as a flag",
			run:  "ingest graph --config tf.yaml --unknown-genes drop-gene",
			code: 2,
			want: "hint: it is a setting: write unknown_genes=VALUE",
		},
		{
			name: "reaction nodes",
			run:  "ingest graph --config gem.yaml gem.reaction_nodes=edges",
			code: 2,
			want: `"edges"`,
		},
		{
			name: "no genes",
			run:  "ingest graph --config tf.yaml ~genes",
			code: 2,
			want: "genes.file: missing",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := inFolder(t, files, genes, c.run)
			if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
				t.Errorf("got exit code %d, stdout %q, stderr\n%s\nwant %d and %s", code, stdout,
					stderr, c.code, c.want)
			}
			if left, _ := filepath.Glob("*made*"); len(left) > 0 {
				t.Errorf("%v was left behind", left)
			}
		})
	}
}

// TestIngestScreenValues holds that no first value makes a screen lose a phenotype: it is missing,
// or it is an error that names the cell.
func TestIngestScreenValues(t *testing.T) {
	files := maps.Clone(published)
	tables := map[string]string{ // VALUE is of the first row
		"emap": "gene_a\tgene_b\tmutation_or_name_a\tmutation_or_name_b\tother\tscore\n" +
			"TFC3\tVPS8\t\t\t5\tVALUE\nTFC3\tHO\t\t\t6\t2\n",
		"costanzo2010": "Query ORF\tArray ORF\tother\tscore\n" +
			"YAL001C_sn1\tYAL002W_dma1\t5\tVALUE\nYAL001C_sn1\tYDL227C_dma1\t6\t2\n",
		"matrix": "orf\tscore\nTFC3\tVALUE\nVPS8\t2\n",
	}
	for kind, text := range tables {
		for value, want := range map[string]string{
			"":                 "",
			" ":                "",
			"N/A":              "",
			"None":             "",
			"#N/A":             "",
			"nan":              "",
			" 1":               "1",
			"9007199254740992": "9.007199254740992e+15",
			".":                `found "."`,
			"-":                `found "-"`,
			"TRUE":             `found "TRUE"`,
			"1e400":            "1e400",
			"9007199254740993": "9007199254740993",
			"inf":              "infinite",
			"-Inf":             "infinite",
		} {
			t.Run(kind+" "+value, func(t *testing.T) {
				testrun.OneIn(t, 3)
				files["s.tsv"] = strings.ReplaceAll(text, "VALUE", value)
				controls := ""
				if kind != "matrix" {
					controls = " controls=[YAL016W]"
				}
				code, _, stderr := inFolder(t, files,
					"ingest graph +genes.source=sgd_features +genes.file=features.tab --out g "+
						"--quiet",
					"ingest perturbations s.tsv --source "+kind+
						" --graph g --aliases features.tab --out p.tsv keep_unmeasured=true"+
						controls)
				written, _ := os.ReadFile("p.tsv")
				header, rows, _ := strings.Cut(string(written), "\n")
				first, _, _ := strings.Cut(rows, "\n")
				if kind == "matrix" { // the column before the condition
					header, _ = strings.CutSuffix(header, "\tcondition")
					first, _ = strings.CutSuffix(first, "\tscore")
				}
				switch score := first[strings.LastIndex(first, "\t")+1:]; {
				case strings.Contains(want, "found") || len(want) > 0 && want == value ||
					want == "infinite":
					if code != 3 || !strings.Contains(stderr, "s.tsv:2") ||
						!strings.Contains(stderr, want) {
						t.Errorf(
							"got exit code %d, stderr %s, expected an error of s.tsv:2 with %s",
							code, stderr, want,
						)
					}
				case code != 0 || score != want ||
					!strings.HasSuffix(header, "score") && !strings.HasSuffix(header, "value"):
					t.Errorf("got exit code %d, %q, stderr %s, want the value %q", code, written,
						stderr, want)
				}
			})
		}
	}
}
