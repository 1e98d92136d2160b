"""One JIT setting for all kernels, what happens where compiled code cannot be kept, and who is told of compiling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba import config, njit
from numba.core import event

from accelsim.kernels import jit
from accelsim.kernels.cache import Place

needs_jit = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def twice(number: int) -> int:
    return 2 * number


def broken(error: Exception, seen: list[bool]) -> Callable[..., Callable[[Any], Any]]:
    """An `njit` that cannot cache."""
    def stand_in(*, cache: bool, fastmath: bool, parallel: bool, **_: object) -> Callable[[Any], Any]:
        assert not fastmath
        assert not parallel

        def wrap(function: Any) -> Any:
            seen.append(cache)
            if cache:
                raise error
            return function
        return wrap
    return stand_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where kernels of this test are kept."""
    monkeypatch.setattr(jit, "kept", lambda: Place(tmp_path))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    return tmp_path


@pytest.mark.parametrize("error", [RuntimeError("cannot cache function: no locator available for file"),
                                   OSError(28, "No space left on device")])
def test_without_a_folder_to_write_to_the_code_is_compiled_but_not_kept(monkeypatch: pytest.MonkeyPatch, folder: Path,
                                                                        error: Exception) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(jit.numba, "njit", broken(error, seen))
    assert jit.kernel("int64(int64)")(abs)(-3) == 3
    assert seen == [True, False]
    assert not list(folder.iterdir())


def test_nothing_is_kept_where_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(jit, "kept", lambda: Place(None, "read only"))
    monkeypatch.setattr(jit.numba, "njit", broken(OSError(), seen))
    assert jit.kernel("int64(int64)")(abs)(-3) == 3
    assert seen == [False]


def test_another_failure_is_not_hidden(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(jit.numba, "njit", broken(RuntimeError("something else"), []))
    with pytest.raises(RuntimeError, match="something else"):
        jit.kernel("int64(int64)")(abs)
    assert not list(folder.iterdir())


class Damaged:
    """A dispatcher whose files cannot be read, until they are deleted."""

    def __init__(self, folder: Path) -> None:
        self.stats = self
        self.cache_path = str(folder)
        self.closed = False

    def compile(self, _: object) -> None:
        if list(Path(self.cache_path).iterdir()):
            raise EOFError("Ran out of input")

    def disable_compile(self) -> None:
        self.closed = True


def test_files_that_cannot_be_read_are_deleted_and_made_anew(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "m.twice-13.py311.nbi").write_bytes(b"")
    (folder / "m.twice-13.py311.1.nbc").write_bytes(b"")
    made = Damaged(folder)
    monkeypatch.setattr(jit.numba, "njit", lambda **_: lambda _: made)
    assert jit.kernel("int64(int64)")(twice) is made
    assert made.closed
    assert not list(folder.iterdir())


def test_files_of_others_are_not_deleted(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    others = ["m.thrice-13.py311.nbi", "m.twice-notes.txt", "twice.nbi"]
    for name in others:
        (folder / name).write_bytes(b"")
    monkeypatch.setattr(jit.numba, "njit", lambda **_: lambda _: Damaged(folder))
    with pytest.raises(EOFError):
        jit.kernel("int64(int64)")(twice)
    assert sorted(path.name for path in folder.iterdir()) == sorted(others)


def test_a_watcher_is_told_of_each_function() -> None:
    told: list[str] = []
    data = {"dispatcher": type("Dispatcher", (), {"py_func": staticmethod(twice)})}
    with (jit.watched(lambda name: told.append(f"{name} begins"), lambda name: told.append(f"{name} ends")),
          event.trigger_event("numba:compile", data=data)):
        told.append("...")
    with event.trigger_event("numba:compile", data=data):
        pass
    assert told == ["twice begins", "...", "twice ends"]


def test_all_kernels_are_found() -> None:
    room = Path(jit.__file__).parent
    names = [path.relative_to(room).with_suffix("").parts for path in room.rglob("*.py")]
    assert jit.compile_all() == tuple(sorted(".".join(("accelsim", "kernels", *(part for part in parts if part != "__init__")))
                                             for parts in names if parts != ("__init__",)))


@needs_jit
def test_a_kernel_takes_its_types_alone(folder: Path) -> None:
    made = jit.kernel(jit.INT(jit.INT))(twice)
    assert made(21) == 42
    with pytest.raises(TypeError):
        made("2")  # type: ignore[arg-type]
    assert list(folder.rglob("*.twice-*.nbi"))


@needs_jit
def test_what_does_not_compile_says_so(folder: Path) -> None:
    def odd(number: int) -> int:
        return number.no_such_attribute  # type: ignore[attr-defined, no-any-return]
    with pytest.raises(Exception, match="no_such_attribute"):
        jit.kernel(jit.INT(jit.INT))(odd)
    assert not list(folder.rglob("*.nbi"))


@needs_jit
def test_others_who_use_numba_keep_their_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def spy(**options: Any) -> Any:
        seen.append(config.CACHE_DIR)
        return njit(**options)

    monkeypatch.setattr(jit.numba, "njit", spy)
    jit.kernel(jit.INT(jit.INT))(twice)
    assert seen == [str(folder)]
    assert config.CACHE_DIR == ""
    monkeypatch.setattr(config, "CACHE_DIR", str(folder / "theirs"))
    jit.kernel(jit.INT(jit.INT))(twice)
    assert seen[1] == config.CACHE_DIR == str(folder / "theirs")


@needs_jit
def test_compiling_is_told_and_loading_is_not(folder: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        with jit.watched(lambda name: told.append(f"{name} begins"), lambda name: told.append(f"{name} ends")):
            jit.kernel(jit.INT(jit.INT))(twice)
    assert (told[0], told[-1]) == ("twice begins", "twice ends")
    assert told.count("twice begins") == 1
    assert list(folder.rglob("*.twice-*.nbc"))
