package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tcbuild/internal/export"
	"tcbuild/store"
)

func newExport(e *env) *cobra.Command {
	var format export.Format
	var out string
	cmd := &cobra.Command{
		Use:   "export DATASET [--to parquet|npz] --out DIR",
		Short: "Write a dataset as Parquet or NumPy arrays, for other programs",
		Long: `Write a dataset of any variant into a folder that other programs read without tcbuild. Rows
of the graph's tables count from 0, and a removed position is a row of the table of its type.

Parquet, for R, DuckDB, polars, pandas and Hugging Face's datasets:

    samples.parquet      a row per sample: sample_id; genes and names, lists of the ids and names
                         of the deleted genes; each phenotype and attribute, such as kinds, null
                         if missing; and for each type of nodes and edges a column removed_TYPE,
                         the list of removed positions
    nodes/TYPE.parquet   id, and the table's other columns
    edges/TYPE.parquet   src_index and dst_index, rows of the nodes' tables, and other columns

NPZ, for NumPy and SciPy:

    removed/TYPE.npz     removed positions as a CSR matrix, with a row per sample and a column per
                         node or edge: scipy.sparse.load_npz reads it, and numpy.load its arrays
                         indptr and indices
    samples.npz          sample_id, and each phenotype and attribute; a missing number is NaN, a
                         missing text is empty
    nodes.npz            ids of the nodes of each type
    edges.npz            for each type, an array [2, edges] of rows of the nodes' tables

Columns of the graph whose type not every reader of Parquet knows become text.`,
		Example: `  tcbuild export demo/indices --out demo/parquet
  tcbuild export demo/indices --to npz --out demo/npz`,
	}
	choiceFlag(cmd, &format, "to", export.Parquet, []export.Format{export.Parquet, export.NPZ},
		"format of the files: parquet or npz")
	outFlag(cmd.Flags(), &out, "out", newOutput, "folder to create: `DIR`")
	require(cmd, "out")
	return configured(e, cmd, func(ctx context.Context, args []string) error {
		dataset, err := store.Open(args[0])
		if err != nil {
			return err
		}
		samples := dataset.Manifest.Samples
		total := samples
		if format == export.NPZ { // reads them twice
			total *= 2
		}
		bar := newProgress(e, "export", total)
		defer bar.Done()
		err = publish(out, func(dir string) error {
			return export.Write(ctx, dataset, format, dir, bar)
		})
		if err != nil {
			return err
		}
		e.say(fmt.Sprintf("%s: %s samples as %s", out, humanCount(samples), format))
		return nil
	})
}
