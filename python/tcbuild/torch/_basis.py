"""Marks gene indices with the graph and reaction rule that they belong to."""

from __future__ import annotations

from torch import Tensor


def mark_basis(genes: Tensor, mask_basis: str) -> None:
    """Notes on a tensor of gene indices whose they are. What is computed of it, or copied to
    another device, has no mark.
    """
    genes.mask_basis = mask_basis  # type: ignore[attr-defined]


def basis_of(genes: Tensor) -> str | None:
    """What mark_basis noted, or None."""
    return getattr(genes, "mask_basis", None)
