"""One JIT setting for all kernels, and what happens where compiled code cannot be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accelsim.kernels import jit


def broken(message: str, seen: list[bool]) -> Callable[..., Callable[[Any], Any]]:
    """An `njit` that cannot cache."""
    def njit(_: object, *, cache: bool, fastmath: bool, parallel: bool) -> Callable[[Any], Any]:
        assert not fastmath
        assert not parallel

        def wrap(function: Any) -> Any:
            seen.append(cache)
            if cache:
                raise RuntimeError(message)
            return function
        return wrap
    return njit


def test_without_a_folder_to_write_to_the_code_is_compiled_but_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(jit.numba, "njit", broken("cannot cache function: no locator available for file", seen))
    assert jit.kernel("int64(int64)")(abs)(-3) == 3
    assert seen == [True, False]


def test_another_failure_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.numba, "njit", broken("something else", []))
    with pytest.raises(RuntimeError, match="something else"):
        jit.kernel("int64(int64)")(abs)
