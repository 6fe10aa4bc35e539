/** The rankings: every row with its figures, its interval, its limit and what speaks against it. */

import { intervalMark, type Place } from "../charts/interval.ts";
import { extent } from "../charts/axes.ts";
import { tableName, type View } from "../context.ts";
import { given, h, type Child } from "../dom.ts";
import { around, bounded, ends, isNumber, micros, NONE, off, percent, perS, time } from "../format.ts";
import type { Doubt, Interval, Page, Row, Table } from "../model.ts";
import { isKey, names, parts, said, sentence, t, type Key } from "../strings.ts";

/** A ceiling that is higher than so many times the best row is not drawn. */
const CEILING_MAX = 2;

export function rankingSection(view: View): HTMLElement {
  const { tables } = view.page;
  return h(
    "section",
    { id: "ranking", "aria-labelledby": "ranking-heading" },
    h("h2", { id: "ranking-heading" }, t("s_ranking")),
    tables.length === 0 ? h("p", { class: "nothing" }, t("no_tables")) : tables.map((table, index) => tableBlock(view, table, index)),
  );
}

function tableBlock(view: View, table: Table, index: number): HTMLElement {
  const heading = h("h3", { id: `table-${index}` }, h("bdi", null, tableName(table)));
  if (table.rows.length === 0) return h("div", { class: "ranking" }, heading, h("p", { class: "nothing" }, t("no_rows")));
  return h(
    "div",
    { class: "ranking" },
    heading,
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": `table-${index}` },
      rankingTable(view, table),
    ),
    beside(table),
  );
}

/** A column: its head, whether it holds numbers, and what it shows of a row. */
interface Column {
  name: string;
  head: Key;
  isNumber?: boolean;
  cell(row: Row): Child;
}

function rankingTable(view: View, table: Table): HTMLElement {
  const columns = columnsOf(view, table);
  const rows = table.rows.map((row) =>
    h(
      "tr",
      { class: `invalid-${row.invalid}`, role: "row" },
      columns.map(({ name, head, isNumber, cell }) => {
        const attributes = { class: `c-${name}${isNumber ? " number" : ""}`, "data-head": t(head) };
        return name === "stack"
          ? h("th", { ...attributes, scope: "row", role: "rowheader" }, cell(row))
          : h("td", { ...attributes, role: "cell" }, cell(row));
      }),
    ),
  );
  // On a phone the rows are laid out as cards, which would take the roles from their elements.
  return h(
    "table",
    { class: "rows", role: "table" },
    h("caption", null, captionOf(table)),
    h(
      "thead",
      { role: "rowgroup" },
      h("tr", { role: "row" }, columns.map(({ name, head, isNumber }) => h("th", { class: `c-${name}${isNumber ? " number" : ""}`, scope: "col", role: "columnheader" }, t(head)))),
    ),
    h("tbody", { role: "rowgroup" }, rows),
  );
}

function columnsOf(view: View, table: Table): Column[] {
  const place = placer(view.page, table);
  const isP99 = table.ranked_by === "response_p99";
  const sharing = new Map<number, number>();
  for (const { rank_from } of table.rows) sharing.set(rank_from, (sharing.get(rank_from) ?? 0) + 1);
  const isTied = (row: Row) => (sharing.get(row.rank_from) ?? 0) > 1;
  const head: Key = table.tested ? (isP99 ? "c_place_tested_p99" : "c_place_tested") : isP99 ? "c_place_p99" : "c_place_goodput";
  return [
    { name: "rank", head: "c_rank", isNumber: true, cell: (row) => rank(table, row, isTied(row)) },
    { name: "stack", head: "c_stack", cell: (row) => stackCell(table, row) },
    { name: "goodput", head: "c_goodput", isNumber: true, cell: (row) => goodput(row) },
    { name: "place", head, cell: (row) => place(row) },
    { name: "p50", head: "c_p50", isNumber: true, cell: (row) => struck(row, bounded(row.p50), true) },
    { name: "p99", head: "c_p99", isNumber: true, cell: (row) => struck(row, bounded(row.p99), true) },
    { name: "p99_9", head: "c_p99_9", isNumber: true, cell: (row) => struck(row, bounded(row.p99_9), true) },
    { name: "server", head: "c_server", isNumber: true, cell: (row) => micros(row.server_us_per_request) },
    { name: "client", head: "c_client", isNumber: true, cell: (row) => micros(row.client_us_per_request) },
    { name: "errors", head: "c_errors", isNumber: true, cell: (row) => errors(row) },
    { name: "limit", head: "c_limit", cell: (row) => limit(row) },
  ];
}

function rank({ tested }: Table, { rank_from, rank_to }: Row, isTied: boolean): string {
  if (tested) return rank_from === rank_to ? String(rank_from) : `${rank_from}–${rank_to}`;
  return `${rank_from}${isTied ? "=" : ""}`;
}

function stackCell({ tested }: Table, row: Row): Child {
  const { stack, letters, trials, failed, failed_blocks, cell } = row;
  const links = h("span", { class: "links" }, h("a", { href: `#why-${cell}` }, t("to_why"), h("span", { class: "unseen" }, `: ${stack}`)), h("a", { href: `#trial`, "data-cell": cell }, t("to_trial"), h("span", { class: "unseen" }, `: ${stack}`)));
  return [
    given(stack, { class: "stack" }),
    tested && letters !== "" ? h("sup", { class: "letters", title: t("letters_label") }, letters) : null,
    failed_blocks > 0 ? h("span", { class: "failed" }, t("trials_failed", { failed: failed_blocks, all: failed + trials })) : null,
    links,
  ];
}

function goodput(row: Row): Child {
  const range = around(row.goodput_per_s);
  return [struck(row, perS(row.goodput_per_s.value), false), range && row.trials > 1 ? h("span", { class: "range" }, range) : null];
}

/** A figure, struck out where it is not valid. */
function struck(row: Row, text: string, isTime: boolean): Child {
  const isOut = text !== NONE && (row.invalid === "all" || (isTime && row.invalid === "times"));
  return isOut ? h("s", null, text) : text;
}

function errors({ errors }: Row): Child {
  const all = Object.entries(errors);
  if (all.length === 0) return t("no_errors");
  return all.map(([kind, share]) => {
    const key = `e_${kind.replaceAll(" ", "_")}`;
    return h("span", { class: "line" }, isKey(key) ? t(key) : kind.replaceAll("_", " "), " ", percent(share));
  });
}

function limit(row: Row): Child {
  const doubts = row.doubts.length > 0 ? doubtList(row) : null;
  const invalid = row.invalid === "none" ? null : h("span", { class: "badge bad" }, t(`invalid_${row.invalid}`));
  return [h("span", { class: "limit" }, said(row.limit)), invalid && [" ", invalid], doubts];
}

function doubtList({ doubts, trials }: Row): HTMLElement {
  const name = (doubt: Doubt) => [said(doubt.name), doubt.trials < trials ? ` (${t("in_trials", { n: doubt.trials, all: trials })})` : ""];
  return h(
    "details",
    { class: "doubts" },
    h("summary", { "aria-label": `${doubts.map((it) => sentence(it.name)).join(t("comma"))}${t("colon")}${t("doubts_more")}` }, doubts.map((doubt) => h("span", { class: "doubt" }, name(doubt)))),
    h("ul", null, doubts.map((doubt) => h("li", null, h("strong", null, said(doubt.name)), ": ", said(doubt.text)))),
  );
}

/** What draws a row's interval; all rows of a table on one axis. */
function placer(page: Page, table: Table): (row: Row) => Child {
  const isP99 = table.ranked_by === "response_p99";
  const isOpen = (row: Row) => row.invalid === "all" || (isP99 && (row.invalid === "times" || (row.p99?.is_lower_bound ?? false)));
  if (table.tested) {
    const all = table.rows.flatMap((row) => (row.to_best ? [row.to_best.value, row.to_best.low, row.to_best.high] : [1]));
    const [low, high] = extent(all.filter((it) => isNumber(it) && it > 0)) ?? [0.9, 1.1];
    const domain: [number, number] = [Math.min(low, 0.95) / 1.02, Math.max(high, 1.02) * 1.02];
    const least = table.least_effect;
    const band: [number, number] | undefined = isNumber(least) ? [1 / (1 + least), 1 + least] : undefined;
    return (row) => {
      const it = row.to_best;
      if (!it) return h("span", { class: "best" }, t("the_best"));
      const text = [struck(row, off(it.value), isP99), h("span", { class: "range" }, ends(it, off))];
      return [drawn({ interval: it, isOpen: isOpen(row), isLog: true, domain, mark: 1, band, label: markLabel(it, off) }), h("span", { class: "beside" }, text)];
    };
  }
  const p99Range = p99Ranges(isP99 ? page.sweeps : []);
  const interval = (row: Row): Interval | null => (isP99 ? p99Range(row) : row.goodput_per_s);
  const show = isP99 ? time : perS;
  const all = table.rows.flatMap((row) => {
    const it = interval(row);
    return it ? [it.value, it.low, it.high] : [];
  });
  const own = extent(all)?.[1] ?? 0;
  // A ceiling far above would leave no room for the rows; it is said below the table.
  const isNear = !isP99 && isNumber(table.ceiling_per_s) && table.ceiling_per_s <= CEILING_MAX * own;
  const ceiling = isNear ? (table.ceiling_per_s ?? undefined) : undefined;
  const [low, high] = extent([...all, ceiling].filter((it) => isNumber(it) && it >= 0)) ?? [0, 1];
  const isLog = isP99 && low > 0 && high / low > 8;
  const domain: [number, number] = isLog ? [low / 1.2, high * 1.2] : [0, high * 1.03 || 1];
  return (row) => {
    const it = interval(row);
    return it ? drawn({ interval: it, isOpen: isOpen(row), isLog, domain, mark: row.as_control ? ceiling : undefined, label: markLabel(it, show, isP99 && (row.p99?.is_lower_bound ?? false)) }) : NONE;
  };
}

/** What a mark says to whoever does not see it: its value, which may be a lower bound, and its interval if there is one. */
export function markLabel(it: Interval, show: (value: number) => string, isBound = false): string {
  const interval = ends(it, show);
  return `${isBound ? ">" : ""}${show(it.value)}${interval ? ` (${interval})` : ""}`;
}

function drawn(place: Place): Child {
  return intervalMark(place) ?? NONE;
}

/** A row has its p99 without a range; the sweep of its round has it with one. */
function p99Ranges(sweeps: Page["sweeps"]): (row: Row) => Interval | null {
  const points = sweeps.flatMap((sweep) => sweep.series.flatMap((series) => series.points));
  const byCell = new Map(points.map((it): [number, Interval | null] => [it.cell, it.p99_us]));
  return (row) => byCell.get(row.cell) ?? (row.p99 && { value: row.p99.us, low: null, high: null });
}

function captionOf(table: Table): string {
  const { rows, tested, least_effect } = table;
  const untested = table.ended_by_claims ? t("caption_ended") : t("caption_untested");
  const out = [rows.length < 2 ? t("caption_single") : tested ? t("caption_tested", { least: percent(least_effect) }) : untested];
  out.push(rows.some((row) => row.service_times) ? t("caption_service") : t("caption_times"));
  if (tested && isNumber(least_effect) && rows.length > 1) out.push(t("least_band", { least: percent(least_effect) }));
  if (rows.some((row) => row.invalid !== "none")) out.push(t("struck"));
  return out.join(" ");
}

/**
 * What the client reached in the control, and of which rows that is a ceiling; how busy it was with the others.
 */
function clientLines(ceiling: number | null, rows: Row[]): Child[] {
  const under = rows.filter((row) => row.as_control);
  const others = rows.filter((row) => !row.as_control);
  const lines: Child[] = [];
  if (isNumber(ceiling) && under.length > 0) {
    const rate = perS(ceiling);
    const stacks = h("span", null, names(under.map((row) => row.stack)));
    lines.push(others.length > 0 ? parts("ceiling_line_of", { rate, stacks }) : t("ceiling_line", { rate }));
  }
  const busy = others.filter((row) => isNumber(row.client_busy_share)).sort((a, b) => (b.client_busy_share ?? 0) - (a.client_busy_share ?? 0));
  const [busiest] = busy;
  if (busiest) lines.push(parts("client_line", { share: percent(busiest.client_busy_share, 0), stack: h("span", null, names([busiest.stack])) }));
  return lines;
}

/** What was measured beside a table: the client's ceiling, and what lies between equals. */
function beside({ ceiling_per_s, rows, twin }: Table): HTMLElement | null {
  const lines: Child[] = clientLines(ceiling_per_s, rows).map((line) => h("p", null, line));
  if (twin && isNumber(twin.ratio.value)) {
    const interval = ends(twin.ratio, off);
    const ratio = `${off(twin.ratio.value)}${interval ? ` (${interval})` : ""}`;
    const noise = isNumber(twin.noise) ? t("twin_noise", { noise: percent(twin.noise) }) : "";
    lines.push(h("p", null, parts("twin_line", { stack: h("span", null, names([twin.stack])), ratio }), noise));
  }
  return lines.length > 0 ? h("div", { class: "under" }, lines) : null;
}
