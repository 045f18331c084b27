package tcbuild

import (
	"path/filepath"

	"tcbuild/incidence"
)

// readBase reads another dataset in place of the inputs: it has been surveyed when that was built,
// and each file and block of it is compared with its checksum when it is read.
func (b *builder) readBase() (err error) {
	if b.graph, err = b.Base.Graph(); err != nil {
		return err
	}
	b.manifest = b.Base.Manifest.As(b.Variant, b.Program)
	b.Graph, b.inputs = filepath.Join(b.Base.Dir, "graph"), b.manifest.Inputs.Graph
	b.ReactionRule = b.manifest.Options.ReactionRule
	if err := b.readRules(); err != nil {
		return err
	}
	if err := b.findCodec(); err != nil {
		return err
	}
	b.stage("read base", "dataset", b.Base.Dir, "samples", b.manifest.Samples)
	b.manifest.Codec = b.codec.Name
	b.manifest.IdentifyLike(b.Base.Manifest)
	return b.cutShards()
}

// readIncidence is the graph's incidence: that of the base, or made.
func (b *builder) readIncidence() (cache *incidence.Cache, err error) {
	made := "build"
	if b.Base != nil {
		made = "read"
		cache, err = b.Base.Incidence()
	} else {
		cache = incidence.Build(b.graph)
	}
	if err == nil {
		b.stage(made+" incidence", "nodes", len(cache.Offsets)-1, "entries", len(cache.Positions))
	}
	return cache, err
}
