"""Makes cell graphs from published files: `yeast`, `human`, and what they are made of. A graph is a
dict of polars tables, for tcbuild.build and write (extra `sources`).

    $ python -m tcbuild.sources yeast --data downloads --out yeast/graph
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.sources._edges import add_edges
    from tcbuild.sources._files import matrix, table
    from tcbuild.sources._genes import add_names, genes, sgd_features
    from tcbuild.sources._graph import Graph, write
    from tcbuild.sources._human import human
    from tcbuild.sources._models import add_model
    from tcbuild.sources._ontologies import add_ontology, gaf
    from tcbuild.sources._yeast import yeast
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.sources", error, "sources") from error

__all__ = [
    "Graph",
    "add_edges",
    "add_model",
    "add_names",
    "add_ontology",
    "gaf",
    "genes",
    "human",
    "matrix",
    "sgd_features",
    "table",
    "write",
    "yeast",
]
