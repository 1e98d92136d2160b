"""Do runs still give the numbers that they gave? And can the corpus tell when they do not?"""

from __future__ import annotations

from typing import Any

import pytest

from accelsim.version import RESULTS_VERSION

from .corpus import CASES, Golden, faults, kept, measured

ROW = {"name": "a", "inputs": "i", "cycles": 312, "digest": "d"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_run_gives_the_numbers_that_are_kept(case: Golden) -> None:
    corpus = kept()
    own = [row for row in corpus["rows"] if row["name"] == case.name]
    assert not faults({**corpus, "rows": own}, [measured(case)], RESULTS_VERSION)


def test_every_case_is_kept_once() -> None:
    assert [row["name"] for row in kept()["rows"]] == [case.name for case in CASES]


@pytest.mark.parametrize(("now", "version", "told"), [
    ({}, 4, []),
    ({"cycles": 313}, 4, ["312 cycles were 313 now", "raise results_version, then"]),
    ({"digest": "e"}, 4, ["a stall or a byte differs", "raise results_version, then"]),
    ({"cycles": 313}, 5, ["312 cycles were 313 now", "; write the corpus anew"]),
    ({"inputs": "j", "cycles": 313}, 4, ["asked otherwise; write the corpus anew"]),
    ({"name": "b"}, 4, ["b: new", "a: is no case any more"]),
    ({}, 5, ["results_version is 5, the corpus of 4"]),
])
def test_what_changed_is_told_with_what_to_do(now: dict[str, Any], version: int, told: list[str]) -> None:
    found = "\n".join(faults({"results_version": 4, "rows": [ROW]}, [{**ROW, **now}], version))
    assert bool(found) == bool(told)
    assert all(words in found for words in told)
    assert version == 4 or "raise results_version" not in found
