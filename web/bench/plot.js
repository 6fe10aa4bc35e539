import { line, plot, rect } from "@observablehq/plot";

import { measured } from "./charts.js";

measured(({ all, heat }, place) => {
  for (const { lines, isLogX, isLogY } of all) {
    const marks = lines.map(({ points }, index) => line(points, { x: "0", y: "1", stroke: `hsl(${index * 47} 60% 40%)` }));
    place().append(plot({ width: 1100, height: 300, marginLeft: 60, x: { type: isLogX ? "log" : "linear" }, y: { type: isLogY ? "log" : "linear", grid: true }, marks }));
  }
  const tiles = heat.counts.map(([column, row, n]) => ({ x1: column, x2: column + 1, y1: heat.edges_us[row], y2: heat.edges_us[row + 1], n: Math.log1p(n) }));
  place().append(plot({ width: 1100, height: 300, marginLeft: 60, y: { type: "log" }, marks: [rect(tiles, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fillOpacity: "n" })] }));
});
