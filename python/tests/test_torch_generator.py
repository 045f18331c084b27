"""Masks made from deleted genes are those of the oracle; what a model needs of the graph is the
graph.
"""

from __future__ import annotations

import contextlib
import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

import tcbuild as package
import tcbuild.torch as tt
from cases import CASES_AND_RULES
from tcbuild.torch import _mask_generator as mask_generator
from torch_cases import built_case, opened, want_mask


@pytest.fixture(
    scope="module", params=[(case.name, rule) for case, rule in CASES_AND_RULES], ids="-".join
)
def built(request, tcbuild, tmp_path_factory):
    return built_case(
        tcbuild, *request.param, tmp_path_factory.mktemp("case"), variants=["incidence"]
    )


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"))


def inputs(samples):
    deleted = [sample["perturbation_indices"] for sample in samples]
    ptr = [sum(map(len, deleted[:number])) for number in range(len(deleted) + 1)]
    return torch.tensor(sum(deleted, []), dtype=torch.int64), torch.tensor(ptr)


def assert_masks(masks, samples, form="stacked"):
    assert list(masks) == list(samples[0]["masks"])
    for name, mask in masks.items():
        want = torch.tensor([want_mask(sample, name) for sample in samples], dtype=torch.bool)
        assert mask.is_contiguous() and torch.equal(
            mask, want if form == "stacked" else want.view(-1)
        ), name


@pytest.mark.parametrize("form", ["stacked", "concatenated"])
def test_masks_are_those_of_the_oracle(built, form):
    generator = tt.MaskGenerator(built.datasets["incidence"], form)
    assert_masks(generator(*inputs(built.want)), built.want, form)
    assert_masks(
        generator(*(tensor.int() for tensor in inputs(built.want[:1]))), built.want[:1], form
    )


def test_any_variant_will_do(everything):
    for path in everything.datasets.values():
        for dataset in (path, package.open(path), opened(path)):
            assert_masks(tt.MaskGenerator(dataset)(*inputs(everything.want)), everything.want)


def test_a_batch_of_wild_types_keeps_all(everything):
    generator = tt.MaskGenerator(everything.datasets["indices"])
    for samples in (0, 3):
        masks = generator(
            torch.empty(0, dtype=torch.int64), torch.zeros(samples + 1, dtype=torch.int64)
        )
        assert all(mask.all() and len(mask) == samples for mask in masks.values())


@pytest.mark.cuda
def test_masks_are_the_same_on_cuda_without_a_wait(everything):
    generator = tt.MaskGenerator(everything.datasets["indices"]).to("cuda")
    genes, ptr = (tensor.cuda() for tensor in inputs(everything.want))
    torch.cuda.set_sync_debug_mode("error")
    try:
        masks = generator(genes, ptr)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert_masks({name: mask.cpu() for name, mask in masks.items()}, everything.want)


class LiveMemory(TorchDispatchMode):
    """Counts the bytes of storages that were made under it and still live."""

    def __init__(self):
        super().__init__()
        self.live, self.peak = {}, 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                self.live[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        self.live = {key: value for key, value in self.live.items() if not value[0].expired()}
        self.peak = max(self.peak, sum(size for _, size in self.live.values()))
        return result


def test_a_device_is_never_waited_for_and_needs_little_memory(tcbuild, tmp_path, monkeypatch):
    """Fake CUDA tensors have no values, so anything that would have to read one fails."""
    pytest.importorskip("triton", reason="Triton is not installed")
    from torch._subclasses.fake_tensor import FakeTensorMode

    monkeypatch.setattr(mask_generator, "_has_triton", lambda device: True)
    monkeypatch.setattr(torch.cuda, "device_of", contextlib.nullcontext)
    tcbuild.run("synth", "--scale", "yeast", "--samples", 1, "--out", tmp_path / "yeast")
    tcbuild.run(
        "incidence", "--graph", tmp_path / "yeast" / "graph", "--out", tmp_path / "incidence"
    )
    generator = tt.MaskGenerator(tmp_path / "incidence")
    with FakeTensorMode() as mode:
        try:
            torch.zeros(1, device="cuda")
        except RuntimeError as error:
            pytest.skip(f"this torch has no fake tensors of a device that is not there: {error}")
        for module in generator.modules():
            for name, buffer in module.named_buffers(recurse=False):
                setattr(module, name, mode.from_tensor(buffer).to("cuda"))
        for samples in (1, 28):
            genes = torch.zeros(3 * samples, dtype=torch.int64, device="cuda")
            ptr = torch.zeros(samples + 1, dtype=torch.int64, device="cuda")
            with LiveMemory() as memory:
                masks = generator(genes, ptr)
            returned = sum(mask.numel() for mask in masks.values())
            assert returned == samples * sum(generator.layout.sizes)
            assert memory.peak <= 1.2 * returned, samples
            del masks


def test_it_leaves_the_number_of_threads_as_it_was(everything, monkeypatch):
    generator, arguments = tt.MaskGenerator(everything.datasets["indices"]), inputs(everything.want)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        generator(*arguments)
        assert torch.get_num_threads() == 2
        monkeypatch.setattr(tt.MaskGenerator, "_masks", lambda self, genes, ptr: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            generator(*arguments)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_inputs_that_do_not_fit_are_refused(everything):
    generator = tt.MaskGenerator(everything.datasets["indices"])
    genes, ptr = inputs(everything.want[:2])
    too_high = torch.tensor([0, generator.genes])
    cases = [
        ((genes,), ValueError, "deleted_ptr is missing"),
        ((genes, ptr[:-1]), ValueError, "does not ascend"),
        ((genes, ptr.flip(0)), ValueError, "does not ascend"),
        ((genes, ptr[:0]), ValueError, "is empty"),
        ((genes.float(), ptr), ValueError, "float32"),
        ((genes[None], ptr), ValueError, "one-dimensional"),
        (
            (too_high, torch.tensor([0, 2])),
            IndexError,
            rf"deleted\[1\] is {generator.genes}, ",
        ),
        (
            (-too_high, torch.tensor([0, 2])),
            IndexError,
            rf"deleted\[1\] is -{generator.genes}, ",
        ),
        (
            (genes.to("meta"), ptr),
            ValueError,
            "deleted is on meta, the mask generator on cpu",
        ),
        ((genes, ptr.to("meta")), ValueError, "deleted_ptr is on meta"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message) as raised:
            generator(*arguments)
        assert "\nhint: " in str(raised.value)


def test_it_has_no_parameters_and_leaves_checkpoints_alone(everything):
    generator = tt.MaskGenerator(everything.datasets["indices"])
    assert not list(generator.parameters()) and not generator.state_dict()
    for other in (
        copy.deepcopy(generator),
        pickle.loads(pickle.dumps(generator)),
        generator.half(),
    ):
        assert_masks(other(*inputs(everything.want)), everything.want)
    generator.to("meta")
    assert {buffer.device.type for buffer in generator.buffers()} == {"meta"}


class Model(torch.nn.Module):
    """A model that makes its own masks and counts what they keep."""

    def __init__(self, dataset):
        super().__init__()
        self.generator = tt.MaskGenerator(dataset)
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, genes, ptr):
        return self.weight * sum(mask.sum() for mask in self.generator(genes, ptr).values())


def train_in_parallel(rank, dataset, rendezvous, samples, results):
    torch.set_num_threads(1)  # threads do not outlive a fork
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2
    )
    model = torch.nn.parallel.DistributedDataParallel(Model(dataset))
    kept = model(*inputs(samples[rank]))
    kept.backward()
    results.put((rank, kept.item(), model.module.weight.grad.item()))
    torch.distributed.destroy_process_group()


def test_it_may_be_part_of_a_distributed_model(everything, tmp_path):
    samples = [everything.want[:3], everything.want[3:7]]
    context = torch.multiprocessing.get_context("fork")
    results = context.Queue()
    arguments = everything.datasets["indices"], tmp_path / "rendezvous", samples, results
    processes = [
        context.Process(target=train_in_parallel, args=(rank, *arguments)) for rank in range(2)
    ]
    for process in processes:
        process.start()
    got = sorted(results.get(timeout=1200) for _ in processes)
    for process in processes:
        process.join()
    want = [
        sum(sum(want_mask(sample, name)) for sample in part for name in sample["masks"])
        for part in samples
    ]
    assert got == [(rank, kept, sum(want) / 2) for rank, kept in enumerate(want)]


def test_each_batch_has_edges_of_its_own(everything):
    dataset, name = opened(everything.datasets["indices"]), "gene__physical__gene"
    first = tt.collate(dataset[:4], masks=None).edge_index(name)
    want = first.clone()
    first.zero_()
    for size in (4, 1, 4):
        edges = tt.collate(dataset[:size], masks=None).edge_index(name)
        assert torch.equal(edges, want[:, : edges.size(1)])
