package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/synth"
	"tcbuild/internal/testing/synthetic"
	"tcbuild/store"
)

// BenchmarkWholeMasks reads whole masks of samples in random order, warm: 2.44 MB each, from a
// dataset of yeast's size.
func BenchmarkWholeMasks(b *testing.B) {
	const size = 256
	dir := b.TempDir()
	cell, set := synthetic.WriteScale(b, synth.Yeast, size)
	perturbations := samples.Spec{File: set}
	order := rand.New(rand.NewPCG(1, 0)).Perm(size)
	for _, variant := range []store.Variant{store.Incidence, store.Indices, store.FullMasks} {
		codecs := encode.Codecs(encode.Mode(variant))
		if variant == store.Incidence {
			codecs = []string{""}
		}
		for _, codec := range codecs {
			b.Run(fmt.Sprintf("variant=%s/codec=%s", variant, codec), func(b *testing.B) {
				out := filepath.Join(dir, string(variant)+codec)
				if _, err := store.Open(out); err != nil { // b.Run calls again with another b.N
					if _, err := tcbuild.Build(context.Background(), tcbuild.Options{Variant: variant, Codec: codec, Graph: cell,
						Spec: perturbations, Out: out}); err != nil {
						b.Fatal(err)
					}
				}
				dataset, err := store.Open(out)
				if err != nil {
					b.Fatal(err)
				}
				reader, err := newMasks(dataset, order)
				if err != nil {
					b.Fatal(err)
				}
				defer reader.close()
				if _, _, err := reader.pass(context.Background(), order); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(dataset.Manifest.MaskPositions()))
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, err := reader.whole(order[i%size]); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}
