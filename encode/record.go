package encode

import (
	"encoding/binary"
	"math"
)

// Record is one sample as it is stored:
//
//	genes u32 | id length u32 | phenotypes f64… | perturbation indices u32… | id bytes | payload
//
// The number of phenotypes is that of the dataset; the payload is the rest.
type Record struct {
	Genes      []uint32  // perturbation indices, strictly ascending
	Phenotypes []float64 // a missing value is NaN
	ID         []byte    // UTF-8
	Payload    []byte    // the masks, as the dataset's Codec writes them
}

const recordHead = 8

// AppendHead appends a record without its payload, which the caller appends next.
func (r *Record) AppendHead(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.Genes)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.ID)))
	for _, value := range r.Phenotypes {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(value))
	}
	for _, gene := range r.Genes {
		dst = binary.LittleEndian.AppendUint32(dst, gene)
	}
	return append(dst, r.ID...)
}

// Parse replaces r by the record in data, reusing r's memory. ID and Payload are views of data.
// Errors wrap ErrDamaged.
func (r *Record) Parse(data []byte, phenotypes int) error {
	if len(data) < recordHead {
		return damagedf("record of %d bytes has no head", len(data))
	}
	genes, id := int(binary.LittleEndian.Uint32(data)), int(binary.LittleEndian.Uint32(data[4:]))
	if need := recordHead + 8*phenotypes + 4*genes + id; len(data) < need {
		return damagedf("record of %d bytes is too short for %d phenotypes, %d genes and an id of %d bytes", len(data),
			phenotypes, genes, id)
	}
	data = data[recordHead:]
	r.Phenotypes = r.Phenotypes[:0]
	for i := range phenotypes {
		r.Phenotypes = append(r.Phenotypes, math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])))
	}
	data = data[8*phenotypes:]
	r.Genes = r.Genes[:0]
	for i := range genes {
		r.Genes = append(r.Genes, binary.LittleEndian.Uint32(data[4*i:]))
	}
	data = data[4*genes:]
	r.ID, r.Payload = data[:id], data[id:]
	return nil
}
