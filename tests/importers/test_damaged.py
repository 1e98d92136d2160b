"""Is any damaged file of another tool answered with faults that name it, and nothing else?"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.errors import SpecError
from accelsim.importers.foreign import import_files

from .test_scalesim import HEADER, config
from .test_zigzag import CONVOLUTION
from .zigzag_files import ACCELERATOR, MAPPING

SETS = {
    "scalesim": (config(), HEADER + "Conv1, 16, 16, 3, 3, 16, 32, 2,\nDP_1, 8, 8, 3, 3, 4, 1, 1,\n"),
    "zigzag": (ACCELERATOR, CONVOLUTION, MAPPING),
}
WORDS = ["", "0", "-1", "1e999", "3.5", "99999999999999999999", "[]", "{}", '""', "*", "&a", "!!x", "<<", "null", "true", "True",
         "\t", ":", "'", '"', "\u00e9", "#", ",", "[D1]", "I1", "O, tl", "K, 2", "[1, 2]", "[[1]]", "\x0b", "\u2028", "os", "1:1"]
TOKEN = re.compile(r"[A-Za-z0-9_.*]+|[^\sA-Za-z0-9_.*]")


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """The files of one tool, one to three tokens of one of them replaced, or lines of it moved."""
    tool = draw(st.sampled_from(sorted(SETS)))
    texts = list(SETS[tool])
    which = draw(st.integers(0, len(texts) - 1))
    text = texts[which]
    for _ in range(draw(st.integers(1, 3))):
        tokens = list(TOKEN.finditer(text))
        if draw(st.booleans()) and tokens:
            token = draw(st.sampled_from(tokens))
            text = text[:token.start()] + draw(st.sampled_from(WORDS)) + text[token.end():]
            continue
        lines = text.splitlines(keepends=True) or ["\n"]
        line = lines.pop(draw(st.integers(0, len(lines) - 1)))
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", line, line + line, line.lstrip()])))
        text = "".join(lines)
    texts[which] = text
    return tool, tuple(texts)


@settings(max_examples=150, deadline=None)
@given(damaged())
def test_a_damaged_file_is_read_or_refused_with_places_in_it(case: tuple[str, tuple[str, ...]]) -> None:
    tool, texts = case
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"file{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        told = set()
        try:
            told = {(one.file, one.reason) for one in import_files(paths, tool).left}
        except SpecError as error:
            told = {(fault.file, fault.message) for fault in error.faults}
        assert {file for file, _ in told} <= set(map(str, paths))
        assert all(reason for _, reason in told)
