/** How a series looks. By colour, by mark and by dash, so that none of them is needed to tell two apart. */

import { s } from "../dom.ts";

export interface Mark {
  draw(context: Pen, size: number): void;
}

interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  closePath(): void;
}

export interface Style {
  /** A colour of the style sheet, which knows light and dark. */
  colour: string;
  mark: Mark;
  /** As SVG has it; none of a line without gaps. */
  dash: string;
}

/** Colours that the style sheet names `--c0` to `--c7`: after Okabe and Ito, shifted for contrast on either ground. */
export const COLOURS = 8;
const DASHES = ["none", "7 3", "2 3", "9 3 2 3"];

/** The polygon through `points`, which lie within 1 of the middle. */
function polygon(points: [number, number][], scale = 1): Mark {
  return {
    draw(context, size) {
      const radius = Math.sqrt(size / Math.PI) * scale;
      points.forEach(([x, y], index) => {
        if (index === 0) context.moveTo(x * radius, y * radius);
        else context.lineTo(x * radius, y * radius);
      });
      context.closePath();
    },
  };
}

const circle: Mark = {
  draw(context, size) {
    const radius = Math.sqrt(size / Math.PI);
    context.moveTo(radius, 0);
    context.arc(0, 0, radius, 0, 2 * Math.PI);
  },
};
const star = Array.from({ length: 10 }, (_, index): [number, number] => {
  const radius = index % 2 === 0 ? 1.4 : 0.6;
  return [Math.sin((index * Math.PI) / 5) * radius, -Math.cos((index * Math.PI) / 5) * radius];
});
const [a, b] = [0.4, 1.2];
const MARKS: Mark[] = [
  circle,
  polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]], 0.9),
  polygon([[0, -1.3], [1.2, 0.9], [-1.2, 0.9]]),
  polygon([[0, -1.35], [1.1, 0], [0, 1.35], [-1.1, 0]]),
  polygon([[-a, -b], [a, -b], [a, -a], [b, -a], [b, a], [a, a], [a, b], [-a, b], [-a, a], [-b, a], [-b, -a], [-a, -a]]),
  polygon([[0, 1.3], [1.2, -0.9], [-1.2, -0.9]]),
  polygon(star),
  polygon([[-0.6, -1.1], [0.6, -1.1], [1.2, 0], [0.6, 1.1], [-0.6, 1.1], [-1.2, 0]]),
];

/** The look of the n-th series. Beyond eight the colours return with other marks and dashes. */
export function styleOf(index: number): Style {
  const turn = Math.floor(index / COLOURS);
  return {
    colour: `var(--c${index % COLOURS})`,
    mark: MARKS[(index + turn * 3) % MARKS.length] ?? circle,
    dash: DASHES[(index + turn) % DASHES.length] ?? "none",
  };
}

/** Something that is no series of its own: a ceiling, what lies behind. */
export const FAINT: Style = { colour: "var(--faint)", mark: circle, dash: "3 3" };

/** A mark as the text of an SVG path. */
export function path(mark: Mark, size: number): string {
  let text = "";
  const pen: Pen = {
    moveTo: (x, y) => void (text += `M${x.toFixed(2)},${y.toFixed(2)}`),
    lineTo: (x, y) => void (text += `L${x.toFixed(2)},${y.toFixed(2)}`),
    arc: (x, y, r) => void (text += `A${r.toFixed(2)},${r.toFixed(2)},0,1,1,${(x - r).toFixed(2)},${y}A${r.toFixed(2)},${r.toFixed(2)},0,1,1,${(x + r).toFixed(2)},${y}`),
    closePath: () => void (text += "Z"),
  };
  mark.draw(pen, size);
  return text;
}

/** A piece of the line for a legend. */
export function swatch(style: Style, withMark = true): SVGElement {
  const line = { x1: 0, x2: 26, y1: 7, y2: 7, stroke: style.colour, "stroke-width": 2, "stroke-dasharray": style.dash };
  return s(
    "svg",
    { class: "swatch", width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" },
    s("line", line),
    withMark && s("path", { d: path(style.mark, 36), fill: style.colour, transform: "translate(13 7)" }),
  );
}
