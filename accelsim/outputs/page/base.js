// What all parts of the page use: the data, elements, and numbers for a reader.
// Elements are made with createElement and text nodes alone: no string of a file is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const RUN = read("run-data");
const WORDS = read("words-data");
const TIMELINES = read("timelines-data");

const BUSY = 0;
const IDLE = WORDS.colours.length - 1;
const PHASES = WORDS.phases.length;
const STATES = 1 + (WORDS.colours.length - 2) * PHASES;
const colourOf = (state) => (state === 0 ? BUSY : 1 + Math.floor((state - 1) / PHASES));
const phaseOf = (state) => (state === 0 ? "" : WORDS.phases[(state - 1) % PHASES].code);
const wordOf = (code) => WORDS.colours.find((one) => one.code === code);

const done = (operator) => operator.error === undefined;
const arraysOf = (operator) => Object.values(operator.lanes).filter((lane) => lane.kind === "array").length;
const several = RUN.operators.length > 1;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const kind = (word) => el("span", { class: "kind" }, ` ${word}`);

// -- numbers ---------------------------------------------------------------------------------------------------------

const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(value) ? 0 : 4 });
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

function threeDigits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, step, units) {
  let place = 0;
  while (value >= 999.5 && place < units.length - 1) {
    value /= step;
    place += 1;
  }
  return `${place === 0 && Number.isInteger(value) ? value : threeDigits(value)} ${units[place]}`;
}
const humanBytes = (bytes) => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
const humanTime = (seconds) =>
  seconds === 0 ? "0 s" : scaled(seconds * 1e12, 1000, ["ps", "ns", "\u00b5s", "ms", "s"]);
const short = (value) =>
  value === 0
    ? "0"
    : value >= 100
      ? grouped(Math.round(value))
      : value < 1e-2
        ? value.toExponential(1)
        : String(Number(value.toPrecision(3)));

// A cell whose text is for readers and whose data-value is the number itself.
function cell(value, text = grouped(value), title = null) {
  return el(
    "td",
    { class: value === 0 ? "number none" : "number", "data-value": value, title },
    value === 0 ? "\u2013" : text,
  );
}
const bytesCell = (bytes) => cell(bytes, humanBytes(bytes), `${grouped(bytes)} B`);
const meter = (share, colour = null) =>
  el("span", {
    class: "meter",
    style: { width: `${Math.max(0, Math.min(1, share)) * 100}%`, ...(colour ? { background: colour } : {}) },
  });
const swatch = (code) =>
  el("span", { class: "swatch", style: { background: code === "idle" ? "var(--plate)" : wordOf(code).colour } });

// A table: headers are texts, or [text, "number"]; rows are lists of cells or texts, the first of them the row's header.
function table(attributes, caption, headers, rows, foot = []) {
  const heads = headers.map((head) =>
    Array.isArray(head) ? el("th", { scope: "col", class: head[1] }, head[0]) : el("th", { scope: "col" }, head),
  );
  const line = (row) => {
    if (row instanceof Node) return row;
    const [first, ...rest] = row;
    return el(
      "tr",
      {},
      first instanceof Node ? first : el("th", { scope: "row" }, first),
      ...rest.map((one) => (one instanceof Node ? one : el("td", {}, one))),
    );
  };
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      attributes,
      caption ? el("caption", {}, caption) : null,
      el("thead", {}, el("tr", {}, ...heads)),
      el("tbody", {}, ...rows.map(line)),
      foot.length ? el("tfoot", {}, ...foot.map(line)) : null,
    ),
  );
}

function section(id, title, ...children) {
  const place = document.getElementById(id);
  place.replaceChildren(el("h2", { id: `${id}-title` }, ...[title].flat()), ...children.flat().filter(Boolean));
  return place;
}
const whose = (operator) => el("span", { class: "whose" }, several ? ` \u2013 ${operator.name}` : "");
