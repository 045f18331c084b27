"""Cell graphs and samples for torch_geometric, with torchcell's names, in both directions.

    graph = tcbuild.pyg.cell_graph("cell/indices")           # or a graph folder
    data = tcbuild.pyg.Dataset("cell/indices", phenotypes=["fitness"])[0]
    tcbuild.pyg.export_cell_graph(graph, "exported/graph")
    tcbuild.pyg.export_perturbations(samples, "exported/perturbations.arrow")

It needs the packages torch and torch_geometric: pip install tcbuild[pyg]. A PyG DataLoader copies
each edge list for each sample of a batch; for training, tcbuild.torch gives batches that do not.
"""

from tcbuild.pyg.batch import Batch, DataLoader, LazyCollater
from tcbuild.pyg.cell_graph import cell_graph
from tcbuild.pyg.dataset import Dataset
from tcbuild.pyg.export import export_cell_graph, export_perturbations

__all__ = [
    "Batch",
    "DataLoader",
    "Dataset",
    "LazyCollater",
    "cell_graph",
    "export_cell_graph",
    "export_perturbations",
]
