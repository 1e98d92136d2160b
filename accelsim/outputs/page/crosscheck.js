// Estimate against measurement: from the largest bound, by stall cause, to the measured cycles.

function drawCrosscheck(operator) {
  const check = operator.crosscheck;
  const gap = check.waterfall.reduce((sum, part) => sum + part.cycles, 0);
  const bound = [...operator.estimate.bounds].sort((a, b) => b.cycles - a.cycles)[0];
  const floor = check.measured_cycles - gap;
  let from = floor;
  const scale = 100 / Math.max(1, check.measured_cycles);
  const bar = (start, cycles, colour) =>
    el(
      "td",
      { class: "meters" },
      el("span", {
        class: "meter",
        style: {
          width: `${cycles * scale}%`,
          marginLeft: `${start * scale}%`,
          minWidth: cycles ? "1px" : "0",
          background: colour ?? "",
        },
      }),
    );
  const rows = [
    el(
      "tr",
      {},
      el("th", { scope: "row" }, `bound: ${bound?.name ?? "none"}`, kind("estimated")),
      cell(floor),
      bar(0, floor),
    ),
  ];
  for (const part of check.waterfall) {
    const word = wordOf(part.name);
    rows.push(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "+ ", word ? swatch(part.name) : "", word?.name ?? part.name, kind("measured")),
        cell(part.cycles),
        bar(from, part.cycles, word?.colour),
      ),
    );
    from += part.cycles;
  }
  const foot = el(
    "tr",
    {},
    el("th", { scope: "row" }, "= measured"),
    cell(check.measured_cycles),
    bar(0, check.measured_cycles),
  );
  const bounds = [...operator.estimate.bounds]
    .sort((a, b) => b.cycles - a.cycles)
    .map((one) => [one.name, one.kind, cell(one.cycles), el("td", { class: "sub" }, one.explains)]);
  const apart = check.traffic_differences;
  section(
    "crosscheck",
    ["Estimate against measurement", whose(operator)],
    el(
      "p",
      { class: "note" },
      `The closed form says ${grouped(check.estimated_cycles)} cycles; measured is ${check.ratio.toFixed(3)} \u00d7 that. `,
      "Traffic of the two is ",
      check.traffic_equal ? "equal to the byte." : el("b", { class: "warn" }, `different in ${apart.length} numbers.`),
    ),
    table({ class: "wide", id: "waterfall" }, null, ["cycles per array lane", ["cycles", "number"], ""], rows, [foot]),
    apart.length
      ? table(
          {},
          "Traffic that differs",
          ["level", "tensor", "what", ["estimated", "number"], ["measured", "number"]],
          apart.map((one) => [one.level, one.tensor, one.what, cell(one.estimated), cell(one.measured)]),
        )
      : null,
    el(
      "details",
      {},
      el("summary", {}, `All ${bounds.length} lower bounds of the closed form`),
      table({ class: "wide" }, kind("estimated"), ["bound", "kind", ["cycles", "number"], ""], bounds),
    ),
  );
}
