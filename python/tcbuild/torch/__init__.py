"""tcbuild datasets for PyTorch: samples and batches as tensors, masks made on the model's device,
and the graph that all samples share. It needs the package torch (the extra torch).

Examples:
    >>> loader = tcbuild.torch.DataLoader("cell/dataset", batch_size=28)
    >>> for batch in loader:
    ...     batch = batch.to("cpu")
    >>> batch.masks["gene__physical__gene"].shape, batch.phenotypes.shape
    (torch.Size([16, 210]), torch.Size([16, 2]))
"""

from tcbuild.errors import missing_package as _missing_package

try:
    from tcbuild.torch._batch import Batch, collate
    from tcbuild.torch._loader import DataLoader
    from tcbuild.torch._mask_generator import MaskGenerator
    from tcbuild.torch._order import Order
    from tcbuild.torch._propagate import propagate
    from tcbuild.torch._score import score
except ModuleNotFoundError as error:
    raise _missing_package("tcbuild.torch", error) from error

__all__ = [
    "Batch",
    "DataLoader",
    "MaskGenerator",
    "Order",
    "collate",
    "propagate",
    "score",
]


def __dir__() -> list[str]:
    return __all__
