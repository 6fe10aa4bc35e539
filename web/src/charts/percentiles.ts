/** How long the slowest took: percentile curves on the axis of HdrHistogram, 1 / (1 − q), on which each nine is as wide. */

import { dot, line, plot, type Markish } from "@observablehq/plot";

import { cellsOf, styleFor, tableName, type View } from "../context.ts";
import { brief, count, isNumber, NONE, quantile, time } from "../format.ts";
import type { Cell } from "../model.ts";
import { t } from "../strings.ts";
import { axes, base, extent, logDomain, logTicks } from "./axes.ts";
import { figureTable } from "./figures.ts";
import { alongX, nearestFirst, type Chart, type Drawing } from "./frame.ts";
import { COLOURS, type Style } from "./styles.ts";

/** Where a cursor stands and which quantiles the table has. */
const QUANTILES = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999];
/** Nothing beyond so many nines is drawn, however many samples there are. */
const REACH_MAX = 1e8;

interface Curve {
  name: string;
  cell: Cell;
  style: Style;
  exact: Point[];
  censored: Point[];
}

/** Where something lies in the drawing. */
interface Place {
  /** 1 / (1 − q). */
  x: number;
  us: number;
}

interface Point extends Place {
  q: number;
}

/** The curves of a table; `undefined` where no distribution was kept. */
export function percentileChart(view: View): Chart | undefined {
  const table = view.page.tables[view.table];
  const curves = cellsOf(view.page, table)
    .map(({ cell }) => curveOf(view, cell))
    .filter((it) => it.exact.length + it.censored.length > 0);
  if (!table || curves.length === 0) return undefined;
  const reach = Math.max(extent(curves.flatMap((it) => [...it.exact, ...it.censored].map((point) => point.x)))?.[1] ?? 0, 10);
  const stops = QUANTILES.map((q) => 1 / (1 - q)).filter((x) => x <= reach * 1.001);
  const label = `${t("percentiles")}: ${tableName(table)}`;
  const notes = [t("percentiles_note")];
  if (curves.some((it) => it.cell.service_times)) notes.push(t("percentiles_service"));
  if (curves.length > COLOURS) notes.push(t("context_note", { n: curves.length }));
  return {
    id: "percentiles",
    title: t("percentiles"),
    label,
    note: notes.join(" "),
    height: 380,
    legend: curves.map(({ name, style }) => ({ name, isGiven: true, style })),
    off: new Set(curves.map((_, index) => index).filter((index) => index >= COLOURS)),
    draw: (width, shown) => draw(width, curves, reach, shown),
    cursor: alongX(
      stops,
      (x) => quantile(1 - 1 / x),
      (x, y) => {
        const readings = curves.flatMap(({ name, style, ...curve }) => {
          const at = valueAt(curve, 1 - 1 / x);
          return at ? [{ name, isGiven: true, value: words(at), style, y: at.us }] : [];
        });
        return nearestFirst(readings.sort((a, b) => b.y - a.y), y);
      },
    ),
    table: () =>
      figureTable({
        caption: label,
        heads: [{ text: t("c_stack") }, ...stops.map((x) => ({ text: quantile(1 - 1 / x) })), { text: t("answers") }, { text: t("censored") }],
        rows: curves.map((curve) => [
          curve.name,
          ...stops.map((x) => {
            const at = valueAt(curve, 1 - 1 / x);
            return at ? words(at) : NONE;
          }),
          count(curve.cell.samples),
          count(curve.cell.censored),
        ]),
      }),
  };
}

function curveOf(view: View, cell: Cell): Curve {
  // The longest of all has no place on this axis: it stands where so many samples end. What they say of any other quantile stands at
  // that quantile, also where they are too few to know it.
  const end = Math.max(cell.samples, 10);
  const points = (all: [number, number][]) =>
    all.filter(([q, us]) => isNumber(q) && isNumber(us) && us > 0).map(([q, us]): Point => ({ q, us, x: Math.min(q < 1 ? 1 / (1 - q) : end, REACH_MAX) }));
  return {
    name: cell.service_times ? `${cell.why.stack} *` : cell.why.stack,
    cell,
    style: styleFor(view, cell.why.stack),
    exact: points(cell.percentiles),
    censored: points(cell.percentiles_censored),
  };
}

/** Quantiles that are nearer to each other are one. */
const SAME = 1e-9;

/**
 * What a curve has at a quantile: its own point there, since a neighbour's is another quantile's. A quantile above one that is
 * only known to be longer is longer as well.
 */
export function valueAt({ exact, censored }: { exact: { q: number; us: number }[]; censored: { q: number; us: number }[] }, q: number): { us: number; isBound: boolean } | undefined {
  const found = exact.find((it) => Math.abs(it.q - q) < SAME);
  if (found) return { us: found.us, isBound: false };
  const bound = censored.filter((it) => it.q <= q + SAME).at(-1);
  return bound && { us: bound.us, isBound: true };
}

function words({ us, isBound }: { us: number; isBound: boolean }): string {
  return isBound ? `>${time(us)}` : time(us);
}

function draw(width: number, curves: Curve[], reach: number, shown: (entry: number) => boolean): Drawing {
  const inView = curves.filter((_, index) => shown(index));
  const behind = curves.length > COLOURS ? curves.filter((_, index) => !shown(index)) : [];
  const range = extent([...inView, ...behind].flatMap((it) => [...it.exact, ...it.censored].map((point) => point.us))) ?? [1, 1e3];
  const domain = logDomain(range);
  const ticks = QUANTILES.map((q) => 1 / (1 - q)).filter((x) => x <= reach * 1.001);
  const room = Math.max(3, Math.floor((width - 80) / 52));
  const nines = ticks.filter((x) => Math.abs(Math.log10(x) % 1) < 1e-6 || Math.abs(x - 2) < 1e-9);
  const xTicks = ticks.length <= room ? ticks : nines;
  const marks: Markish[] = axes(xTicks, (x) => quantile(1 - 1 / x).replace(/^p0$/, "min"), logTicks(domain, 7), (us) => brief(time(us)), t("x_percentile"));
  for (const curve of behind) marks.push(line(inOrder(curve), { x: "x", y: "us", stroke: "var(--faint)", strokeWidth: 0.75 }));
  for (const curve of inView) marks.push(...curveMarks(curve));
  return plot({
    ...base(width, 380, 64),
    x: { type: "log", domain: [1, reach * 1.1], axis: null },
    y: { type: "log", domain, axis: null },
    marks,
  }) as Drawing;
}

/** All points of a curve, from the shortest on. */
function inOrder({ exact, censored }: { exact: Place[]; censored: Place[] }): Place[] {
  return [...exact, ...censored].sort((a, b) => a.x - b.x);
}

/** Where a line is broken off. */
const GAP: Place = { x: Number.NaN, us: Number.NaN };

/**
 * The lines of a curve: solid from one known point to the next, and dashed to a bound and from it. Bounds lie below known points as
 * well as above: what failed at once leaves open how long the shortest took, and not how long the others did.
 */
export function linesOf(curve: { exact: Place[]; censored: Place[] }): { solid: Place[]; dashed: Place[] } {
  const bounds = new Set(curve.censored);
  const solid: Place[] = [];
  const dashed: Place[] = [];
  const all = inOrder(curve);
  all.forEach((point, index) => {
    const before = all[index - 1];
    if (!before) return;
    const along = bounds.has(before) || bounds.has(point) ? dashed : solid;
    if (along.at(-1) !== before) along.push(GAP, before);
    along.push(point);
  });
  return { solid, dashed };
}

function curveMarks({ exact, censored, style }: Curve): Markish[] {
  const { solid, dashed } = linesOf({ exact, censored });
  const stations = QUANTILES.slice(2).flatMap((q) => exact.find((it) => Math.abs(it.q - q) < SAME) ?? []);
  const mark = { x: "x", y: "us", symbol: style.mark, r: 3.5 };
  return [
    line(solid, { x: "x", y: "us", stroke: style.colour, strokeWidth: 2, strokeDasharray: style.dash }),
    line(dashed, { x: "x", y: "us", stroke: style.colour, strokeWidth: 1.5, strokeDasharray: "1.5 3", className: "censored" }),
    dot(stations, { ...mark, fill: style.colour, className: "marks" }),
    dot(thin(censored), { ...mark, fill: "var(--ground)", stroke: style.colour, strokeWidth: 1.5, className: "open-marks" }),
  ];
}

/** Not so many marks that they hide their line. */
function thin(points: Point[]): Point[] {
  let last = 0;
  return points.filter(({ x }) => {
    if (x < last * 1.6) return false;
    last = x;
    return true;
  });
}
