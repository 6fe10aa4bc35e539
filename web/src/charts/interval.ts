/** A value with its interval, small enough for a row of a table. */

import { h, s } from "../dom.ts";
import { isNumber } from "../format.ts";
import type { Interval } from "../model.ts";

export interface Place {
  interval: Interval;
  /** Hollow: not valid, or only a lower bound. */
  isOpen: boolean;
  isLog: boolean;
  /** Ends of the axis, the same for all rows. */
  domain: [number, number];
  /** Where there is a line through all rows. */
  mark?: number | undefined;
  /** From where to where there is no difference. */
  band?: [number, number] | undefined;
  /** What it says, for who does not see it. */
  label: string;
}

const [WIDTH, HEIGHT, ROOM] = [150, 20, 6];

/** The drawing; nothing of what has no value. */
export function intervalMark({ interval, isOpen, isLog, domain, mark, band, label }: Place): HTMLElement | null {
  if (!isNumber(interval.value)) return null;
  const [low, high] = domain;
  const share = (value: number) =>
    isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const x = (value: number) => (ROOM + Math.min(Math.max(share(value), 0), 1) * (WIDTH - 2 * ROOM)).toFixed(1);
  const line = (value: number, name: string) => s("line", { class: name, x1: x(value), x2: x(value), y1: 0, y2: HEIGHT });
  const ends = isNumber(interval.low) && isNumber(interval.high) ? [interval.low, interval.high] : null;
  const middle = HEIGHT / 2;
  const drawing = s(
    "svg",
    { class: "interval", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    band && s("rect", { class: "band", x: x(band[0]), width: Number(x(band[1])) - Number(x(band[0])), y: 0, height: HEIGHT }),
    mark !== undefined && line(mark, "through"),
    ends && s("line", { class: "range", x1: x(ends[0] as number), x2: x(ends[1] as number), y1: middle, y2: middle }),
    s("circle", { class: isOpen ? "value open" : "value", cx: x(interval.value), cy: middle, r: 4 }),
  );
  return h("span", { class: "interval-box" }, drawing);
}
