// Bytes by level and tensor, what links and memories did, and the mapping that was run.

const MOVES = [
  ["fill", "fill_bytes"],
  ["drain", "drain_bytes"],
  ["refill", "refill_bytes"],
  ["array read", "array_read_bytes"],
  ["array write", "array_write_bytes"],
  ["waste", "waste_bytes"],
];

function drawTraffic(operator) {
  const rows = [];
  const order = operator.mapping.levels.map((one) => one.level);
  const rank = (level) => (order.includes(level) ? order.indexOf(level) : order.length);
  for (const level of Object.keys(operator.levels).sort((a, b) => rank(a) - rank(b))) {
    let first = true;
    for (const [tensor, own] of Object.entries(operator.levels[level])) {
      rows.push(
        el(
          "tr",
          {},
          el("th", { scope: "row" }, first ? level : el("span", { class: "sub" }, level)),
          el("td", {}, tensor),
          ...MOVES.map(([, key]) => bytesCell(own[key])),
        ),
      );
      first = false;
    }
  }
  const links = Object.entries(operator.links).map(([name, own]) => [
    name,
    bytesCell(own.bytes),
    cell(own.busy_share, percent(own.busy_share)),
  ]);
  const lanes = Object.entries(operator.lanes).map(([name, lane]) => [
    name,
    lane.kind,
    cell(lane.busy_cycles),
    cell(lane.stall_cycles),
    cell(lane.idle_cycles),
    cell(lane.busy_cycles / Math.max(1, operator.cycles), percent(lane.busy_cycles / Math.max(1, operator.cycles))),
  ]);
  section(
    "traffic",
    ["Traffic by level and tensor", whose(operator)],
    el(
      "p",
      { class: "note" },
      "Bytes over all instances of a level, before granularity; ",
      el("i", {}, "waste"),
      " is what granularity added. The exact count of a cell is in its tooltip. ",
      kind(operator.crosscheck.traffic_equal ? "measured, and estimated alike" : "measured"),
    ),
    table(
      { class: "wide", id: "traffic-table" },
      null,
      ["level", "tensor", ...MOVES.map(([head]) => [head, "number"])],
      rows,
    ),
    links.length
      ? [
          el("h3", {}, "Links ", kind("measured")),
          table({}, null, ["link", ["bytes", "number"], ["busy", "number"]], links),
        ]
      : null,
    counters(operator),
    el(
      "details",
      {},
      el("summary", {}, `Array lanes, ports and links: busy, stalled, idle (${lanes.length})`),
      table(
        {},
        kind("measured"),
        ["lane", "kind", ["busy cycles", "number"], ["stalled", "number"], ["idle", "number"], ["busy", "number"]],
        lanes,
      ),
    ),
    el(
      "details",
      {},
      el("summary", {}, "The mapping that was run"),
      el("p", { class: "note" }, operator.mapping.origin || "given"),
      el("pre", {}, operator.mapping.yaml),
    ),
  );
}

// Of memories whose channels, banks or caches are simulated.
function counters(operator) {
  const parts = [];
  if (operator.dram.bursts)
    parts.push(
      el("h3", {}, "DRAM channels ", kind("measured")),
      table(
        {},
        null,
        ["count", ["", "number"]],
        Object.entries(operator.dram).map(([name, count]) => [
          name.replaceAll("_", " "),
          name === "bytes" ? bytesCell(count) : cell(count),
        ]),
      ),
    );
  for (const [tensor, own] of Object.entries(operator.cache))
    parts.push(
      el("h3", {}, `Cache, ${tensor} `, kind("measured")),
      table(
        {},
        null,
        ["bytes", ["", "number"]],
        Object.entries(own).map(([name, bytes]) => [name.replace("_bytes", ""), bytesCell(bytes)]),
      ),
    );
  if (operator.banks.own_cycles || operator.banks.transfer_cycles)
    parts.push(
      el("h3", {}, "Banks ", kind("measured")),
      table(
        {},
        null,
        ["the array stood still for", ["cycles", "number"]],
        [
          ["accesses of its own", cell(operator.banks.own_cycles)],
          ["transfers", cell(operator.banks.transfer_cycles)],
        ],
      ),
    );
  return parts;
}
