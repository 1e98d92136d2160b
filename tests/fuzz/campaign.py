"""Coverage-guided fuzzing of the readers with atheris: minutes for each, what is found kept as files.

``python -m tests.fuzz.campaign --minutes 5 [READER ...]``; ends with 1 where anything was found. What once was found, made
small, belongs into ``corpus/READER/``, where `test_readers` tries it again each time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY_MIB = 3072
"""Twenty million packets, the most that a pattern may ask for, take 1.2 GiB, some of which is kept beside the next as many."""
SLOWEST_S = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("readers", nargs="*", help="default all")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each reader")
    parser.add_argument("--found", type=Path, default=HERE / "found", help="a folder for what was found")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        fuzz(asked.one, asked.work, asked.found, asked.minutes)
        return
    from .readers import READERS
    wrong = []
    for name in asked.readers or [reader.name for reader in READERS]:
        with tempfile.TemporaryDirectory(prefix="accelsim-") as work:
            ended = subprocess.run([sys.executable, "-m", "tests.fuzz.campaign", "--one", name, "--work", work,
                                    "--found", str(asked.found), "--minutes", str(asked.minutes)], cwd=HERE.parent.parent,
                                   capture_output=True, text=True, errors="replace", check=False)
        last = next((line for line in reversed(ended.stderr.splitlines())
                     if line.startswith("#") and line[1:2].isdigit()), "")
        told = ended.stderr[-3000:] if ended.returncode else last
        sys.stdout.write(f"{name}: {'FOUND SOMETHING' if ended.returncode else 'nothing'}; {told}\n")
        sys.stdout.flush()
        wrong += [name] if ended.returncode else []
    sys.exit(bool(wrong))


def fuzz(name: str, work: Path, found: Path, minutes: float) -> None:
    """In a process of its own: libFuzzer never returns."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not there; pip install 'accelsim[fuzz]'")
    with atheris.instrument_imports(include=["accelsim.spec", "accelsim.units", "accelsim.timeline", "accelsim.archive",
                                             "accelsim.verbs", "accelsim.cli.commands"]):
        from .readers import READERS, attempt
    reader = next(one for one in READERS if one.name == name)
    begin, scratch = work / "corpus", work / "scratch"
    for folder in (begin, scratch, found):
        folder.mkdir(parents=True, exist_ok=True)
    kept = HERE / "corpus" / name.replace(" ", "-")
    for number, text in enumerate([*(seed.text for seed in reader.prepared()), *(path.read_bytes() for path in kept.glob("*"))]):
        (begin / str(number)).write_bytes(text)
    from .mutate import WORDS
    (work / "words").write_text("".join(map(_quoted, WORDS)), encoding="ascii")
    prefix = found / f"{name.replace(' ', '-')}-"

    def one_input(text: bytes) -> None:
        attempt(reader, text, scratch)
    atheris.Setup([sys.argv[0], str(begin), f"-dict={work / 'words'}", f"-max_total_time={round(minutes * 60)}",
                   f"-artifact_prefix={prefix}", f"-rss_limit_mb={MEMORY_MIB}", f"-timeout={SLOWEST_S}", "-max_len=20000"],
                  one_input)
    atheris.Fuzz()


def _quoted(word: str) -> str:
    """A line of libFuzzer's list of words; it takes none of more than 64 bytes."""
    code = word.encode("utf-8", "surrogatepass")
    return '"' + "".join(f"\\x{byte:02x}" for byte in code) + '"\n' if 0 < len(code) <= 64 else ""


if __name__ == "__main__":
    main()
