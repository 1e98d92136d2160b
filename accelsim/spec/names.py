"""Names that reports, tables and pictures print: of workloads, operators, memories and networks."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

LONGEST_NAME = 1000


def _printed(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"{ascii(text)[:80]} holds characters that cannot be printed")
    return text


Title = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_printed)]
"""A name in one line, without signs that steer a terminal."""
