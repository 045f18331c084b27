"""A MaskGenerator that torch compiled or exported makes the masks that the oracle works out."""

from __future__ import annotations

import io
import shutil

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch._dynamo.testing import CompileCounterWithBackend

import tcbuild.torch as tt
import tcbuild.torch._mask_generator as mask_generator
from test_torch_generator import assert_masks, inputs
from torch_cases import built_case, opened

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["all", "gpr"])
def built(request, tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "wild types", request.param, folder, ["indices"])


def batches(want):
    """Samples for batches of many sizes, with few and many deleted genes."""
    few, many = want[:], want[:]
    few.sort(key=lambda sample: len(sample["perturbation_indices"]))
    many.sort(key=lambda sample: -len(sample["perturbation_indices"]))
    return [want, many[:7], few[2:9], want[5:20], many[:2], few[:2], few[-1:], many[:1], few[:3]]


@pytest.mark.parametrize("fullgraph", [False, True])
def test_it_is_traced_for_all_sizes_at_once(built, fullgraph):
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    generator = tt.MaskGenerator(built.datasets["indices"])
    compiled = torch.compile(generator, backend=counter, fullgraph=fullgraph)
    samples = batches(built.want)
    for some in samples:
        assert_masks(compiled(*inputs(some)), some)
    # For the first sizes, for all, and for those that torch takes for constants: 0 and 1.
    assert counter.frame_count <= 5
    for _ in range(2):
        before = counter.frame_count
        for some in samples:
            assert_masks(compiled(*inputs(some)), some)
        assert counter.frame_count == before


def test_a_batch_may_be_given_too(built):
    torch._dynamo.reset()
    dataset = opened(built.datasets["indices"])
    generator = tt.MaskGenerator(dataset)
    compiled = torch.compile(generator, backend="aot_eager", fullgraph=True)
    for end in (9, 4, 12):
        assert_masks(compiled(tt.collate(dataset[:end], masks=None)), built.want[:end])


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_it_is_compiled_to_c(built):
    torch._dynamo.reset()
    generator = tt.MaskGenerator(built.datasets["indices"])
    compiled = torch.compile(generator, fullgraph=True, dynamic=True)
    for some in batches(built.want)[:4]:
        assert_masks(compiled(*inputs(some)), some)
    genes, ptr = inputs(built.want[3:9])
    genes[2] = generator.genes
    with pytest.raises(IndexError, match=r"deleted\[2\].*\nhint: "):
        compiled(genes, ptr)
    genes[2] = 0
    with pytest.raises(ValueError, match="does not ascend.*\nhint: "):
        compiled(genes, ptr.flip(0))


@pytest.mark.parametrize("form", ["stacked", "concatenated"])
def test_it_is_exported_for_batches_of_two_or_more(built, form):
    generator = tt.MaskGenerator(built.datasets["indices"], form)
    sizes = {0: torch.export.Dim("deleted")}, {0: torch.export.Dim("ptr", min=3)}
    exported = torch.export.export(generator, inputs(built.want[3:9]), dynamic_shapes=sizes)
    saved = io.BytesIO()
    torch.export.save(exported, saved)
    saved.seek(0)
    for program in (exported, torch.export.load(saved)):
        module = program.module()
        for some in batches(built.want):
            if len(some) > 1:
                assert_masks(module(*inputs(some)), some, form)


def test_constants_are_marked_as_torch_marks_them():
    @torch.compiler.assume_constant_result
    def marked():
        pass

    assert vars(marked) == vars(mask_generator._has_triton)
