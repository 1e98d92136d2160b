"""The table of formats: what `accelsim list formats` shows and what a file's suffix may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """One output format and how to ask for it."""

    name: str
    option: str
    describe: str


FORMATS: tuple[Format, ...] = (
    Format("text", "(default)", "one-screen summary on standard output"),
    Format("json", "--json", "everything, one schema, keys sorted, units in names"),
    Format("csv", "--csv FILE", "one row an operator and a total"),
    Format("png", "--timeline FILE.png", "stall timeline, 300 dots per inch"),
    Format("svg", "--timeline FILE.svg", "stall timeline as vectors, for the web"),
    Format("pdf", "--timeline FILE.pdf", "stall timeline as vectors, for a paper"),
    Format("stall bars", "--stall-bars FILE.png|.svg|.pdf", "each array's cycles by cause as one bar"),
    Format("html", "--report FILE.html", "all of a run as one interactive page that opens from disk"),
    Format("html", "diff A B --html FILE", "two runs compared, as one page that needs nothing else"),
    Format("markdown", "diff A B --markdown FILE", "two runs compared, for a pull request"),
    Format("trace", "--trace FILE.pftrace|.json|.json.gz", "every interval, for ui.perfetto.dev, as its own format or Chrome's"),
    Format("run folder", "--save DIR", "all of a run, to be measured and drawn again by `accelsim report DIR`"),
)
