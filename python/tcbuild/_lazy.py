"""What is done at its first use, without a lock."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")


class lazy_property(Generic[T]):
    """A property that is computed at its first use, and kept.

    functools.cached_property holds a lock meanwhile on Python 3.10 and 3.11: a process forked while
    a thread reads would wait for that lock for ever. Threads that come here at once each compute
    the value; all get the value of the first to finish.
    """

    def __init__(self, compute: Callable[[Any], T]):
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[T] | T:
        if instance is None:
            return self
        # From now on Python finds it in the instance, and does not come here.
        found: T = vars(instance).setdefault(self._name, self._compute(instance))
        return found


def uncompiled(function: Callable[P, T]) -> Callable[P, T]:
    """torch.compiler.disable, which would import torch._dynamo: 2 s and 150 MB in each process.
    Nothing is compiled before something else imports it.
    """
    disabled: Callable[P, T] | None = None

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal disabled
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if disabled is None:
            disabled = import_module("torch.compiler").disable(function)
        return disabled(*args, **kwargs)

    return call
