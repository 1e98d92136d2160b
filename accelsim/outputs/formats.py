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
    Format("roofline", "--roofline FILE.png|.svg|.pdf", "roofs of all ports and links, and what was attained below them"),
    Format("ladder", "--ladder FILE.png|.svg|.pdf", "from peak to delivered, a bar for each kind of loss"),
    Format("waterfall", "--waterfall FILE.png|.svg|.pdf", "from the estimate's bound to the measurement, by stall cause"),
    Format("utilization", "--utilization FILE.png|.svg|.pdf", "the arrays' cycles by cause along time"),
    Format("bandwidth", "--bandwidth FILE.png|.svg|.pdf", "what each port and link carried along time"),
    Format("heat map", "--heat-map FILE.png|.svg|.pdf", "how busy each link was, on the network's topology or the chip's levels"),
    Format("data", "--data", "beside each picture a table of exactly what it shows (.csv)"),
    Format("page", "--report FILE.html", "all of a run as one interactive page that opens from disk"),
    Format("diff page", "diff A B --html FILE", "two runs compared, as one page that needs nothing else"),
    Format("diff text", "diff A B --markdown FILE", "two runs compared, for a pull request"),
    Format("trace", "--trace FILE.pftrace|.json|.json.gz", "every interval, for ui.perfetto.dev, as its own format or Chrome's"),
    Format("run folder", "--save DIR", "all of a run, to be measured and drawn again by `accelsim report DIR`"),
)
