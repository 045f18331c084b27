package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"tcbuild/encode"
	"tcbuild/ingest"
)

// Identify sets the manifest's identity, a SHA-256 of what makes this dataset differ from any
// other: variant, codec and logical content. If the logical content is not known before the samples
// are written, the inputs and options that determine it take its place. All samples' checksums are
// bound to the identity, so that a shard of another dataset, or a value in the wrong place, is
// detected.
func (m *Manifest) Identify() {
	identity := struct {
		FormatVersion  int
		Variant        Variant
		Codec          string
		LogicalContent string
		GraphDigest    string
		Options        Options
		Columns        ingest.Columns
		Perturbations  []ingest.Input
	}{FormatVersion: m.FormatVersion, Variant: m.Variant, Codec: m.Codec, LogicalContent: m.LogicalContent}
	if m.LogicalContent == "" {
		identity.GraphDigest, identity.Options = m.GraphDigest, m.Options
		identity.Columns, identity.Perturbations = m.Columns(), m.Inputs.Perturbations
	}
	sum := sha256.Sum256(marshal(identity))
	m.Identity = hex.EncodeToString(sum[:])
}

// IdentifyLike sets the identity as Identify did for another variant of the same input: with or
// without the logical content, which is now known.
func (m *Manifest) IdentifyLike(other *Manifest) {
	again, content := *other, m.LogicalContent
	if again.Identify(); again.Identity != other.Identity {
		m.LogicalContent = ""
	}
	m.Identify()
	m.LogicalContent = content
}

// Seed is the seed of sample 0's checksums: the first 16 digits of the identity as a number, or 0
// without an identity.
func (m *Manifest) Seed() encode.Seed {
	seed, _ := strconv.ParseUint(m.Identity[:min(16, len(m.Identity))], 16, 64)
	return encode.Seed(seed)
}
