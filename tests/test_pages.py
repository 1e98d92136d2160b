"""Do the pages do what they say? Each is run from top to bottom in an empty folder of its own, as its reader would.

A block whose title is the name of a file is written. A block of `sh` is run by bash, one of `python` without a title by
Python. What a block prints is compared with the `text` block titled Output behind it, in which `...` stands for any lines.
"""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from .test_readme import ENVIRONMENT, SCRIPT

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOT_RUN = {
    "install.md": "installs from a package index, and changes the reader's shell; .ci/run installs in fresh environments",
    "changelog.md": "is included from CHANGELOG.md",
}
PAGES = {str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md")) if page.name not in NOT_RUN}
FENCE = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.[a-z]+")
OUTPUT = "Output"
KINDS = {"sh", "python", "text", "yaml", "json", "ini", "console", "py"}
"""Languages of blocks. `py` shows declarations. `console` shows a session with files that a page does not have; a test of its
own runs it.
"""


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    title: str
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    return [Block(match[1], match[2] or "", included(match[3]), text.count("\n", 0, match.start()) + 1)
            for match in FENCE.finditer(text)]


def included(text: str) -> str:
    """A block with the files that it includes."""
    return re.sub(r'^--8<-- "([^":]+)"$', lambda match: (ROOT / match[1]).read_text(encoding="utf-8"), text, flags=re.MULTILINE)


def differs(shown: str, printed: str) -> str:
    """Empty where what is shown is what was printed, line by line; else the first line that was not found in its place.

    `...` alone on a line stands for any number of lines.
    """
    lines, place, anywhere = [line.rstrip() for line in printed.splitlines()], 0, False
    for line in [line.rstrip() for line in shown.splitlines()]:
        if line == "...":
            anywhere = True
            continue
        found = lines[place:].index(line) if line in lines[place:] else -1
        if found < 0 or (found and not anywhere):
            return line
        place, anywhere = place + found + 1, False
    return "" if anywhere or place == len(lines) else lines[place]


@pytest.mark.parametrize(("shown", "first"), [
    ("a\nb\nc", ""), ("a\n...", ""), ("...\nc", ""), ("a\n...\nc", ""), ("...", ""), ("b\n...", "b"), ("a\nb", "c"),
    ("a\nc", "c"), ("c\n...\na", "c"), ("...\nb\na", "a"), ("...\nb\n...\nd", "d"), ("a\nb\nc\nd", "d"),
])
def test_shown_lines_are_found_in_their_places(shown: str, first: str) -> None:
    assert differs(shown, "a\nb\nc\n") == first


def test_a_block_is_found_with_its_title_and_line() -> None:
    assert blocks_of('x\n```yaml title="a/b.yaml"\nk: 1\n```\n\n```sh\ntrue\n```\n') == [
        Block("yaml", "a/b.yaml", "k: 1\n", 2), Block("sh", "", "true\n", 6)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `accelsim` and `python` are these."""
    folder = tmp_path_factory.mktemp("bin")
    for name, arguments in (("accelsim", f" -c '{SCRIPT}'"), ("python", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n', encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {**ENVIRONMENT, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


RUN = {name: page for name, page in PAGES.items()
       if any(block.kind in ("sh", "python") for block in blocks_of(page.read_text(encoding="utf-8")))}


@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_from_top_to_bottom(name: str, environment: dict[str, str], tmp_path: Path) -> None:
    printed: str | None = None
    for kind, title, text, line in blocks_of(RUN[name].read_text(encoding="utf-8")):
        place = f"docs/{name}:{line}"
        assert kind in KINDS, f"{place}: a block of {kind}, which nothing runs or reads"
        if FILE.fullmatch(title):
            (tmp_path / title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / title).write_text(text, encoding="utf-8")
        elif title == OUTPUT:
            assert printed is not None, f"{place}: output of nothing"
            wrong = differs(text, printed)
            assert not wrong, f"{place}: not in its place: {wrong!r}; printed was\n{printed}"
        elif kind in ("sh", "python"):
            lines = "\n".join(line for line in text.splitlines() if not line.startswith("pip install "))
            command = ["bash", "-euo", "pipefail", "-c", lines] if kind == "sh" else [sys.executable, "-c", lines]
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
                                  timeout=500)
            assert done.returncode == 0, f"{place}: exit code {done.returncode}: {done.stderr}"
            printed = done.stdout


def test_pages_are_run() -> None:
    assert set(RUN) >= {"index.md", "formats.md", "memories.md", "networks.md", "results.md", "sram.md"}
    assert {block.kind for page in PAGES.values() for block in blocks_of(page.read_text(encoding="utf-8"))} <= KINDS
