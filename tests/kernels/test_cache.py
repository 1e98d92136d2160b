"""Where are compiled kernels kept: by each platform's rules, privately, apart for each version, and never by force?"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accelsim.kernels import cache
from accelsim.kernels.cache import cache_root, key, place, prepare

ROOT = Path(__file__).resolve().parents[2]
HOME = Path("/home/ada")

# Compiles or loads the one kernel with a listener, and says what happened.
LOAD = """\
from accelsim.kernels import jit
seen = []
with jit.watched(seen.append, lambda name: None):
    from accelsim.kernels import raster
print(*seen[:1], raster.raster.__name__, jit.kept().folder, jit.kept().why_not, sep="|")
"""


@pytest.mark.parametrize(("platform", "environment", "home", "root"), [
    ("linux", {}, HOME, "/home/ada/.cache/accelsim"),
    ("linux", {"XDG_CACHE_HOME": "/fast"}, HOME, "/fast/accelsim"),
    ("linux", {"XDG_CACHE_HOME": "relative"}, HOME, "/home/ada/.cache/accelsim"),
    ("linux", {"XDG_CACHE_HOME": ""}, HOME, "/home/ada/.cache/accelsim"),
    ("linux", {"XDG_CACHE_HOME": "/fast"}, None, "/fast/accelsim"),
    ("linux", {}, None, None),
    ("darwin", {"XDG_CACHE_HOME": "/fast"}, HOME, "/home/ada/Library/Caches/accelsim"),
    ("darwin", {}, None, None),
    ("win32", {"LOCALAPPDATA": "/Users/ada/AppData/Local"}, HOME, "/Users/ada/AppData/Local/accelsim/Cache"),
    ("win32", {}, HOME, None),
    ("linux", {"ACCELSIM_CACHE_DIR": "/mine", "XDG_CACHE_HOME": "/fast"}, HOME, "/mine"),
    ("win32", {"ACCELSIM_CACHE_DIR": "/mine"}, None, "/mine"),
    ("darwin", {"ACCELSIM_CACHE_DIR": ""}, HOME, "/home/ada/Library/Caches/accelsim"),
])
def test_the_folder_is_that_of_the_platform(platform: str, environment: dict[str, str], home: Path | None,
                                            root: str | None) -> None:
    assert cache_root(platform, environment, home) == (None if root is None else Path(root))


def test_each_version_of_the_code_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {key("0.60.0"), key("0.61.0")}
    (tmp_path / "a.py").write_text("one", encoding="utf-8")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "cache.py"))
    names.add(key("0.60.0"))
    (tmp_path / "a.py").write_text("two", encoding="utf-8")
    names.add(key("0.60.0"))
    assert len(names) == 4
    python = ".".join(map(str, sys.version_info[:3]))
    assert all(python in name and os.sep not in name for name in names)


def test_a_folder_that_is_made_is_private(tmp_path: Path) -> None:
    made = prepare(tmp_path / "deep" / "accelsim", tmp_path / "deep" / "accelsim" / "key")
    assert made == cache.Place(tmp_path / "deep" / "accelsim" / "key")
    if sys.platform != "win32":
        for folder in (tmp_path / "deep" / "accelsim", tmp_path / "deep" / "accelsim" / "key"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list((tmp_path / "deep" / "accelsim" / "key").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
def test_a_folder_in_which_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "key").mkdir()
    (tmp_path / "key").chmod(mode)
    found = prepare(tmp_path, tmp_path / "key")
    assert found.folder is None
    assert "others can write there" in found.why_not
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="no owners")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_294_000_000)
    assert "others can write there" in prepare(tmp_path, tmp_path / "key").why_not


def test_what_cannot_be_made_is_said_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = prepare(tmp_path / "file", tmp_path / "file" / "key")
    assert found.folder is None
    assert str(tmp_path / "file") in found.why_not
    assert "ACCELSIM_CACHE_DIR" in found.why_not


def test_without_a_home_no_folder_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("ACCELSIM_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    found = place.__wrapped__("0.60.0")
    assert found.folder is None
    assert "ACCELSIM_CACHE_DIR" in found.why_not


# -- with numba -------------------------------------------------------------------------------------------------------


def load(folder: Path, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=False, timeout=300,
                          env={**kept, "PYTHONPATH": str(ROOT), "ACCELSIM_CACHE_DIR": str(folder), **environment})
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip().split("|")


def test_two_at_once_compile_and_the_next_one_loads(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(load, [tmp_path, tmp_path])
    assert first[-2] == second[-2]
    assert Path(first[-2]).parent == tmp_path
    assert load(tmp_path)[0] == "raster"  # nothing compiled: the first word is already the kernel's own name
    assert len(load(tmp_path)) == 3


@pytest.mark.parametrize(("suffix", "content"), [("nbi", b""), ("nbi", b"\x80\x05 no pickle"), ("nbc", b"\x80\x04K\x01.")])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, suffix: str, content: bytes) -> None:
    (file,) = Path(load(tmp_path)[-2]).rglob(f"*.{suffix}")
    file.write_bytes(content)
    assert len(load(tmp_path)) == 4
    assert len(load(tmp_path)) == 3


def test_a_folder_that_the_user_told_numba_is_left_alone(tmp_path: Path) -> None:
    load(tmp_path / "ours", NUMBA_CACHE_DIR=str(tmp_path / "theirs"))
    assert list((tmp_path / "theirs").rglob("*.nbi"))
    assert not list((tmp_path / "ours").rglob("*.nbi"))


def test_where_nothing_can_be_kept_it_still_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for _ in range(2):
        compiled, name, folder, why_not = load(tmp_path / "file")
        assert (compiled, name, folder) == ("raster", "raster", "None")
        assert "ACCELSIM_CACHE_DIR" in why_not
