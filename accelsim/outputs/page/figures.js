// The headline, and the ladder from peak to delivered.

function largest(parts) {
  return Object.entries(parts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0] ?? ["nothing", 0];
}

// What binds in most cycles of the workload: its operators' answers, weighted by their cycles.
function boundBy() {
  const cycles = Object.create(null);
  const operators = RUN.operators.filter(done);
  for (const one of operators) cycles[one.bound_by] = (cycles[one.bound_by] ?? 0) + one.cycles * one.repeat;
  const [name, most] = largest(cycles);
  if (operators.length < 2)
    return [name, Object.hasOwn(operators[0]?.lanes ?? {}, name) ? "the busiest lane" : "the largest stall cause"];
  const count = operators.filter((one) => one.bound_by === name).length;
  return [
    name,
    `in ${count} of ${operators.length} operators, ${percent(most / Math.max(1, RUN.total.cycles))} of the cycles`,
  ];
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
  return el(
    "ul",
    { class: "advice" },
    items.map(({ text, cycles, worst }) =>
      el(
        "li",
        {},
        el("b", { "data-value": cycles }, `${grouped(cycles)} cycles`),
        el("span", {}, text, worst && several ? el("span", { class: "sub" }, ` (most in ${worst})`) : ""),
      ),
    ),
  );
}

function figure(name, value, text, type, more = null, words = false) {
  return el(
    "div",
    {},
    el("dt", {}, name.replace("estimated ", ""), type ? kind(type) : ""),
    el(
      "dd",
      { class: words ? "words" : null, "data-figure": name, "data-value": value },
      text,
      more ? el("small", {}, more) : "",
    ),
  );
}

function drawHeadline() {
  const total = RUN.total;
  const [bound, why] = boundBy();
  const failed = RUN.operators.filter((one) => !done(one));
  document.getElementById("bar-name").textContent = `${RUN.workload} on ${RUN.chip}`;
  document.getElementById("headline").replaceChildren(
    el("h1", { id: "title" }, `${RUN.workload} on ${RUN.chip}`),
    el(
      "p",
      { class: "note" },
      el("i", {}, "measured"),
      " is simulated event by event; ",
      el("i", {}, "estimated"),
      " is the closed form; no hardware was measured. Both come from the same chip, workload and mapping.",
    ),
    el(
      "dl",
      { class: "figures" },
      figure(
        "cycles",
        total.cycles,
        grouped(total.cycles),
        "measured",
        `at ${scaled(RUN.clock_hz, 1000, ["Hz", "kHz", "MHz", "GHz"])}`,
      ),
      figure("time", total.time_s, humanTime(total.time_s), "measured", "cycles / clock"),
      figure(
        "utilization",
        total.utilization,
        percent(total.utilization),
        "measured",
        `of peak, over ${grouped(total.macs)} MACs`,
      ),
      figure(
        "estimated cycles",
        total.estimated_cycles,
        grouped(total.estimated_cycles),
        "estimated",
        `measured is ${(total.cycles / Math.max(1, total.estimated_cycles)).toFixed(3)} \u00d7 that`,
      ),
      figure("bound by", bound, bound, "measured", why, true),
      figure(
        "operators",
        total.operators_run,
        `${total.operators_run} run, ${total.operators_failed} failed`,
        "",
        several ? "one after another, each from a cold start" : "from a cold start",
        true,
      ),
    ),
    el("h3", {}, "What to change ", kind("measured: cycles of an array lane at stake, with repeats")),
    adviceList(workloadAdvice()),
    failed.length
      ? el(
          "div",
          {},
          el("h3", { class: "warn" }, "Operators that did not run"),
          el(
            "ul",
            {},
            failed.map((one) => el("li", {}, el("b", {}, one.name), `: ${one.error}`)),
          ),
        )
      : "",
  );
}

// Of a workload's operators the one that is shown, in short.
function drawChosen(operator) {
  if (!several) {
    document.getElementById("chosen").hidden = true;
    return;
  }
  const { ratio, estimated_cycles: estimated } = operator.crosscheck;
  const times = operator.repeat === 1 ? "once" : `${operator.repeat} times`;
  section(
    "chosen",
    ["Operator", whose(operator)],
    el(
      "p",
      { class: "note" },
      `${operator.operator}, ${times} in the workload. What to change: `,
      kind("measured"),
      " cycles at stake.",
    ),
    el(
      "dl",
      { class: "figures" },
      figure("cycles", operator.cycles, grouped(operator.cycles), "measured", "of one run"),
      figure("time", operator.time_s, humanTime(operator.time_s), "measured"),
      figure(
        "utilization",
        operator.utilization,
        percent(operator.utilization),
        "measured",
        `${grouped(operator.macs)} MACs`,
      ),
      figure("array busy", operator.busy, percent(operator.busy), "measured", "share of the cycles"),
      figure(
        "estimated cycles",
        estimated,
        grouped(estimated),
        "estimated",
        `measured is ${ratio.toFixed(3)} \u00d7 that`,
      ),
      figure("bound by", operator.bound_by, operator.bound_by, "measured", null, true),
    ),
    adviceList(operator.advice),
  );
}

// -- ladder ----------------------------------------------------------------------------------------------------------

const lossOf = (code) => WORDS.losses.find((one) => one.code === code);

function drawLadder(operator) {
  const own = operator.ladder;
  const total = RUN.total.ladder;
  const both = several && total;
  const row = (name, explains, cells) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...cells, el("td", { class: "said hide-narrow" }, explains));
  const cells = (rung) => [
    cell(rung.factor, percent(rung.factor, 2), String(rung.factor)),
    cell(rung.delivered, percent(rung.delivered, 2), String(rung.delivered)),
    el("td", { class: "meters" }, meter(rung.delivered)),
  ];
  const peak = { factor: 1, delivered: 1 };
  const headers = both
    ? [
        "",
        ["workload", "number"],
        ["left", "number"],
        ["", "meters"],
        [operator.name, "number"],
        ["left", "number"],
        ["", "meters"],
      ]
    : ["", ["factor", "number"], ["left", "number"], ["", "meters"], ["", "hide-narrow"]];
  const rows = [{ loss: "peak" }, ...own].map((rung, i) => {
    const parts = [...(both ? cells(i ? total[i - 1] : peak) : []), ...cells(i ? rung : peak)];
    const sentence = i ? lossOf(rung.loss).sentence : "Every PE does a useful MAC in every cycle.";
    const name = rung.loss.replace("_", " and ");
    return both
      ? el("tr", { title: sentence }, el("th", { scope: "row" }, name), ...parts)
      : row(name, sentence, parts);
  });
  const foot = el(
    "tr",
    {},
    el("th", { scope: "row" }, "utilization"),
    ...(both
      ? [el("td"), cell(RUN.total.utilization, percent(RUN.total.utilization, 2)), el("td", { class: "meters" })]
      : []),
    el("td"),
    cell(operator.utilization, percent(operator.utilization, 2)),
    el("td", { class: "meters" }),
    both ? null : el("td", { class: "hide-narrow" }),
  );
  section(
    "ladder",
    ["From peak to delivered", whose(operator)],
    el(
      "p",
      { class: "note" },
      "Each rung leaves a share of the one above; their product is exactly the utilization. ",
      kind("measured"),
    ),
    table({ class: "wide", id: "ladder-table" }, null, headers, rows, [foot]),
    both
      ? el(
          "details",
          {},
          el("summary", {}, "What each rung means"),
          el(
            "dl",
            { class: "pairs" },
            own.map((rung) => [
              el("dt", {}, rung.loss.replace("_", " and ")),
              el("dd", {}, lossOf(rung.loss).sentence),
            ]),
          ),
        )
      : null,
  );
}
