"""Where the closed form is wrong: `make study` runs every point and writes the table, the pictures and the docs page.

``--jobs N`` processes (default 2); ``--again`` only draws and writes from the committed table.
"""

from __future__ import annotations

import argparse

from validation.study.points import points
from validation.study.rows import TABLE, load, rows_of, save


def main() -> None:
    """Run, then write."""
    parser = argparse.ArgumentParser(description="Measured over estimated on a grid of chips, operators and mappings.")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--again", action="store_true", help="only pictures and page, from the table as it is")
    asked = parser.parse_args()
    if not asked.again:
        save(rows_of(points(), asked.jobs))
    rows = load()
    print(f"{len(rows)} points in {TABLE.name}")


if __name__ == "__main__":
    main()
