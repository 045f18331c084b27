package store

import (
	"tcbuild/encode"
	"tcbuild/incidence"
)

// MaskReader reads samples with their masks: decoded from the stored bytes or, in the incidence
// variant, looked up in the stored incidence cache. It is for one goroutine, and must be closed.
type MaskReader struct {
	*Reader
	codec   encode.Codec       // of the LMDB variants
	decoder encode.Decoder     // of the LMDB variants
	remover *incidence.Remover // of the incidence variant
}

// NewMaskReader makes a reader. In the incidence variant it reads graph and incidence cache.
func (d *Dataset) NewMaskReader() (*MaskReader, error) {
	r := &MaskReader{Reader: d.NewReader()}
	var err error
	if d.Manifest.Variant != Incidence {
		if r.codec, err = encode.Find(d.Manifest.Mode(), d.Manifest.Codec); err != nil {
			return nil, d.damaged(manifestName, "%w", err)
		}
		r.decoder = r.codec.NewDecoder(d.Layout().Size)
		return r, nil
	}
	graph, err := d.Graph()
	if err != nil {
		return nil, err
	}
	cache, err := d.Incidence()
	if err != nil {
		return nil, err
	}
	rules, err := incidence.ReadRules(graph, d.Manifest.Options.ReactionRule)
	if err != nil {
		return nil, err
	}
	r.remover = incidence.NewRemover(graph, cache, rules)
	return r, nil
}

// Clone makes a reader for another goroutine; both share the incidence cache.
func (r *MaskReader) Clone() *MaskReader {
	clone := &MaskReader{Reader: r.dataset.NewReader(), codec: r.codec}
	if r.remover != nil {
		clone.remover = r.remover.Clone()
	} else {
		clone.decoder = r.codec.NewDecoder(r.dataset.Layout().Size)
	}
	return clone
}

// Sample returns a sample and its removed positions in the mask space, strictly
// ascending. Both are views that live until the next call. Any damage is an error.
func (r *MaskReader) Sample(sample int) (*Sample, []uint32, error) {
	stored, err := r.Stored(sample)
	if err != nil {
		return nil, nil, err
	}
	if r.remover != nil {
		return stored, r.remover.Removed(stored.Genes), nil
	}
	removed, err := r.decoder.Removed(stored.Payload)
	if err != nil {
		return nil, nil, r.damaged(sample, err)
	}
	return stored, removed, nil
}
