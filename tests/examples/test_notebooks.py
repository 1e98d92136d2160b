"""Do the example notebooks run from top to bottom, and do they stand in the repository without outputs?"""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks_and_the_page_names_each() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 3
    assert [path.name for path in NOTEBOOKS if path.name not in page] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_and_checks_its_numbers(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert book.cells[0].source.startswith("# ")
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert sum("assert " in cell.source for cell in code) >= 3
    assert path.stat().st_size < 20_000


@pytest.mark.filterwarnings("default")  # of the protocol's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    own = {name: str(tmp_path / name) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    client = NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}})
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # pictures go into the notebook
    client.execute(env={**inherited, **own, "PYTHONPATH": str(ROOT)})
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if output.output_type in {"execute_result", "display_data"}]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert [output.text for output in outputs if output.output_type == "stream"] == []  # no warning, no chatter
    assert any('<div class="accelsim">' in page for page in pages) or any("image/png" in data for data in shown)
    assert max(len(data["text/plain"]) for data in shown) < 4_000  # a line, not the insides of a result
