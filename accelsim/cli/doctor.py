"""`accelsim doctor`: does this installation work, and if not, what is to be done? Also warms the cache of kernels."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from accelsim.cli import host
from accelsim.version import VERSION

REINSTALL = "install again: pip install --force-reinstall accelsim"
WORKED = ("toy", "gemm:m=4,n=4,k=4", 312)
"""One tile on the chip made to be checked by hand: two fills of 16 cycles through a latency of 100, 64 of work, one drain."""

LITTLE_MEMORY_BYTES = 1 << 30
LITTLE_DISK_BYTES = 200 << 20


class Status(Enum):
    """How a check ended. A warning is something that works, but worse than it could."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """What a check found, and what to do about it ("" where nothing is to be done)."""

    status: Status
    found: str
    remedy: str = ""


def ok(found: str) -> Finding:
    """All is well."""
    return Finding(Status.OK, found)


def doctor(as_json: bool) -> int:
    """Run all checks and print what they found; 0 where none failed, 1 otherwise."""
    findings: list[tuple[str, Finding]] = []
    for name, check in CHECKS:
        findings.append((name, attempt(check)))
        if not as_json:
            show(*findings[-1])
    failed = sum(finding.status is Status.FAILED for _, finding in findings)
    warnings = sum(finding.status is Status.WARNING for _, finding in findings)
    if as_json:
        checks = [{"name": name, "status": one.status.value, "found": one.found, "remedy": one.remedy}
                  for name, one in findings]
        print(json.dumps({"accelsim": VERSION, "checks": checks, "failed": failed, "warnings": warnings}, indent=2,
                         sort_keys=True))
    else:
        print(f"\naccelsim {VERSION}: " + (f"{failed} of {len(findings)} checks failed" if failed else "it works")
              + (f", {warnings} warning{'s' * (warnings > 1)}" if warnings else ""))
    return 1 if failed else 0


def attempt(check: Callable[[], Finding]) -> Finding:
    """What a check found; one that breaks has found that something is broken."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001  whatever is wrong with an installation is what this command is there to say
        return Finding(Status.FAILED, f"{type(error).__name__}: {error}", REINSTALL)


def show(name: str, finding: Finding) -> None:
    """One finding as lines of the table."""
    first, *rest = finding.found.splitlines()
    print(f"{name:<12} {finding.status.value:<8} {first}")
    for line in [*rest, *(f"-> {line}" for line in finding.remedy.splitlines())]:
        print(f"{'':<21} {line}")


# -- the checks -------------------------------------------------------------------------------------------------------


def check_python() -> Finding:
    """Is this Python new enough?"""
    lowest = host.requirements().get("python", "3.11")
    found = f"{host.python_version()}, accelsim needs {lowest} or newer"
    if host.version_numbers(host.python_version().split()[-1]) < host.version_numbers(lowest):
        return Finding(Status.FAILED, found, f"make an environment with Python {lowest} or newer and install accelsim there")
    return ok(found)


def check_packages() -> Finding:
    """Is every dependency there and new enough?"""
    needed = {name: lowest for name, lowest in host.requirements().items() if name != "python"}
    if not needed:
        return Finding(Status.WARNING, "accelsim is not installed as a package, so the versions it needs are not known",
                       "in its folder: pip install .")
    found, wrong = [], []
    for name, version in host.installed(sorted(needed, key=str.lower)).items():
        found.append(f"{name} {version}")
        if version is None:
            wrong.append(f"{name} is missing")
        elif host.version_numbers(version) < host.version_numbers(needed[name]):
            wrong.append(f"{name} {version} is older than {needed[name]}")
    if wrong:
        return Finding(Status.FAILED, "\n".join(wrong), "install what accelsim needs: pip install --upgrade accelsim")
    return ok(", ".join(found))


def check_files() -> Finding:
    """Are the shipped chips, memories, networks and workloads there, and valid?"""
    from accelsim.errors import SpecError
    from accelsim.spec.read import read_chip, read_memory, read_network, read_workload, shipped
    wrong, counts = [], []
    for kind, read in (("chips", read_chip), ("memories", read_memory), ("networks", read_network), ("workloads", read_workload)):
        names = shipped(kind)
        counts.append(f"{len(names)} {kind}")
        for name in names:
            try:
                read(name)
            except SpecError as error:
                wrong.append(f"{name}: {error.faults[0]}")
        if not names:
            wrong.append(f"no shipped {kind}")
    return Finding(Status.FAILED, "\n".join(wrong), REINSTALL) if wrong else ok(f"{', '.join(counts)}, all valid")


def check_cache() -> Finding:
    """Can compiled kernels be kept, in a folder that is the user's own?"""
    from accelsim.kernels import jit
    if jit.kept_by_user():
        return ok(f"{jit.kept_by_user()} (NUMBA_CACHE_DIR)")
    kept = jit.kept()
    if kept.folder is None:
        return Finding(Status.WARNING, "kernels are compiled anew in every run", kept.why_not)
    size = sum(path.stat().st_size for path in kept.folder.rglob("*") if path.is_file())
    return ok(f"{kept.folder} ({size / 2 ** 20:.1f} MiB)")


def check_kernels() -> Finding:
    """Do the kernels compile? Afterwards they are in the cache."""
    began = time.monotonic()
    from accelsim.cli.compiling import compiling
    from accelsim.kernels import jit
    with compiling() as compiled:
        jit.compile_all()
    passed = time.monotonic() - began
    return ok(f"compiled in {compiled.seconds:.1f} s" if compiled.kernels else f"loaded in {passed:.1f} s, with the compiler")


def check_example() -> Finding:
    """Does the example worked out by hand take the cycles that it should?"""
    from accelsim.verbs import run
    chip, workload, cycles = WORKED
    found = run(chip, workload).report
    if found.cycles != cycles or found.estimated_cycles != cycles:
        return Finding(Status.FAILED, f"{workload} on {chip}: measured {found.cycles} and estimated {found.estimated_cycles} "
                       f"cycles instead of {cycles}", REINSTALL)
    return ok(f"{workload} on {chip} takes {cycles} cycles, measured and estimated")


def check_pictures() -> Finding:
    """Can a timeline be drawn?"""
    from accelsim.outputs.pictures import draw_timeline
    from accelsim.verbs import run
    (timeline,) = run(WORKED[0], WORKED[1]).timelines
    assert timeline is not None, "it ran"
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        picture = Path(folder) / "timeline.png"
        draw_timeline(timeline, picture, title="doctor")
        size = picture.stat().st_size
    return ok(f"drew a PNG of {size:,} B")


def check_machine() -> Finding:
    """Is there room to work in? Processors are what --jobs can use."""
    free = host.memory_bytes("MemAvailable")
    disk = shutil.disk_usage(tempfile.gettempdir()).free
    memory = "free memory unknown" if free is None else f"{free / 2 ** 30:.1f} GiB of memory free"
    found = f"{host.processors()} processors, {memory}, {disk / 2 ** 30:.1f} GiB of disk free for temporary files"
    remedies: list[str] = []
    if free is not None and free < LITTLE_MEMORY_BYTES:
        remedies.append("a run takes about 100 MB, each worker of --jobs as much again: use few jobs")
    if disk < LITTLE_DISK_BYTES:
        remedies.append(f"make room in {tempfile.gettempdir()}, or name another folder with TMPDIR")
    return Finding(Status.WARNING, found, "\n".join(remedies)) if remedies else ok(found)


CHECKS: tuple[tuple[str, Callable[[], Finding]], ...] = (
    ("python", check_python), ("packages", check_packages), ("files", check_files), ("cache", check_cache),
    ("kernels", check_kernels), ("example", check_example), ("pictures", check_pictures), ("machine", check_machine))
"""In the order in which one thing needs another."""
