package main

import "github.com/spf13/cobra"

func newIngest(e *env) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "ingest KIND",
		Short: "Turn public data into a cell graph or a perturbation set",
		Example: `  tcbuild ingest graph --config yeast --out yeast/graph
  tcbuild ingest perturbations screen.tsv --graph yeast/graph --out screen.arrow
  tcbuild ingest perturbations SGA_NxN.txt --source costanzo2016 --graph yeast/graph --out sga.arrow`,
	})
	cmd.AddCommand(newIngestGraph(e), newIngestSources(e), newIngestPerturbations(e))
	return cmd
}
