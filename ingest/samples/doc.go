// Package samples reads perturbation sets: what a Spec says of a set, and a graph, go in, and
// batches of samples come out, with an account of every row. A row of a table and a record of a
// torchcell store take one path:
//
//	row       s7  TFC3|ctrl  0.5       table, store
//	record    s7, TFC3 and ctrl, 0.5   form: list or storeForm
//	genotype  row of TFC3 in the graph Genotyper, or a Reason why there is none
//	sample    s7, genotype, 0.5        scan, on all cores
//
// A Set then checks the account, and counts the genotypes.
package samples
