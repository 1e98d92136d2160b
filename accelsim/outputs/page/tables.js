// The operators, the traffic, and what surrounds the numbers: mapping, provenance, glossary.

const ORDER = { key: null, down: false };
let filtered = "";

const COLUMNS = [
  { key: "name", head: "operator", value: (one) => one.name },
  { key: "operator", head: "kind", value: (one) => one.operator, narrow: true },
  { key: "repeat", head: "\u00d7", value: (one) => one.repeat, number: true },
  { key: "cycles", head: "cycles", value: (one) => one.cycles, number: true },
  { key: "time_s", head: "time", value: (one) => one.time_s, text: humanTime, number: true, narrow: true },
  { key: "utilization", head: "utilization", value: (one) => one.utilization, text: percent, number: true },
  { key: "busy", head: "array busy", value: (one) => one.busy, text: percent, number: true, narrow: true },
  { key: "estimated", head: "estimated cycles", value: (one) => one.crosscheck.estimated_cycles, number: true },
  { key: "ratio", head: "measured / estimated", value: (one) => one.crosscheck.ratio, text: (ratio) => ratio.toFixed(3), number: true, narrow: true },
  { key: "bound_by", head: "bound by", value: (one) => one.bound_by },
];

function operatorRow(one, index, chosen, choose) {
  const pick = el("button", { type: "button", class: "plain", "aria-pressed": String(index === chosen), tabindex: index === chosen ? 0 : -1, "data-operator": index }, one.name);
  const attributes = { "data-operator": index, class: index === chosen ? "chosen" : null, onclick: () => choose(index) };
  if (!done(one)) {
    return el("tr", { ...attributes, onclick: null }, el("th", { scope: "row" }, one.name), el("td", { class: "hide-narrow" }, one.operator), cell(one.repeat),
      el("td", { class: "warn", colspan: COLUMNS.length - 3 }, `did not run: ${one.error.split("\n")[0]}`));
  }
  return el("tr", attributes, ...COLUMNS.map((column, i) => {
    if (i === 0) return el("th", { scope: "row" }, pick);
    const value = column.value(one);
    const made = column.number ? cell(value, (column.text ?? grouped)(value)) : el("td", {}, value);
    if (column.narrow) made.classList.add("hide-narrow");
    return made;
  }));
}

function drawOperators(chosen, choose) {
  if (!several) {
    document.getElementById("operators").hidden = true;
    return;
  }
  const shown = RUN.operators.map((one, index) => [one, index]).filter(([one]) => `${one.name} ${one.operator} ${one.bound_by ?? one.error}`.toLowerCase().includes(filtered));
  const column = COLUMNS.find((one) => one.key === ORDER.key);
  if (column) {
    const compare = (a, b) => (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0);
    shown.sort(([a, i], [b, j]) => (done(b) - done(a)) || (done(a) ? (ORDER.down ? -1 : 1) * compare(column.value(a), column.value(b)) : 0) || i - j);
  }
  const sort = (key, number) => {
    [ORDER.key, ORDER.down] = [key, ORDER.key === key ? !ORDER.down : Boolean(number)];
    drawOperators(chosen, choose);
    document.querySelector(`#operators button.sort[data-key="${key}"]`).focus();
  };
  const heads = COLUMNS.map((one) => el("th", { scope: "col", class: `${one.number ? "number" : ""}${one.narrow ? " hide-narrow" : ""}`, "aria-sort": ORDER.key === one.key ? (ORDER.down ? "descending" : "ascending") : null },
    el("button", { type: "button", class: "sort", "data-key": one.key, onclick: () => sort(one.key, one.number) }, one.head)));
  const body = el("tbody", { onkeydown: moveInRows }, ...shown.map(([one, index]) => operatorRow(one, index, chosen, choose)));
  if (shown.length && !body.querySelector('button[tabindex="0"]')) body.querySelector("button")?.setAttribute("tabindex", "0");
  const total = el("tr", {}, el("th", { scope: "row" }, "total, with repeats"), el("td", { class: "hide-narrow" }), el("td"), cell(RUN.total.cycles), Object.assign(cell(RUN.total.time_s, humanTime(RUN.total.time_s)), { className: "number hide-narrow" }),
    cell(RUN.total.utilization, percent(RUN.total.utilization)), el("td", { class: "hide-narrow" }), cell(RUN.total.estimated_cycles), Object.assign(cell(RUN.total.cycles / Math.max(1, RUN.total.estimated_cycles), (RUN.total.cycles / Math.max(1, RUN.total.estimated_cycles)).toFixed(3)), { className: "number hide-narrow" }), el("td"));
  const frame = document.querySelector("#operators .tall");
  const made = el("table", { class: "wide", id: "operator-table" }, el("thead", {}, el("tr", {}, ...heads)), body, el("tfoot", {}, total));
  const count = filtered ? `${shown.length} of ${RUN.operators.length} shown` : "";
  if (frame) {
    frame.replaceChildren(made);
    document.getElementById("filter-count").textContent = count;
    return;
  }
  section("operators", "Operators",
    el("p", { class: "note" }, "Of one run of each; choose one to see it in every part of this page. Cycles, time, utilization, busy, bound by: ", kind("measured"), "; estimated cycles: ", kind("estimated"), "."),
    el("div", { class: "tools" }, el("input", { type: "search", id: "filter", placeholder: "Filter operators", "aria-label": "Filter operators by name, kind or what binds", oninput: (event) => {
      filtered = event.target.value.trim().toLowerCase();
      drawOperators(CHOSEN.operator, choose);
    } }), el("span", { id: "filter-count", class: "sub", "aria-live": "polite" }, count)),
    el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-labelledby": "operators-title" }, made));
}

function moveInRows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))].focus();
}

// -- traffic ---------------------------------------------------------------------------------------------------------

const MOVES = [["fill", "fill_bytes"], ["drain", "drain_bytes"], ["refill", "refill_bytes"], ["array read", "array_read_bytes"], ["array write", "array_write_bytes"], ["waste", "waste_bytes"]];

function drawTraffic(operator) {
  const rows = [];
  const order = operator.mapping.levels.map((one) => one.level);
  const rank = (level) => (order.includes(level) ? order.indexOf(level) : order.length);
  for (const level of Object.keys(operator.levels).sort((a, b) => rank(a) - rank(b))) {
    let first = true;
    for (const [tensor, own] of Object.entries(operator.levels[level])) {
      rows.push(el("tr", {}, el("th", { scope: "row" }, first ? level : el("span", { class: "sub" }, level)), el("td", {}, tensor), ...MOVES.map(([, key]) => bytesCell(own[key]))));
      first = false;
    }
  }
  const links = Object.entries(operator.links).map(([name, own]) => [name, bytesCell(own.bytes), cell(own.busy_share, percent(own.busy_share))]);
  const lanes = Object.entries(operator.lanes).map(([name, lane]) => [name, lane.kind, cell(lane.busy_cycles), cell(lane.stall_cycles), cell(lane.idle_cycles), cell(lane.busy_cycles / Math.max(1, operator.cycles), percent(lane.busy_cycles / Math.max(1, operator.cycles)))]);
  section("traffic", ["Traffic by level and tensor", whose(operator)],
    el("p", { class: "note" }, "Bytes over all instances of a level, before granularity; ", el("i", {}, "waste"), " is what granularity added. The exact count of a cell is in its tooltip. ", kind(operator.crosscheck.traffic_equal ? "measured, and estimated alike" : "measured")),
    table({ class: "wide", id: "traffic-table" }, null, ["level", "tensor", ...MOVES.map(([head]) => [head, "number"])], rows),
    links.length ? [el("h3", {}, "Links ", kind("measured")), table({}, null, ["link", ["bytes", "number"], ["busy", "number"]], links)] : null,
    counters(operator),
    el("details", {}, el("summary", {}, `Array lanes, ports and links: busy, stalled, idle (${lanes.length})`), table({}, kind("measured"), ["lane", "kind", ["busy cycles", "number"], ["stalled", "number"], ["idle", "number"], ["busy", "number"]], lanes)),
    el("details", {}, el("summary", {}, "The mapping that was run"), el("p", { class: "note" }, operator.mapping.origin || "given"), el("pre", {}, operator.mapping.yaml)));
}

// Of memories whose channels, banks or caches are simulated.
function counters(operator) {
  const parts = [];
  if (operator.dram.bursts) parts.push(el("h3", {}, "DRAM channels ", kind("measured")), table({}, null, ["count", ["", "number"]], Object.entries(operator.dram).map(([name, count]) => [name.replaceAll("_", " "), name === "bytes" ? bytesCell(count) : cell(count)])));
  for (const [tensor, own] of Object.entries(operator.cache)) parts.push(el("h3", {}, `Cache, ${tensor} `, kind("measured")), table({}, null, ["bytes", ["", "number"]], Object.entries(own).map(([name, bytes]) => [name.replace("_bytes", ""), bytesCell(bytes)])));
  if (operator.banks.own_cycles || operator.banks.transfer_cycles) parts.push(el("h3", {}, "Banks ", kind("measured")), table({}, null, ["the array stood still for", ["cycles", "number"]], [["accesses of its own", cell(operator.banks.own_cycles)], ["transfers", cell(operator.banks.transfer_cycles)]]));
  return parts;
}

// -- what surrounds the numbers --------------------------------------------------------------------------------------

function drawProvenance() {
  const { accelsim, results_version: results, inputs = {}, options = {} } = RUN.provenance;
  const skipped = RUN.operators.filter(done).reduce((sum, one) => sum + one.fast_forward.steps, 0);
  const pair = (name, ...value) => [el("dt", {}, name), el("dd", {}, ...value)];
  section("provenance", "Where these numbers come from",
    el("dl", { class: "pairs" }, pair("command", el("code", {}, WORDS.command), el("div", { class: "sub" }, "files of one's own stand with the names that they give themselves")),
      pair("accelsim", `${accelsim ?? "?"}, results version ${results ?? "?"}, JSON schema ${RUN.schema}`),
      ...Object.entries(options).map(([name, value]) => pair(name, Array.isArray(value) ? value.join("  ") || "none" : String(value ?? "none"))),
      pair("added, not simulated", `${grouped(skipped)} array steps that repeat others exactly`)),
    el("details", {}, el("summary", {}, `Hashes of the inputs as read (${Object.keys(inputs).length})`), table({}, null, ["input", "SHA-256, first 16 digits"], Object.entries(inputs).map(([name, hash]) => [name, el("td", {}, el("code", {}, hash))]))),
    el("h3", {}, "What totals leave out"),
    el("p", {}, several ? `${RUN.total.operators_run} of ${RUN.operators.length} operators ran, one after another, each from a cold start with its tensors at home. What one could leave on chip for the next, or overlap with it, is not counted; operators that did not run are in no total.` : "The operator runs from a cold start with its tensors at home; what a workload around it would leave on chip or overlap is not counted.",
      " Energy, sparsity and instruction fetch are not modelled."),
    el("details", { class: "no-print" }, el("summary", {}, "The same numbers as JSON"), el("p", { class: "note" }, "What ", el("code", {}, "accelsim run --json"), " prints; this page draws every number from it."), el("pre", { id: "json", class: "tall", tabindex: 0 })));
  const shown = document.getElementById("json");
  shown.parentElement.addEventListener("toggle", () => { shown.textContent = JSON.stringify(RUN, null, 1); }, { once: true });
}

function drawGlossary() {
  const word = (code, ...said) => [el("dt", { id: `word-${code}` }, ...said.slice(0, -1)), el("dd", {}, said.at(-1))];
  section("glossary", "Glossary",
    el("h3", {}, "What a lane does, and the causes of stalls"),
    el("dl", { class: "pairs" }, WORDS.colours.map((one) => word(one.code, swatch(one.code), one.name, one.sentence)), WORDS.phases.map((one) => word(one.code, `${one.code} (phase)`, one.sentence))),
    el("h3", {}, "Metrics"),
    el("dl", { class: "pairs" }, WORDS.metrics.map((one) => word(`metric-${one.name}`, one.name, one.unit ? kind(one.unit) : "", `${one.definition}${one.identity ? ` (${one.identity})` : ""}`))));
}
