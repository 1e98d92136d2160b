// The stall tree: by cause, where it was waited, and behind whose transfer; and the same cycles by phase.

// Cause, then where, then behind whom, each with the sum of what is below it.
function stallTree(operator) {
  const tree = new Map();
  for (const { cause, where, behind, cycles } of operator.stall_tree) {
    const node = tree.get(cause) ?? { cause, cycles: 0, places: new Map() };
    const place = node.places.get(where) ?? { where, cycles: 0, behind: [] };
    node.cycles += cycles;
    place.cycles += cycles;
    if (behind) place.behind.push({ behind, cycles });
    node.places.set(where, place);
    tree.set(cause, node);
  }
  const order = (a, b) => b.cycles - a.cycles;
  const causes = [...tree.values()].sort(order);
  for (const node of causes) node.places = [...node.places.values()].sort(order);
  return causes;
}

function drawStalls(operator) {
  const arrays = arraysOf(operator);
  const all = arrays * operator.cycles;
  const lanes = Object.values(operator.lanes).filter((lane) => lane.kind === "array");
  const busy = lanes.reduce((sum, lane) => sum + lane.busy_cycles, 0);
  const idle = lanes.reduce((sum, lane) => sum + lane.idle_cycles, 0);
  const stalled = Object.values(operator.stalls).reduce((sum, cycles) => sum + cycles, 0);
  const share = (cycles) => cycles / Math.max(1, all);
  const row = (indent, name, cycles, colour, attributes = {}) =>
    el(
      "tr",
      attributes,
      el("th", { scope: "row", class: indent ? `indent${indent}` : null }, ...name),
      cell(cycles),
      cell(share(cycles), percent(share(cycles))),
      el("td", { class: "meters" }, meter(share(cycles), colour)),
    );
  const named = (code) => [swatch(code), el("a", { href: `#word-${code}` }, wordOf(code).name)];
  const rows = [row(0, named("busy"), busy, wordOf("busy").colour)];
  for (const node of stallTree(operator)) {
    const colour = wordOf(node.cause).colour;
    rows.push(row(0, named(node.cause), node.cycles, colour, { "data-cause": node.cause }));
    for (const place of node.places) {
      rows.push(row(1, [place.where || "at no port or link: the launch of the operator"], place.cycles, colour));
      for (const one of place.behind) rows.push(row(2, [`behind ${one.behind}`], one.cycles, colour));
    }
  }
  rows.push(row(0, named("idle"), idle, wordOf("idle").colour));
  const foot = [
    el(
      "tr",
      {},
      el("th", { scope: "row" }, "sum of the stalls"),
      cell(stalled),
      cell(share(stalled), percent(share(stalled))),
      el("td"),
    ),
    el(
      "tr",
      {},
      el("th", { scope: "row" }, `busy + stalls + idle = ${arrays === 1 ? "" : `${arrays} lanes \u00d7 `}cycles`),
      cell(busy + stalled + idle),
      cell(share(busy + stalled + idle), percent(share(busy + stalled + idle))),
      el("td"),
    ),
  ];
  const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);
  const phases = WORDS.phases.map((phase) =>
    el(
      "tr",
      { title: phase.sentence },
      el("th", { scope: "row" }, el("a", { href: `#word-${phase.code}` }, phase.code)),
      cell(operator.phases[`${phase.code}_cycles`] ?? 0),
    ),
  );
  const filled = Object.entries(operator.fill_drain)
    .filter(([, cycles]) => cycles)
    .map(([name, cycles]) => [name.replace("_cycles", ""), cell(cycles)]);
  const beside = [
    table({}, ["Stalls by phase ", kind("measured")], ["phase", ["lane-cycles", "number"]], phases, [
      ["sum", cell(sum(operator.phases))],
    ]),
  ];
  if (filled.length)
    beside.push(
      el("h3", {}),
      table(
        {},
        ["array fill drain by what filled or emptied ", kind("measured")],
        ["part", ["lane-cycles", "number"]],
        filled,
        [["sum", cell(sum(operator.fill_drain))]],
      ),
    );
  if (several) beside.push(workloadStalls());
  section(
    "stalls",
    ["Where the array's cycles went", whose(operator)],
    el("p", { class: "note" }, "By cause, where it was waited, and behind whose transfer. ", kind("measured")),
    el(
      "div",
      { class: "two" },
      table(
        { class: "wide", id: "stall-tree" },
        null,
        [arrays === 1 ? "array lane" : `${arrays} array lanes`, ["lane-cycles", "number"], ["share", "number"], ""],
        rows,
        foot,
      ),
      el("div", {}, beside),
    ),
  );
}

function workloadStalls() {
  const causes = WORDS.colours
    .slice(1, -1)
    .map((one) => [one.code, RUN.total.stalls[`${one.code}_cycles`]])
    .filter(([, cycles]) => cycles)
    .sort((a, b) => b[1] - a[1]);
  return el(
    "div",
    {},
    el("h3", {}),
    table(
      { id: "total-stalls" },
      ["Whole workload, with repeats ", kind("measured")],
      ["cause", ["lane-cycles", "number"]],
      causes.map(([code, cycles]) =>
        el("tr", {}, el("th", { scope: "row" }, swatch(code), wordOf(code).name), cell(cycles)),
      ),
      [["sum of the stalls", cell(causes.reduce((sum, [, cycles]) => sum + cycles, 0))]],
    ),
  );
}
