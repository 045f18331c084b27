package table

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
)

// An Ending is how the name of a table's file ends, and what the file holds.
type Ending struct {
	Name      string // such as .tsv
	Delimiter byte   // of text; 0 for an Arrow IPC file
}

// Endings are all that tables have. Text may also be compressed, which a further .gz or .zst says.
var Endings = []Ending{{".tsv", '\t'}, {".csv", ','}, {".arrow", 0}}

// Expected lists the endings, for messages.
const Expected = ".tsv or .csv (also .gz or .zst of these), or .arrow"

// EndingOf returns the ending of a file's name, in any case, its compression (.gz, .zst or ""), and
// the name before both. ok is false if the name has no table's ending.
func EndingOf(path string) (ending Ending, compression, stem string, ok bool) {
	stem = path
	if last := strings.ToLower(filepath.Ext(path)); last == ".gz" || last == ".zst" {
		compression, stem = last, path[:len(path)-len(last)]
	}
	name := strings.ToLower(filepath.Ext(stem))
	at := slices.IndexFunc(Endings, func(e Ending) bool { return e.Name == name })
	if at < 0 || compression != "" && Endings[at].Delimiter == 0 {
		return Ending{}, "", path, false
	}
	return Endings[at], compression, stem[:len(stem)-len(name)], true
}

// RefusedEnding is the error of a file whose name has no table's ending. Its hint is the line of
// Python that reads it.
func RefusedEnding(path string) error {
	return fault.New(fault.Input, inPython(path), "open table %s: found ending %q, expected %s",
		path, filepath.Ext(path), Expected)
}

// readers are Python's for files that Go does not read; %q stands for the path. Those of text also
// read it compressed.
var readers = []struct {
	endings string
	isText  bool
	read    string
}{
	{".csv", true, "pandas.read_csv(%q)"},
	{".tsv .txt .tab .zip", true, `pandas.read_csv(%q, sep="\t")`},
	{".json", true, "pandas.read_json(%q, dtype=False)"},
	{".jsonl", true, "pandas.read_json(%q, dtype=False, lines=True)"},
	{".xlsx .xls .ods", false, "pandas.read_excel(%q)"},
	{".parquet", false, "pandas.read_parquet(%q)"},
	{".feather", false, "polars.read_ipc(%q)"},
	{".arrows", false, "polars.read_ipc_stream(%q)"},
	{".h5ad", false, "anndata.read_h5ad(%q)"},
	{".xml .sbml .yml .yaml", true, "tcbuild.sources.add_model(graph, %q)"},
	{".obo", true, "tcbuild.sources.add_ontology(graph, %q, annotations)"},
	{".gaf", true, "tcbuild.sources.gaf(%q)"},
}

// inPython is the line of Python that builds a dataset from a file, or says what reads it. It also
// corrects the path of a torchcell store.
func inPython(path string) string {
	if filepath.Base(path) == "data.mdb" {
		return "give the folder of the torchcell store, " + filepath.Dir(path)
	}
	name := strings.ToLower(path)
	ending := filepath.Ext(name)
	inner := ""
	if slices.Contains([]string{".gz", ".zst", ".bz2", ".xz", ".zip"}, ending) {
		inner = filepath.Ext(strings.TrimSuffix(name, ending))
	}
	for _, reader := range readers {
		endings := strings.Fields(reader.endings)
		isInside := reader.isText && slices.Contains(endings, inner)
		if !isInside && !slices.Contains(endings, ending) {
			continue
		}
		read := fmt.Sprintf(reader.read, path)
		if strings.HasPrefix(read, "tcbuild.sources.") {
			return "in Python, " + read + " reads it for a graph"
		}
		return "in Python: tcbuild.build(graph, " + read + ", out=…)"
	}
	return "save it in one of these formats, or read it in Python and give the table to " +
		"tcbuild.build"
}
