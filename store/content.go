package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store/internal/sampletable"
)

// LogicalContent is a SHA-256, in hexadecimal, over everything that determines a dataset's masks and
// labels. It is the same for every variant, codec and number of shards. Strings and lists are
// preceded by their length as u32, which is little-endian:
//
//	"tcbuild logical content 3" | graph digest | reaction rule | phenotype names | attribute names and types
//	and for each file that the sample table has: the SHA-256 of its samples (sampletable.Digest)
//
// So processes can digest the samples of different files, and their number does not matter.
//
// The masks are a function of graph, rule and genotype; `tcbuild verify` proves that the stored
// masks are its values.
func LogicalContent(graphDigest string, rule incidence.ReactionRule, columns ingest.Columns, files [][sha256.Size]byte) string {
	var content []byte
	count := func(n int) { content = binary.LittleEndian.AppendUint32(content, uint32(n)) }
	text := func(text string) {
		count(len(text))
		content = append(content, text...)
	}
	text("tcbuild logical content 3")
	text(graphDigest)
	text(string(rule))
	count(len(columns.Phenotypes))
	for _, phenotype := range columns.Phenotypes {
		text(phenotype.Name)
	}
	count(len(columns.Attributes))
	for _, attribute := range columns.Attributes {
		text(attribute.Name)
		text(string(attribute.Type))
	}
	for _, file := range files {
		content = append(content, file[:]...)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// samplesPerPart is how many samples a file of the sample table has; the last one has the rest.
func (m *Manifest) samplesPerPart() int { return sampletable.LayoutOf(m.Columns()).PartSamples }

// Parts are the numbers of the files of the sample table that begin with one of the samples first
// to end-1: from the first number to the one before the second.
func (m *Manifest) Parts(first, end int) (from, to int) {
	size := m.samplesPerPart()
	return (first + size - 1) / size, (end + size - 1) / size
}

// DigestPart digests the samples in a file of the sample table, for LogicalContent.
func (d *Dataset) DigestPart(ctx context.Context, part int) (sum [sha256.Size]byte, err error) {
	table, err := d.Samples()
	if err != nil {
		return sum, err
	}
	digest, size := sampletable.NewDigest(d.Manifest.Columns()), d.Manifest.samplesPerPart()
	err = table.ScanRange(part*size, min((part+1)*size, d.Manifest.Samples), 4096, func(samples *ingest.Samples) error {
		digest.Add(samples, 0, samples.Len())
		return context.Cause(ctx)
	})
	return digest.Sum(), err
}

// Identify sets the manifest's identity, a SHA-256 of what makes this dataset differ from any
// other: variant, codec and logical content. All samples' checksums are bound to it, so that a
// shard of another dataset, or a value in the wrong place, is detected.
func (m *Manifest) Identify() {
	sum := sha256.Sum256(marshal(struct {
		FormatVersion  int
		Variant        Variant
		Codec          string
		LogicalContent string
		// not used since the logical content is always known; their zero values are in identities
		GraphDigest   string
		Options       Options
		Columns       ingest.Columns
		Perturbations []ingest.Input
	}{FormatVersion: m.FormatVersion, Variant: m.Variant, Codec: m.Codec, LogicalContent: m.LogicalContent}))
	m.Identity = hex.EncodeToString(sum[:])
}

// Seed is the seed of sample 0's checksums: the first 16 digits of the identity as a number, or 0
// without an identity.
func (m *Manifest) Seed() encode.Seed {
	seed, _ := strconv.ParseUint(m.Identity[:min(16, len(m.Identity))], 16, 64)
	return encode.Seed(seed)
}
