"""Cell graphs, samples and batches for torch_geometric, with torchcell's names, in both directions.

    graph = tcbuild.pyg.cell_graph("cell/indices")           # or a graph folder
    dataset = tcbuild.pyg.Dataset("cell/indices", phenotypes=["fitness"])
    loader = tcbuild.pyg.DataLoader(dataset, batch_size=28)
    tcbuild.pyg.export_cell_graph(graph, "exported/graph")
    tcbuild.pyg.export_perturbations(samples, "exported/perturbations.arrow")

It needs the packages torch and torch_geometric: pip install tcbuild[pyg]. PyG's own DataLoader
takes the samples too, but copies each edge list for each sample of a batch.
"""

from tcbuild.errors import missing_package

try:
    from tcbuild.pyg.batch import Batch
    from tcbuild.pyg.cell_graph import cell_graph
    from tcbuild.pyg.dataset import Dataset
    from tcbuild.pyg.export import export_cell_graph, export_perturbations
    from tcbuild.pyg.loader import DataLoader, LazyCollater
except ModuleNotFoundError as error:
    raise missing_package("tcbuild.pyg", error) from error

__all__ = [
    "Batch",
    "DataLoader",
    "Dataset",
    "LazyCollater",
    "cell_graph",
    "export_cell_graph",
    "export_perturbations",
]
