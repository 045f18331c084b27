// Package duplicates counts the genotypes of a perturbation set, and refuses those of several
// samples if it is asked to.
package duplicates

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/distinct"
)

// Choice is what becomes of samples that delete the same genes, and have the same kinds of
// perturbations if the set records them.
type Choice string

const (
	Keep  Choice = "keep"  // all stay
	Error Choice = "error" // they are a fault.Input
)

// Choices are the values of the setting and flag, the default first.
var Choices = []Choice{Keep, Error}

// Count takes ownership of a source and returns its samples. Its account has their repeats. The
// samples of a batch are counted while the receiver has it, which it must not change. Messages name
// the set. Memory is 16 bytes for each sample.
func Count(source ingest.SampleSource, choice Choice, name string) ingest.SampleSource {
	s := &stage{SampleSource: source, choice: choice, name: name, kinds: -1}
	if columns := source.Columns(); columns.KindsApart {
		s.kinds = slices.Index(columns.AttributeNames(), columns.Kinds)
	}
	return s
}

// stage implements ingest.SampleSource.
type stage struct {
	ingest.SampleSource
	choice Choice
	name   string
	kinds  int // the attribute that is a part of genotypes; -1 for none
}

// Batches implements ingest.SampleSource.
func (s *stage) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		var genotypes distinct.Keys[distinct.Key]
		for samples, err := range s.SampleSource.Batches(ctx, account) {
			if err != nil {
				yield(nil, err)
				return
			}
			counted := make(chan struct{})
			go func() {
				defer close(counted)
				for key := range s.keys(samples) {
					genotypes.Add(key)
				}
			}()
			more := yield(samples, nil)
			if <-counted; !more {
				return
			}
		}
		repeated := make(map[distinct.Key]bool)
		account.Repeats = count(&genotypes, repeated)
		if s.choice == Error && len(repeated) > 0 {
			yield(nil, s.explain(ctx, repeated))
		}
	}
}

// mostRepeats limits the genotypes that are looked for again: one is enough for an error.
const mostRepeats = 1 << 16

// count counts genotypes, and notes those of several samples.
func count(
	genotypes *distinct.Keys[distinct.Key], repeated map[distinct.Key]bool,
) (repeats ingest.Repeats) {
	for key, times := range genotypes.All() {
		repeats.Genotypes++
		if times == 1 {
			continue
		}
		repeats.RepeatedGenotypes++
		repeats.RepeatedSamples += times
		if len(repeated) < mostRepeats {
			repeated[key] = true
		}
	}
	return repeats
}

// keys yields the keys of the samples' genotypes, in order.
func (s *stage) keys(samples *ingest.Samples) iter.Seq[distinct.Key] {
	return func(yield func(distinct.Key) bool) {
		var text []byte
		for i := range samples.Len() {
			text = text[:0]
			genes := samples.Genes(i)
			for _, gene := range genes {
				text = binary.AppendUvarint(text, uint64(gene)) // of most genes two bytes
			}
			if s.kinds >= 0 {
				text = binary.AppendUvarint(text, uint64(len(genes)))
				text = ingest.AppendWithoutCase(text, samples.Attribute(i, s.kinds).Text)
			}
			if !yield(keyOf(text)) {
				return
			}
		}
	}
}

// keyOf is the key of a text. Up to 15 bytes it is their number and the text itself, otherwise 255
// and 120 bits of its SHA-256, which no two different texts are known to share.
func keyOf(text []byte) distinct.Key {
	var k [16]byte
	if len(text) < len(k) {
		k[0] = byte(len(text))
		copy(k[1:], text)
	} else {
		sum := sha256.Sum256(text)
		copy(k[:], sum[:])
		k[0] = 255
	}
	return distinct.Key{binary.BigEndian.Uint64(k[:]), binary.BigEndian.Uint64(k[8:])}
}

// explain returns the error for the first two samples of one genotype. It reads the source again.
func (s *stage) explain(ctx context.Context, repeated map[distinct.Key]bool) error {
	type place struct {
		number int
		id     string
	}
	first := make(map[distinct.Key]place)
	for samples, err := range s.SampleSource.Batches(ctx, new(ingest.Account)) {
		if err != nil {
			return err
		}
		i := 0
		for key := range s.keys(samples) {
			here := place{samples.First + i, string(samples.ID(i))}
			i++
			if earlier, known := first[key]; known {
				return fault.New(fault.Input,
					"set duplicates to keep, or merge them in Python before the build, as in "+
						"table.groupby(\"genes\").mean()",
					"read perturbations %s: samples %s and %s (numbers %d and %d, counted from 0) "+
						"delete the same genes, expected each genotype once",
					s.name, fault.Quote(earlier.id), fault.Quote(here.id), earlier.number,
					here.number)
			}
			if repeated[key] {
				first[key] = here
			}
		}
	}
	return fault.New(fault.Busy, "run it again when nothing is writing to the set",
		"read perturbations %s again: found other samples than before", s.name)
}
