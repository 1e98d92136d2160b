"""Do the README's commands and snippets work, and does it show what they print?"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
SCRIPT = "import sys; from accelsim.cli.main import main; sys.exit(main())"


def commands(block: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in block.splitlines() if line.startswith("accelsim ")]


def test_the_first_two_blocks_install_and_test() -> None:
    (first, install), (second, test) = BLOCKS[:2]
    assert first == second == "sh"
    assert "pip install . && accelsim run tpu-v1 resnet50 --timeline timeline.png" in install
    assert 'pip install ".[test]" && pytest' in test
    assert install.count("\n") == test.count("\n") == 1


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the commands of each block print, run one after another in one folder."""
    folder = tmp_path_factory.mktemp("readme")
    outputs = []
    for kind, block in BLOCKS:
        said = ""
        for arguments in commands(block) if kind == "sh" else []:
            done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True,
                                  text=True, check=False, timeout=300)
            assert done.returncode == 0, f"{arguments}: {done.stderr}"
            said += done.stdout
        outputs.append(said)
    assert (folder / "mine" / "timeline.png").is_file()
    return outputs


def test_every_command_works(printed: list[str]) -> None:
    assert sum(len(commands(block)) for kind, block in BLOCKS if kind == "sh") >= 9
    assert all(bool(said) == (kind == "sh" and bool(commands(block))) for said, (kind, block) in zip(
        printed, BLOCKS, strict=True))


def test_it_shows_what_is_printed(printed: list[str]) -> None:
    for i, (kind, block) in enumerate(BLOCKS):
        if kind == "text":
            lines = printed[i - 1].splitlines()
            for line in block.splitlines():
                assert line == "..." or line in lines, f"not printed any more: {line}"


@pytest.mark.parametrize("code", [block for kind, block in BLOCKS if kind == "python"])
def test_every_snippet_works(code: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_linked_files_exist_and_the_picture_is_small() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link
    assert (ROOT / "docs" / "img" / "timeline.png").stat().st_size < 200_000
