// Figures as people read them, and curves of them.
"use strict";

function perSecond(rate) {
  if (!Number.isFinite(rate)) return "–";
  if (rate < 9.995) return `${rate.toFixed(2)}/s`;
  if (rate < 999.5) return `${rate.toFixed(1)}/s`;
  if (rate < 99995) return `${rate.toFixed(0)}/s`;
  return `${(rate / 1000).toFixed(1)} k/s`;
}

function micros(us) {
  if (us === null || !Number.isFinite(us)) return "–";
  const [value, unit] = us < 1000 ? [us, "us"] : us < 1e6 ? [us / 1000, "ms"] : [us / 1e6, "s"];
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}

function span(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

const SVG = "http" + "://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function canvas(width, height, label) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

// A line from zero up, the latest value at the right edge; `format` writes its largest value. A value at a place of which `isBound`
// says so is known only to be larger.
function curve(values, format, label, isBound = () => false) {
  const [width, height, top] = [400, 90, 14];
  const known = values.filter((it) => it !== null && Number.isFinite(it));
  const max = Math.max(...known, 0);
  const said = (value, isOne) => `${isOne ? ">" : ""}${format(value)}`;
  const largest = said(max, values.some((value, at) => value === max && isBound(at)));
  const last = values.length - 1;
  const latest = last < 0 ? "–" : said(values[last], isBound(last));
  const svg = canvas(width, height, known.length === 0 ? `${label}: –` : `${label}: ${latest}; ${W.largest(largest)}`);
  if (known.length === 0 || max === 0) return svg;
  // Half a minute at least, so that a curve does not stretch as it begins.
  const step = width / (Math.max(values.length, 30) - 1);
  const points = [];
  values.forEach((value, at) => {
    if (value === null || !Number.isFinite(value)) return;
    const x = width - (values.length - 1 - at) * step;
    points.push(`${x.toFixed(1)},${(height - 1 - (value / max) * (height - top - 2)).toFixed(1)}`);
  });
  svg.append(shape("polyline", { points: points.join(" ") }), shape("text", { x: 0, y: 10 }, largest));
  return svg;
}

// A bar for each bucket, with its share above and its end below.
function bars(buckets, ends, label) {
  const [height, top, bottom] = [120, 14, 14];
  const width = Math.max(buckets.length, 8) * 48;
  const total = buckets.reduce((sum, it) => sum + it.count, 0);
  const share = (bucket) => (bucket.count / Math.max(total, 1)) * 100;
  const upTo = (bucket) => (bucket.up_to_us === null ? "" : "≤ ") + ends(bucket);
  const told = buckets.filter((it) => it.count > 0).map((it) => `${upTo(it)}: ${share(it).toFixed(1)} %`);
  const svg = canvas(width, height, `${label}: ${told.join(", ")}`);
  // Narrower, nobody could read what stands in it: it is scrolled instead.
  svg.style.minWidth = `${Math.round(width * 0.8)}px`;
  const max = Math.max(...buckets.map((it) => it.count), 1);
  buckets.forEach((bucket, at) => {
    const tall = (bucket.count / max) * (height - top - bottom);
    const percent = share(bucket);
    svg.append(
      shape("rect", { x: at * 48 + 4, y: height - bottom - tall, width: 40, height: tall }),
      shape("text", { x: at * 48 + 24, y: height - 2, "text-anchor": "middle" }, ends(bucket)),
    );
    if (percent >= 0.5) {
      svg.append(shape("text", { x: at * 48 + 24, y: height - bottom - tall - 3, "text-anchor": "middle" }, `${percent.toFixed(0)} %`));
    }
  });
  return svg;
}

// A point for each run, by its place; those before which a change was found are marked.
function points(values, marked, format, label) {
  const [width, height, top] = [640, 90, 14];
  const known = values.filter((it) => it !== null && Number.isFinite(it));
  const max = Math.max(...known, 0);
  const svg = canvas(width, height, `${label}: ${values.map(format).join(", ")}`);
  if (known.length === 0 || max === 0) return svg;
  svg.append(shape("text", { x: 0, y: 10 }, format(max)));
  const step = (width - 16) / Math.max(values.length - 1, 1);
  values.forEach((value, at) => {
    if (value === null || !Number.isFinite(value)) return;
    const circle = shape("circle", { cx: 8 + at * step, cy: height - 6 - (value / max) * (height - top - 10), r: 3.5 });
    if (marked.has(at)) circle.setAttribute("class", "change");
    circle.append(shape("title", {}, format(value)));
    svg.append(circle);
  });
  return svg;
}
