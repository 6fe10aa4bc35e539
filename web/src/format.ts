/** Numbers as people read them, each with its unit. What is no number is a dash: a figure is never invented. */

import type { Interval, TimeUs } from "./model.ts";

export const NONE = "–";
/** Digits behind the point of a percentage that is nearly all. */
const DECIMALS_MAX = 6;
/** Before a unit: narrow, and no line breaks there. */
const GAP = "\u202f";

type Maybe = number | null | undefined;

export function isNumber(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** As many decimals as make three or four significant digits. */
function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A rate: `9.98/s`, `1590/s`, `102.0 k/s`. */
export function perS(rate: Maybe): string {
  if (!isNumber(rate)) return NONE;
  const size = Math.abs(rate);
  if (size >= 999_950) return `${(rate / 1e6).toFixed(2)}${GAP}M/s`;
  if (size >= 99_995) return `${(rate / 1e3).toFixed(1)}${GAP}k/s`;
  if (size >= 999.5) return `${rate.toFixed(0)}/s`;
  return size === 0 ? "0/s" : `${rate.toFixed(size < 9.995 ? 2 : 1)}/s`;
}

/** A time in microseconds, in the unit that suits it. */
export function time(us: Maybe): string {
  if (!isNumber(us)) return NONE;
  const size = Math.abs(us);
  if (size === 0) return `0${GAP}µs`;
  if (size < 1) return `${(us * 1e3).toFixed(0)}${GAP}ns`;
  if (size < 999.5) return `${digits(us)}${GAP}µs`;
  if (size < 999_500) return `${digits(us / 1e3)}${GAP}ms`;
  return `${digits(us / 1e6)}${GAP}s`;
}

/** A time that may be a lower bound: `>2.00 s`. */
export function bounded(it: TimeUs | null | undefined): string {
  return it ? `${it.is_lower_bound ? ">" : ""}${time(it.us)}` : NONE;
}

/** A share as percent. Only nothing is 0 % and only all of it is 100 %: what would be rounded to either is a bound. */
export function percent(share: Maybe, decimals = 1): string {
  if (!isNumber(share)) return NONE;
  const step = 10 ** -decimals;
  const text = (value: number) => `${value.toFixed(decimals)}${GAP}%`;
  const shown = text(share * 100);
  if (share > 0 && shown === text(0)) return `<${text(step)}`;
  if (share < 1 && shown === text(100)) return `>${text(100 - step)}`;
  return shown;
}

/** How far a ratio is from 1, in percent with its sign; beyond a doubling as a factor, which reads better. */
export function off(ratio: Maybe): string {
  if (!isNumber(ratio)) return NONE;
  if (ratio >= 3 || ratio <= 1 / 3) return times(ratio);
  return signedPercent(ratio);
}

/** How far a ratio is from 1, in percent with its sign; with more digits where rounding would make all of what is not quite all. */
export function signedPercent(ratio: number): string {
  const value = (ratio - 1) * 100;
  const isRoundedToAll = (decimals: number) => value > -100 && signed(value, decimals).startsWith("−100");
  let decimals = 1;
  while (decimals < DECIMALS_MAX && isRoundedToAll(decimals)) decimals++;
  return `${signed(value, decimals)}${GAP}%`;
}

/** A factor: `×1.43`. */
export function times(ratio: Maybe): string {
  if (!isNumber(ratio)) return NONE;
  const size = Math.abs(ratio);
  return `×${size !== 0 && size < 0.0995 ? ratio.toPrecision(2) : size < 9.995 ? ratio.toFixed(2) : size < 99.95 ? ratio.toFixed(1) : ratio.toFixed(0)}`;
}

/** With a true minus and a plus. */
export function signed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return `${value < 0 && Number(text) !== 0 ? "−" : "+"}${text}`;
}

/** The ends of an interval around its value, by `show`; empty where they are not known. */
export function ends(it: Interval | null | undefined, show: (value: number) => string): string {
  return it && isNumber(it.low) && isNumber(it.high) ? `${show(it.low)} … ${show(it.high)}` : "";
}

/** How far the ends of a range are from its value, in percent. */
export function around(it: Interval): string {
  if (!isNumber(it.low) || !isNumber(it.high) || !(it.value > 0)) return "";
  const of = (end: number) => signed((end / it.value - 1) * 100, 1);
  return `${of(it.low)}…${of(it.high)}${GAP}%`;
}

/** As short as it can be said, for an axis: `1.00 s` is `1 s`. */
export function brief(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/** Bytes in binary units. */
export function bytes(count: Maybe): string {
  if (!isNumber(count)) return NONE;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [count, 0];
  while (Math.abs(value) >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value.toFixed(0) : value.toFixed(value < 9.95 ? 2 : value < 99.5 ? 1 : 0)}${GAP}${units[unit]}`;
}

/** Microseconds of CPU time, bare: the column's head has the unit. */
export function micros(us: Maybe): string {
  return isNumber(us) ? us.toFixed(1) : NONE;
}

/** A whole number with its thousands apart. */
export function count(value: Maybe): string {
  return isNumber(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, GAP) : NONE;
}

/** A number of no fixed size, such as one of an axis. */
export function plain(value: Maybe): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e6) return `${trim((value / 1e6).toPrecision(3))}${GAP}M`;
  if (size >= 1e4) return `${trim((value / 1e3).toPrecision(3))}${GAP}k`;
  return size === 0 ? "0" : size < 0.001 ? value.toExponential(1) : trim(value.toPrecision(size < 1 ? 2 : 4));
}

function trim(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** An instant of a clock that starts with the measured window. */
export function second(at: number): string {
  return `${signed(at, 1).replace("+", "")}${GAP}s`;
}

/** An instant in RFC 3339 to the minute; anything else as it is. */
export function instant(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, "$1 $2 UTC");
}

/** A quantile by its name: 0.999 is `p99.9`. */
export function quantile(q: number): string {
  return q >= 1 ? "max" : `p${trim((q * 100).toFixed(q > 0.9999 ? 4 : q > 0.99 ? 3 : 2))}`;
}

/** A command as it could be typed into a POSIX shell. */
export function shell(argv: string[]): string {
  const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return argv.map(quote).join(" ");
}
