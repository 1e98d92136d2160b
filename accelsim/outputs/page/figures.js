// Headline, ladder, stall tree, and estimate against measurement.

function largest(parts) {
  return Object.entries(parts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0] ?? ["nothing", 0];
}

// What binds in most cycles of the workload: its operators' answers, weighted by their cycles.
function boundBy() {
  const cycles = {};
  const operators = RUN.operators.filter(done);
  for (const one of operators) cycles[one.bound_by] = (cycles[one.bound_by] ?? 0) + one.cycles * one.repeat;
  const [name, most] = largest(cycles);
  if (operators.length < 2) return [name, name in (operators[0]?.lanes ?? {}) ? "the busiest lane" : "the largest stall cause"];
  const count = operators.filter((one) => one.bound_by === name).length;
  return [name, `in ${count} of ${operators.length} operators, ${percent(most / Math.max(1, RUN.total.cycles))} of the cycles`];
}

// The largest stakes over all operators, the same advice added up.
function workloadAdvice() {
  const stakes = new Map();
  for (const one of RUN.operators.filter(done)) {
    for (const { text, cycles } of one.advice) {
      const known = stakes.get(text) ?? { text, cycles: 0, most: 0, worst: "" };
      known.cycles += cycles * one.repeat;
      if (cycles * one.repeat > known.most) [known.most, known.worst] = [cycles * one.repeat, one.name];
      stakes.set(text, known);
    }
  }
  return [...stakes.values()].sort((a, b) => b.cycles - a.cycles || (a.text < b.text ? -1 : 1)).slice(0, 3);
}

function adviceList(items) {
  if (!items.length) return el("p", {}, "Nothing to gain: the arrays are always busy.");
  return el("ul", { class: "advice" }, items.map(({ text, cycles, worst }) => el("li", {},
    el("b", { "data-value": cycles }, `${grouped(cycles)} cycles`), el("span", {}, text, worst && several ? el("span", { class: "sub" }, ` (most in ${worst})`) : ""))));
}

function figure(name, value, text, type, more = null, words = false) {
  return el("div", {}, el("dt", {}, name.replace("estimated ", ""), type ? kind(type) : ""), el("dd", { class: words ? "words" : null, "data-figure": name, "data-value": value }, text, more ? el("small", {}, more) : ""));
}

function drawHeadline() {
  const total = RUN.total;
  const [bound, why] = boundBy();
  const failed = RUN.operators.filter((one) => !done(one));
  document.getElementById("bar-name").textContent = `${RUN.workload} on ${RUN.chip}`;
  document.getElementById("headline").replaceChildren(
    el("h1", { id: "title" }, `${RUN.workload} on ${RUN.chip}`),
    el("p", { class: "note" }, el("i", {}, "measured"), " is simulated event by event; ", el("i", {}, "estimated"),
      " is the closed form; no hardware was measured. Both come from the same chip, workload and mapping."),
    el("dl", { class: "figures" },
      figure("cycles", total.cycles, grouped(total.cycles), "measured", `at ${scaled(RUN.clock_hz, 1000, ["Hz", "kHz", "MHz", "GHz"])}`),
      figure("time", total.time_s, humanTime(total.time_s), "measured", "cycles / clock"),
      figure("utilization", total.utilization, percent(total.utilization), "measured", `of peak, over ${grouped(total.macs)} MACs`),
      figure("estimated cycles", total.estimated_cycles, grouped(total.estimated_cycles), "estimated",
        `measured is ${(total.cycles / Math.max(1, total.estimated_cycles)).toFixed(3)} \u00d7 that`),
      figure("bound by", bound, bound, "measured", why, true),
      figure("operators", total.operators_run, `${total.operators_run} run, ${total.operators_failed} failed`, "",
        several ? "one after another, each from a cold start" : "from a cold start", true)),
    el("h3", {}, "What to change ", kind("measured: cycles of an array lane at stake, with repeats")),
    adviceList(workloadAdvice()),
    failed.length ? el("div", {}, el("h3", { class: "warn" }, "Operators that did not run"), el("ul", {}, failed.map((one) => el("li", {}, el("b", {}, one.name), `: ${one.error}`)))) : "");
}

// -- ladder ----------------------------------------------------------------------------------------------------------

const lossOf = (code) => WORDS.losses.find((one) => one.code === code);

function drawLadder(operator) {
  const own = operator.ladder;
  const total = RUN.total.ladder;
  const both = several && total;
  const row = (name, explains, cells) => el("tr", {}, el("th", { scope: "row" }, name), ...cells, el("td", { class: "said hide-narrow" }, explains));
  const cells = (rung) => [cell(rung.factor, percent(rung.factor, 2), String(rung.factor)), cell(rung.delivered, percent(rung.delivered, 2), String(rung.delivered)), el("td", { class: "meters" }, meter(rung.delivered))];
  const peak = { factor: 1, delivered: 1 };
  const headers = both ? ["", ["whole workload", "number"], ["left", "number"], ["", "meters"], [operator.name, "number"], ["left", "number"], ["", "meters"]] : ["", ["factor", "number"], ["left", "number"], ["", "meters"], ["", "hide-narrow"]];
  const rows = [{ loss: "peak" }, ...own].map((rung, i) => {
    const parts = [...(both ? cells(i ? total[i - 1] : peak) : []), ...cells(i ? rung : peak)];
    const sentence = i ? lossOf(rung.loss).sentence : "Every PE does a useful MAC in every cycle.";
    const name = rung.loss.replace("_", " and ");
    return both ? el("tr", { title: sentence }, el("th", { scope: "row" }, name), ...parts) : row(name, sentence, parts);
  });
  const foot = el("tr", {}, el("th", { scope: "row" }, "utilization"), ...(both ? [el("td"), cell(RUN.total.utilization, percent(RUN.total.utilization, 2)), el("td", { class: "meters" })] : []),
    el("td"), cell(operator.utilization, percent(operator.utilization, 2)), el("td", { class: "meters" }), both ? null : el("td", { class: "hide-narrow" }));
  section("ladder", ["From peak to delivered", whose(operator)],
    el("p", { class: "note" }, "Each rung leaves a share of the one above; their product is exactly the utilization. ", kind("measured")),
    table({ class: "wide", id: "ladder-table" }, null, headers, rows, [foot]),
    both ? el("details", {}, el("summary", {}, "What each rung means"), el("dl", { class: "pairs" }, own.map((rung) => [el("dt", {}, rung.loss.replace("_", " and ")), el("dd", {}, lossOf(rung.loss).sentence)]))) : null);
}

// -- stalls ----------------------------------------------------------------------------------------------------------

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
  const row = (indent, name, cycles, colour, attributes = {}) => el("tr", attributes, el("th", { scope: "row", class: indent ? `indent${indent}` : null }, ...name), cell(cycles), cell(share(cycles), percent(share(cycles))), el("td", { class: "meters" }, meter(share(cycles), colour)));
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
    el("tr", {}, el("th", { scope: "row" }, "sum of the stalls"), cell(stalled), cell(share(stalled), percent(share(stalled))), el("td")),
    el("tr", {}, el("th", { scope: "row" }, `busy + stalls + idle = ${arrays === 1 ? "" : `${arrays} lanes \u00d7 `}cycles`), cell(busy + stalled + idle), cell(share(busy + stalled + idle), percent(share(busy + stalled + idle))), el("td"))];
  const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);
  const phases = WORDS.phases.map((phase) => el("tr", { title: phase.sentence }, el("th", { scope: "row" }, el("a", { href: `#word-${phase.code}` }, phase.code)), cell(operator.phases[`${phase.code}_cycles`] ?? 0)));
  const filled = Object.entries(operator.fill_drain).filter(([, cycles]) => cycles).map(([name, cycles]) => [name.replace("_cycles", ""), cell(cycles)]);
  const beside = [table({}, ["Stalls by phase ", kind("measured")], ["phase", ["lane-cycles", "number"]], phases, [["sum", cell(sum(operator.phases))]])];
  if (filled.length) beside.push(el("h3", {}), table({}, ["array fill drain by what filled or emptied ", kind("measured")], ["part", ["lane-cycles", "number"]], filled, [["sum", cell(sum(operator.fill_drain))]]));
  if (several) beside.push(workloadStalls());
  section("stalls", ["Where the array's cycles went", whose(operator)],
    el("p", { class: "note" }, "By cause, where it was waited, and behind whose transfer. ", kind("measured")),
    el("div", { class: "two" }, table({ class: "wide", id: "stall-tree" }, null, [arrays === 1 ? "array lane" : `${arrays} array lanes`, ["lane-cycles", "number"], ["share", "number"], ""], rows, foot), el("div", {}, beside)));
}

function workloadStalls() {
  const causes = WORDS.colours.slice(1, -1).map((one) => [one.code, RUN.total.stalls[`${one.code}_cycles`]]).filter(([, cycles]) => cycles).sort((a, b) => b[1] - a[1]);
  return el("div", {}, el("h3", {}), table({ id: "total-stalls" }, ["Whole workload, with repeats ", kind("measured")], ["cause", ["lane-cycles", "number"]],
    causes.map(([code, cycles]) => el("tr", {}, el("th", { scope: "row" }, swatch(code), wordOf(code).name), cell(cycles))),
    [["sum of the stalls", cell(causes.reduce((sum, [, cycles]) => sum + cycles, 0))]]));
}

// -- estimate against measurement ------------------------------------------------------------------------------------

function drawCrosscheck(operator) {
  const check = operator.crosscheck;
  const gap = check.waterfall.reduce((sum, part) => sum + part.cycles, 0);
  const bound = [...operator.estimate.bounds].sort((a, b) => b.cycles - a.cycles)[0];
  const floor = check.measured_cycles - gap;
  let from = floor;
  const scale = 100 / Math.max(1, check.measured_cycles);
  const bar = (start, cycles, colour) => el("td", { class: "meters" }, el("span", { class: "meter", style: { width: `${cycles * scale}%`, marginLeft: `${start * scale}%`, minWidth: cycles ? "1px" : "0", background: colour ?? "" } }));
  const rows = [el("tr", {}, el("th", { scope: "row" }, `bound: ${bound?.name ?? "none"}`, kind("estimated")), cell(floor), bar(0, floor))];
  for (const part of check.waterfall) {
    const word = wordOf(part.name);
    rows.push(el("tr", {}, el("th", { scope: "row" }, "+ ", word ? swatch(part.name) : "", word?.name ?? part.name, kind("measured")), cell(part.cycles), bar(from, part.cycles, word?.colour)));
    from += part.cycles;
  }
  const foot = el("tr", {}, el("th", { scope: "row" }, "= measured"), cell(check.measured_cycles), bar(0, check.measured_cycles));
  const bounds = [...operator.estimate.bounds].sort((a, b) => b.cycles - a.cycles).map((one) => [one.name, one.kind, cell(one.cycles), el("td", { class: "sub" }, one.explains)]);
  const apart = check.traffic_differences;
  section("crosscheck", ["Estimate against measurement", whose(operator)],
    el("p", { class: "note" }, `The closed form says ${grouped(check.estimated_cycles)} cycles; measured is ${check.ratio.toFixed(3)} \u00d7 that. Traffic of the two is `,
      check.traffic_equal ? "equal to the byte." : el("b", { class: "warn" }, `different in ${apart.length} numbers.`)),
    table({ class: "wide", id: "waterfall" }, null, ["cycles per array lane", ["cycles", "number"], ""], rows, [foot]),
    apart.length ? table({}, "Traffic that differs", ["level", "tensor", "what", ["estimated", "number"], ["measured", "number"]], apart.map((one) => [one.level, one.tensor, one.what, cell(one.estimated), cell(one.measured)])) : null,
    el("details", {}, el("summary", {}, `All ${bounds.length} lower bounds of the closed form`), table({ class: "wide" }, kind("estimated"), ["bound", "kind", ["cycles", "number"], ""], bounds)));
}
