import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { connect, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

import { measured } from "./charts.js";

use([CustomChart, LineChart, GridComponent, LegendComponent, TooltipComponent, SVGRenderer]);

measured(({ all, heat }, place) => {
  const started = (option) => {
    const chart = init(place(), null, { renderer: "svg" });
    chart.group = "one";
    chart.setOption({ animation: false, tooltip: { trigger: "axis" }, legend: { type: "scroll" }, ...option });
  };
  for (const { lines, isLogX, isLogY } of all) {
    started({
      xAxis: { type: isLogX ? "log" : "value" },
      yAxis: { type: isLogY ? "log" : "value" },
      series: lines.map(({ name, points }) => ({ type: "line", name, data: points, showSymbol: false })),
    });
  }
  started({
    xAxis: { type: "value", max: heat.columns },
    yAxis: { type: "log" },
    series: [
      {
        type: "custom",
        data: heat.counts.map(([column, row, n]) => [column, heat.edges_us[row], heat.edges_us[row + 1], Math.log1p(n)]),
        renderItem: (_, api) => {
          const [left, bottom] = api.coord([api.value(0), api.value(1)]);
          const [right, top] = api.coord([api.value(0) + 1, api.value(2)]);
          return { type: "rect", shape: { x: left, y: top, width: right - left, height: bottom - top }, style: { fill: "#0b4f83", opacity: api.value(3) / 10 } };
        },
      },
    ],
  });
  connect("one");
});
