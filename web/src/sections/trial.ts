/** One trial over time, of a stack and load that is chosen. */

import { chart } from "../charts/frame.ts";
import { hasWarmUp, timelineCharts } from "../charts/timeline.ts";
import { tableName, untabled, type View } from "../context.ts";
import { h } from "../dom.ts";
import { bounded, count, percent, perS, shell } from "../format.ts";
import type { Cell, Stage, WarmUp } from "../model.ts";
import { isKey, parts, said, t } from "../strings.ts";

export function trialSection(view: View): HTMLElement {
  const { cells } = view.page;
  const box = h("div", { id: "trial-box" });
  const isEmpty = cells.length === 0;
  const select = isEmpty ? null : cellChoice(view, box);
  if (!isEmpty) fill(view, box);
  view.choose = (cell) => {
    view.cell = cell;
    if (select) select.value = String(cell);
    fill(view, box);
  };
  return h(
    "section",
    { id: "trial", "aria-labelledby": "trial-heading" },
    h("h2", { id: "trial-heading" }, t("s_trial")),
    isEmpty ? h("p", { class: "nothing" }, t("no_trials")) : null,
    select ? h("p", { class: "choice" }, h("label", { for: "choose-cell" }, t("choose_cell")), select) : null,
    box,
  );
}

/** Which cell is shown at first: the best of the first table that has anything over time. */
export function firstCell(page: View["page"]): number {
  const ranked = page.tables.flatMap((table) => table.rows.map((row) => row.cell));
  return ranked.find((cell) => page.cells[cell]?.timeline) ?? ranked.find((cell) => page.cells[cell]?.heat) ?? ranked[0] ?? 0;
}

function cellChoice(view: View, box: HTMLElement): HTMLSelectElement {
  const { page } = view;
  const groups = page.tables.map((table) =>
    h("optgroup", { label: tableName(table) }, table.rows.filter((row) => page.cells[row.cell]).map((row) => option(view, row.cell, row.stack))),
  );
  // Cells of no table can be looked at as well.
  const rest = untabled(page).flatMap((index) => {
    const why = page.cells[index]?.why;
    return why ? [option(view, index, `${why.stack}: ${tableName(why)}`)] : [];
  });
  const select: HTMLSelectElement = h(
    "select",
    {
      id: "choose-cell",
      onchange: () => {
        view.cell = Number(select.value);
        fill(view, box);
      },
    },
    groups,
    rest,
  );
  return select;
}

function option(view: View, cell: number, text: string): HTMLOptionElement {
  return h("option", { value: cell, selected: cell === view.cell }, text);
}

function fill(view: View, box: HTMLElement): void {
  const cell = view.page.cells[view.cell];
  if (!cell) {
    box.replaceChildren();
    return;
  }
  const charts = timelineCharts(cell, view.withWarmUp);
  box.replaceChildren(
    about(cell),
    charts.length === 0 ? h("p", { class: "nothing" }, t("no_timeline")) : h("p", { class: "note" }, t("trial_clock")),
    hasWarmUp(cell) ? warmUpSwitch(view, box) : "",
    h("div", { class: "panels halves" }, charts.map(chart)),
    // Documents made before they were told have none.
    (cell.stages ?? []).length > 0 ? stages(cell.stages) : "",
    cell.warm_up ? warmUp(cell.warm_up) : "",
    cell.command.length > 0 ? h("details", { class: "behind" }, h("summary", null, t("server_command")), h("pre", { tabindex: 0, role: "region", "aria-label": t("server_command") }, shell(cell.command))) : "",
  );
}

function about({ why, trial, url }: Cell): HTMLElement {
  const line = parts("trial_line", { trial: String(trial), n: String(why.trials), url: h("code", null, url) });
  return h("p", { class: "about" }, h("strong", null, h("bdi", null, why.stack)), " ", h("bdi", null, tableName(why)), h("br"), line);
}

function warmUpSwitch(view: View, box: HTMLElement): HTMLElement {
  const input = h("input", {
    type: "checkbox",
    checked: view.withWarmUp,
    onchange: () => {
      view.withWarmUp = input.checked;
      fill(view, box);
    },
  });
  return h("label", { class: "switch" }, input, t("with_warm_up"));
}

function stages(all: Stage[]): HTMLElement {
  const name = ({ part, resumed }: Stage) => {
    if (part === "tls_handshake" && resumed !== null && resumed > 0) return t("stage_tls_handshake_resumed", { n: count(resumed) });
    const key = `stage_${part}`;
    return isKey(key) ? t(key) : part;
  };
  return h(
    "details",
    { class: "behind" },
    h("summary", null, t("stages")),
    h(
      "table",
      { class: "figures" },
      h("caption", { class: "unseen" }, t("stages")),
      h("thead", null, h("tr", null, [t("c_stage"), t("c_had"), t("c_mean"), t("c_p50"), t("c_p99")].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", null, all.map((stage) => h("tr", null, h("th", { scope: "row" }, name(stage)), h("td", null, count(stage.count)), [stage.mean, stage.p50, stage.p99].map((it) => h("td", null, bounded(it)))))),
    ),
  );
}

function warmUp({ bursts, steady, unsteady_why }: WarmUp): HTMLElement {
  const n = bursts.length;
  const verdict = steady ? t("warm_up_steady", { n }) : parts("warm_up_unsteady", { n: String(n), why: said(unsteady_why ?? "no reason was recorded") });
  return h(
    "details",
    { class: "behind" },
    h("summary", null, t("warm_up"), ": ", verdict),
    h(
      "table",
      { class: "figures" },
      h("caption", { class: "unseen" }, t("warm_up")),
      h("thead", null, h("tr", null, [t("c_burst"), t("c_goodput"), t("c_jit")].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", null, bursts.map((burst, index) => h("tr", null, h("th", { scope: "row" }, index + 1), h("td", null, perS(burst.goodput_per_s)), h("td", null, percent(burst.jit_share))))),
    ),
  );
}
