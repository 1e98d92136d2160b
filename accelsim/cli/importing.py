"""`accelsim import`: another tool's files as files of ours, and what of them was left out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from accelsim.errors import Fault, SpecError
from accelsim.importers import foreign
from accelsim.outputs import results
from accelsim.writing import whole_file


def import_files(files: Sequence[Path], folder: Path | None, tool: str | None, force: bool, as_json: bool) -> int:
    """Print the texts, or write them into a folder, all or none; tell what was left out on stderr, or in the JSON."""
    imported = foreign.import_files(files, tool)
    parts = {"chip": imported.chip, "workload": imported.workload, "mapping": imported.mapping}
    texts = {f"{part}.yaml": text for part, text in parts.items() if text is not None}
    written = [] if folder is None else write_all(folder, texts, force)
    if as_json:
        print(results.to_text({**parts, "left_out": [vars(one) for one in imported.left],
                               "written": [path.as_posix() for path in written]}))
        return 0
    if folder is None:
        print("\n".join(f"# ---- {name}\n{text}" for name, text in texts.items()), end="")
    else:
        print(f"wrote {', '.join(str(path) for path in written)}")
        if {"chip.yaml", "workload.yaml"} <= set(texts):
            mapping = f" --mapping {folder / 'mapping.yaml'}" if "mapping.yaml" in texts else ""
            print(f"\n  accelsim run {folder / 'chip.yaml'} {folder / 'workload.yaml'}{mapping}")
    if imported.left:
        print(f"accelsim: left out, or said in other words ({len(imported.left)}):", file=sys.stderr)
        for one in imported.left:
            print(f"  {one}", file=sys.stderr)
    return 0


def write_all(folder: Path, texts: Mapping[str, str], force: bool) -> list[Path]:
    """Write the files, all or none. Raises SpecError where one exists and ``force`` is not given."""
    if folder.exists() and not folder.is_dir():
        raise SpecError([Fault("--to", 0, 0, "", f"{folder} is a file; name a folder")])
    paths = [folder / name for name in texts]
    there = [path for path in paths if path.exists() and not (force and path.is_file())]
    if there:
        raise SpecError([Fault(str(path), 0, 0, "", "exists; nothing was written",
                               "another folder" + ("" if force else ", or --force to overwrite")) for path in there])
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as together:
        files = [together.enter_context(whole_file(path)) for path in paths]
        for file, text in zip(files, texts.values(), strict=True):
            file.write(text.encode("utf-8"))
    return paths
