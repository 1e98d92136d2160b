"""The pages for people who come from other tools: their files are what the page's commands run on."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ..cli.command import call

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("from-scalesim.md", "from-zigzag.md")


def files_of(page: str, folder: Path) -> list[list[str]]:
    """Write the titled blocks of a page as files; the arguments of its console commands."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, content in re.findall(r'^```\w+ title="([\w.]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(content, encoding="utf-8")
    commands = re.findall(r"^\$ accelsim (.*)", text, re.MULTILINE)
    return [shlex.split(command) for command in commands]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_on_its_files(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = files_of(page, tmp_path)
    assert len(commands) == 5
    for command in commands:
        ended = call(*command)
        assert ended.code == 0, ended.err
        assert ended.out


def test_the_figures_of_the_scalesim_page_are_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = call(*files_of("from-scalesim.md", tmp_path)[0], "--json").json["operators"]
    assert first["cycles"] == 5 * (2 * 32 + 32 + 64 - 2) == 790  # 3 x 3 x 16 = 144 of the reduction over 32 rows: five folds
    assert second["repeat"] == 4
    assert "Conv1 takes 790 cycles" in (DOCS / "from-scalesim.md").read_text(encoding="utf-8")


def test_the_figures_of_the_zigzag_page_are_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    operator, = json.loads(call(*files_of("from-zigzag.md", tmp_path)[0], "--json").out)["operators"]
    assert operator["levels"]["reg_w"]["W"]["fill_bytes"] == 16
    assert operator["levels"]["sram"]["I"]["array_read_bytes"] == 32
