"""The event loop beside banks or a cache, and with tensors that follow others, in short runs: also without the compiler."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accelsim.spec.banks import Ports

from ..machine.test_banks import product, streamed
from ..machine.test_caches import twice
from ..machine.test_drivers import compare
from ..machine.test_follows import passes


@pytest.mark.parametrize("rate", [None, Fraction(4)])
@pytest.mark.parametrize("lie", ["row", "column"])
def test_a_stationary_operand_and_a_transfer_under_it(lie: str, rate: Fraction | None) -> None:
    compare(streamed(lie, 8, rate, tiles=1 if rate is None else 2))


def test_all_in_one_bank() -> None:
    compare(product(8, 1, Ports(both=1)))


@pytest.mark.parametrize("word", ["weight", "input", "output"])
def test_a_pass_that_follows(word: str) -> None:
    compare(passes(word))


@pytest.mark.parametrize("size", [128, 320])
def test_what_a_cache_has(size: int) -> None:
    compare(twice(size=size))
