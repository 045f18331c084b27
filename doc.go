// Package tcbuild builds training datasets for perturbation graph learning on cell graphs: which
// nodes and edges of a graph stay, as boolean masks, for each of many samples with deleted genes.
//
//	Build    makes a dataset of a cell graph and a perturbation set
//	Open     opens one for reading: samples, masks, the graph, the manifest
//	Verify   derives all masks again by independent methods, and compares
//
// A dataset comes in one of three variants, which describe identical masks: an incidence cache from
// which masks are looked up, an LMDB of the removed positions, and an LMDB of whole masks.
// docs/DESIGN.md defines the input, the masks and what a dataset promises; store/FORMAT.md its bytes.
//
// Data flows one way. Package ingest reads graphs and perturbation sets, incidence finds what a
// genotype removes, encode turns that into bytes, store keeps them, gpuverify derives them again.
//
// An error that a user can act on is a *fault.Error: its kind says whose turn it is (wrong usage, bad
// input, a damaged dataset, a busy one) and its hint names the fix.
package tcbuild
