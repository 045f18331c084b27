package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"tcbuild/encode"
	"tcbuild/ingest"
)

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
