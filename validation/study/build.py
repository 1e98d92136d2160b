"""Where the closed form is wrong: `make study` runs every point and writes the table, the pictures and the docs page.

``--jobs N`` processes (default: as many as there are processors); ``--again`` only draws and writes from the committed table.
"""

from __future__ import annotations

import argparse
import os

from validation.study.page import PAGE, write
from validation.study.pictures import IMAGES, draw
from validation.study.points import points
from validation.study.rows import TABLE, load, rows_of, save


def main() -> None:
    """Run, then write."""
    parser = argparse.ArgumentParser(description="Measured over estimated on a grid of chips, operators and mappings.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all processors)")
    parser.add_argument("--again", action="store_true", help="only pictures and page, from the table as it is")
    asked = parser.parse_args()
    if not asked.again:
        save(rows_of(points(), asked.jobs))
    rows = load()
    draw(rows)
    write(rows)
    print(f"{len(rows)} points in {TABLE.name}, pictures in {IMAGES.name}, {PAGE.name}")


if __name__ == "__main__":
    main()
