// What each library is asked to draw of a document: the percentile curves of every table, the panels of one trial, and
// its heat map. Plain data, so that no library is helped.

export function charts(page) {
  const all = [];
  for (const table of page.tables) {
    const lines = table.rows.map((row) => page.cells[row.cell]).filter(Boolean).map((cell) => ({
      name: cell.why.stack,
      points: [...cell.percentiles, ...cell.percentiles_censored].filter(([, us]) => us > 0).map(([q, us]) => [Math.min(1 / Math.max(1 - q, 1e-12), 1e6), us]),
    }));
    all.push({ lines, isLogX: true, isLogY: true });
  }
  const cell = page.cells.filter((it) => it.timeline).sort((a, b) => b.timeline.signals.length - a.timeline.signals.length)[0];
  const { readings, signals } = cell.timeline;
  for (const panel of [...new Set(signals.map((it) => it.panel))]) {
    const lines = signals.filter((it) => it.panel === panel).map(({ name, values }) => ({ name, points: readings.flatMap((x, index) => (values[index] === null ? [] : [[x, values[index]]])) }));
    all.push({ lines, isLogX: false, isLogY: false });
  }
  return { all, heat: cell.heat };
}

/** Draws when asked, and leaves what it took where the runner finds it. */
export function measured(draw) {
  const page = JSON.parse(document.getElementById("proofload-page").textContent);
  const root = document.getElementById("report");
  const places = () => {
    const place = document.createElement("div");
    place.style.cssText = "width:1100px;height:300px";
    root.append(place);
    return place;
  };
  const begun = performance.now();
  draw(charts(page), places);
  const drawn = performance.now();
  requestAnimationFrame(() => setTimeout(() => (window.took = { draw_ms: drawn - begun, open_ms: performance.now() }), 0));
}
