package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// sound is a graph and a perturbation set without a fault.
var sound = map[string]string{
	"graph/nodes/gene.tsv":                      "id\nYA\nYB\nYC\n",
	"graph/nodes/reaction.tsv":                  "id\tgpr\nr1\tYA and YB\nr2\tYC\n",
	"graph/nodes/metabolite.tsv":                "id\nm1\n",
	"graph/edges/gene__physical__gene.tsv":      "src\tdst\nYA\tYB\nYB\tYC\nYC\tYC\n",
	"graph/edges/gene__gpr__reaction.tsv":       "src_index\tdst_index\n0\t0\n1\t0\n2\t1\n",
	"graph/edges/reaction__rmr__metabolite.tsv": "src\tdst\tstoichiometry\nr1\tm1\t-1\nr2\tm1\t1\n",
	"sets.tsv": "sample_id\tgenes\tfitness\ns0\tYA\t0.5\ns1\tYB|YC\t\n",
}

var buildArgs = []string{
	"dataset", "--mode", "indices", "--graph", "graph", "--perturbations", "sets.tsv", "--out",
	"out",
}

func TestSoundInput(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"indices", "full-masks"} {
		dir := t.TempDir()
		writeFiles(t, dir, sound)
		must(t, dir, with(buildArgs, "--mode", mode)...)
		must(t, dir, "verify", "out", "--method", "both", "--graph", "graph")
	}
}

// with returns arguments with further ones; a flag given again replaces the first, as in pflag.
func with(args []string, more ...string) []string {
	return append(append([]string{}, args...), more...)
}

func TestFaultyGraph(t *testing.T) {
	const (
		gene     = "graph/nodes/gene.tsv"
		reaction = "graph/nodes/reaction.tsv"
		physical = "graph/edges/gene__physical__gene.tsv"
		gpr      = "graph/edges/gene__gpr__reaction.tsv"
		rmr      = "graph/edges/reaction__rmr__metabolite.tsv"
	)
	whole := "src\tdst\n" + strings.Repeat("YA\tYB\nYB\tYC\nYC\tYA\n", 5000)
	for _, c := range []struct {
		name  string
		files map[string]string // instead of the sound ones
		args  []string
		want  []string
	}{
		{
			name:  "no gene table",
			files: map[string]string{gene: ""},
			want:  []string{"read graph graph: found no node table gene"},
		},
		{
			name:  "no metabolite table",
			files: map[string]string{"graph/nodes/metabolite.tsv": ""},
			want:  []string{"edges/reaction__rmr__metabolite.tsv needs the node table metabolite"},
		},
		{
			name:  "unknown source",
			files: map[string]string{physical: "src\tdst\nYA\tYB\nYX\tYB\n"},
			want: []string{
				physical + `:3: src "YX" is not in nodes/gene, expected one of its 3 ids`,
			},
		},
		{
			name:  "unknown target",
			files: map[string]string{physical: "src\tdst\nYA\tyb\n"},
			want:  []string{physical + `:2: dst "yb" is not in nodes/gene`},
		},
		{
			name:  "unknown reaction",
			files: map[string]string{rmr: "src\tdst\nr1\tm1\nr3\tm1\n"},
			want: []string{
				rmr + `:3: src "r3" is not in nodes/reaction, expected one of its 2 ids`,
			},
		},
		{
			name:  "empty endpoint",
			files: map[string]string{physical: "src\tdst\nYA\t\n"},
			want:  []string{physical + `:2: dst "" is not in nodes/gene`},
		},
		{
			name:  "index out of range",
			files: map[string]string{gpr: "src_index\tdst_index\n0\t0\n3\t0\n"},
			want:  []string{gpr + ":3: src_index: found 3, expected ", "from 0 to 2", "nodes/gene"},
		},
		{
			name:  "negative index",
			files: map[string]string{gpr: "src_index\tdst_index\n0\t-1\n"},
			want: []string{
				gpr + ":2: dst_index: found -1, expected ", "from 0 to 1", "nodes/reaction",
			},
		},
		{
			name:  "index beyond 64 bits",
			files: map[string]string{gpr: "src_index\tdst_index\n99999999999999999999\t0\n"},
			want:  []string{gpr + `:2: src_index: found "99999999999999999999", expected an`},
		},
		{
			name:  "index not a number",
			files: map[string]string{gpr: "src_index\tdst_index\n0\tr1\n"},
			want:  []string{gpr + `:2: dst_index: found "r1", expected an i`},
		},
		{
			name:  "missing index",
			files: map[string]string{gpr: "src_index\tdst_index\n0\t\n"},
			want:  []string{gpr + ":2: dst_index: found no value"},
		},
		{
			name:  "missing column dst",
			files: map[string]string{physical: "src\ttarget\nYA\tYB\n"},
			want:  []string{physical + ": found columns src, target, expected dst"},
		},
		{
			name:  "missing column id",
			files: map[string]string{gene: "name\nYA\nYB\nYC\n"},
			want:  []string{gene + ": found columns name, expected id"},
		},
		{
			name:  "ids and indices",
			files: map[string]string{physical: "src\tdst\tsrc_index\tdst_index\nYA\tYB\t0\t1\n"},
			want:  []string{physical + ": found columns of ids (src, dst) and of indices"},
		},
		{
			name:  "duplicate id",
			files: map[string]string{gene: "id\nYA\nYB\nYC\nYB\n"},
			want:  []string{gene + `:5: id "YB" is also in ` + gene + ":3"},
		},
		{
			name:  "empty id",
			files: map[string]string{gene: "id\tname\nYA\ta\n\tb\nYC\tc\n"},
			want:  []string{gene + ":3: id \"\" is empty"},
		},
		{
			name:  "wrong edge type",
			files: map[string]string{"graph/edges/gene__makes__protein.tsv": "src\tdst\nYA\tp1\n"},
			want: []string{
				"edges/gene__makes__protein.tsv needs the node table protein, which is missing",
			},
		},
		{
			name:  "no edge type",
			files: map[string]string{"graph/edges/physical.tsv": "src\tdst\nYA\tYB\n"},
			want:  []string{"found table \"edges/physical.tsv\""},
		},
		{
			name:  "wrong node type",
			files: map[string]string{"graph/nodes/reactions.tsv": "id\np1\n"},
			want: []string{
				"found table \"nodes/reactions.tsv\": its type is \"reactions\", expected reaction",
			},
		},
		{
			name:  "same table twice",
			files: map[string]string{"graph/nodes/gene.csv": "id\nYA\n"},
			want:  []string{"found both \"nodes/gene.csv\" and \"nodes/gene.tsv\""},
		},
		{
			name:  "row with too few fields",
			files: map[string]string{physical: "src\tdst\nYA\tYB\nYB\n"},
			want:  []string{physical + ":3: found 1 field, expected 2"},
		},
		{
			name:  "row with too many fields",
			files: map[string]string{physical: "src\tdst\nYA\tYB\tYC\n"},
			want:  []string{physical + ":2: found 3 fields, expected 2"},
		},
		{name: "empty file", files: map[string]string{physical: "\n"}, want: []string{physical}},
		{
			name:  "torn gz",
			files: map[string]string{physical: "", physical + ".gz": half(gzipped(t, whole))},
			want:  []string{physical + ".gz: the file is truncated or damaged after line "},
		},
		{
			name:  "torn zst",
			files: map[string]string{physical: "", physical + ".zst": half(zstandard(t, whole))},
			want:  []string{physical + ".zst: the file is truncated or damaged"},
		},
		{
			name:  "torn arrow",
			files: map[string]string{gene: "", "graph/nodes/gene.arrow": half(genesArrow(t))},
			want:  []string{"graph/nodes/gene.arrow: the file is truncated or damaged"},
		},
		{
			name:  "no gz at all",
			files: map[string]string{physical: "", physical + ".gz": whole},
			want: []string{
				physical + ".gz: the file is not gzip-compressed, although its name ends in .gz",
			},
		},
		{
			name:  "broken gpr rule",
			files: map[string]string{reaction: "id\tgpr\nr1\tYA\nr2\tYA and (YB or\n"},
			args:  []string{"--reaction-rule", "gpr"},
			want: []string{
				`read graph graph: nodes/reaction.tsv row 1: gpr rule of reaction "r2": `,
				"expected ",
			},
		},
	} {
		t.Run(c.name,
			func(t *testing.T) { faulty(t, 3, c.files, with(buildArgs, c.args...), c.want...) })
	}
}

func TestFaultyPerturbations(t *testing.T) {
	whole := "genes\tfitness\n" + strings.Repeat("YA\t1\nYB|YC\t2\n", 5000)
	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		want  []string
	}{
		{name: "folder", args: []string{"--perturbations", "graph"}, want: []string{"graph"}},
		{
			name:  "unknown ending",
			files: map[string]string{"sets.xls": "x"},
			args:  []string{"--perturbations", "sets.xls"},
			want:  []string{"sets.xls"},
		},
		{
			name:  "unknown gene",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA\t1\nYA|YX\t2\n"},
			want:  []string{`sets.tsv:3: gene "YX" is not in the graph (3 genes)`},
		},
		{
			name:  "empty genotype",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA\t1\n\t2\n"},
			want:  []string{"sets.tsv:3: the sample deletes no gene, expected at least one"},
		},
		{
			name:  "empty gene name",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA||YB\t1\n"},
			want:  []string{"sets.tsv:2: found an empty gene name"},
		},
		{
			name:  "only unknown genes",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYX|YZ\t1\n"},
			args:  []string{"--unknown-genes", "drop-gene"},
			want: []string{
				`read perturbations sets.tsv: kept 0 of 1 row; dropped: 1 left without a gene, ` +
					`as theirs are unknown, such as YX`,
			},
		},
		{
			name:  "non-number in a phenotype",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA\t1\nYB\thigh\n"},
			want: []string{
				`sets.tsv:3: column "fitness": found "high", expected a number as in line 2`,
			},
		},
		{
			name:  "infinite phenotype",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA\tInf\n"},
			want:  []string{`sets.tsv:2: phenotype "fitness": found an infinite value`},
		},
		{
			name:  "no genes column",
			files: map[string]string{"sets.tsv": "orf\tfitness\nYA\t1\n"},
			want:  []string{`sets.tsv: found columns orf, fitness, expected genes column "genes"`},
		},
		{
			name:  "no rows",
			files: map[string]string{"sets.tsv": "genes\tfitness\n"},
			want:  []string{"read perturbations sets.tsv: found no rows"},
		},
		{
			name:  "torn row",
			files: map[string]string{"sets.tsv": "genes\tfitness\nYA\t1\nYB|Y"},
			want:  []string{"sets.tsv:3: found 1 field, expected 2"},
		},
		{
			name:  "torn gz",
			files: map[string]string{"sets.tsv.gz": half(gzipped(t, whole))},
			args:  []string{"--perturbations", "sets.tsv.gz"},
			want:  []string{"sets.tsv.gz: the file is truncated or damaged after line "},
		},
		{
			name:  "torn zst",
			files: map[string]string{"sets.tsv.zst": half(zstandard(t, whole))},
			args:  []string{"--perturbations", "sets.tsv.zst"},
			want:  []string{"sets.tsv.zst: the file is truncated or damaged"},
		},
		{
			name:  "torn arrow",
			files: map[string]string{"sets.arrow": half(genesArrow(t))},
			args:  []string{"--perturbations", "sets.arrow"},
			want:  []string{"sets.arrow: the file is truncated or damaged"},
		},
		{
			name:  "arrow with an unknown gene",
			files: map[string]string{"sets.arrow": genesArrow(t)},
			args:  []string{"--perturbations", "sets.arrow"},
			want:  []string{`sets.arrow row 3: gene "YX" is not in the graph`},
		},
	} {
		t.Run(c.name,
			func(t *testing.T) { faulty(t, 3, c.files, with(buildArgs, c.args...), c.want...) })
	}
	t.Run("missing file", func(t *testing.T) {
		faulty(t, 1, nil, with(buildArgs, "--perturbations", "set.tsv"),
			"open set.tsv: there is no such file")
	})
}

// faulty runs the program on the sound input with some files changed: it must fail and leave no
// files.
func faulty(t *testing.T, code int, files map[string]string, args []string, want ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFiles(t, ".", sound, files)
	var stdout, stderr bytes.Buffer
	got := run(t.Context(), args, &stdout, &stderr)
	outcome{got, stdout.String(), stderr.String()}.refused(t, code, want...)
	nothing(t, "out", "out.building")
}

func half(text string) string { return text[:len(text)/2] }

func gzipped(t *testing.T, text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func zstandard(t *testing.T, text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// genesRecord is a table that serves as a node table and as a perturbation set. Its row 3 names
// a gene that the sound graph does not have.
func genesRecord() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "genes", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	},
		nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for _, gene := range []string{"YA", "YB", "YC", "YX"} {
		b.Field(0).(*array.StringBuilder).Append(gene)
		b.Field(1).(*array.ListBuilder).Append(true)
		b.Field(1).(*array.ListBuilder).ValueBuilder().(*array.StringBuilder).Append(gene)
	}
	return b.NewRecord()
}

func genesArrow(t *testing.T) string { return arrowFile(t, genesRecord()) }

func arrowFile(t *testing.T, record arrow.Record) string {
	path := filepath.Join(t.TempDir(), "genes.arrow")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(record.Schema()))
	if err == nil {
		err = errors.Join(w.Write(record), w.Close())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}
