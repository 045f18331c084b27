"""Datasets for PyTorch: batches of tensors, and masks made on the model's device (extra `torch`).

Examples:
    >>> loader = tcbuild.torch.DataLoader("cell/dataset", batch_size=28)
    >>> for batch in loader:
    ...     masks, target = batch.masks, batch.phenotype("fitness")
    >>> masks["gene__physical__gene"].shape, target.shape
    (torch.Size([16, 210]), torch.Size([16]))
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
