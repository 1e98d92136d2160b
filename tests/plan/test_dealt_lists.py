"""Are tiles dealt to lockstep cores counted as they are where each core runs on its own?"""

from __future__ import annotations

from pathlib import Path

import pytest

from accelsim.verbs import Options, run

MAPPING = """
levels:
  - {{level: HBM, loops: [{{[n, m]: {waves}}}, {{k: 8}}], spatial: {{x: [{{[n, m]: {cores}}}]}}}}
  - {{level: SM, loops: [{{m: 4}}, {{n: 4}}, {{k: 2}}], spatial: {{x: [{{m: 2}}, {{n: 2}}]}}}}
  - {{level: TC, spatial: {{m: [{{m: 16}}], n: [{{n: 8}}], k: [{{k: 16}}]}}}}
"""


@pytest.mark.parametrize("multicast", ["equal", "none"])
@pytest.mark.parametrize(("waves", "cores"), [(1, 32), (2, 16), (5, 7), (8, 4)])
def test_traffic_and_work_are_those_of_cores_on_their_own(waves: int, cores: int, multicast: str, tmp_path: Path) -> None:
    """4 x 8 tiles of 128 x 64 results, the last wave ragged or not."""
    (tmp_path / "mapping.yaml").write_text(MAPPING.format(waves=waves, cores=cores), encoding="utf-8")
    found = []
    for lockstep in ("true", "false"):
        report = run("a100", "gemm:m=512,n=512,k=256,dtype=fp16", Options(mapping=str(tmp_path / "mapping.yaml"), overrides=(
            f"chip.levels.SM.lockstep={lockstep}", f"chip.links.L2.multicast={multicast}"))).report
        assert not report.failed, report.failed
        (one,) = report.done
        assert one.crosscheck.traffic_differences == ()
        found.append(({key: {name: (each.fill_bytes, each.drain_bytes, each.array_read_bytes, each.array_write_bytes)
                             for name, each in level.items()} for key, level in one.levels.items()}, one.macs))
    assert found[0] == found[1]
