"""The computer that accelsim runs on, in words and numbers: nothing that names it or its user."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

PACKAGE = "accelsim"


def requirements() -> dict[str, str]:
    """The lowest version of Python ("python") and of each dependency, as the installed package states them.

    Empty where accelsim is not installed as a package.
    """
    try:
        stated = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return {}
    lines = [f"python {stated.metadata['Requires-Python']}", *(stated.requires or ())]
    return dict(lowest_of(line for line in lines if "extra ==" not in line))


def lowest_of(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names and lowest versions of requirements such as ``numba>=0.60``."""
    for line in lines:
        found = re.match(r"([\w.-]+)[^;]*?>=\s*([\d.]+)", line)
        if found:
            yield found[1], found[2]


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers a version begins with, to compare: ``2.4.0rc1`` is (2, 4, 0)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def installed(names: Iterable[str]) -> dict[str, str | None]:
    """The version of each package; None where it is missing."""
    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def python_version() -> str:
    """Such as ``CPython 3.11.7``."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def system() -> str:
    """The operating system and the kind of processor, such as ``Linux 6.1 x86_64``."""
    release = ".".join(platform.release().split(".")[:2])
    return f"{platform.system()} {release} {platform.machine()}"


def processors() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_model() -> str:
    """What the system calls its processor, or its architecture where it has no name for it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def load() -> float | None:
    """How many processes wanted a processor over the last minute; None where the system does not say."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def memory_bytes(what: str) -> int | None:
    """``MemTotal``, or ``MemAvailable``: what can be had without swapping. None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    found = next((line.split() for line in lines if line.startswith(f"{what}:")), None)
    if found:
        return int(found[1]) << 10
    if what == "MemTotal" and sys.platform != "win32" and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
