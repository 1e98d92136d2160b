// The operators: a table that sorts and filters, in which one is chosen.

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
  {
    key: "ratio",
    head: "measured / estimated",
    value: (one) => one.crosscheck.ratio,
    text: (ratio) => ratio.toFixed(3),
    number: true,
    narrow: true,
  },
  { key: "bound_by", head: "bound by", value: (one) => one.bound_by },
];

function operatorRow(one, index, chosen, choose) {
  const pick = el(
    "button",
    {
      type: "button",
      class: "plain",
      "aria-pressed": String(index === chosen),
      tabindex: index === chosen ? 0 : -1,
      "data-operator": index,
    },
    one.name,
  );
  const attributes = {
    "data-operator": index,
    class: index === chosen ? "chosen" : null,
    onclick: () => choose(index),
  };
  if (!done(one)) {
    return el(
      "tr",
      { ...attributes, onclick: null },
      el("th", { scope: "row" }, one.name),
      el("td", { class: "hide-narrow" }, one.operator),
      cell(one.repeat),
      el("td", { class: "warn", colspan: COLUMNS.length - 3 }, `did not run: ${one.error.split("\n")[0]}`),
    );
  }
  return el(
    "tr",
    attributes,
    ...COLUMNS.map((column, i) => {
      if (i === 0) return el("th", { scope: "row" }, pick);
      const value = column.value(one);
      const made = column.number ? cell(value, (column.text ?? grouped)(value)) : el("td", {}, value);
      if (column.narrow) made.classList.add("hide-narrow");
      return made;
    }),
  );
}

function drawOperators(chosen, choose) {
  if (!several) {
    document.getElementById("operators").hidden = true;
    return;
  }
  const shown = RUN.operators
    .map((one, index) => [one, index])
    .filter(([one]) => `${one.name} ${one.operator} ${one.bound_by ?? one.error}`.toLowerCase().includes(filtered));
  const column = COLUMNS.find((one) => one.key === ORDER.key);
  if (column) {
    const compare = (a, b) => (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0);
    shown.sort(
      ([a, i], [b, j]) =>
        done(b) - done(a) || (done(a) ? (ORDER.down ? -1 : 1) * compare(column.value(a), column.value(b)) : 0) || i - j,
    );
  }
  const sort = (key, number) => {
    [ORDER.key, ORDER.down] = [key, ORDER.key === key ? !ORDER.down : Boolean(number)];
    drawOperators(chosen, choose);
    document.querySelector(`#operators button.sort[data-key="${key}"]`).focus();
  };
  const heads = COLUMNS.map((one) =>
    el(
      "th",
      {
        scope: "col",
        class: `${one.number ? "number" : ""}${one.narrow ? " hide-narrow" : ""}`,
        "aria-sort": ORDER.key === one.key ? (ORDER.down ? "descending" : "ascending") : null,
      },
      el(
        "button",
        { type: "button", class: "sort", "data-key": one.key, onclick: () => sort(one.key, one.number) },
        one.head,
      ),
    ),
  );
  const body = el(
    "tbody",
    { onkeydown: moveInRows },
    ...shown.map(([one, index]) => operatorRow(one, index, chosen, choose)),
  );
  if (shown.length && !body.querySelector('button[tabindex="0"]'))
    body.querySelector("button")?.setAttribute("tabindex", "0");
  const total = el(
    "tr",
    {},
    el("th", { scope: "row" }, "total, with repeats"),
    el("td", { class: "hide-narrow" }),
    el("td"),
    cell(RUN.total.cycles),
    Object.assign(cell(RUN.total.time_s, humanTime(RUN.total.time_s)), { className: "number hide-narrow" }),
    cell(RUN.total.utilization, percent(RUN.total.utilization)),
    el("td", { class: "hide-narrow" }),
    cell(RUN.total.estimated_cycles),
    Object.assign(
      cell(
        RUN.total.cycles / Math.max(1, RUN.total.estimated_cycles),
        (RUN.total.cycles / Math.max(1, RUN.total.estimated_cycles)).toFixed(3),
      ),
      { className: "number hide-narrow" },
    ),
    el("td"),
  );
  const frame = document.querySelector("#operators .tall");
  const made = el(
    "table",
    { class: "wide", id: "operator-table" },
    el("thead", {}, el("tr", {}, ...heads)),
    body,
    el("tfoot", {}, total),
  );
  const count = filtered ? `${shown.length} of ${RUN.operators.length} shown` : "";
  if (frame) {
    frame.replaceChildren(made);
    document.getElementById("filter-count").textContent = count;
    return;
  }
  section(
    "operators",
    "Operators",
    el(
      "p",
      { class: "note" },
      "Of one run of each; choose one to see it in every part of this page. Cycles, time, utilization, busy, bound by: ",
      kind("measured"),
      "; estimated cycles: ",
      kind("estimated"),
      ".",
    ),
    el(
      "div",
      { class: "tools" },
      el("input", {
        type: "search",
        id: "filter",
        placeholder: "Filter operators",
        "aria-label": "Filter operators by name, kind or what binds",
        oninput: (event) => {
          filtered = event.target.value.trim().toLowerCase();
          drawOperators(CHOSEN.operator, choose);
        },
      }),
      el("span", { id: "filter-count", class: "sub", "aria-live": "polite" }, count),
    ),
    el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-labelledby": "operators-title" }, made),
  );
}

function moveInRows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))].focus();
}
