// The hierarchical roofline, log on log: a slanted roof for each port and link, a level one for each type's peak, and the
// mapping's point under each roof. All points are as high as what was attained; how far right says how well bytes are used.

const INKS = ["#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#EE7733", "#888888"];

function powersOfTen(from, to) {
  const powers = [];
  for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power += 1)
    powers.push(10 ** power);
  return powers;
}
const powerText = (power) => (power >= 1 ? grouped(power) : String(power));

function rooflineChart(data, width) {
  const attained = `${grouped(data.macs_per_cycle)} of ${grouped(data.peak_macs_per_cycle)}`;
  const height = Math.max(260, Math.min(430, width * 0.52));
  const [left, right, top, bottom] = [76, width - 14, 12, height - 44];
  const points = data.roofs.map((roof, i) => ({ ...roof, i, ink: INKS[i % INKS.length] }));
  const slanted = points.filter((roof) => roof.bytes_per_cycle !== null);
  const highest = Math.max(data.peak_macs_per_cycle, ...Object.values(data.peaks));
  const xs = [
    ...points.map((roof) => roof.macs_per_byte),
    ...slanted.map((roof) => data.peak_macs_per_cycle / roof.bytes_per_cycle),
  ];
  const [x0, x1] = [Math.min(...xs) / 4, Math.max(...xs) * 4];
  const floor = Math.min(data.macs_per_cycle, ...slanted.map((roof) => roof.macs_per_cycle));
  const [y0, y1] = [floor / 8, highest * 2.5];
  const x = (value) => left + ((Math.log(value) - Math.log(x0)) / (Math.log(x1) - Math.log(x0))) * (right - left);
  const y = (value) => bottom - ((Math.log(value) - Math.log(y0)) / (Math.log(y1) - Math.log(y0))) * (bottom - top);
  const line = (a, b, c, d, more) => svg("line", { x1: x(a), y1: y(b), x2: x(c), y2: y(d), ...more });
  const text = (px, py, words, more = {}) => svg("text", { x: px, y: py, ...more }, words);
  const parts = [];
  for (const at of powersOfTen(x0, x1))
    parts.push(
      line(at, y0, at, y1, { class: "grid" }),
      text(x(at), bottom + 16, powerText(at), { "text-anchor": "middle", class: "faint" }),
    );
  for (const at of powersOfTen(y0, y1))
    parts.push(
      line(x0, at, x1, at, { class: "grid" }),
      text(left - 8, y(at) + 4, powerText(at), { "text-anchor": "end", class: "faint" }),
    );
  parts.push(svg("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" }));
  parts.push(text((left + right) / 2, height - 8, "MACs per byte moved", { "text-anchor": "middle" }));
  parts.push(
    svg(
      "text",
      { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
      "MACs per cycle",
    ),
  );

  const names = new Map();
  for (const [name, peak] of Object.entries(data.peaks)) names.set(peak, [...(names.get(peak) ?? []), name]);
  if (!names.has(data.peak_macs_per_cycle)) names.set(data.peak_macs_per_cycle, ["this operator"]);
  for (const [peak, types] of names) {
    const own = peak === data.peak_macs_per_cycle;
    const ridge = own && slanted.length ? Math.min(...slanted.map((roof) => peak / roof.bytes_per_cycle)) : x0;
    parts.push(
      line(Math.max(x0, ridge), peak, x1, peak, {
        stroke: "currentColor",
        "stroke-width": own ? 2 : 1,
        "stroke-dasharray": own ? null : "5 4",
      }),
      text(right - 4, y(peak) - 5, `${types[0] === "any" ? "" : `${types.join(", ")} `}peak ${grouped(peak)}`, {
        "text-anchor": "end",
        class: "halo",
      }),
    );
  }
  for (const roof of slanted) {
    const ridge = Math.min(x1, data.peak_macs_per_cycle / roof.bytes_per_cycle);
    const from = Math.max(x0, y0 / roof.bytes_per_cycle);
    parts.push(
      line(from, from * roof.bytes_per_cycle, ridge, ridge * roof.bytes_per_cycle, {
        stroke: roof.ink,
        "stroke-width": 1.75,
      }),
    );
    const allowed = Math.min(roof.macs_per_cycle, data.peak_macs_per_cycle);
    parts.push(
      line(roof.macs_per_byte, data.macs_per_cycle, roof.macs_per_byte, allowed, {
        stroke: roof.ink,
        "stroke-width": 1,
        "stroke-dasharray": "2 3",
      }),
      svg("circle", {
        cx: x(roof.macs_per_byte),
        cy: y(allowed),
        r: 3,
        fill: "none",
        stroke: roof.ink,
        "stroke-width": 1.5,
      }),
    );
  }
  parts.push(
    line(x0, data.macs_per_cycle, x1, data.macs_per_cycle, { class: "grid", "stroke-dasharray": "1 3" }),
    text(right - 4, y(data.macs_per_cycle) - 6, `attained ${short(data.macs_per_cycle)}`, {
      "text-anchor": "end",
      class: "halo",
    }),
  );
  const placed = [];
  for (const roof of [...points].sort((a, b) => a.macs_per_byte - b.macs_per_byte)) {
    const at = x(roof.macs_per_byte);
    let row = 0;
    while (placed.some((one) => one.row === row && Math.abs(one.at - at) < 16)) row += 1;
    placed.push({ at, row });
    parts.push(
      svg("circle", { cx: at, cy: y(data.macs_per_cycle), r: 4.5, fill: roof.ink }, svg("title", {}, roof.name)),
      text(at, y(data.macs_per_cycle) + 19 + 14 * row, String(roof.i + 1), {
        "text-anchor": "middle",
        class: "halo",
        "font-weight": 600,
      }),
    );
  }
  return svg(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Roofline: ${attained} MACs per cycle attained; the table below has every roof`,
    },
    ...parts,
  );
}

function drawRoofline(operator) {
  const data = operator.roofline;
  const own = (value, text) => (value === null ? el("td", { class: "number none" }, "unlimited") : cell(value, text));
  const rows = data.roofs.map((roof, i) =>
    el(
      "tr",
      { class: roof.name === data.lowest ? "chosen" : null },
      el(
        "th",
        { scope: "row" },
        el("span", { class: "swatch", style: { background: INKS[i % INKS.length] } }),
        `${i + 1}  ${roof.name}`,
      ),
      el("td", { class: "hide-narrow" }, roof.level),
      own(roof.bytes_per_cycle, roof.bytes_per_cycle === null ? "" : short(roof.bytes_per_cycle)),
      bytesCell(roof.moved_bytes),
      cell(roof.macs_per_byte, short(roof.macs_per_byte), String(roof.macs_per_byte)),
      own(roof.macs_per_cycle, roof.macs_per_cycle === null ? "" : short(roof.macs_per_cycle)),
    ),
  );
  const place = document.getElementById("roofline");
  const width = Math.max(320, Math.min(1120, place.clientWidth || 900));
  section(
    "roofline",
    ["Roofline", whose(operator)],
    el(
      "p",
      { class: "note" },
      `${short(data.macs_per_cycle)} of ${grouped(data.peak_macs_per_cycle)} MACs per cycle attained. Bytes and cycles:`,
      kind("measured"),
      "; roofs are the rates of the chip. ",
      data.lowest
        ? `Lowest roof below the peak: ${data.lowest}.`
        : "Every roof allows the peak at this mapping's intensity.",
      " Filled points: what was attained at each roof's intensity; hollow: what that roof allows there.",
    ),
    data.roofs.length ? el("div", { id: "roofline-chart" }, rooflineChart(data, width)) : null,
    table(
      { class: "wide", id: "roofline-table" },
      null,
      [
        "roof",
        ...["level"],
        ["B per cycle", "number"],
        ["moved", "number"],
        ["MACs per byte", "number"],
        ["MACs per cycle allowed", "number"],
      ],
      rows,
    ),
  );
  document.querySelectorAll("#roofline thead th")[1].classList.add("hide-narrow");
}

function resizeRoofline(operator) {
  const place = document.getElementById("roofline-chart");
  if (place) place.replaceChildren(rooflineChart(operator.roofline, Math.max(320, Math.min(1120, place.clientWidth))));
}
