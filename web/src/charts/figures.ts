/** The table behind a chart. */

import { given, h } from "../dom.ts";
import { count } from "../format.ts";
import { t } from "../strings.ts";

export interface FigureTable {
  caption: string;
  /** Names of the columns; the first is that of the rows' heads. */
  heads: { text: string; isGiven?: boolean }[];
  rows: string[][];
}

/** Rows that such a table shows; beyond, a chart is the better form and the record has them all, which the caption says. */
const ROWS_MAX = 400;

/** Each of how many rows is shown: all of few. */
export function rowStep(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROWS_MAX));
}

export function figureTable({ caption, heads, rows }: FigureTable): HTMLTableElement {
  const step = rowStep(rows.length);
  const kept = rows.filter((_, index) => index % step === 0);
  return h(
    "table",
    { class: "figures" },
    step > 1 ? h("caption", null, t("every_nth", { n: step, all: count(rows.length) })) : h("caption", { class: "unseen" }, caption),
    h("thead", null, h("tr", null, heads.map((it) => h("th", { scope: "col" }, it.isGiven ? given(it.text) : it.text)))),
    h(
      "tbody",
      null,
      kept.map((row) => h("tr", null, row.map((text, index) => (index === 0 ? h("th", { scope: "row" }, text) : h("td", null, text))))),
    ),
  );
}
