"""Does the doctor find what is wrong with an installation, say what to do, and end with 1 only when something failed?"""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accelsim.cli import doctor, host
from accelsim.cli.doctor import CHECKS, Finding, Status, attempt
from accelsim.errors import Fault, SpecError

from .command import accelsim, call

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ["python", "packages", "files", "cache", "kernels", "example", "pictures", "machine"]


def test_a_sound_installation(tmp_path: Path) -> None:
    """In a process of its own, with a cache that it warms."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ACCELSIM_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    told = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "accelsim.cli.main", "doctor"], capture_output=True, text=True, check=False,
                              env=environment, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        told.append({line.split()[0]: line for line in done.stdout.splitlines() if line})
    assert [name for name in told[0] if name in NAMES] == NAMES
    assert all(told[0][name].split()[1] == "ok" for name in NAMES if name != "packages")
    assert "compiled in" in told[0]["kernels"]
    assert "loaded in" in told[1]["kernels"]
    assert str(tmp_path) in told[0]["cache"]
    assert "takes 312 cycles, measured and estimated" in told[0]["example"]


def test_json_has_every_check_with_status_and_remedy() -> None:
    found = accelsim("doctor", "--json").json
    assert [one["name"] for one in found["checks"]] == NAMES
    assert {one["status"] for one in found["checks"]} <= {"ok", "warning"}
    assert found["failed"] == 0
    assert all(bool(one["remedy"]) == (one["status"] != "ok") for one in found["checks"])


def broken(monkeypatch: pytest.MonkeyPatch, name: str, check: Any) -> None:
    monkeypatch.setattr(doctor, "CHECKS", tuple((one, check if one == name else old) for one, old in CHECKS
                                                if one in {"python", name}))


def test_a_failed_check_ends_with_1_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "example", lambda: Finding(Status.FAILED, "one\ntwo", "try\nagain"))
    ended = call("doctor")
    assert ended.code == 1
    assert [line.split() for line in ended.out.splitlines()[1:5]] == [
        ["example", "failed", "one"], ["two"], ["->", "try"], ["->", "again"]]
    assert "1 of 2 checks failed" in ended.out


def test_a_warning_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "cache", lambda: Finding(Status.WARNING, "slow", "do"))
    told = accelsim("doctor").out
    assert "it works, 1 warning" in told


def test_a_check_that_breaks_has_failed() -> None:
    def check() -> Finding:
        raise ImportError("libLLVM.so: cannot open shared object file")
    found = attempt(check)
    assert found.status is Status.FAILED
    assert found.found == "ImportError: libLLVM.so: cannot open shared object file"
    assert "pip install" in found.remedy


# -- each check can fail ----------------------------------------------------------------------------------------------


def test_an_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "requirements", lambda: {"python": "99.1"})
    assert doctor.check_python().status is Status.FAILED


@pytest.mark.parametrize(("requirements", "said"), [
    ({"numpy": "999.0"}, "is older than 999.0"), ({"no-such-package-of-anyone": "1.0"}, "no-such-package-of-anyone is missing")])
def test_packages_that_are_missing_or_old(monkeypatch: pytest.MonkeyPatch, requirements: dict[str, str], said: str) -> None:
    monkeypatch.setattr(host, "requirements", lambda: requirements)
    found = doctor.check_packages()
    assert found.status is Status.FAILED
    assert said in found.found


def test_without_a_package_the_versions_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "PACKAGE", "no-such-package-of-anyone")
    assert host.requirements() == {}
    assert doctor.check_packages().status is Status.WARNING
    assert doctor.check_python().status is Status.OK


def test_shipped_files_that_are_damaged_or_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise SpecError([Fault(name, 3, 1, "levels", "missing")])
    monkeypatch.setattr("accelsim.spec.read.read_chip", refuse)
    found = doctor.check_files()
    assert found.status is Status.FAILED
    assert "toy: toy:3:1: levels: missing" in found.found
    monkeypatch.setattr("accelsim.spec.read.shipped", lambda _: {})
    assert doctor.check_files().found == "no shipped chips\nno shipped memories\nno shipped networks\nno shipped workloads"


def test_a_wrong_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WORKED", ("toy", "gemm:m=4,n=4,k=4", 313))
    found = doctor.check_example()
    assert found.status is Status.FAILED
    assert "measured 312 and estimated 312 cycles instead of 313" in found.found


def test_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "memory_bytes", lambda _: 1 << 20)
    found = doctor.check_machine()
    assert found.status is Status.WARNING
    assert "few jobs" in found.remedy
    monkeypatch.setattr(host, "memory_bytes", lambda _: None)
    assert "free memory unknown" in doctor.check_machine().found


# -- the host ---------------------------------------------------------------------------------------------------------


def test_requirements_are_those_of_the_project() -> None:
    try:
        importlib.metadata.version("accelsim")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed")
    needed = host.requirements()
    assert needed["python"] == "3.11"
    assert {"numpy", "numba", "simpy", "typer", "pydantic", "matplotlib"} <= needed.keys()
    assert "pytest" not in needed


@pytest.mark.parametrize(("line", "found"), [
    ("numba>=0.60", [("numba", "0.60")]), ("typer >= 0.16,<1", [("typer", "0.16")]), ("mkdocs<2,>=1.6", [("mkdocs", "1.6")]),
    ("simpy", []), ("PyYAML!=6.0; python_version >= '3.12'", [])])
def test_the_lowest_version_of_a_requirement(line: str, found: list[tuple[str, str]]) -> None:
    assert list(host.lowest_of([line])) == found


def test_versions_compare_by_number() -> None:
    assert host.version_numbers("0.60.0") < host.version_numbers("0.61.0rc1") < host.version_numbers("0.100")
    assert host.version_numbers("unknown") == ()


def test_the_host_is_described_without_its_name() -> None:
    words = [host.python_version(), host.system(), host.processor_model(), str(host.processors())]
    assert all(words)
    assert not any(os.uname().nodename in word for word in words if hasattr(os, "uname") and len(os.uname().nodename) > 3)
    total, free = host.memory_bytes("MemTotal"), host.memory_bytes("MemAvailable")
    assert total is None or free is None or 0 < free <= total
    assert json.dumps(words)
