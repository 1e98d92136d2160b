"""Is any damaged chip, workload or mapping file answered with located faults, and never with a traceback?"""

import contextlib
import re
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accelsim.analytic.auto import choose
from accelsim.cli.starter import CHIP, MAPPING, WORKLOAD
from accelsim.errors import LimitExceeded, SpecError
from accelsim.spec.read import read, read_workload, shipped
from accelsim.verbs import Options, run

from .command import call

FILES = {"chip": CHIP, "workload": WORKLOAD, "mapping": MAPPING}
RICH = {**FILES, "chip": shipped("chips")["gemmini"].read_text(encoding="utf-8")}
WORDS = ["name", "kind", "levels", "loops", "dims", "tensors", "serves", "null", "~", "true", "0", "-1", "1e999", "3.5",
         "99999999999999999999",
         "[]", "{}", '""', "*", "&a", "!!python/object", "<<", "unlimited", "1 B", "0 B", "4 B/cycle", "input", "PE", "DRAM",
         "{m: 2}", "[m, k]", "{[m, k]: 4}", "\t", "- ", ": ", "'", '"', "\u00e9", "\U0001f600", "#"]
TOKEN = re.compile(r"[A-Za-z0-9_.*]+|[^\sA-Za-z0-9_.*]")


@st.composite
def mutated(draw: st.DrawFn, texts: dict[str, str]) -> dict[str, str]:
    """The files, one or two places of one of them replaced, dropped, doubled or swapped."""
    files = dict(texts)
    which = draw(st.sampled_from(sorted(files)))
    text = files[which]
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            lines = text.splitlines(keepends=True)
            i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            action = draw(st.sampled_from(["drop", "double", "swap", "indent"]))
            if action == "drop":
                lines.pop(i)
            elif action == "double":
                lines.insert(j, lines[i])
            elif action == "swap":
                lines[i], lines[j] = lines[j], lines[i]
            else:
                lines[i] = draw(st.sampled_from(["  ", "", "\t"])) + lines[i].lstrip(draw(st.sampled_from([" ", ""])))
            text = "".join(lines)
            continue
        tokens = list(TOKEN.finditer(text))
        if not tokens:
            continue
        token = draw(st.sampled_from(tokens))
        new = draw(st.one_of(st.sampled_from(WORDS), st.just(""), st.text(string.printable, max_size=6),
                             st.sampled_from([other[0] for other in tokens])))
        text = text[:token.start()] + new + text[token.end():]
    files[which] = text
    return files


def write(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.yaml") for name in ("chip", "workload", "mapping")]


def attempt(chip: str, workload: str, mapping: str) -> None:
    """Read; whatever comes of it, only our own errors; what reads can be run or says why not."""
    try:
        asked = read(chip, workload, mapping, choose=choose)
    except SpecError:
        return
    assert len(asked.cases) == len(asked.workload.operators)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=mutated(FILES))
def test_damaged_starter_files(tmp_path: Path, files: dict[str, str]) -> None:
    attempt(*write(tmp_path, files))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=mutated(RICH))
def test_damaged_files_of_a_shipped_chip(tmp_path: Path, files: dict[str, str]) -> None:
    attempt(*write(tmp_path, files))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=mutated(FILES))
def test_damaged_files_from_the_command_line(tmp_path: Path, files: dict[str, str]) -> None:
    chip, workload, mapping = write(tmp_path, files)
    ended = call("run", chip, workload, "--mapping", mapping, "--most-steps", "3000", "--json")
    assert ended.code in {0, 2, 3, 4}, ended.err
    assert "Traceback" not in ended.err
    assert (ended.code == 0) == (not ended.err)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=40), st.text("gemconv2d:mnk=0123456789,xstridpa ", max_size=60),
                 st.lists(st.sampled_from(["m=8", "n=8", "k=8", "k=0", "m=", "=8", "stride=2", "dtype=int8", "groups=2",
                                           "c=4", "p=4", "q=4", "r=3", "s=3", "padding=1x2", "h=9", "x=3", "b=2", "g=2"]),
                          max_size=10).map(lambda items: "conv2d:" + ",".join(items))))
def test_any_inline_text_is_a_workload_or_a_fault(text: str) -> None:
    try:
        workload = read_workload(text)
    except SpecError:
        return
    assert all(axis.extent > 0 for one in workload.operators for tensor in one.tensors for axis in tensor.axes)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["chip", "workload", "mapping"]), st.lists(st.one_of(
    st.sampled_from(["levels", "operators", "gemm", "DRAM", "SRAM", "MAC", "0", "ports", "port", "bandwidth", "buffers",
                     "A", "loops", "dims", "m", "array", "pes", "x", "level", "binding", "clock", "name"]),
    st.text(max_size=4)), max_size=5),
       st.one_of(st.sampled_from(WORDS), st.text(max_size=6)))
def test_any_override_is_applied_or_refused(room: str, path: list[str], value: str) -> None:
    with contextlib.suppress(SpecError):
        read("toy", "gemm:m=8,n=8,k=8", None, choose=choose, overrides=[f"{room}.{'.'.join(path)}={value}"])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"\x00", b"a" * 100_000, b"[" * 50_000, b"- 1\n",
                                     b"name: x\n---\nname: y\n", b"a: " * 5_000, b"%YAML 9.9\n", "name: é".encode("latin-1")])
@pytest.mark.parametrize("kind", ["chip", "workload", "mapping"])
def test_what_is_no_file_of_ours(tmp_path: Path, kind: str, content: bytes) -> None:
    chip, workload, mapping = write(tmp_path, FILES)
    (tmp_path / f"{kind}.yaml").write_bytes(content)
    ended = call("run", chip, workload, "--mapping", mapping)
    assert ended.code == 2, ended.err
    assert f"{kind}.yaml" in ended.err


def test_a_run_of_what_reads_is_no_bug_of_ours(tmp_path: Path) -> None:
    chip, workload, mapping = write(tmp_path, FILES)

    def changed(old: str, new: str, text: str) -> Any:
        assert old in text
        return text.replace(old, new)
    odd = [("capacity: 256 KiB", "capacity: 4 KiB"), ("bandwidth: 64 B/cycle", "bandwidth: 0.001 B/cycle"),
           ("latency: 4 cycles", "latency: 1 s"), ("buffers: 2                       #", "buffers: 1048576  #"),
           ("pes: {x: 16, y: 16}", "pes: {}"), ("registers: 1 ", "registers: 0 "), ("clock: 1 GHz", "clock: 1 Hz"),
           ("accumulate: true", "accumulate: false"), ("preload: row", "preload: unlimited"),
           ("model: systolic", "model: matrix")]
    for old, new in odd:
        Path(chip).write_text(changed(old, new, CHIP), encoding="utf-8")
        for named in (mapping, None):
            try:
                finished = run(chip, workload, Options(mapping=named, most_steps=20_000))
            except (SpecError, LimitExceeded):
                continue
            assert len(finished.report.operators) == 2
