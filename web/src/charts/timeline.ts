/** One trial on one clock: a panel for each kind of signal, whose cursors move together. */

import { dot, lineY, plot, rect, rectX, ruleX, type Markish } from "@observablehq/plot";

import { brief, bytes, count, isNumber, NONE, percent, perS, plain, second, time } from "../format.ts";
import type { Cell, Heat, Panel, Signal, Timeline } from "../model.ts";
import { isKey, t, type Key } from "../strings.ts";
import { axes, base, extent, linearTicks, logDomain, logTicks } from "./axes.ts";
import { figureTable } from "./figures.ts";
import { alongX, newLink, type Chart, type Drawing, type Link, type Reading } from "./frame.ts";
import { COLOURS, styleOf, type Style } from "./styles.ts";

const HEIGHT = 160;
/** Up to so many points a line shows each of them. */
const DOTS_MAX = 30;
/** What was not looked at is read from so many readings before, at most. */
const LOOK_BACK = 12;
/** A trial's span, seconds since its window began. */
type Span = [number, number];

interface Trace {
  name: string;
  isGiven: boolean;
  style: Style;
  at: number[];
  values: (number | null)[];
  /** Whether what is null was only not looked at, and not absent. */
  isSparse?: boolean;
  /** Of each value, whether the truth is only known to be more. */
  isBound?: boolean[];
  show(value: number): string;
}

interface PanelSpec {
  id: string;
  title: Key;
  note?: Key;
  traces: Trace[];
  isLog?: boolean;
  tick(value: number): string;
}

const PANELS: { panel: Panel; title: Key; show(value: number): string }[] = [
  { panel: "cpu", title: "p_cpu", show: (it) => it.toFixed(2) },
  { panel: "thread_groups", title: "p_thread_groups", show: (it) => it.toFixed(2) },
  { panel: "sockets", title: "p_sockets", show: count },
  { panel: "jvm", title: "p_jvm", show: (it) => it.toFixed(3) },
  { panel: "memory", title: "p_memory", show: bytes },
  { panel: "threads", title: "p_threads", show: count },
];
/** Of a pair, the second is drawn as the limit of the first. */
const LIMITS = new Set(["accept_queue_limit", "heap_max"]);

/** All panels of a cell's trial, heat map included. */
export function timelineCharts(cell: Cell, withWarmUp: boolean): Chart[] {
  const { timeline, heat } = cell;
  const link = newLink();
  const span = spanOf(cell, withWarmUp);
  const charts: Chart[] = [];
  if (timeline) charts.push(...loadPanels(timeline).map((panel) => panelChart(panel, span, timeline.window_s, link)));
  if (heat && heat.columns > 0 && heat.edges_us.length > 1) charts.push(heatChart(heat, span, windowOf(cell), link));
  if (timeline) charts.push(...signalPanels(timeline).map((panel) => panelChart(panel, span, timeline.window_s, link)));
  return charts;
}

/** Whether any reading lies before the window. */
export function hasWarmUp(cell: Cell): boolean {
  return (cell.timeline?.readings ?? []).some((at) => at < -0.5);
}

function windowOf({ timeline, heat }: Cell): number {
  return timeline?.window_s ?? (heat ? heat.columns * heat.column_s : 0);
}

function spanOf(cell: Cell, withWarmUp: boolean): Span {
  const window = windowOf(cell);
  const readings = extent(cell.timeline?.readings ?? []) ?? [0, window];
  return [withWarmUp ? Math.min(0, readings[0]) : 0, Math.max(window, withWarmUp ? readings[1] : window, 0.001)];
}

function loadPanels({ seconds, goodput_per_s, failures_per_s, p50_us, p50_is_lower_bound, p99_us, p99_is_lower_bound }: Timeline): PanelSpec[] {
  const trace = (name: string, index: number, values: (number | null)[], show: (value: number) => string): Trace => ({
    name,
    isGiven: false,
    style: styleOf(index),
    at: seconds,
    values,
    show,
  });
  if (seconds.length === 0) return [];
  const times = [
    { ...trace("p50", 0, p50_us, time), isBound: p50_is_lower_bound },
    { ...trace("p99", 1, p99_us, time), isBound: p99_is_lower_bound },
  ];
  return [
    { id: "rate", title: "p_rate", traces: [trace(t("goodput"), 0, goodput_per_s, perS), trace(t("failures"), 1, failures_per_s, perS)], tick: plain },
    { id: "times", title: "p_times", ...noteOfTimes(times, failures_per_s), traces: times, isLog: true, tick: time },
  ];
}

/** What is to be said of times of seconds in which not all was answered. Where none is marked, the record may be too old to say. */
function noteOfTimes(times: Trace[], failures: number[]): { note?: Key } {
  if (times.some((it) => it.isBound?.some(Boolean))) return { note: "p_times_bounds" };
  return failures.some((it) => it > 0) ? { note: "p_times_note" } : {};
}

function signalPanels({ readings, signals }: Timeline): PanelSpec[] {
  return PANELS.flatMap(({ panel, title, show }) => {
    const own = signals.filter((it) => it.panel === panel && it.values.some(isNumber));
    if (own.length === 0) return [];
    const traces = own.map((signal, index) => ({
      name: nameOf(signal),
      isGiven: signal.is_given,
      style: LIMITS.has(signal.name) ? { ...styleOf(index), colour: "var(--soft)", dash: "3 3" } : styleOf(index),
      at: readings,
      values: signal.values,
      isSparse: true,
      show: panel === "jvm" && signal.name !== "jit" ? (it: number) => percent(it) : show,
    }));
    return [{ id: panel, title, traces, tick: panel === "memory" ? bytes : panel === "jvm" ? (it: number) => it.toFixed(2) : plain }];
  });
}

function nameOf({ name, is_given }: Signal): string {
  const key = `g_${name}`;
  return !is_given && isKey(key) ? t(key) : name;
}

function panelChart(panel: PanelSpec, span: Span, window: number, link: Link): Chart {
  const title = t(panel.title);
  const stops = (panel.traces[0]?.at ?? []).filter((at) => at >= span[0] && at <= span[1]);
  const heading = (at: number) => second(at);
  const at = (x: number): Reading[] =>
    panel.traces.map((trace) => {
      const value = valueAt(trace, x);
      const more = trace.isBound?.[trace.at.indexOf(x)] ? ">" : "";
      return { name: trace.name, isGiven: trace.isGiven, value: isNumber(value) ? `${more}${trace.show(value)}` : NONE, style: trace.style, y: panel.isLog && !((value ?? 0) > 0) ? null : value };
    });
  return {
    id: `timeline-${panel.id}`,
    title,
    label: title,
    ...(panel.note ? { note: t(panel.note) } : {}),
    height: HEIGHT,
    legend: panel.traces.map(({ name, isGiven, style }) => ({ name, isGiven, style, hasMarks: false })),
    off: new Set(panel.traces.map((_, index) => index).filter((index) => index >= COLOURS)),
    draw: (width, shown) => drawPanel(width, panel, span, window, shown),
    cursor: alongX(stops, heading, at),
    link,
    table: () =>
      figureTable({
        caption: title,
        heads: [{ text: t("c_seconds") }, ...panel.traces.map(({ name, isGiven }) => ({ text: name, isGiven }))],
        rows: stops.map((x) => [x.toFixed(2), ...at(x).map((it) => it.value)]),
      }),
  };
}

/** The value at a reading; of what is not always looked at, the one before. */
function valueAt({ at, values, isSparse }: Trace, x: number): number | null {
  const here = at.indexOf(x);
  for (let index = here; index >= 0 && index >= here - (isSparse ? LOOK_BACK : 0); index--) {
    const value = values[index];
    if (isNumber(value)) return value;
  }
  return null;
}

function drawPanel(width: number, panel: PanelSpec, span: Span, window: number, shown: (entry: number) => boolean): Drawing {
  const traces = panel.traces.filter((_, index) => shown(index)).map((trace) => ({ trace, points: pointsOf(trace, span, panel.isLog ?? false) }));
  const range = extent(traces.flatMap(({ points }) => points.map((it) => it.y))) ?? [0, 1];
  const isLog = (panel.isLog ?? false) && range[0] > 0;
  const domain: [number, number] = isLog ? logDomain(range) : [Math.min(0, range[0]), range[1] > 0 ? range[1] * 1.08 : 1];
  const ticks = isLog ? logTicks(domain, 4) : panel.id === "memory" ? byteTicks(domain) : linearTicks(domain, 4);
  const marks: Markish[] = [...clockAxes(width, span, ticks, (value) => brief(panel.tick(value))), ...outside(span, window, domain)];
  for (const { trace, points } of traces) {
    marks.push(lineY(points, { x: "x", y: "y", stroke: trace.style.colour, strokeWidth: 1.6, strokeDasharray: trace.style.dash }));
    const common = { x: "x", y: "y", symbol: trace.style.mark, r: 3 };
    if (points.length <= DOTS_MAX) marks.push(dot(points.filter((it) => !it.isBound), { ...common, fill: trace.style.colour, className: "marks" }));
    marks.push(dot(points.filter((it) => it.isBound), { ...common, fill: "var(--ground)", stroke: trace.style.colour, strokeWidth: 1.2, className: "open-marks" }));
  }
  return plot({
    ...base(width, HEIGHT, 64),
    ...clock(span),
    y: { type: isLog ? "log" : "linear", domain, axis: null },
    marks,
  }) as Drawing;
}

/** Points within the span; what is absent leaves a gap. */
function pointsOf({ at, values, isSparse, isBound }: Trace, [from, to]: Span, isLog: boolean): { x: number; y: number; isBound: boolean }[] {
  const points: { x: number; y: number; isBound: boolean }[] = [];
  at.forEach((x, index) => {
    const y = values[index];
    if (x < from || x > to) return;
    if (isSparse && !isNumber(y)) return;
    points.push({ x, y: isNumber(y) && (!isLog || y > 0) ? y : Number.NaN, isBound: isBound?.[index] ?? false });
  });
  return points;
}

/** Shade over what lies outside of the measured window. */
function outside([from, to]: Span, window: number, [low, high]: [number, number]): Markish[] {
  const shades = [
    { from, to: 0 },
    { from: window, to },
  ].filter((it) => it.to > it.from);
  return [
    rectX(shades, { x1: "from", x2: "to", y1: low, y2: high, fill: "var(--shade)" }),
    ruleX(shades.map((it) => (it.from < 0 ? 0 : window)), { stroke: "var(--soft)", strokeDasharray: "2 3" }),
  ];
}

function clock(span: Span): { x: object; marginBottom: number } {
  return { x: { domain: span, axis: null }, marginBottom: 24 };
}

function clockAxes(width: number, span: Span, y: number[], showY: (value: number) => string): Markish[] {
  return axes(linearTicks(span, Math.min(10, width / 80)), (x) => plain(x).replace("-", "−"), y, showY);
}

/** Round in binary units. */
function byteTicks([, high]: [number, number]): number[] {
  const unit = 1024 ** Math.floor(Math.log2(Math.max(high, 1)) / 10);
  return linearTicks([0, high / unit], 4).map((it) => it * unit);
}

/** How many shades a heat map has: more than that no eye tells apart. */
const SHADES = 9;

interface Tile {
  x1: number;
  x2: number;
  y1: number;
  y2: number;
  shade: number;
}

/** Response times over time: a column an interval, a row a step of the time axis. */
export function heatChart(heat: Heat, span: Span, window: number, link?: Link): Chart {
  const title = t("p_heat");
  const most = Math.max(1, ...heat.counts.map((it) => it[2]), ...heat.censored.map((it) => it[2]));
  const columns = Array.from({ length: heat.columns }, (_, column) => (column + 0.5) * heat.column_s);
  const rows = (column: number): Reading[] => {
    const of = (all: Heat["counts"]) => all.filter((it) => it[0] === column).sort((a, b) => b[1] - a[1]);
    const read = (suffix: string) => ([, row, n]: [number, number, number]) => ({ name: `${edges(heat, row)}${suffix}`, isGiven: false, value: count(n) });
    return [...of(heat.censored).map(read(` (${t("censored")})`)), ...of(heat.counts).map(read(""))];
  };
  return {
    id: "timeline-heat",
    title,
    label: title,
    note: t("p_heat_note"),
    isWide: true,
    height: 230,
    legend: [],
    draw: (width) => drawHeat(width, heat, most, span, window),
    cursor: alongX(columns, second, (_x, _y, stop) => rows(stop)),
    ...(link ? { link } : {}),
    table: () =>
      figureTable({
        caption: title,
        heads: [t("c_seconds"), t("c_from"), t("answers"), t("censored")].map((text) => ({ text })),
        rows: tableRows(heat),
      }),
  };
}

function tableRows({ counts, censored, column_s, edges_us }: Heat): string[][] {
  const byTile = new Map<string, [number, number, number, number]>();
  const add = (all: Heat["counts"], place: 2 | 3) => {
    for (const [column, row, n] of all) {
      const tile = byTile.get(`${column},${row}`) ?? [column, row, 0, 0];
      tile[place] += n;
      byTile.set(`${column},${row}`, tile);
    }
  };
  add(counts, 2);
  add(censored, 3);
  return [...byTile.values()]
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([column, row, all, late]) => [(column * column_s).toFixed(2), time(edges_us[row]), count(all), count(late)]);
}

function edges({ edges_us }: Heat, row: number): string {
  return `${time(edges_us[row])} … ${time(edges_us[row + 1])}`;
}

function tilesOf(heat: Heat, all: Heat["counts"], most: number): Tile[] {
  return all.flatMap(([column, row, n]) => {
    const [low, high] = [heat.edges_us[row], heat.edges_us[row + 1]];
    if (!isNumber(low) || !isNumber(high) || !(low > 0) || n <= 0) return [];
    // Counts lie over several powers of ten; a single answer is still to be seen.
    const shade = Math.ceil((Math.log1p(n) / Math.log1p(most)) * SHADES) / SHADES;
    return [{ x1: column * heat.column_s, x2: (column + 1) * heat.column_s, y1: low, y2: high, shade }];
  });
}

function drawHeat(width: number, heat: Heat, most: number, span: Span, window: number): Drawing {
  const tiles = tilesOf(heat, heat.counts, most);
  const late = tilesOf(heat, heat.censored, most);
  const domain = extent([...tiles, ...late].flatMap((it) => [it.y1, it.y2])) ?? [1, 1e3];
  const place = { x1: "x1", x2: (it: Tile) => Math.min(it.x2, Math.max(window, it.x1)), y1: "y1", y2: "y2" };
  return plot({
    ...base(width, 230, 64),
    ...clock(span),
    y: { type: "log", domain, axis: null },
    marks: [
      ...clockAxes(width, span, logTicks(domain, 5), (us) => brief(time(us))),
      ...outside(span, window, domain),
      rect(tiles, { ...place, fill: "var(--heat)", fillOpacity: "shade", className: "tiles", inset: 0 }),
      rect(late, { ...place, fill: "var(--heat)", fillOpacity: "shade", stroke: "var(--c1)", strokeWidth: 1, className: "late-tiles" }),
    ],
    opacity: { domain: [0, 1], range: [0.06, 1] },
  }) as Drawing;
}
