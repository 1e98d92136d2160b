"""Is the closed form of the traffic exactly what a walk of the nest counts?"""

from __future__ import annotations

from math import prod

from hypothesis import HealthCheck, assume, given, settings

from accelsim.analytic.traffic import traffic
from accelsim.spec.case import Case

from .cases import cases
from .replay import differences, replay


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_random_cases(case: Case | None) -> None:
    assume(case is not None)
    assert case is not None
    assume(prod(loop.bound for loop in case.nest.loops) <= 3000)
    assert not differences(dict(traffic(case)), replay(case)), case.mapping.to_yaml()
