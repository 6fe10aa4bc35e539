import uPlot from "uplot";

import { measured } from "./charts.js";

measured(({ all, heat }, place) => {
  const size = { width: 1100, height: 300, cursor: { sync: { key: "one" } } };
  for (const { lines, isLogX, isLogY } of all) {
    const data = uPlot.join(lines.map(({ points }) => [points.map((it) => it[0]), points.map((it) => it[1])]));
    const scales = { x: { time: false, distr: isLogX ? 3 : 1 }, y: { distr: isLogY ? 3 : 1 } };
    new uPlot({ ...size, scales, series: [{}, ...lines.map(({ name }, index) => ({ label: name, stroke: `hsl(${index * 47} 60% 40%)`, spanGaps: true }))] }, data, place());
  }
  const tiles = (chart) => {
    for (const [column, row, n] of heat.counts) {
      const [left, right] = [chart.valToPos(column, "x", true), chart.valToPos(column + 1, "x", true)];
      const [bottom, top] = [chart.valToPos(heat.edges_us[row], "y", true), chart.valToPos(heat.edges_us[row + 1], "y", true)];
      chart.ctx.globalAlpha = Math.min(1, Math.log1p(n) / 10);
      chart.ctx.fillRect(left, top, right - left, bottom - top);
    }
    chart.ctx.globalAlpha = 1;
  };
  const range = [heat.edges_us[0], heat.edges_us.at(-1)];
  new uPlot({ ...size, scales: { x: { time: false, range: [0, heat.columns] }, y: { distr: 3, range } }, series: [{}, { paths: () => null }], hooks: { draw: [tiles] } }, [[0, heat.columns], range], place());
});
