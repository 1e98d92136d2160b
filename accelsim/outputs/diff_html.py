"""Two runs compared, as one page that needs nothing else: no script, no request, light and dark, and to be printed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from accelsim.measure.diff import Diff, Part
from accelsim.measure.sides import BUSY, IDLE
from accelsim.outputs.diff_tables import Content, Table, content, plain
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, StallCause

COLOURS = {BUSY: BUSY_COLOUR, IDLE: IDLE_COLOUR} | {cause.code: cause.colour for cause in StallCause}
_SENTENCES = {cause.code: cause.sentence for cause in StallCause} | {
    BUSY: "A step of the array was running.", IDLE: "No work was left, or none yet."}

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #5a5a5a; --paper: #ffffff; --line: #d6d6d6; --band: #f5f5f5;
  --more: #b34700; --less: #0064a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --soft: #b0b0b0; --paper: #161616; --line: #444444;
  --band: #212121; --more: #ff9e57; --less: #6db9f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); } .verdict { font-weight: 600; margin: 1rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .8rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); }
th, td { padding: .2rem .6rem; text-align: right; vertical-align: top; white-space: nowrap; }
th.left, td.left { text-align: left; white-space: normal; overflow-wrap: break-word; }
th.name, td.name { min-width: 11rem; }
tbody tr:nth-child(even) { background: var(--band); }
tr.sum td { border-top: 1px solid var(--line); font-weight: 600; }
td.chart { width: 22%; min-width: 9rem; padding: .2rem 0; }
.axis { position: relative; height: 1.1em; }
.axis::before { content: ""; position: absolute; left: 50%; top: -.2rem; bottom: -.2rem; border-left: 1px solid var(--line); }
.axis i { position: absolute; top: .15em; bottom: .15em; }
i.more { background: var(--more); } i.less { background: var(--less); }
.swatch { display: inline-block; width: .75em; height: .75em; margin-right: .5em; outline: 1px solid var(--line); }
.stack { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .8rem; margin: .5rem 0; align-items: center; }
.stack div { display: flex; height: 1.3rem; } .stack i { min-width: 0; outline: .5px solid var(--paper); }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } section, table, tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } .wide { overflow: visible; } }
"""


def diff_html(found: Diff, operator: str | None = None, top: int | None = None) -> str:
    """The page, all of it unless ``top`` says how much."""
    told = content(found, operator, top, top)
    body = [f"<header><h1>{escape(told.title)}</h1><p class=\"soft\">{escape(told.subject)}</p>", _facts(told.facts)]
    body += [f"<p class=\"verdict\">{escape(told.verdict)}</p>"] if told.verdict else []
    body += ["</header>", *_own_tables(told)]
    for section in told.sections:
        body += [f"<section><h2>{escape(section.title)}</h2>", _facts(section.facts),
                 *(_table(table, "h3") for table in section.tables), "</section>"]
    return "\n".join([
        "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{escape(told.title)}</title>", f"<style>{_STYLE}</style>", "</head>", "<body>", *body, "</body>", "</html>", ""])


def _own_tables(told: Content) -> list[str]:
    tables = [table for table in (told.configuration, *told.tables) if table is not None]
    return [f"<section>{_table(table, 'h2')}</section>" for table in tables]


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows) + "</dl>"


def _table(table: Table, heading: str) -> str:
    """A table; a column of bars beside it where rows have differences, two stacked bars above it where they are parts."""
    chart = "<th aria-hidden=\"true\"></th>" if table.deltas else ""
    head = "".join(f"<th{_left(table, i)}>{escape(cell)}</th>" for i, cell in enumerate(table.head)) + chart
    largest = max((abs(delta) for delta in table.deltas), default=Fraction(0))
    rows = []
    for number, row in enumerate(table.rows):
        bar = ""
        if number < len(table.deltas):
            bar = _bar(table.deltas[number], largest, table.parts[number].name if table.parts else "")
        elif table.deltas:
            bar = "<td></td>"
        cells = "".join(f"<td{_left(table, i)}>{_swatch(cell) if table.parts and not i else ''}{escape(cell)}</td>"
                        for i, cell in enumerate(row))
        summed = " class=\"sum\"" if table.parts and number == len(table.parts) else ""
        rows.append(f"<tr{summed}>{cells}{bar}</tr>")
    title = table.title[:1].upper() + table.title[1:]
    note = f"<p class=\"soft\">{escape(table.note)}</p>" if table.note else ""
    return "\n".join([f"<{heading}>{escape(title)}</{heading}>{_stacks(table.parts)}",
                      f"<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>", *rows,
                      f"</tbody></table></div>{note}"])


def _left(table: Table, column: int) -> str:
    return f" class=\"left{'' if column else ' name'}\"" if column in table.left else ""


def _swatch(name: str) -> str:
    colour = COLOURS.get(name)
    return f"<span class=\"swatch\" style=\"background:{colour}\" title=\"{escape(_SENTENCES[name])}\"></span>" if colour else ""


def _bar(delta: Fraction, largest: Fraction, part: str) -> str:
    """To the right of the middle where B takes longer, to the left where it is quicker; a part in its own colour."""
    half = float(50 * abs(delta) / largest) if largest else 0.0
    side = f"left:50%;width:{half:.2f}%" if delta > 0 else f"right:50%;width:{half:.2f}%"
    colour = f";background:{COLOURS[part]};outline:.5px solid var(--line)" if part else ""
    way = "more" if delta > 0 else "less"
    return f"<td class=\"chart\"><div class=\"axis\"><i class=\"{way}\" style=\"{side}{colour}\"></i></div></td>"


def _stacks(parts: Sequence[Part]) -> str:
    """A's cycles over B's on one scale, part by part."""
    if not parts:
        return ""
    longest = max(sum((part.before for part in parts), Fraction(0)), sum((part.after for part in parts), Fraction(0)))
    sides = (("A", [(part.name, part.before) for part in parts]), ("B", [(part.name, part.after) for part in parts]))
    bars = "".join(f"<span>{side}</span><div>{_stack(own, longest)}</div>" for side, own in sides)
    return f"<div class=\"stack\" role=\"img\" aria-label=\"cycles of A and of B by cause\">{bars}</div>"


def _stack(values: Sequence[tuple[str, Fraction]], longest: Fraction) -> str:
    return "".join(f"<i style=\"width:{float(100 * value / longest):.3f}%;background:{COLOURS[name]}\" "
                   f"title=\"{name}: {plain(value)}\"></i>" for name, value in values if value)
