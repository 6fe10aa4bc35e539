/** Goodput and response time against what was varied: connections, or the rate asked for. */

import { dot, line, plot, rectX, ruleX, text, type Markish } from "@observablehq/plot";

import { styleFor, type View } from "../context.ts";
import { brief, isNumber, NONE, perS, plain, time } from "../format.ts";
import type { Sweep, SweepPoint, SweepSeries } from "../model.ts";
import { t, type Key } from "../strings.ts";
import { axes, base, extent, linearTicks, logDomain, logTicks } from "./axes.ts";
import { figureTable } from "./figures.ts";
import { alongX, nearestFirst, type Chart, type Drawing, type Reading } from "./frame.ts";
import { COLOURS, FAINT } from "./styles.ts";

/** Loads that lie further apart than this are drawn by their ratio. */
const LOG_FROM = 8;
/** A ceiling that is higher than so many times all else is not drawn to scale. */
const CEILING_MAX = 4;

interface Point {
  x: number;
  y: number;
  low: number;
  high: number;
  /** Hollow: not valid, or only a lower bound. */
  isOpen: boolean;
  isBound: boolean;
}

/** What of a point is drawn. */
type Figure = (point: SweepPoint) => { value: number; low: number | null; high: number | null; isOpen: boolean; isBound: boolean } | null;

const goodput: Figure = ({ goodput_per_s: it, invalid }) => ({ ...it, isOpen: invalid === "all", isBound: false });
const p99: Figure = ({ p99_us: it, invalid }) => it && { ...it, isOpen: it.is_lower_bound || invalid !== "none", isBound: it.is_lower_bound };

/** Whether there is anything to join by a line. */
export function isSwept(sweep: Sweep): boolean {
  return levels(sweep).length > 1;
}

function levels(sweep: Sweep): number[] {
  const all = sweep.series.flatMap((series) => series.points.map((point) => point.x));
  return [...new Set(all.filter(isNumber))].sort((a, b) => a - b);
}

/** The two charts of a sweep. */
export function sweepCharts(view: View, sweep: Sweep, id: string): Chart[] {
  const isRate = sweep.over === "rate";
  const titles: [Key, Key] = isRate ? ["sweep_goodput_rate", "sweep_times_rate"] : ["sweep_goodput", "sweep_times"];
  return [
    chartOf(view, sweep, { id: `${id}-rate`, title: titles[0], note: "sweep_note", figure: goodput, show: perS, isLog: false }),
    chartOf(view, sweep, { id: `${id}-times`, title: titles[1], note: "sweep_note_times", figure: p99, show: time, isLog: true }),
  ];
}

interface Aspect {
  id: string;
  title: Key;
  note: Key;
  figure: Figure;
  show(value: number): string;
  isLog: boolean;
}

function chartOf(view: View, sweep: Sweep, aspect: Aspect): Chart {
  const lines = sweep.series.map((series) => ({ series, points: pointsOf(series, aspect), style: styleFor(view, series.stack) }));
  const stops = levels(sweep);
  const label = `${t(aspect.title)}: ${sweep.round}`;
  const atLevel = (x: number): Reading[] =>
    lines.flatMap(({ series, points, style }) => {
      const point = points.find((it) => it.x === x);
      return point ? [{ name: series.stack, isGiven: true, value: words(point, aspect), style, y: point.y }] : [];
    });
  const heading = (x: number) => (sweep.over === "rate" ? t("at_rate", { rate: perS(x) }) : t("at_connections", { n: plain(x) }));
  const off = new Set(lines.map((_, index) => index).filter((index) => index >= COLOURS));
  return {
    id: aspect.id,
    title: t(aspect.title),
    label,
    note: t(aspect.note),
    height: 300,
    legend: [
      ...lines.map(({ series, style }) => ({ name: series.stack, isGiven: true, style })),
      ...(sweep.ceiling.length > 0 && !aspect.isLog ? [{ name: t(ceilingName(sweep)), isGiven: false, style: FAINT, hasMarks: false }] : []),
    ],
    off,
    draw: (width, shown) => draw(width, sweep, aspect, lines, shown),
    cursor: alongX(stops, heading, (x, y) => nearestFirst(atLevel(x).sort((a, b) => (b.y ?? 0) - (a.y ?? 0)), y)),
    table: () =>
      figureTable({
        caption: label,
        heads: [{ text: t("c_stack") }, ...stops.map((x) => ({ text: heading(x) }))],
        rows: lines.map(({ series, points }) => [
          series.stack,
          ...stops.map((x) => {
            const point = points.find((it) => it.x === x);
            return point ? words(point, aspect) : NONE;
          }),
        ]),
      }),
  };
}

function pointsOf(series: SweepSeries, { figure }: Aspect): Point[] {
  return series.points.flatMap((point) => {
    const it = figure(point);
    if (!it || !isNumber(it.value) || !isNumber(point.x)) return [];
    return [{ x: point.x, y: it.value, low: it.low ?? it.value, high: it.high ?? it.value, isOpen: it.isOpen, isBound: it.isBound }];
  });
}

function words(point: Point, { show }: Aspect): string {
  const value = `${point.isBound ? ">" : ""}${show(point.y)}`;
  return point.low < point.high ? `${value} (${show(point.low)} … ${show(point.high)})` : value;
}

interface Line {
  series: SweepSeries;
  points: Point[];
  style: ReturnType<typeof styleFor>;
}

function draw(width: number, sweep: Sweep, aspect: Aspect, lines: Line[], shown: (entry: number) => boolean): Drawing {
  const xs = levels(sweep);
  const [first, last] = [xs[0] ?? 1, xs.at(-1) ?? 1];
  const isLogX = first > 0 && last / first >= LOG_FROM;
  const drawn = lines.filter((_, index) => shown(index));
  const values = drawn.flatMap(({ points }) => points.flatMap((it) => [it.low, it.high]));
  const ceilings = !aspect.isLog && shown(lines.length) ? sweep.ceiling.map((it) => it[1]).filter(isNumber) : [];
  const own = extent(values)?.[1] ?? 0;
  // A ceiling far above would press everything to the floor; then it is said in words.
  const isNear = ceilings.length > 0 && Math.max(...ceilings) <= CEILING_MAX * own;
  const range = extent([...values, ...(isNear ? ceilings : [])].filter((it) => !aspect.isLog || it > 0)) ?? [1, 10];
  const isLogY = aspect.isLog && range[0] > 0;
  const yDomain: [number, number] = isLogY ? logDomain(range) : [0, range[1] * 1.06 || 1];
  const ticks = xs.length <= 8 ? xs : isLogX ? logTicks([first, last]) : linearTicks([first, last], 6);
  const yTicks = isLogY ? logTicks(yDomain, 6) : linearTicks(yDomain, 5);
  const showY = (value: number) => (aspect.isLog ? brief(time(value)) : plain(value));
  const marks: Markish[] = axes(ticks, plain, yTicks, showY, t(sweep.over === "rate" ? "x_rate" : "x_connections"));
  if (isNear) marks.push(...ceilingMarks(sweep));
  else if (ceilings.length > 0) marks.push(farCeiling(t(ceilingName(sweep)), ceilings, [last, yDomain[1]]));
  if (!aspect.isLog && sweep.over === "connections") for (const it of drawn) marks.push(...kneeMarks(it, [first, last]));
  for (const it of drawn) marks.push(...lineMarks(it));
  return plot({
    ...base(width, 300, 64),
    x: {
      type: isLogX ? "log" : "linear",
      domain: isLogX ? logDomain([first, last], 1.1) : [first - (last - first) * 0.04, last + (last - first) * 0.04],
      axis: null,
    },
    y: { type: isLogY ? "log" : "linear", domain: yDomain, axis: null },
    marks,
  }) as Drawing;
}

/** What the line of the control is called: of all series, or of those that were asked as it was. */
function ceilingName({ series }: Sweep): Key {
  return series.every((it) => it.as_control) ? "ceiling" : "ceiling_alike";
}

function farCeiling(name: string, ceilings: number[], [x, y]: [number, number]): Markish {
  const [low, high] = [Math.min(...ceilings), Math.max(...ceilings)];
  const words = `↑ ${name}: ${low < high ? `${perS(low)} … ` : ""}${perS(high)}`;
  return text([0], { x, y, text: () => words, textAnchor: "end", dy: -4, fill: "var(--soft)" });
}

function ceilingMarks(sweep: Sweep): Markish[] {
  const { ceiling } = sweep;
  return [
    line(ceiling, { x: "0", y: "1", stroke: FAINT.colour, strokeDasharray: FAINT.dash, strokeWidth: 1.5 }),
    text(ceiling.slice(-1), { x: "0", y: "1", text: () => t(ceilingName(sweep)), textAnchor: "end", dy: -9, fill: "var(--soft)", stroke: "var(--ground)", strokeWidth: 4 }),
  ];
}

/** A knee is a tick on the floor of the chart, with its interval, in the colour of its stack. */
function kneeMarks({ series, style, points }: Line, [first, last]: [number, number]): Markish[] {
  const { knee } = series;
  if (!knee || !isNumber(knee.value) || knee.value < first || knee.value > last) return [];
  const within = (value: number | null) => Math.min(Math.max(value ?? knee.value, first), last);
  const top = points.find((it) => it.x >= knee.value)?.y ?? points.at(-1)?.y ?? 0;
  return [
    ruleX([knee.value], { y1: 0, y2: top, stroke: style.colour, strokeDasharray: "2 4", className: "knee" }),
    rectX([0], { x1: within(knee.low), x2: within(knee.high), y1: 0, y2: top * 0.02, fill: style.colour, fillOpacity: 0.35 }),
    text([0], { x: knee.value, y: top * 0.06, text: () => t("knee"), fill: style.colour, textAnchor: "start", dx: 4 }),
  ];
}

function lineMarks({ points, style }: Line): Markish[] {
  const common = { x: "x", y: "y", symbol: style.mark, r: 4 };
  const open = points.filter((it) => it.isOpen);
  return [
    line(points, { x: "x", y: "y", stroke: style.colour, strokeWidth: 2, strokeDasharray: style.dash }),
    ruleX(points.filter((it) => it.low < it.high), { x: "x", y1: "low", y2: "high", stroke: style.colour, strokeWidth: 1.5 }),
    dot(points.filter((it) => !it.isOpen), { ...common, fill: style.colour, className: "marks" }),
    dot(open, { ...common, fill: "var(--ground)", stroke: style.colour, strokeWidth: 1.5, className: "open-marks" }),
  ];
}
