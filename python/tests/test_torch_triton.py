"""The masks that Triton's kernel makes are those of the oracle: on the CPU by Triton's interpreter,
and on a GPU where there is one.
"""

from __future__ import annotations

import importlib
import os

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip(
    "triton", reason="Triton is not installed: torch brings it on Linux, for x86-64"
)

import tcbuild.torch as tt
from cases import CASES_AND_RULES
from tcbuild.torch import _mask_generator as mask_generator
from test_torch_generator import assert_masks, inputs
from torch_cases import built_case

pytestmark = pytest.mark.slow

CASES = [
    (case.name, rule)
    for case, rule in CASES_AND_RULES
    if case.name in ("everything", "genes alone", "further types", "wild types")
]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def built(request, tcbuild, tmp_path_factory):
    return built_case(tcbuild, *request.param, tmp_path_factory.mktemp("case"), ["incidence"])


@pytest.fixture(scope="module")
def everything(tcbuild, tmp_path_factory):
    return built_case(tcbuild, "everything", "gpr", tmp_path_factory.mktemp("case"), ["incidence"])


def reloaded():
    from tcbuild.torch import _scatter as scatter

    return importlib.reload(scatter)


@pytest.fixture
def interpreted(monkeypatch):
    """The kernel's module, for the CPU, and the number of launches."""
    with monkeypatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        scatter = reloaded()
        launches = []
        kernel = scatter.remove_rows

        def counted(*arguments):
            launches.append(arguments)
            kernel(*arguments)

        counted.operator = kernel
        patch.setattr(scatter, "remove_rows", counted)
        patch.setattr(mask_generator, "_has_triton", lambda device: True)
        yield scatter, launches
    reloaded()


def padded(genes, ptr, more_genes, more_samples):
    genes = torch.cat([genes, torch.full((more_genes,), -1)])
    return genes, torch.cat([ptr, ptr[-1:].expand(more_samples)])


def test_masks_are_those_of_the_oracle(built, interpreted, monkeypatch):
    """Of a few samples: the interpreter takes 0.1 to 1 ms for each of a launch's programs."""
    scatter, launches = interpreted
    generator = tt.MaskGenerator(built.datasets["incidence"])
    some = built.want[:4]
    assert_masks(generator(*inputs(some)), some)
    # rows of many parts, which go on
    monkeypatch.setattr(scatter, "_BLOCK", 4)
    monkeypatch.setattr(scatter, "_PARTS", 3)
    some = built.want[-1:]
    assert_masks(generator(*inputs(some)), some)
    assert 1 <= len(launches) <= 2  # none where no sample deletes a gene


def arguments(generator, samples):
    """What both operators take."""
    genes, ptr = inputs(samples)
    buffer = generator.layout.all_kept(len(samples), genes.device)
    incidence = generator.row_offsets, generator.positions, generator.widths, generator.starts
    device = generator.positions.device
    return buffer.to(device), genes.to(device), ptr.to(device), *incidence, generator.longest


def test_operators_are_what_they_say_they_are(everything, interpreted):
    """What torch's opcheck can find without a card: its other tests run the kernel on one."""
    scatter, _ = interpreted
    generator = tt.MaskGenerator(everything.datasets["incidence"])
    given = arguments(generator, everything.want[:2])
    parts = "test_schema", "test_autograd_registration"
    torch.library.opcheck(scatter.remove_rows.operator, given, test_utils=parts)


def test_the_opaque_operator_is_what_it_says_it_is(everything):
    generator = tt.MaskGenerator(everything.datasets["incidence"])
    for some in (everything.want[:1], everything.want):
        torch.library.opcheck(mask_generator.remove_compiled, arguments(generator, some))


@pytest.mark.cuda
def test_operators_are_what_they_say_they_are_on_a_card(everything):
    generator = tt.MaskGenerator(everything.datasets["incidence"]).cuda()
    for operator in (reloaded().remove_rows, mask_generator.remove_compiled):
        torch.library.opcheck(operator, arguments(generator, everything.want[:4]))


def test_a_compiler_sees_the_kernel(everything, monkeypatch):
    from torch._dynamo.backends.common import aot_autograd

    reloaded()
    monkeypatch.setattr(mask_generator, "_has_triton", lambda device: True)
    torch._dynamo.reset()
    graphs = []

    def noted(graph, inputs):
        graphs.append(graph.print_readable(print_output=False))
        return graph

    generator = tt.MaskGenerator(everything.datasets["incidence"])
    compiled = torch.compile(
        generator, backend=aot_autograd(fw_compiler=noted), fullgraph=True, dynamic=True
    )
    with pytest.raises(Exception, match="cpu|active drivers"):  # where no kernel runs
        compiled(*inputs(everything.want[:3]))
    (graph,) = graphs
    assert "triton_kernel_wrapper" in graph and "ops.tcbuild" not in graph
    torch._dynamo.reset()


@pytest.mark.cuda
def test_a_compiled_generator_makes_masks_of_all_sizes(everything):
    torch._dynamo.reset()
    generator = tt.MaskGenerator(everything.datasets["incidence"]).cuda()
    compiled = torch.compile(generator, fullgraph=True, dynamic=True)
    for some in (everything.want, everything.want[:3], everything.want[4:9]):
        masks = compiled(*(each.cuda() for each in inputs(some)))
        assert_masks({name: mask.cpu() for name, mask in masks.items()}, some)


def test_a_batch_of_many_samples_that_delete_nothing(everything, interpreted):
    generator = tt.MaskGenerator(everything.datasets["incidence"])
    wild = {**everything.want[0], "perturbation_indices": []}
    wild["masks"] = {name: {**mask, "removed": []} for name, mask in wild["masks"].items()}
    samples = [wild] * 30 + everything.want[:2] + [wild] * 33 + everything.want[2:3]
    assert_masks(generator(*inputs(samples)), samples)


@pytest.mark.parametrize("kernel", ["triton", "torch"])
def test_indices_and_pointers_may_be_filled_up(everything, request, kernel):
    if kernel == "triton":
        request.getfixturevalue("interpreted")
    generator = tt.MaskGenerator(everything.datasets["incidence"])
    for some in (everything.want[:4], []):
        genes, ptr = inputs(some)
        masks = generator(*padded(genes, ptr, 3, 2))
        assert all(
            mask[len(some) :].all() and len(mask) == len(some) + 2 for mask in masks.values()
        )
        if some:
            assert_masks(
                {name: mask[: len(some)].contiguous() for name, mask in masks.items()}, some
            )


def test_what_fills_up_is_checked(everything):
    generator = tt.MaskGenerator(everything.datasets["incidence"])
    genes, ptr = inputs(everything.want[:2])
    for more in (0, -2):
        with pytest.raises(ValueError, match="does not ascend"):
            generator(torch.cat([genes, torch.tensor([-1, more])]), ptr)
    with pytest.raises(IndexError, match=r"deleted\[0\] is -1"):
        generator(torch.cat([torch.tensor([-1]), genes[1:]]), ptr)


def test_the_kernel_compiles_for_cards(tmp_path):
    """By Triton's own compiler and NVIDIA's assembler, which need no card."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    assert os.environ.get("TRITON_INTERPRET", "0") != "1"
    kernel = reloaded()._remove_rows
    long, number = "*i64", "i32"
    signature = {"buffer": "*u8", "genes": long, "ptr": long, "batch_size": number}
    signature |= {"row_offsets": long, "row_ends": number, "positions": "*i32"}
    signature |= {"widths": long, "starts": long, "BLOCK": "constexpr"}
    source = ASTSource(kernel, signature, constexprs={"BLOCK": 512})
    for capability in (80, 90):
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        assert compiled.asm["cubin"] and f"sm_{capability}" in compiled.asm["ptx"]


@pytest.mark.cuda
def test_a_cuda_graph_makes_masks_of_other_batches(everything):
    generator = tt.MaskGenerator(everything.datasets["incidence"]).cuda()
    most = max(len(sample["perturbation_indices"]) for sample in everything.want)
    fixed = [
        torch.full((4 * most,), -1, device="cuda"),
        torch.zeros(5, dtype=torch.int64, device="cuda"),
    ]
    generator(*fixed)  # compiles
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        masks = generator(*fixed)
    for first in range(0, len(everything.want), 3):
        some = everything.want[first : first + 3]
        genes, ptr = inputs(some)
        filled = padded(genes, ptr, len(fixed[0]) - len(genes), len(fixed[1]) - len(ptr))
        for tensor, values in zip(fixed, filled):
            tensor.copy_(values)
        graph.replay()
        assert_masks({name: mask[: len(some)].cpu() for name, mask in masks.items()}, some)
