package combinations

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/internal/testing/sets"
)

// geneTable has the genes G00, G01, ….
func geneTable(n int) *ingest.Nodes {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("G%02d", i))
	}
	genes, _ := ingest.NewNodes(ingest.Gene, ids, nil)
	return genes
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// texts lists the samples, one line each.
func texts(t *testing.T, set *Set) []string {
	t.Helper()
	var lines []string
	account, err := sets.Read(set, func(batch *ingest.Samples) error {
		if batch.First != len(lines) || batch.Len() == 0 {
			t.Errorf("a batch of %d starts at %d after %d samples", batch.Len(), batch.First,
				len(lines))
		}
		for i := range batch.Len() {
			lines = append(lines, fmt.Sprintf("%s %d", batch.ID(i), batch.Genes(i)))
		}
		return nil
	})
	if err != nil || len(lines) != account.Kept || !reflect.DeepEqual(account, set.Account()) {
		t.Errorf("got %d samples, %+v, %v", len(lines), account, err)
	}
	return lines
}

// The samples are the subsets of the list in its order, whichever part is read.
func TestSet(t *testing.T) {
	genes := geneTable(40)
	list := []uint32{}
	var lines strings.Builder
	for i := range uint32(36) {
		gene := (i*7 + 5) % 40
		list = append(list, gene)
		fmt.Fprintln(&lines, genes.IDs[gene])
	}
	path := file(t, "genes.txt", lines.String())
	var want []string
	for number, subset := range enumerate(36, 3) {
		var genotype []uint32
		for _, place := range subset {
			genotype = append(genotype, list[place])
		}
		slices.Sort(genotype)
		want = append(want, fmt.Sprintf("%d %d", number, genotype))
	}
	set, err := openNamed("combinations:"+path+":3", genes, ingest.RefuseUnknownGenes)
	if err != nil {
		t.Fatal(err)
	}
	if set.Account().Kept != len(want) || set.Account().Repeats.Genotypes != len(want) {
		t.Errorf("got %+v, want %d samples", set.Account(), len(want))
	}
	if len(want) < batchSize || set.Columns().Phenotypes != nil {
		t.Errorf("got %d samples of %+v, want a batch or more, without phenotypes", len(want),
			set.Columns())
	}
	for _, p := range [][2]int{
		{0, len(want)},
		{0, 1},
		{17, 18},
		{100, 200},
		{1, batchSize + 1},
		{len(want) - 1, len(want)},
	} {
		part, err := openNamed(fmt.Sprintf("combinations:%s:3:%d:%d", path, p[0], p[1]), genes,
			ingest.RefuseUnknownGenes)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, part); !slices.Equal(got, want[p[0]:p[1]]) {
			t.Errorf("samples %v differ", p)
		}
	}
	stop := errors.New("stop")
	counts, err := sets.Read(set, func(*ingest.Samples) error { return stop })
	if err != stop || counts.Kept != batchSize {
		t.Errorf("got %+v, %v", counts, err)
	}
}

// A set is the same under all its names, and so is its identification.
func TestNames(t *testing.T) {
	genes := geneTable(6)
	list := file(t, "g.tsv", "name\tid\na\tG03\nb\tG01\nc\tG05\nd\tG01\n")
	var want []string
	for _, name := range []string{
		"combinations:" + list + ":2", "combinations:" + list + ":2:0:3",
	} {
		if !IsName(name) {
			t.Errorf("%s is no name", name)
		}
		set, err := openNamed(name, genes, ingest.RefuseUnknownGenes)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		inputs := set.Inputs()
		got := append(texts(t, set), fmt.Sprintf("%s %+v", sets.Counts(set.Account()), inputs))
		if want == nil {
			want = got
			found := strings.Join(got, "; ")
			const start = "0 [1 3]; 1 [3 5]; 2 [1 5]; 3 kept, 1 repeated_gene " +
				"[{Name:combinations:g.tsv:2:0:3 Bytes:32 SHA256:"
			if !strings.HasPrefix(found, start) {
				t.Error(found)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"sets.tsv", "synth:tiny:3:1", "folder", "c.yaml"} {
		if IsName(name) {
			t.Errorf("%s is taken for a name", name)
		}
	}
}

func TestUnknownGenes(t *testing.T) {
	path := file(t, "genes.txt", "G00\nGX\nG01\nG02\n")
	_, err := openNamed("combinations:"+path+":2", geneTable(3), ingest.RefuseUnknownGenes)
	if fault.KindOf(err) != fault.Input ||
		!strings.Contains(err.Error(), path+`:2: gene "GX" is not in the graph`) {
		t.Errorf("got %v", err)
	}
	_, err = openNamed("combinations:"+path+":2", geneTable(3), ingest.DropSample)
	if fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), "drop-gene") {
		t.Errorf("drop-sample: got %v", err)
	}
	set, err := openNamed("combinations:"+path+":2", geneTable(3), ingest.DropGene)
	if err != nil {
		t.Fatal(err)
	}
	account, err := sets.ReadAll(set)
	if err != nil || sets.Counts(account) != "3 kept, 1 unknown_left_out" ||
		!reflect.DeepEqual(account, set.Account()) {
		t.Errorf("got %+v, %v; known in advance: %+v", account, err, set.Account())
	}
	for text, want := range map[string]string{
		"G00\nG01 \n":             `:2: found gene "G01 ", expected a name without spaces`,
		"name\tid\na\tG00\nb\t\n": ":3: found an empty gene name",
	} {
		path := file(t, "odd.tsv", text)
		_, err := openNamed("combinations:"+path+":1", geneTable(3), ingest.DropGene)
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), path+want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestWrongSpecs(t *testing.T) {
	genes := geneTable(70)
	list := file(t, "genes.txt", strings.Join(genes.IDs, "\n"))
	two := file(t, "genes.tsv", "gene\tname\nG00\ta\n")
	for name, want := range map[string]string{
		"combinations:":                 "expected combinations:FILE:K",
		"combinations:3":                "expected combinations:FILE:K",
		"combinations:" + list:          "expected combinations:FILE:K",
		"combinations:" + list + ":3:0": "expected combinations:FILE:K or",
		"combinations:" + list + ":0":   "found k = 0, expected 1 to the 70 genes",
		"combinations:" + list + ":71":  "found k = 71",
		"combinations:" + list + ":35": "found 70 genes with about 1.1 × 10^20 " +
			"subsets of 35, expected at most 2^63",
		"combinations:" + list + ":10": "found 396,704,524,216 samples, expected " +
			"at most the 17,179,869,184 that a dataset holds",
		"combinations:" + list + ":20:5:17179869190": "found 17,179,869,185 samples",
		"combinations:" + list + ":2:5:5": "found range 5 to 5, expected one within 0 " +
			"to 2415",
		"combinations:" + list + ":2:0:2416": "found range 0 to 2416",
		"combinations:" + list + ":2:-1:3":   "found range -1 to 3",
		"combinations:" + two + ":1":         "found columns gene, name, expected id",
	} {
		_, err := openNamed(name, genes, ingest.RefuseUnknownGenes)
		isTheirs := slices.Contains([]fault.Kind{fault.Usage, fault.Input}, fault.KindOf(err))
		isFound := err != nil && strings.Contains(err.Error(), want)
		if !isTheirs || !isFound || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v, hint %q, want %q", name, err, fault.HintOf(err), want)
		}
	}
	_, err := openNamed("combinations:gone.txt:2", genes, ingest.RefuseUnknownGenes)
	if fault.KindOf(err) != fault.Failed ||
		!strings.Contains(err.Error(), "open gone.txt: there is no such file") {
		t.Errorf("got %v", err)
	}
}

// A truncated compressed list is bad input, reported with its name, even if the damage is found at
// once.
func TestCutList(t *testing.T) {
	for _, header := range []string{"genes\tf\n", "id\n", ""} {
		var whole bytes.Buffer
		w := gzip.NewWriter(&whole)
		_, _ = w.Write([]byte(header + strings.Repeat("G1\n", 5000)))
		_ = w.Close()
		path := file(t, "list.tsv.gz", whole.String()[:whole.Len()-20])
		_, err := openNamed("combinations:"+path+":2", geneTable(5), ingest.RefuseUnknownGenes)
		if err == nil || fault.KindOf(err) != fault.Input ||
			!strings.Contains(err.Error(), "list.tsv.gz") {
			t.Errorf("%q: got %v, want a fault.Input that names the list", header, err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	genes := geneTable(100)
	set := &Set{k: 3, total: 161700, account: ingest.Account{Kept: 161700}}
	for i := range genes.IDs {
		set.genes = append(set.genes, uint32(i))
	}
	for b.Loop() {
		if _, err := sets.ReadAll(set); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/161700, "ns/sample")
}

// Any name is either an error or equivalent to its canonical form.
func FuzzParseName(f *testing.F) {
	for _, name := range []string{
		"combinations:g.txt:3", "combinations:a:b:3:0:7", "combinations:x:1:2", "combinations::",
		"combinations:g:+3", "combinations:g:-1:-2:-3",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !strings.HasPrefix(name, prefix) {
			return
		}
		spec, err := ParseName(name)
		if err != nil {
			if fault.KindOf(err) != fault.Usage {
				t.Errorf("%q: got %v, want a fault.Usage", name, err)
			}
			return
		}
		canonical := fmt.Sprintf("%s%s:%d", prefix, spec.Genes, spec.K)
		if spec.Range != nil {
			canonical += fmt.Sprintf(":%d:%d", spec.Range.First, spec.Range.End)
		}
		again, err := ParseName(canonical)
		again.name = spec.name
		if err != nil || !reflect.DeepEqual(again, spec) {
			t.Errorf("%q: got %+v, then %+v, %v", name, spec, again, err)
		}
	})
}

func openNamed(name string, genes *ingest.Nodes, unknown ingest.UnknownGenes) (*Set, error) {
	spec, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	return Open(spec, names.OfIDs(genes), unknown)
}
