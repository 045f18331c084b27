"""tcbuild datasets for PyTorch: samples and batches as tensors, masks made on the model's device,
and the graph that all samples share.

    dataset = tcbuild.torch.Dataset("cell/indices")
    loader = DataLoader(dataset, batch_size=28, num_workers=2, collate_fn=tcbuild.torch.collate)
    for batch in loader:
        batch = batch.to(device)
        batch.masks["gene__physical__gene"], batch.phenotypes

It needs the package torch: pip install tcbuild[torch].
"""

from tcbuild.errors import missing_package

try:
    from tcbuild.torch.batch import Batch, collate
    from tcbuild.torch.cell_graph import CellGraph
    from tcbuild.torch.dataset import Dataset, Sample
    from tcbuild.torch.mask_generator import MaskGenerator
    from tcbuild.torch.mask_layout import Encoding, Form, MaskLayout
    from tcbuild.torch.random_sampler import RandomSampler
except ModuleNotFoundError as error:
    raise missing_package("tcbuild.torch", error) from error

__all__ = [
    "Batch",
    "CellGraph",
    "Dataset",
    "Encoding",
    "Form",
    "MaskGenerator",
    "MaskLayout",
    "RandomSampler",
    "Sample",
    "collate",
]
