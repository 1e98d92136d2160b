"""Is whatever a user writes read, or refused in short, printable words that say where; without a traceback and without end?"""

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .mutate import mutants
from .readers import READERS, Reader, attempt

INPUTS = 50_000
AT_ONCE = 50
HANGS_S = 20
SLOW_S = 2.0
ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
NAMES = [reader.name for reader in READERS]


def examples(reader: Reader) -> int:
    """Of ``AT_ONCE`` inputs each."""
    return INPUTS * reader.share // 1000 // AT_ONCE


def folder_of(reader: Reader) -> str:
    return reader.name.replace(" ", "-")


@contextlib.contextmanager
def told_to_end() -> Iterator[None]:
    """What has not ended after a generous time is a failure: by a signal, and where nothing listens to it, for good."""
    def ended(*_: object) -> None:
        raise TimeoutError(f"no end within {HANGS_S} s")
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(reader: Reader, text: bytes, folder: Path) -> None:
    """Read it; what goes wrong is told with the whole input, which then belongs into the corpus."""
    try:
        with told_to_end():
            attempt(reader, text, folder)
    except BaseException as error:
        error.add_note(f"{reader.name} was given {text!r}")
        raise


def test_enough_inputs_are_tried() -> None:
    assert sum(reader.share for reader in READERS) == 1000
    assert sum(examples(reader) for reader in READERS) * AT_ONCE == INPUTS
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("reader", READERS, ids=folder_of)
def test_valid_texts_are_read(reader: Reader, tmp_path: Path) -> None:
    for seed in reader.prepared():
        assert attempt(reader, seed.text, tmp_path), seed.text


@pytest.mark.parametrize("reader", READERS, ids=folder_of)
def test_almost_valid_texts_are_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    @settings(max_examples=examples(reader), deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
              database=None)
    @given(st.integers(0, (1 << 64) - 1))
    def tried(number: int) -> None:
        for text in mutants(reader.prepared(), number, AT_ONCE):
            check(reader, text, tmp_path)
    faulthandler.dump_traceback_later(30 * HANGS_S, exit=True)
    try:
        tried()
    finally:
        faulthandler.cancel_dump_traceback_later()


def kept() -> list[tuple[Reader, Path]]:
    return [(reader, path) for reader in READERS for path in sorted((CORPUS / folder_of(reader)).glob("*"))]


@pytest.mark.parametrize(("reader", "path"), kept(), ids=lambda item: item.name.replace(" ", "-"))
def test_what_once_went_wrong(reader: Reader, path: Path, tmp_path: Path) -> None:
    check(reader, path.read_bytes(), tmp_path)


def test_the_corpus_is_of_readers_that_are_there() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(map(folder_of, READERS))


@pytest.mark.nightly
@pytest.mark.parametrize("reader", READERS, ids=folder_of)
def test_none_of_many_takes_long(reader: Reader, tmp_path: Path) -> None:
    for number in range(20 * examples(reader)):
        for text in mutants(reader.prepared(), number, AT_ONCE):
            began = time.process_time()
            check(reader, text, tmp_path)
            assert time.process_time() - began < SLOW_S, text


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process, and reads how much it has")
def test_what_is_made_to_break_a_reader_is_refused_in_bounded_memory() -> None:
    ended = subprocess.run([sys.executable, "-m", "tests.fuzz.hostile"], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
                           capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-3000:]
    assert ended.stdout.count("refused") == len(ended.stdout.splitlines()) > 60
