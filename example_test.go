package tcbuild_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tcbuild"
	"tcbuild/gpuverify"
	"tcbuild/incidence"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
	"tcbuild/store"
)

// exampleInput writes a small synthetic graph and perturbation set into dir.
func exampleInput(dir string) (cell, set string) {
	made := synth.Graph(synth.Tiny, 1)
	cell, set = filepath.Join(dir, "graph"), filepath.Join(dir, "set.arrow")
	if err := graph.Write(cell, made); err != nil {
		log.Fatal(err)
	}
	if err := samples.Write(context.Background(), set, synth.Samples(synth.Tiny, 1, 100),
		made.Genes); err != nil {
		log.Fatal(err)
	}
	return cell, set
}

// exampleDataset builds a dataset of such input in dir.
func exampleDataset(dir string) string {
	cell, set := exampleInput(dir)
	out := filepath.Join(dir, "indices")
	if _, err := tcbuild.Build(context.Background(), tcbuild.Options{
		Variant: store.Indices, Graph: cell, Spec: samples.Spec{File: set}, Out: out,
	}); err != nil {
		log.Fatal(err)
	}
	return out
}

// A dataset is made of a graph folder and a perturbation set: here synthetic ones.
func ExampleBuild() {
	dir, err := os.MkdirTemp("", "tcbuild-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cell, set := exampleInput(dir)
	result, err := tcbuild.Build(context.Background(), tcbuild.Options{
		Variant: store.Indices,
		Graph:   cell,
		Spec:    samples.Spec{File: set},
		Out:     filepath.Join(dir, "indices"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Manifest.Samples, "samples of", len(result.Manifest.Masks), "masks")
	// Output: 100 samples of 8 masks
}

// The masks of a sample, as the positions at which they are false.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "tcbuild-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dataset, err := tcbuild.Open(exampleDataset(dir))
	if err != nil {
		log.Fatal(err)
	}
	masks, err := dataset.NewMaskReader()
	if err != nil {
		log.Fatal(err)
	}
	defer masks.Close()
	sample, removed, err := masks.Sample(7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sample %s deletes %d genes\n", sample.ID, len(sample.Genes))
	for mask, positions := range dataset.Layout().Split(removed) {
		fmt.Printf("%-36s %5d of %5d removed\n", mask.Name, len(positions), mask.Size)
	}
	// Output:
	// sample 7 deletes 3 genes
	// gene                                     3 of    60 removed
	// reaction                                 1 of    30 removed
	// metabolite                               0 of    25 removed
	// gene__gpr__reaction                      1 of    21 removed
	// gene__physical__gene                    14 of   210 removed
	// gene__regulatory__gene                   8 of   150 removed
	// gene__string12_0_coexpression__gene     18 of   300 removed
	// reaction__rmr__metabolite                2 of    85 removed
}

// What a genotype removes can be computed without a dataset.
func Example_removedPositions() {
	graph := synth.Graph(synth.Tiny, 1)
	cache := incidence.Build(graph)
	rules, err := incidence.ReadRules(graph, incidence.RuleAll)
	if err != nil {
		log.Fatal(err)
	}
	remover := incidence.NewRemover(graph, cache, rules)
	removed := remover.Removed([]uint32{3, 5}) // the fourth and the sixth gene of the graph
	mask, position := cache.Layout.At(int(removed[0]))
	fmt.Println(len(removed), "positions; the first:", mask.Name, position)
	// Output: 39 positions; the first: gene 3
}

// Verify derives all masks again, in two independent ways.
func ExampleVerify() {
	dir, err := os.MkdirTemp("", "tcbuild-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dataset, err := tcbuild.Open(exampleDataset(dir))
	if err != nil {
		log.Fatal(err)
	}
	report, err := tcbuild.Verify(context.Background(), dataset, gpuverify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Samples, "samples,", report.Differences, "differences")
	// Output: 100 samples, 0 differences
}
