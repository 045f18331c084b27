"""Writes the cells of the tests' files with the anndata of an environment: write.py FILE."""

import sys

import anndata
import numpy as np
import pandas as pd

obs = pd.DataFrame(
    {
        "condition": pd.Categorical(["ctrl", "B+ctrl", "ctrl+B", "B", "A+B", "ctrl"]),
        "cell_type": pd.Categorical(["T", None, "NK", "T", "T", "NK"]),
        "batch": pd.Categorical([2, 1, 1, 2, 3, 3]),
        "dose": [0.5, np.nan, 1.0, -2.0, 0.0, 3.0],
        "n_counts": [1, 2, 3, 4, 5, 6],
    },
    index=list("uvwxyz"),
)
obs.index.name = "barcode"
anndata.AnnData(X=np.zeros((6, 1), "f4"), obs=obs).write(sys.argv[1])
