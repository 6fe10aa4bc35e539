/** What was published, left, and what was measured, right, joined by a line. */

import { dot, line, plot, ruleX, ruleY, text, type Markish } from "@observablehq/plot";

import { brief, isNumber, NONE, perS, time, times } from "../format.ts";
import type { ClaimPart, ClaimsReport, ClaimVerdict } from "../model.ts";
import { sentence, t, type Key } from "../strings.ts";
import { axes, base, extent, logDomain, logTicks } from "./axes.ts";
import { figureTable } from "./figures.ts";
import type { Chart, Drawing } from "./frame.ts";
import { styleOf, type Style } from "./styles.ts";

type Unit = ClaimPart["unit"];

interface Slope {
  what: string;
  claim: string;
  verdict: ClaimVerdict;
  from: number;
  to: number;
  low: number;
  high: number;
}

/** In the order in which they are counted. */
export const CLAIM_VERDICTS: ClaimVerdict[] = ["confirmed", "size_undecided", "size_refuted", "reversed", "tied", "undecided", "not_measured", "not_testable"];
/** Green would be the usual one; blue and vermilion differ for every eye, and each has its mark and dash. */
const STYLES: Record<ClaimVerdict, Style> = {
  confirmed: { ...styleOf(0), dash: "none" },
  size_undecided: { ...styleOf(2), dash: "9 3 2 3" },
  size_refuted: { ...styleOf(3), dash: "9 3" },
  reversed: { ...styleOf(1), dash: "7 3" },
  tied: { ...styleOf(4), dash: "2 3" },
  undecided: { ...styleOf(7), colour: "var(--faint)", dash: "1.5 4" },
  not_measured: { ...styleOf(7), colour: "var(--faint)", dash: "1.5 4" },
  not_testable: { ...styleOf(7), colour: "var(--faint)", dash: "1.5 4" },
};

export function shown(unit: Unit, value: number | null | undefined): string {
  if (!isNumber(value)) return NONE;
  return unit === "ratio" ? times(value) : unit === "per_s" ? perS(value) : time(value);
}

/** A chart of each unit in which something was both published and measured. */
export function slopeCharts(claims: ClaimsReport): Chart[] {
  return (["ratio", "per_s", "micros"] as Unit[]).flatMap((unit) => {
    const slopes = claims.claims.flatMap((claim) => claim.parts.flatMap((part) => slopeOf(claim.id, part, unit) ?? []));
    return slopes.length > 0 ? [chartOf(unit, slopes)] : [];
  });
}

/** Comparisons that can't be drawn, since one of their two figures is not known. */
export function notDrawn(claims: ClaimsReport): number {
  return claims.claims.flatMap((it) => it.parts).filter((part) => !slopeOf("", part, part.unit)).length;
}

function slopeOf(claim: string, part: ClaimPart, unit: Unit): Slope | undefined {
  const { published, measured, low, high, what, verdict } = part;
  if (part.unit !== unit || !isNumber(published) || !isNumber(measured) || !(published > 0) || !(measured > 0)) return undefined;
  const end = (it: number | null) => (isNumber(it) && it > 0 ? it : measured);
  return { what, claim, verdict, from: published, to: measured, low: end(low), high: end(high) };
}

function chartOf(unit: Unit, slopes: Slope[]): Chart {
  const title: Key = `slope_${unit}`;
  const kinds = CLAIM_VERDICTS.filter((kind) => slopes.some((it) => it.verdict === kind));
  const isShown = (entry: (index: number) => boolean) => (it: Slope) => entry(kinds.indexOf(it.verdict));
  const readings = (it: Slope) => [
    { name: t("published"), isGiven: false, value: shown(unit, it.from) },
    { name: t("measured"), isGiven: false, value: interval(unit, it), style: STYLES[it.verdict], y: it.to },
    { name: t("c_verdict"), isGiven: false, value: t(`v_${it.verdict}`) },
  ];
  return {
    id: `slope-${unit}`,
    title: t(title),
    label: t(title),
    note: t(unit === "ratio" ? "slope_note" : "slope_note_levels"),
    height: heightOf(slopes),
    legend: kinds.map((kind) => ({ name: t(`v_${kind}`), isGiven: false, style: STYLES[kind] })),
    draw: (width, entry) => draw(width, unit, slopes.filter(isShown(entry))),
    cursor: {
      stops: slopes.length,
      at: () => 1,
      find: (x, y, scales) => {
        const share = Math.min(Math.max(scales.invertX(x), 0), 1);
        const far = (it: Slope) => Math.abs(scales.y(it.from) * (1 - share) + scales.y(it.to) * share - y);
        return slopes.reduce((best, it, index) => (far(it) < far(slopes[best] as Slope) ? index : best), 0);
      },
      heading: (stop) => sentence(slopes[stop]?.what ?? ""),
      readings: (stop) => (slopes[stop] ? readings(slopes[stop]) : []),
    },
    table: () =>
      figureTable({
        caption: t(title),
        heads: [t("c_what"), t("published"), t("measured"), t("c_verdict")].map((text) => ({ text })),
        rows: slopes.map((it) => [sentence(it.what), shown(unit, it.from), interval(unit, it), t(`v_${it.verdict}`)]),
      }),
  };
}

function interval(unit: Unit, { to, low, high }: Slope): string {
  return low < high ? `${shown(unit, to)} (${shown(unit, low)} … ${shown(unit, high)})` : shown(unit, to);
}

function heightOf(slopes: Slope[]): number {
  return Math.min(640, Math.max(280, 150 + slopes.length * 16));
}

function draw(width: number, unit: Unit, slopes: Slope[]): Drawing {
  const height = heightOf(slopes);
  const values = slopes.flatMap((it) => [it.from, it.low, it.high, ...(unit === "ratio" ? [1] : [])]);
  const domain = logDomain(extent(values) ?? [0.5, 2]);
  // Names need room beside the lines; on a phone they are in the tool tip and the table.
  const room = width > 560 ? Math.min(290, width * 0.36) : 16;
  const ends = (x: number) => t(x === 0 ? "published" : "measured");
  const marks: Markish[] = [
    ...axes([0, 1], ends, logTicks(domain, 7), (value) => brief(shown(unit, value))),
    ruleX([0, 1], { stroke: "var(--line)" }),
    ...(unit === "ratio" ? [ruleY([1], { stroke: "var(--soft)", strokeDasharray: "4 3" })] : []),
  ];
  for (const it of slopes) marks.push(...slopeMarks(it));
  if (width > 560) marks.push(labels(slopes, domain, height, room));
  return plot({
    ...base(width, height, 64),
    marginRight: room,
    x: { domain: [0, 1], axis: null },
    y: { type: "log", domain, axis: null },
    marks,
  }) as Drawing;
}

function slopeMarks({ from, to, low, high, verdict }: Slope): Markish[] {
  const style = STYLES[verdict];
  const ends = [
    { x: 0, y: from },
    { x: 1, y: to },
  ];
  return [
    line(ends, { x: "x", y: "y", stroke: style.colour, strokeDasharray: style.dash, strokeWidth: 1.75 }),
    ruleX([1], { x: 1, y1: low, y2: high, stroke: style.colour, strokeWidth: 4, strokeOpacity: 0.4, className: "interval" }),
    dot(ends, { x: "x", y: "y", fill: style.colour, symbol: style.mark, r: 4, className: "marks" }),
  ];
}

/** Names at the right, moved apart so that none covers another. */
function labels(slopes: Slope[], [low, high]: [number, number], height: number, room: number): Markish {
  const inner = height - 48;
  const place = (value: number) => (1 - Math.log(value / low) / Math.log(high / low)) * inner;
  const placed = slopes.map((it) => ({ it, at: place(it.to) })).sort((a, b) => a.at - b.at);
  const gap = 14;
  for (let index = 1; index < placed.length; index++) {
    const [above, here] = [placed[index - 1], placed[index]];
    if (above && here) here.at = Math.max(here.at, above.at + gap);
  }
  // What was pushed below the floor goes up again.
  let floor = inner;
  for (const here of [...placed].reverse()) {
    here.at = Math.min(here.at, floor);
    floor = here.at - gap;
  }
  const letters = Math.floor((room - 16) / 6.2);
  const data = placed.map(({ it, at }) => ({ y: low * (high / low) ** (1 - at / inner), text: cut(sentence(it.what), letters), fill: STYLES[it.verdict].colour }));
  return text(data, { x: 1, y: "y", text: "text", textAnchor: "start", dx: 12, fill: "var(--text)", fontSize: 11 });
}

function cut(text: string, most: number): string {
  const letters = [...text];
  const wide = letters.reduce((sum, it) => sum + (it > "\u2e80" ? 2 : 1), 0);
  if (wide <= most) return text;
  return `${letters.slice(0, Math.max(1, Math.floor((most - 1) * (letters.length / wide)))).join("")}…`;
}
