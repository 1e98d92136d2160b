"""What a whole process costs: CPU seconds with those of its children, wall seconds, peak memory.

Linux hands the peak memory of the process that starts another on to it, so a small bare interpreter, this file run as a
script, stands between: it imports nothing that a bare interpreter lacks.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """``code``: exit code, negative for a signal. ``output``: what it printed on standard output."""

    code: int
    cpu_s: float
    wall_s: float
    peak_bytes: int
    output: str


def measure(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Usage:
    """Run a command to its end in a folder; its standard error is this process's, and so is its environment by default.

    Raises OSError where the command cannot be started, or the system tells nothing of its children (Windows).
    """
    if not hasattr(os, "wait4"):
        raise OSError(0, "this system does not tell what a process used; measure on Linux or macOS")
    if shutil.which(command[0]) is None:
        raise OSError(errno.ENOENT, "no such command", command[0])
    from accelsim.processes import no_interrupts, scratch_folder  # the bare interpreter has none of ours
    with scratch_folder() as own:
        told, output = own / "usage.json", own / "output"
        with output.open("wb") as file:
            process: subprocess.Popen[bytes] | None = None
            try:
                with no_interrupts():
                    process = subprocess.Popen([sys.executable, "-I", "-S", __file__, str(told), *command], cwd=folder,
                                               stdout=file, env=environment, start_new_session=True)
                process.wait()
            except BaseException:  # Ctrl-C, or told to end: what was started ends too, and what that started
                if process is not None:
                    _end(process)
                raise
        if not told.is_file():
            raise OSError(0, "the process that measures was killed", command[0])
        found = json.loads(told.read_text(encoding="utf-8"))
        return Usage(found["code"], found["cpu_s"], found["wall_s"], found["peak_bytes"],
                     output.read_text(encoding="utf-8", errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those of its group, and wait until they are gone: they write into folders that are removed next."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for _ in range(100):
            os.killpg(process.pid, 0)
            time.sleep(0.05)


def launch(told: str, command: Sequence[str]) -> None:
    """In the bare interpreter: run the command, write what it used."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends both, and this one without a word
    began = time.monotonic()
    process = os.spawnvp(os.P_NOWAIT, command[0], list(command))
    _, status, used = os.wait4(process, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    Path(told).write_text(json.dumps({
        "code": os.waitstatus_to_exitcode(status), "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.monotonic() - began, "peak_bytes": used.ru_maxrss * unit}), encoding="utf-8")


if __name__ == "__main__":
    launch(sys.argv[1], sys.argv[2:])
