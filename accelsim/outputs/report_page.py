"""One HTML file that shows a run: it opens from a disk, asks no server for anything, and runs no string of any file.

The page embeds what `--json` prints, and draws every number from it. Its script and style are the files under `page/`;
the policy in its head allows these alone (by their hashes), and no access to any network.
"""

from __future__ import annotations

import json
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from accelsim.measure.ladder import Loss
from accelsim.measure.metrics import METRICS
from accelsim.measure.report import OperatorReport, RunReport
from accelsim.outputs.page_tracks import tracks
from accelsim.outputs.raster_lanes import COLOURS, NAMES
from accelsim.outputs.results import Json, run_json
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import TICKS, Timeline

_FOLDER = Path(__file__).with_name("page")
SCRIPTS = ("base.js", "figures.js", "roofline.js", "stalls.js", "operators.js", "traffic.js", "crosscheck.js", "about.js",
           "track.js", "painting.js", "frame.js", "hands.js", "timeline.js", "main.js")
"""In the order in which they stand in the page."""


def report_page(report: RunReport, timelines: Sequence[Timeline | None]) -> str:
    """The page of a run: ``timelines`` are those of the report's operators, None for what did not run."""
    weights = [one.cycles * one.repeat if isinstance(one, OperatorReport) else 0 for one in report.operators]
    style = _read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_read(name) for name in SCRIPTS) + "})();\n"
    return Template(_read("page.html")).substitute(
        title=escape(f"{report.workload} on {report.chip}"), script_hash=_hash(script), style_hash=_hash(style), style=style,
        script=script, run=embedded(run_json(report)), words=embedded(_words(report)),
        timelines=embedded(tracks(timelines, weights)))


def embedded(data: object) -> str:
    """JSON that stays inside its element whatever its strings hold: no character begins markup."""
    text = json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def command(report: RunReport) -> str:
    """The command that runs it again; files of one's own stand with the names that they give themselves."""
    words = ["accelsim", "run", report.chip, report.workload]
    options = report.provenance.get("options")
    if isinstance(options, Mapping):
        if options.get("mapping"):
            words += ["--mapping", str(options["mapping"])]
        if options.get("dataflow", "auto") != "auto":
            words += ["--dataflow", str(options["dataflow"])]
        for override in options.get("overrides", ()):
            words += ["-o", str(override)]
    return shlex.join([*words, "--report", "report.html"])


def _words(report: RunReport) -> Json:
    """Names, colours and definitions, and what the run does not know of itself."""
    causes: list[StallCause | None] = [None, *StallCause, None]
    sentences = {"busy": "Cycles in which an array runs a step, or a port or link serves a transfer.",
                 "idle": "Cycles in which a lane has no work left, or none yet."}
    return {
        "ticks": TICKS, "phases": [{"code": phase.code, "sentence": phase.sentence} for phase in Phase],
        "colours": [{"code": cause.code if cause else name, "name": name, "colour": colour,
                     "sentence": cause.sentence if cause else sentences[name]}
                    for cause, name, colour in zip(causes, NAMES, COLOURS, strict=True)],
        "losses": [{"code": loss.code, "sentence": loss.sentence} for loss in Loss],
        "metrics": [vars(metric) for metric in METRICS], "command": command(report)}


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode("ascii")
