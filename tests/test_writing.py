"""Is a file or a folder there whole or not at all, whatever happens while it is written, and whoever else writes there?"""

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from accelsim.writing import replaceable, whole_file, whole_folder, write_text

ROOT = Path(__file__).resolve().parent.parent
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at devices and limits of Linux")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def ours(name: str) -> bool:
    return name.startswith("ours")


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_text(encoding="utf-8") == "old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_ends_early_leaves_nothing_new(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(error), whole_file(path) as file:  # noqa: PT012  the file is half written then
        file.write(b"half")
        raise error
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["a.txt"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a.txt"
    with pytest.raises(OSError, match="No such file") as told:
        write_text(path, "x")
    assert told.value.filename == str(path)


def test_a_long_name_has_room_for_its_part(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_text(path, "x")
    assert names(tmp_path) == [path.name]


def test_a_link_stays_one_and_a_mode_is_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"
    assert real.stat().st_mode & 0o777 == 0o640


@ON_LINUX
def test_a_full_device_says_so_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as told:
        write_text(Path("/dev/full"), "x")
    assert (told.value.errno, told.value.filename) == (errno.ENOSPC, "/dev/full")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert names(tmp_path) == ["pipe"]


# -- folders ----------------------------------------------------------------------------------------------------------


def fill(folder: Path, word: str) -> None:
    with whole_folder(folder, ours) as part:
        for name in ("ours-1", "ours-2"):
            write_text(part / name, word)


def test_a_folder_is_there_when_it_is_complete(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    with whole_folder(folder, ours) as part:
        write_text(part / "ours-1", "x")
        assert not folder.exists()
    assert names(folder) == ["ours-1"]
    assert names(folder.parent) == ["run"]


def test_an_earlier_one_is_replaced_and_what_is_not_ours_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("ours-1", "ours-9", "notes.txt"):
        write_text(folder / name, "old")
    fill(folder, "new")
    assert names(folder) == ["notes.txt", "ours-1", "ours-2"]
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["run"]


def test_a_folder_that_ends_early_leaves_the_earlier_one(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill(folder, "old")
    with pytest.raises(KeyboardInterrupt), whole_folder(folder, ours) as part:  # noqa: PT012  it is half filled then
        write_text(part / "ours-1", "new")
        raise KeyboardInterrupt
    assert {path.read_text(encoding="utf-8") for path in folder.iterdir()} == {"old"}
    assert names(tmp_path) == ["run"]


def test_a_folder_that_cannot_be_put_in_its_place_leaves_the_earlier_one(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    fill(folder, "old")
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.suffix == ".part":
            raise PermissionError(errno.EACCES, "not today", str(path))
        return rename(path, target)
    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError, match="not today"):
        fill(folder, "new")
    assert {path.read_text(encoding="utf-8") for path in folder.iterdir()} == {"old"}
    assert names(tmp_path) == ["run"]


def test_the_folder_one_is_in_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    assert not replaceable(tmp_path)
    assert not replaceable(Path())
    assert replaceable(Path("new"))
    with pytest.raises(OSError, match="busy"):
        fill(Path(), "x")


def test_two_at_once_leave_one_of_them_whole(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    script = ("import sys; from pathlib import Path; from accelsim.writing import *\n"
              "for _ in range(50):\n"
              "    with whole_folder(Path('run'), lambda name: name.startswith('ours')) as part:\n"
              "        for i in range(3): write_text(part / f'ours-{i}', sys.argv[1])\n"
              "    write_text(Path('file'), sys.argv[1] * 1000)\n")
    running = [subprocess.Popen([sys.executable, "-c", script, word], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
               for word in "ab"]
    assert [one.wait(timeout=120) for one in running] == [0, 0]
    assert names(folder) == ["ours-0", "ours-1", "ours-2"]
    assert len({path.read_text(encoding="utf-8") for path in folder.iterdir()}) == 1
    assert len(set((tmp_path / "file").read_text(encoding="utf-8"))) == 1
    assert names(tmp_path) == ["file", "run"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_leaves_what_was_there_before(tmp_path: Path) -> None:
    fill(tmp_path / "run", "old")
    write_text(tmp_path / "file", "old")
    script = ("import sys; from pathlib import Path; from accelsim.writing import *\n"
              "with whole_folder(Path('run'), lambda name: True) as part, whole_file(Path('file')) as file:\n"
              "    write_text(part / 'ours-1', 'new'); file.write(b'new'); file.flush()\n"
              "    print('half', flush=True); sys.stdin.read()\n")
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "half\n"
        writer.send_signal(signal.SIGKILL)
    assert names(tmp_path / "run") == ["ours-1", "ours-2"]
    assert {path.read_text(encoding="utf-8") for path in [tmp_path / "file", *(tmp_path / "run").iterdir()]} == {"old"}
    assert all(name.startswith(".") and name.endswith(".part") for name in names(tmp_path) if name not in {"run", "file"})
