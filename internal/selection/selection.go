// Package selection chooses samples of a dataset, by an expression or by splitting it into parts at
// random, and writes their numbers. docs/FORMAT.md, Selections, specifies the files.
//
// # How a split draws
//
// A split puts units into parts. By sample, a unit is a sample and has its number. By genotype, a
// unit is all samples that perturb the same genes, numbered from 0 in the order of their first
// samples; by a phenotype or attribute, all samples with the same value, or with none, in the same
// way. By gene, a unit is a gene that a sample perturbs, numbered by its row in the gene table.
// Samples that hold_out puts into a part are left out of this, and so are, by gene, the genes of a
// rule with no other condition: they are in that part.
//
// Unit k has the random number that is the k-th output, from 0, of SplitMix64 (Steele, Lea and
// Flood, 2014) with the seed as its state: modulo 2^64, with z = seed + (k+1) × 0x9e3779b97f4a7c15,
// then z = (z xor z>>30) × 0xbf58476d1ce4e5b9, z = (z xor z>>27) × 0x94d049bb133111eb, it is z xor
// z>>31.
//
// Strata are taken in the order in which their first samples appear; without stratify there is one.
// In a stratum of n units, a part with the fraction f gets floor(n f). The units left over go one
// each to parts for which n f is not an integer, first to the parts that are owed most, and among
// equals to the first in fractions. A part is owed the sum of n f over this and all earlier strata,
// less the units that it has. If more units are pinned to a part than its share, it gets the pinned
// units, and the other parts share the rest by their fractions in the same way. The units that are
// not pinned are sorted by their random numbers; the first ones go to the first part until it has
// its number, the next ones to the second. Fractions are exact decimal numbers, so nothing is
// rounded.
//
// By component, a unit is a connected component, numbered as genotypes are: two genes are connected
// if a sample perturbs both, so parts share no gene. Components differ much in size, and are taken
// from the one with the most samples to the one with the fewest, equal ones by their random
// numbers. Each goes to the part that lacks most samples: f n less those that it has, where n
// counts the samples of all components; among equals to the first in fractions. Pinned components
// come first.
//
// By genotype, gene and component, samples that perturb no gene are drawn as genotypes are, apart
// from the others: each is a unit with the number of its sample, in the stratum that it would have.
// With wildtypes = whole they are one genotype or component like any other, and by gene all are in
// the first part.
//
// By gene, a gene is seen if a sample in the first part perturbs it, held out or not. After the
// draw, a gene of the first part that is not seen moves: of the genes with which it shares samples
// that are not held out, it takes the last part. A sample is in the part that has all genes that it
// perturbs. Other samples are in unplaced.arrow, which is absent if there are none. With straddling
// = parts, a sample with genes of several parts is in PART_unseenN.arrow instead: PART is the last
// part of one of its genes, in the order of fractions, then of rules, and N the number of its genes
// that are not seen.
package selection

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/where"
	"tcbuild/store"
)

const version = "1"

// batchSamples is the number of samples in a record batch; the last has the rest.
const batchSamples = 1 << 20

// rule is a key of a selection's metadata, which says by what it was made, with its value.
type rule struct{ key, value string }

// write writes the numbers of samples, ascending, as a selection of the dataset.
func write(path string, manifest *store.Manifest, samples []int64, rules ...rule) error {
	sum := sha256.New()
	_ = binary.Write(sum, binary.LittleEndian, samples) // to a hash
	rules = append([]rule{
		{"tcbuild_selection", version},
		{"logical_content", manifest.LogicalContent},
		{"dataset_samples", strconv.Itoa(manifest.Samples)},
		{"sha256", hex.EncodeToString(sum.Sum(nil))},
	}, rules...)
	var keys, values []string
	for _, r := range rules {
		keys, values = append(keys, r.key), append(values, r.value)
	}
	metadata := arrow.NewMetadata(keys, values)
	w, err := arrowfile.CreateAs(path,
		arrow.NewSchema([]arrow.Field{{Name: "sample", Type: arrow.PrimitiveTypes.Int64}},
			&metadata))
	if err != nil {
		return err
	}
	for part := range slices.Chunk(samples, batchSamples) {
		numbers := array.NewData(arrow.PrimitiveTypes.Int64, len(part),
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(part))}, nil,
			0, 0)
		if err := w.Write(array.MakeFromData(numbers)); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// Where writes the samples of a dataset for which an expression is true. It returns their number,
// which is not 0. It reads the sample table once.
func Where(ctx context.Context, dataset *store.Dataset, expression, path string) (int, error) {
	genes, err := dataset.Names()
	if err != nil {
		return 0, err
	}
	filter, err := where.Compile(expression, dataset.Manifest.Columns(), genes)
	if err != nil {
		return 0, err
	}
	var samples []int64
	err = eachSample(ctx, dataset, func(number int, row *ingest.Sample) error {
		if filter.Keeps(row) {
			samples = append(samples, int64(number))
		}
		return nil
	})
	if err == nil && len(samples) == 0 {
		err = where.NoneKept("dataset", dataset.Dir, expression, dataset.Manifest.Samples)
	}
	if err != nil {
		return 0, err
	}
	return len(samples), write(path, dataset.Manifest, samples, rule{"rule", "where"},
		rule{"where", expression})
}

// eachSample reads the samples of a dataset that has some.
func eachSample(ctx context.Context, dataset *store.Dataset,
	see func(number int, row *ingest.Sample) error) error {
	if dataset.Manifest.Samples == 0 {
		return fault.New(fault.Input, "build it with 'tcbuild incidence --perturbations FILE'",
			"read dataset %s: found no samples, expected at least one", dataset.Dir)
	}
	return dataset.EachSample(ctx, see)
}
