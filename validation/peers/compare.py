"""The same work by other simulators and by accelsim: `python validation/peers/compare.py`, or `make bench-peers`.

Makes an environment for each peer, with the versions of its `requirements.txt` (pip and a registry are needed), runs the
peer and accelsim on the same work, and tells CPU seconds and peak memory of both whole processes. To add a peer, add a
folder with `requirements.txt` and a `run.py WORK FOLDER` that prints the cycles last, and a line to PEERS.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from accelsim.cli.bench import described, machine, number
from accelsim.cli.usage import Usage, measure
from accelsim.version import VERSION

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOTE = "<!-- Written by `make bench-peers`; measured, so it changes with the machine. -->"


@dataclass(frozen=True)
class Work:
    """Work that a peer and accelsim both do. ``ours``: arguments of accelsim, files relative to the peer's folder;
    ``same_cycles``: whether both model the same machine, so that the cycles must be equal.
    """

    name: str
    what: str
    ours: tuple[str, ...]
    same_cycles: bool


@dataclass(frozen=True)
class Peer:
    """Another simulator: its folder here, its name and version, what it is, and the work to compare."""

    folder: str
    name: str
    what: str
    works: tuple[Work, ...]


PEERS = (
    Peer("scalesim", "SCALE-Sim 3.0.0", "cycle by cycle, every address of a systolic array", (
        Work("fc", "last layer of ResNet-18, 32 x 32 weight stationary",
             ("run", "chip.yaml", "gemm:m=1,n=1000,k=512,dtype=int8", "--mapping", "mapping.yaml"), True),
        Work("all", "ResNet-18, 20 convolutions and the last layer, 32 x 32 weight stationary",
             ("run", "chip.yaml", "resnet18.yaml", "--mapping", "mapping.yaml"), True))),
    Peer("zigzag", "ZigZag 3.9.1", "analytic, with a search over mappings", (
        Work("gemm", "GEMM 256 x 256 x 256, its tpu_like example",
             ("run", "chip.yaml", "gemm:m=256,n=256,k=256,dtype=int8"), False),
        Work("conv", "convolution 3 x 3, 128 to 128 channels, 28 x 28, its tpu_like example",
             ("run", "chip.yaml", "conv2d:k=128,c=128,p=28,q=28,r=3,s=3,padding=1,dtype=int8"), False))),
)


def environment(peer: Peer, folder: Path) -> Path:
    """The Python of a peer's own environment, made unless it is there with just these requirements."""
    wanted = (HERE / peer.folder / "requirements.txt").read_text(encoding="utf-8")
    home, stamp = folder / peer.folder, folder / peer.folder / "requirements.txt"
    python = home / "bin" / "python"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"installing {peer.name} ...", file=sys.stderr)
        venv.create(home, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r",
                        HERE / peer.folder / "requirements.txt"], check=True, stdout=sys.stderr)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def by_peer(python: Path, peer: Peer, work: Work) -> tuple[Usage, int]:
    """The peer's cost, and its cycles."""
    with tempfile.TemporaryDirectory(prefix="accelsim-peer-") as folder:
        usage = checked([str(python), str(HERE / peer.folder / "run.py"), work.name, folder], Path(folder))
    return usage, int(usage.output.split()[-1])


def by_accelsim(peer: Peer, work: Work) -> tuple[Usage, int]:
    """Accelsim's cost, and its cycles."""
    usage = checked([sys.executable, "-m", "accelsim.cli.main", *work.ours, "--json"], HERE / peer.folder)
    return usage, json.loads(usage.output)["total"]["cycles"]


def checked(command: Sequence[str], folder: Path) -> Usage:
    """Run a process that must not fail."""
    usage = measure(command, folder)
    if usage.code:
        raise SystemExit(f"{' '.join(command)} ended with code {usage.code}")
    return usage


def compare(peer: Peer, work: Work, python: Path, repeats: int) -> dict[str, Any]:
    """Both do the work in turn; medians. Refuses cycles that should be equal and are not."""
    pairs = [(by_peer(python, peer, work), by_accelsim(peer, work)) for _ in range(repeats)]
    (_, theirs), (_, ours) = pairs[0]
    if work.same_cycles and theirs != ours:
        raise SystemExit(f"{peer.name}, {work.name}: {theirs:,} cycles there and {ours:,} here")
    return {"peer": peer.name, "work": work.name, "what": work.what, "same_cycles": work.same_cycles,
            "theirs": figures([one for (one, _), _ in pairs], theirs), "ours": figures([one for _, (one, _) in pairs], ours)}


def figures(usages: Sequence[Usage], cycles: int) -> dict[str, Any]:
    """Medians of one side."""
    return {"cpu_s": median(one.cpu_s for one in usages), "wall_s": median(one.wall_s for one in usages),
            "peak_mib": median(one.peak_bytes for one in usages) / 2 ** 20, "cycles": cycles}


def cells_of(results: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The table, head first."""
    yield ("peer", "work", "CPU s", "accelsim", "ratio", "peak MiB", "accelsim", "ratio", "cycles", "accelsim")
    for row in results["rows"]:
        theirs, ours = row["theirs"], row["ours"]
        yield (row["peer"], row["what"],
               *(part for key in ("cpu_s", "peak_mib") for part in (
                   number(theirs[key]), number(ours[key]), f"x {number(theirs[key] / ours[key])}")),
               f"{theirs['cycles']:,}", f"{ours['cycles']:,}")


def page(results: dict[str, Any]) -> str:
    """The page of the documentation."""
    head, *rows = cells_of(results)
    lines = ["# Peers", "", NOTE, "",
             f"The same work by other simulators and by accelsim {results['accelsim']}, {results['date']}, medians of "
             f"{results['repeats']}, on {described(results)} (accelsim's environment; the peers have their own).", "",
             "CPU seconds and peak memory are those of whole processes, start-up included; a ratio is the peer's over "
             "accelsim's. They run in turn; a busy machine (a load beyond its cores) makes CPU seconds larger, most for the "
             "one that needs more memory. What the peers are:", "",
             *(f"- **{peer.name}**: {peer.what}." for peer in PEERS), "",
             "| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(row) + " |" for row in rows), "",
             "SCALE-Sim's array is modelled exactly, so cycles are equal, and the comparison fails if they are not. ZigZag "
             "searches mappings and rates them by a formula; accelsim takes the best of its named dataflows and simulates "
             "it, so cycles may differ. `make bench-peers` measures this on your computer."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compare, print a table, write the files asked for."""
    parser = argparse.ArgumentParser(description="The same work by other simulators and by accelsim.")
    parser.add_argument("--peer", choices=[peer.folder for peer in PEERS], help="only this one")
    parser.add_argument("--work", help="only this work, by name")
    parser.add_argument("--repeats", type=int, default=1, help="medians are over so many (default 1)")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers", help="where the peers are installed")
    parser.add_argument("--json", type=Path, help="write everything as JSON")
    parser.add_argument("--markdown", type=Path, help="write the documentation's page")
    asked = parser.parse_args()
    rows, on = [], machine()
    for peer in PEERS:
        works = [work for work in peer.works if asked.work in {None, work.name}]
        if works and asked.peer in {None, peer.folder}:
            python = environment(peer, asked.environments)
            rows += [compare(peer, work, python, asked.repeats) for work in works]
    results = {"schema": 1, "accelsim": VERSION, "date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": on,
               "repeats": asked.repeats, "rows": rows}
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    if asked.markdown:
        asked.markdown.write_text(page(results), encoding="utf-8")
    for cells in cells_of(results):
        print("  ".join(cells))


if __name__ == "__main__":
    main()
