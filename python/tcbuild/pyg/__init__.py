"""Cell graphs for torch_geometric.

    graph = tcbuild.pyg.cell_graph("cell/indices")           # or a graph folder

It needs the packages torch and torch_geometric: pip install tcbuild[pyg].
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.pyg._cell_graph import cell_graph
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.pyg", error) from error

__all__ = ["cell_graph"]


def __dir__() -> list[str]:
    return __all__
