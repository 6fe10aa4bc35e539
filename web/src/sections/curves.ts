/** Curves: rate and times against what was varied, and the percentiles of a table's stacks. */

import { chart } from "../charts/frame.ts";
import { percentileChart } from "../charts/percentiles.ts";
import { isSwept, sweepCharts } from "../charts/sweep.ts";
import { driverName, tableName, type View } from "../context.ts";
import { given, h, type Child } from "../dom.ts";
import { ends, isNumber, perS, percent, plain, time } from "../format.ts";
import type { Capacity, CapacityFigure, PoolFigures, Sweep } from "../model.ts";
import { said, t, type Key } from "../strings.ts";

export function curvesSection(view: View): HTMLElement {
  const { sweeps, tables, capacities } = view.page;
  const swept = sweeps.filter(isSwept);
  const capacity = capacities.filter((it) => it.law || it.pool);
  const percentiles = h("div", { id: "percentile-box" });
  const hasCurves = view.page.cells.some((cell) => cell.percentiles.length + cell.percentiles_censored.length > 0);
  const isEmpty = swept.length === 0 && !hasCurves && capacity.length === 0;
  if (hasCurves) fillPercentiles(view, percentiles);
  return h(
    "section",
    { id: "curves", "aria-labelledby": "curves-heading" },
    h("h2", { id: "curves-heading" }, t("s_curves")),
    isEmpty ? h("p", { class: "nothing" }, t("no_curves")) : null,
    swept.map((sweep, index) => sweepBlock(view, sweep, index)),
    capacity.length > 0 ? capacityTable(capacity) : null,
    hasCurves && tables.length > 1 ? tableChoice(view, percentiles) : null,
    hasCurves ? percentiles : null,
  );
}

function sweepBlock(view: View, sweep: Sweep, index: number): HTMLElement {
  const driver = sweep.driver === "proofload" ? "" : `${t("comma")}${t("by_driver", { driver: driverName(sweep.driver) })}`;
  return h(
    "div",
    { class: "sweep" },
    h("h3", null, h("bdi", null, sweep.round), driver),
    h("div", { class: "halves" }, sweepCharts(view, sweep, `sweep-${index}`).map(chart)),
    knees(sweep),
  );
}

function knees({ series }: Sweep): Child {
  const known = series.filter((it) => it.knee && isNumber(it.knee.value));
  if (known.length === 0) return null;
  const items = known.map(({ stack, knee }) => {
    const interval = ends(knee, plain);
    return h("li", null, given(stack), ` ${plain(knee?.value)}${interval ? ` (${interval})` : ""}`);
  });
  return h("div", { class: "under" }, h("p", null, `${t("knees")} (${t("x_connections")}):`), h("ul", { class: "inline" }, items));
}

/** Chooses the table whose percentiles are drawn. */
function tableChoice(view: View, box: HTMLElement): HTMLElement {
  const options = view.page.tables.map((table, index) => h("option", { value: index, selected: index === view.table }, tableName(table)));
  const select = h(
    "select",
    {
      id: "choose-table",
      onchange: () => {
        view.table = Number(select.value);
        fillPercentiles(view, box);
      },
    },
    options,
  );
  return h("p", { class: "choice" }, h("label", { for: "choose-table" }, t("choose_table")), select);
}

function fillPercentiles(view: View, box: HTMLElement): void {
  const spec = percentileChart(view);
  box.replaceChildren(spec ? chart(spec) : h("p", { class: "nothing" }, t("no_rows")));
}

function capacityTable(all: Capacity[]): HTMLElement {
  const heads: Key[] = ["c_round", "c_stack", "c_explained", "c_model", "c_peak", "c_bends", "c_doubts"];
  const rows = all.map((it) => {
    const isPool = it.explained_by === "pool" || !it.law;
    const pool = isPool && it.pool ? poolFigures(it.pool) : undefined;
    const doubts = (isPool ? it.pool?.doubts : it.law?.doubts) ?? [];
    return h(
      "tr",
      null,
      h("td", null, given(it.round)),
      h("th", { scope: "row" }, given(it.stack)),
      h("td", null, t(`model_${it.explained_by}`)),
      h("td", { class: "number" }, isPool ? poolWords(pool) : lawWords(it)),
      h("td", { class: "number" }, isPool ? (pool?.rate ?? "–") : figure(it.law?.peak_per_s, perS)),
      h("td", { class: "number" }, isPool ? (pool?.size ?? "–") : it.law?.bends_at_users ? figure(it.law.bends_at_users, plain) : t("never_bends")),
      h("td", null, [...doubts.map((doubt) => doubt.text), ...it.notes].map((text) => h("span", { class: "line" }, said(text)))),
    );
  });
  return h(
    "div",
    { class: "capacity" },
    h("h3", { id: "capacity-heading" }, t("capacity")),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "capacity-heading" },
      h(
        "table",
        { class: "plain" },
        h("caption", null, t("capacity_note")),
        h("thead", null, h("tr", null, heads.map((key) => h("th", { scope: "col" }, t(key))))),
        h("tbody", null, rows),
      ),
    ),
  );
}

function figure(it: CapacityFigure | null | undefined, show: (value: number) => string): string {
  if (!it) return "–";
  const bound = (value: number | null) => (isNumber(value) ? show(value) : "∞");
  // From 0 to anything is no interval.
  const interval = (isNumber(it.low) && it.low > 0) || isNumber(it.high) ? ` (${bound(it.low)} … ${bound(it.high)})` : "";
  return `${bound(it.value)}${interval}`;
}

function lawWords({ law }: Capacity): string {
  if (!law) return "–";
  return t("law_words", { lambda: perS(law.lambda_per_s.value), sigma: percent(law.sigma.value, 2), kappa: plain(law.kappa.value) });
}

/** What is known of a pool: where it was not seen to fill up, bounds. */
export function poolFigures({ knee, size, service_time_s, rate_per_s }: PoolFigures): { size: string; time: string; rate: string } {
  const seconds = (value: number) => time(value * 1e6);
  const each = seconds(service_time_s.value ?? Number.NaN);
  const bound = (sign: string, end: number | null, it: CapacityFigure, show: (value: number) => string) => {
    const value = isNumber(end) ? end : it.value;
    return isNumber(value) ? `${sign} ${show(value)}` : "–";
  };
  switch (knee) {
    case "seen":
      return { size: figure(size, plain), time: each, rate: figure(rate_per_s, perS) };
    case "not_reached":
      return { size: bound("≥", size.low, size, plain), time: each, rate: bound("≥", rate_per_s.low, rate_per_s, perS) };
    case "before_first":
      return { size: bound("≤", size.high, size, plain), time: bound("≤", service_time_s.high, service_time_s, seconds), rate: figure(rate_per_s, perS) };
  }
}

function poolWords(pool: ReturnType<typeof poolFigures> | undefined): string {
  return pool ? t("pool_words", { size: pool.size, time: pool.time }) : "–";
}
