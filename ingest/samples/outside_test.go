package samples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/build"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/sets"
)

const data = "../../../shared/data"

var features = filepath.Join(data, "genes_sgd/SGD_features.tab.gz")

// yeast is a graph of SGD's genes.
func yeast(t testing.TB) *ingest.Graph {
	t.Helper()
	if _, err := os.Stat(features); err != nil || testing.Short() {
		t.Skipf("-short, or the public yeast data is not there: %v", err)
	}
	var spec build.Spec
	if err := conf.DecodeSource("sgd_features", "genes", &spec.Genes); err != nil {
		t.Fatal(err)
	}
	spec.Genes.File = features
	var files inputfile.Files
	defer files.Close()
	cell, _, err := build.Graph(&files, spec)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// openForm opens a set.
func openForm(spec samples.Spec, cell *ingest.Graph) (*samples.Set, error) {
	return samples.Open(spec, cell)
}

// readTexts reads a whole set: its samples as "id genes values", ids of genes joined by +.
func readTexts(
	set *samples.Set, genes *ingest.Nodes,
) (texts []string, account ingest.Account, err error) {
	account, err = sets.Read(set, func(batch *ingest.Samples) error {
		for i := range batch.Len() {
			var ids []string
			for _, row := range batch.Genes(i) {
				ids = append(ids, genes.IDs[row])
			}
			text := fmt.Sprintf("%s %s %v", batch.ID(i), strings.Join(ids, "+"),
				batch.Phenotypes(i))
			texts = append(texts, text)
		}
		return nil
	})
	return texts, account, err
}
