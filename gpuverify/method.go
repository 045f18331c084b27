// Package gpuverify compares the stored masks of a dataset with masks that package regenerate
// derives again, independently of their builder, in two ways.
//
// It shares with the builder only the code that reads the graph's tables (ingest) and the dataset's
// records (store, encode).
package gpuverify

// Method is a way to regenerate masks.
type Method string

const (
	ByIncidence Method = "incidence"
	ByEdges     Method = "edges"
	Both        Method = "both"
)
