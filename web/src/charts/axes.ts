/** Axes that the charts share: their ticks, and how they look. */

import { axisX, axisY, gridY, type Markish, type PlotOptions } from "@observablehq/plot";

/** The least and the greatest of what is a number; null of nothing. */
export function extent(values: Iterable<number | null | undefined>): [number, number] | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : null;
}

/** 1, 2 and 5 times powers of ten within a domain, or the powers alone where those are many. */
export function logTicks([low, high]: [number, number], most = 8): number[] {
  const of = (steps: number[]) => {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const step of steps) {
        const tick = step * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(Number(tick.toPrecision(6)));
      }
    }
    return ticks;
  };
  for (const steps of [[1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const ticks = of(steps);
    if (ticks.length <= most && ticks.length > 1) return ticks;
  }
  const powers = of([1]);
  const every = Math.ceil(powers.length / most);
  return powers.length > 1 ? powers.filter((_, index) => index % every === 0) : [low, high];
}

/** A domain with room at both ends on a log axis. */
export function logDomain([low, high]: [number, number], room = 1.15): [number, number] {
  const from = Math.max(low, Number.MIN_VALUE * 1e10);
  return [from / room, Math.max(high, from) * room];
}

/**
 * Axes with a label at each of `x` and `y`. Plot would leave out what it thinks too much on a log axis, also of ticks that
 * were chosen, and would write the others its own way.
 */
export function axes(x: number[], showX: (value: number) => string, y: number[], showY: (value: number) => string, label: string | null = null): Markish[] {
  return [
    gridY(y, { stroke: "var(--text)", strokeOpacity: 0.09 }),
    axisY(y, { text: (_: number, index: number) => showY(y[index] ?? 0), label: null, tickSize: 0, tickPadding: 6 }),
    axisX(x, { text: (_: number, index: number) => showX(x[index] ?? 0), label, labelArrow: "none", labelAnchor: "center", tickSize: 4 }),
  ];
}

/** Round numbers within a domain, about `most` of them. */
export function linearTicks([low, high]: [number, number], most = 5): number[] {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((it) => it * power).find((it) => it >= rough * 0.999) ?? rough;
  if (!(step > 0)) return [low];
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** What all charts have in common. */
export function base(width: number, height: number, marginLeft = 58): PlotOptions {
  return {
    width,
    height,
    marginLeft,
    marginRight: 14,
    marginTop: 12,
    marginBottom: 36,
    style: { fontSize: "12px", fontFamily: "inherit", background: "none", color: "var(--soft)", overflow: "visible" },
  };
}
