/**
 * What every chart has around it: a caption, a legend that switches series, a cursor that pointer and keys move, what is
 * read there, and the figures as a table. Charts are drawn when they come into view, anew when their width changes, and
 * all of them before the page is printed.
 */

import { given, h, s, type Child } from "../dom.ts";
import { t } from "../strings.ts";
import { path, swatch, type Style } from "./styles.ts";

/** Units of data to pixels of the drawing, and back. */
export interface Scales {
  x(value: number): number;
  y(value: number): number;
  invertX(pixel: number): number;
  invertY(pixel: number): number;
}

/** What Observable Plot returns: an SVG element that knows its scales. */
export type Drawing = SVGSVGElement & { scale?: (name: string) => unknown };

export interface Reading {
  name: string;
  /** Whether the name is from the record, and in no language. */
  isGiven: boolean;
  value: string;
  style?: Style | undefined;
  /** Where it is on the y axis, if there is a mark to be made. */
  y?: number | null | undefined;
}

/** Where a cursor can stand and what it reads there. */
export interface Cursor {
  stops: number;
  /** The stop that is meant by a point of the drawing. */
  find(x: number, y: number, scales: Scales): number;
  /** The x of a stop, in units of data. */
  at(stop: number): number;
  heading(stop: number): string;
  /** `y` is where the pointer is, in units of data; null by keyboard. */
  readings(stop: number, y: number | null): Reading[];
}

/** Cursors that move together. */
export interface Link {
  at: number | null;
  move(at: number | null): void;
  listen(listener: (at: number | null) => void): void;
}

export interface Entry {
  name: string;
  isGiven: boolean;
  style: Style;
  /** Whether it has marks beside its line. */
  hasMarks?: boolean;
}

export interface Chart {
  /** Of its element; unique on the page. */
  id: string;
  title: Child;
  /** The same as text. */
  label: string;
  note?: Child;
  height: number;
  /** Whether it takes the room of two where charts stand side by side. */
  isWide?: boolean;
  legend: Entry[];
  /** Entries that are switched off at first. */
  off?: Set<number>;
  draw(width: number, shown: (entry: number) => boolean): Drawing;
  cursor?: Cursor;
  link?: Link;
  /** The figures; rows are made when they are asked for. */
  table(): Node;
}

interface Live {
  draw(width?: number): void;
  undraw(): void;
}

/** Readings that a tool tip has room for; those nearest to the pointer are shown. */
const READINGS_MAX = 12;
/** Pixels of a page of paper between its margins, at 96 a inch. */
const PAPER_WIDTH = 700;

let live = new Map<Element, Live>();
let resizes: ResizeObserver | undefined;
let views: IntersectionObserver | undefined;

/** Forgets the charts of a page that is made anew. */
export function reset(): void {
  resizes?.disconnect();
  views?.disconnect();
  live = new Map();
  resizes = new ResizeObserver((entries) => {
    for (const entry of entries) live.get(entry.target)?.draw();
  });
  views = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        live.get(target)?.draw();
        views?.unobserve(target);
        resizes?.observe(target);
      }
    },
    { rootMargin: "300px" },
  );
}

/** Draws all charts as wide as paper, seen or not. */
export function drawForPrint(): void {
  for (const [element, chart] of live) {
    const isHalf = element.closest(".halves") !== null && element.closest(".wide") === null;
    chart.draw(isHalf ? PAPER_WIDTH / 2 - 10 : PAPER_WIDTH);
  }
}

/** Draws them as wide as they are again. */
export function drawForScreen(): void {
  for (const chart of live.values()) chart.draw();
}

/** A link that nothing moves yet. */
export function newLink(): Link {
  const listeners: ((at: number | null) => void)[] = [];
  return {
    at: null,
    move(at) {
      if (at === this.at) return;
      this.at = at;
      for (const listener of listeners) listener(at);
    },
    listen: (listener) => void listeners.push(listener),
  };
}

/** A chart with all that belongs to it. */
export function chart(spec: Chart): HTMLElement {
  const hidden = new Set(spec.off ?? []);
  const stage = h("div", { class: "stage", style: `min-height:${spec.height}px` });
  const tip = h("div", { class: "tip", hidden: true });
  const spoken = h("div", { class: "unseen", "aria-live": "polite" });
  const box = h("div", { class: "chart-box" }, stage, tip);
  const legend = legendOf(spec, hidden, () => live.get(box)?.draw());
  const figure = h(
    "figure",
    { class: spec.isWide ? "chart wide" : "chart", id: spec.id },
    h("figcaption", null, h("span", { class: "chart-title" }, spec.title), spec.note ? h("span", { class: "note" }, spec.note) : null),
    legend.element,
    box,
    spoken,
    behind(spec),
  );
  const cursor = spec.cursor && spec.cursor.stops > 0 ? new Pointer(spec, box, stage, tip, spoken, legend, hidden) : undefined;
  let drawn = 0;
  live.set(box, {
    draw(asked) {
      const width = Math.round(asked ?? box.clientWidth);
      if (width < 40) return;
      // A ResizeObserver reports the first size, too.
      if (asked === undefined && drawn === width && !legend.changed()) return;
      drawn = width;
      const drawing = spec.draw(width, (entry) => !hidden.has(entry));
      // An image has one name; those of its parts would be read as elements of no role.
      for (const part of drawing.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
      drawing.setAttribute("role", "img");
      drawing.setAttribute("aria-label", spec.label);
      stage.replaceChildren(drawing);
      stage.style.minHeight = "";
      cursor?.over(drawing);
    },
    undraw: () => stage.replaceChildren(),
  });
  views?.observe(box);
  return figure;
}

interface Legend {
  element: HTMLElement | null;
  /** Whether an entry was switched since it was last asked. */
  changed(): boolean;
  /** Puts what the cursor reads beside the names. */
  tell(readings: Reading[] | null): void;
}

function legendOf(spec: Chart, hidden: Set<number>, redraw: () => void): Legend {
  let isChanged = false;
  const values: HTMLElement[] = [];
  const changed = () => {
    const was = isChanged;
    isChanged = false;
    return was;
  };
  if (spec.legend.length === 0) return { element: null, changed, tell: () => undefined };
  const items = spec.legend.map((entry, index) => {
    const value = h("span", { class: "value" });
    values.push(value);
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": String(!hidden.has(index)),
        onclick: () => {
          if (!hidden.delete(index)) hidden.add(index);
          button.setAttribute("aria-pressed", String(!hidden.has(index)));
          isChanged = true;
          redraw();
        },
      },
      swatch(entry.style, entry.hasMarks ?? true),
      entry.isGiven ? given(entry.name, { class: "name" }) : h("span", { class: "name" }, entry.name),
      value,
    );
    return h("li", null, button);
  });
  const tell = (readings: Reading[] | null) => {
    values.forEach((value, index) => {
      const entry = spec.legend[index];
      value.textContent = readings?.find((it) => it.name === entry?.name)?.value ?? "";
    });
  };
  const list = h("ul", { class: "legend", "aria-label": t("legend") }, items);
  return { element: list, changed, tell };
}

/** The figures of a chart, made when somebody looks. */
function behind(spec: Chart): HTMLElement {
  const details = h("details", { class: "behind" }, h("summary", null, t("figures"), h("span", { class: "unseen" }, `: ${spec.label}`)));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) {
      details.append(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": spec.label }, spec.table()));
    }
  });
  return details;
}

/** The cursor of one chart. */
class Pointer {
  private drawing: SVGSVGElement | undefined;
  private scales: Scales | undefined;
  private rule: SVGLineElement | undefined;
  private dots: SVGGElement | undefined;
  private stop: number | null = null;
  private readonly cursor: Cursor;

  constructor(
    private readonly spec: Chart,
    private readonly box: HTMLElement,
    stage: HTMLElement,
    private readonly tip: HTMLElement,
    private readonly spoken: HTMLElement,
    private readonly legend: Legend,
    private readonly hidden: Set<number>,
  ) {
    this.cursor = spec.cursor as Cursor;
    stage.tabIndex = 0;
    stage.setAttribute("role", "group");
    stage.setAttribute("aria-label", `${spec.label}. ${t("chart_keys")}`);
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerdown", (event) => this.move(event));
    stage.addEventListener("pointerleave", () => this.leave());
    stage.addEventListener("blur", () => this.leave());
    stage.addEventListener("keydown", (event) => this.key(event));
    spec.link?.listen((at) => this.follow(at));
  }

  /** Puts the cursor over a new drawing. */
  over(drawing: Drawing): void {
    this.drawing = drawing;
    this.scales = scalesOf(drawing);
    this.rule = s("line", { class: "rule", visibility: "hidden" });
    this.dots = s("g", { class: "dots" });
    drawing.append(this.rule, this.dots);
  }

  private move(event: PointerEvent): void {
    if (!this.drawing || !this.scales) return;
    const box = this.drawing.getBoundingClientRect();
    const scale = Number(this.drawing.getAttribute("width")) / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    this.set(this.cursor.find(x, y, this.scales), this.scales.invertY(y), y);
  }

  private key(event: KeyboardEvent): void {
    const last = this.cursor.stops - 1;
    const now = this.stop ?? -1;
    const to = {
      ArrowRight: now + 1,
      ArrowLeft: this.stop === null ? last : now - 1,
      PageDown: now + Math.ceil(last / 10),
      PageUp: now - Math.ceil(last / 10),
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === "Escape") this.leave();
    if (to === undefined) return;
    event.preventDefault();
    this.set(Math.min(Math.max(to, 0), last), null, null);
    const readings = this.readings(this.stop ?? 0, null).slice(0, READINGS_MAX);
    this.spoken.textContent = `${this.cursor.heading(this.stop ?? 0)}: ${readings.map((it) => `${it.name} ${it.value}`).join("; ")}`;
  }

  private leave(): void {
    if (this.spec.link) this.spec.link.move(null);
    else this.show(null, null, null);
    this.stop = null;
    this.spoken.textContent = "";
  }

  private set(stop: number, y: number | null, pixel: number | null): void {
    this.stop = stop;
    if (this.spec.link) this.spec.link.move(this.cursor.at(stop));
    else this.show(stop, y, pixel);
  }

  /** Goes where another chart's cursor went. */
  private follow(at: number | null): void {
    if (at === null) {
      this.show(null, null, null);
      return;
    }
    let nearest = 0;
    for (let stop = 1; stop < this.cursor.stops; stop++) {
      if (Math.abs(this.cursor.at(stop) - at) < Math.abs(this.cursor.at(nearest) - at)) nearest = stop;
    }
    this.show(nearest, null, null);
  }

  private show(stop: number | null, y: number | null, pixel: number | null): void {
    const { drawing, scales, rule, dots } = this;
    if (!drawing || !scales || !rule || !dots) return;
    dots.replaceChildren();
    if (stop === null) {
      rule.setAttribute("visibility", "hidden");
      this.tip.hidden = true;
      if (this.spec.link) this.legend.tell(null);
      return;
    }
    const x = scales.x(this.cursor.at(stop));
    const height = Number(drawing.getAttribute("height"));
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: 8, y2: height - (this.spec.link ? 24 : 36) })) rule.setAttribute(name, String(value));
    rule.setAttribute("visibility", "visible");
    const readings = this.readings(stop, y);
    for (const { y: value, style } of readings) {
      if (value === null || value === undefined || !style) continue;
      const at = `translate(${x} ${scales.y(value)})`;
      dots.append(s("path", { d: path(style.mark, 60), fill: style.colour, stroke: "var(--ground)", transform: at }));
    }
    if (this.spec.link) this.legend.tell(readings);
    else this.fillTip(stop, readings, x, pixel ?? height / 3);
  }

  /** What is read there of the series that are switched on. */
  private readings(stop: number, y: number | null): Reading[] {
    const off = new Set([...this.hidden].map((index) => this.spec.legend[index]?.name));
    return this.cursor.readings(stop, y).filter((it) => !off.has(it.name));
  }

  private fillTip(stop: number, all: Reading[], x: number, y: number): void {
    const readings = all.slice(0, READINGS_MAX);
    const rows = readings.map(({ name, isGiven, value, style }) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, style ? swatch(style) : null, isGiven ? given(name) : name),
        h("td", null, value),
      ),
    );
    const more = all.length - readings.length;
    this.tip.replaceChildren(
      h("div", { class: "tip-heading" }, this.cursor.heading(stop)),
      h("table", null, h("tbody", null, rows)),
      more > 0 ? h("div", { class: "note" }, t("and_more", { n: more })) : "",
    );
    this.tip.hidden = false;
    const width = this.box.clientWidth;
    const scale = width / Number(this.drawing?.getAttribute("width") ?? width);
    const own = this.tip.offsetWidth;
    const right = x * scale + 14;
    const left = right + own > width ? Math.max(0, x * scale - own - 14) : right;
    this.tip.style.left = `${Math.max(0, Math.min(left, width - own))}px`;
    this.tip.style.top = `${Math.max(0, y * scale - this.tip.offsetHeight / 2)}px`;
  }
}

/** The scales of a drawing of Plot's. */
export function scalesOf(drawing: Drawing): Scales {
  type Scale = { apply(value: number): number; invert?(pixel: number): number } | undefined;
  const of = (name: string): Scale => drawing.scale?.(name) as Scale;
  const [x, y] = [of("x"), of("y")];
  return {
    x: (value) => x?.apply(value) ?? 0,
    y: (value) => y?.apply(value) ?? 0,
    invertX: (pixel) => x?.invert?.(pixel) ?? 0,
    invertY: (pixel) => y?.invert?.(pixel) ?? 0,
  };
}

/** A cursor that stands at given values of x, which rise. */
export function alongX(
  stops: number[],
  heading: (x: number) => string,
  readings: (x: number, y: number | null, stop: number) => Reading[],
): Cursor {
  return {
    stops: stops.length,
    at: (stop) => stops[stop] ?? 0,
    find: (pixel, _y, scales) => {
      let nearest = 0;
      stops.forEach((stop, index) => {
        if (Math.abs(scales.x(stop) - pixel) < Math.abs(scales.x(stops[nearest] ?? 0) - pixel)) nearest = index;
      });
      return nearest;
    },
    heading: (stop) => heading(stops[stop] ?? 0),
    readings: (stop, y) => readings(stops[stop] ?? 0, y, stop),
  };
}

/** Readings nearest to where the pointer is first. On log axes what counts is the ratio. */
export function nearestFirst(readings: Reading[], y: number | null): Reading[] {
  if (y === null || !(y > 0)) return readings;
  const far = (it: Reading) => (it.y && it.y > 0 ? Math.abs(Math.log(it.y / y)) : Number.POSITIVE_INFINITY);
  return readings.length <= READINGS_MAX ? readings : [...readings].sort((one, other) => far(one) - far(other));
}
