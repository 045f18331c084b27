// Package tcbuild builds training datasets for perturbation graph learning on cell graphs. For each
// sample, a set of deleted genes, a dataset has boolean masks that say which nodes and edges
// remain.
//
//	Build    builds a dataset from a cell graph and a perturbation set
//	Open     opens a dataset to read its samples, masks, graph and manifest
//	Verify   regenerates all masks by independent methods and compares them
//
// A dataset has one of three variants, which describe identical masks: an incidence cache from
// which masks are looked up, an LMDB of removed positions, or an LMDB of whole masks.
// docs/concepts.md defines the masks and the guarantees of a dataset, docs/input.md the input, and
// store/FORMAT.md the bytes.
//
// Data flows one way: package ingest reads graphs and perturbation sets, incidence finds what a
// genotype removes, encode turns that into bytes, store writes and reads them, and gpuverify checks
// them.
//
// An error that a user can fix is a *fault.Error. Its kind, such as fault.Input, can be matched
// with errors.Is; its hint names the fix.
package tcbuild
