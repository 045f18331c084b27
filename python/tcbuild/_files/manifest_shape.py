"""The keys of manifest.json and the types of their values."""

from __future__ import annotations

from typing import Any

_MOST = 2**63 - 1

# A type, a list with the shape of its items, or an object with keys; a key that ends in ? is
# optional.
_FILE = {"name": str, "bytes": int, "sha256": str}
_SHAPE = {
    "format_version": int,
    "program?": str,
    "variant": str,
    "codec?": str,
    "samples": int,
    "samples_per_part?": int,
    "samples_per_batch?": int,
    "samples_per_value?": int,
    "masks": [{"name": str, "size": int}],
    "phenotypes": [{"name": str, "unit?": str, "description?": str, "statistic_of?": str}],
    "attributes": [{"name": str, "type": str}],
    "kinds?": {"attribute": str, "removing?": [str], "perturbations": dict},
    "options": dict,  # as the programs have them
    "account": dict,
    "inputs": dict,
    "graph_digest": str,
    "structure_digest": str,
    "logical_content": str,
    "identity": str,
    "shards?": [{"name": str, "first": int, "samples": int}],
    "files": [_FILE],
    "checksum": str,
}


def misfit(content: Any) -> str:
    """Describes where a manifest has wrong keys, types, or numbers out of range; "" without any."""
    return _misfit(content, _SHAPE, "")


def _misfit(value: Any, shape: Any, where: str) -> str:
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if type(value) is not kind:  # a bool is an int to isinstance
        return f"{where or 'it'} is of type {type(value).__name__}, expected {kind.__name__}"
    if kind is int and not 0 <= value <= _MOST:
        return f"{where} is {'negative' if value < 0 else 'too large'}, expected 0 to {_MOST}"
    if isinstance(shape, list):
        return next(
            (problem for item in value if (problem := _misfit(item, shape[0], f"{where}[]"))), ""
        )
    if not isinstance(shape, dict):
        return ""
    known = {key.removesuffix("?"): inner for key, inner in shape.items()}
    required = [key for key in shape if not key.endswith("?")]
    if other := [key for key in value if key not in known]:
        return f"{where} has an unknown key {other[0][:64]!r}".lstrip()
    if missing := [key for key in required if key not in value]:
        return f"{where} has no {missing[0]}".lstrip()
    path = f"{where}." if where else ""
    return next(
        (
            problem
            for key, inner in value.items()
            if (problem := _misfit(inner, known[key], path + key))
        ),
        "",
    )
