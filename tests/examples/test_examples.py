"""Does each example print exactly what stands beside it, from any folder?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
    assert {path.stem for path in EXAMPLES} == {path.stem for path in (ROOT / "examples").glob("*.out")}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    told = script.with_suffix(".out")
    assert done.stdout == told.read_text(encoding="utf-8"), f"python {script} > {told}"
    assert script.read_text(encoding="utf-8").startswith('"""')
