"""What a command reads it does not write over."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import call

WORKLOAD = "name: w\noperators:\n  - {name: g, operator: gemm, dims: {m: 8, n: 8, k: 8}}\n"


@pytest.mark.parametrize("command", ["run --csv", "whatif --csv"])
@pytest.mark.parametrize("name", ["w.yaml", "./w.yaml", "other.yaml"])
def test_a_table_over_the_workload(command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.yaml").write_text(WORKLOAD, encoding="utf-8")
    Path("other.yaml").symlink_to("w.yaml")
    verb, option = command.split()
    ended = call(verb, "toy", "w.yaml", option, name)
    assert ended.code == 2
    assert "is read by this very command" in ended.err
    assert Path("w.yaml").read_text(encoding="utf-8") == WORKLOAD


def test_a_comparison_over_what_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(call("run", "toy", "gemm:m=8,n=8,k=8", "--json").out, encoding="utf-8")
    before = Path("a.json").read_bytes()
    assert call("diff", "a.json", "a.json", "--markdown", "a.json").code == 2
    assert Path("a.json").read_bytes() == before
