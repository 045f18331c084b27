// Package samples reads perturbation sets: what a Spec says of a set, and a graph, go in, and
// batches of samples come out, with an account of every row. A row of a table, a cell of a matrix
// and a record of a torchcell store take one path:
//
//	row       s7  TFC3|ctrl  0.5       table, store
//	record    s7, TFC3 and ctrl, 0.5   form: list, strains, matrix or storeForm
//	genotype  row of TFC3 in the graph Genotyper, or a Reason why there is none
//	sample    s7, genotype, 0.5        scan, on all cores
//
// A Set then filters the samples, checks the account, and merges those of one genotype.
//
// To add a form of a set: implement form, name it in the constants of forms and in Spec.Form, tag
// the fields of Spec that it has, and open it in OpenForm, or in openTable if it is a table.
package samples
