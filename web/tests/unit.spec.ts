import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "@playwright/test";
import { Ajv2020 } from "ajv/dist/2020.js";

import { extent, linearTicks, logTicks } from "../src/charts/axes.ts";
import { sweepCharts } from "../src/charts/sweep.ts";
import { timelineCharts } from "../src/charts/timeline.ts";
import type { View } from "../src/context.ts";
import { around, brief, bytes, count, instant, off, percent, perS, plain, quantile, shell, time, times } from "../src/format.ts";
import type { Cell, Invalid, Page, Sweep, SweepPoint, Timeline } from "../src/model.ts";
import { apart } from "../src/sections/answer.ts";
import { poolFigures } from "../src/sections/curves.ts";
import { markLabel } from "../src/sections/ranking.ts";
import { chinese, ENGLISH } from "../src/sentences.ts";
import * as documents from "./documents.ts";
import { filled, sample, SAMPLES } from "./page.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const schema = JSON.parse(readFileSync(`${ROOT}docs/report.schema.json`, "utf8")) as object;

test("figures keep their significant digits and their units", () => {
  expect([0, 9.98, 159.84, 1590.4, 198_400, 2e6, Number.NaN].map(perS)).toEqual(["0/s", "9.98/s", "159.8/s", "1590/s", "198.4\u202fk/s", "2.00\u202fM/s", "–"]);
  expect([0, 0.5, 12.3, 999.6, 2500, 2e6, null].map(time)).toEqual(["0\u202fµs", "500\u202fns", "12.3\u202fµs", "1.00\u202fms", "2.50\u202fms", "2.00\u202fs", "–"]);
  expect([0, 0.0001, 0.5].map((it) => percent(it))).toEqual(["0.0\u202f%", "<0.1\u202f%", "50.0\u202f%"]);
  expect([1.113, 0.9, 1, 4, 0.1].map(off)).toEqual(["+11.3\u202f%", "−10.0\u202f%", "+0.0\u202f%", "×4.00", "×0.10"]);
  expect([1536, 8 * 2 ** 30].map(bytes)).toEqual(["1.50\u202fKiB", "8.00\u202fGiB"]);
  expect([0.5, 0.999, 0.9999, 0.99999, 1].map(quantile)).toEqual(["p50", "p99.9", "p99.99", "p99.999", "max"]);
  expect(around({ value: 100, low: 90, high: 110 })).toBe("−10.0…+10.0\u202f%");
  expect([1234567, 12].map(count)).toEqual(["1\u202f234\u202f567", "12"]);
  expect([0, 12, 140_000, 0.25].map(plain)).toEqual(["0", "12", "140\u202fk", "0.25"]);
  expect(["1.00\u202fs", "30.0\u202fms", "1.50\u202fs", "×1.0", "100\u202fms"].map(brief)).toEqual(["1\u202fs", "30\u202fms", "1.5\u202fs", "×1", "100\u202fms"]);
  expect(times(1.434)).toBe("×1.43");
  expect(instant("2026-11-22T03:36:43Z")).toBe("2026-11-22 03:36 UTC");
  expect(shell(["proofload", "run", "it's here.toml"])).toBe("proofload run 'it'\\''s here.toml'");
});

test("ticks lie within their axis and are not too many", () => {
  for (const domain of [[1, 1e8], [90, 110], [3, 4], [0.001, 5000]] as [number, number][]) {
    const ticks = logTicks(domain, 8);
    expect(ticks.length).toBeGreaterThan(0);
    expect(ticks.length).toBeLessThanOrEqual(9);
    for (const tick of ticks) expect(tick >= domain[0] * 0.99 && tick <= domain[1] * 1.01).toBe(true);
  }
  expect(linearTicks([0, 4], 4)).toEqual([0, 1, 2, 3, 4]);
  expect(linearTicks([0, 0], 4)).toEqual([0]);
  expect(extent([null, 3, Number.NaN, 1])).toEqual([1, 3]);
  expect(extent([])).toBeNull();
});

test("a time that is not valid is not said to be longer, and a lower bound is", () => {
  const view: View = { page: documents.nothing(), table: 0, cell: 0, withWarmUp: false, styles: new Map(), choose: () => undefined };
  const point = (x: number, invalid: Invalid, is_lower_bound: boolean): SweepPoint => ({
    x,
    cell: 0,
    invalid,
    goodput_per_s: { value: 1, low: null, high: null },
    p50_us: null,
    p99_us: { value: 12_000, low: 12_000, high: 12_000, is_lower_bound },
  });
  const points = [point(1, "times", false), point(2, "none", true), point(3, "none", false)];
  const sweep: Sweep = { round: "r", driver: "proofload", over: "connections", ceiling: [], series: [{ stack: "a", knee: null, as_control: true, points }] };
  const chart = sweepCharts(view, sweep, "sweep")[1];
  expect([0, 1, 2].map((stop) => chart?.cursor?.readings(stop, null)[0]?.value)).toEqual(["12.0\u202fms", ">12.0\u202fms", "12.0\u202fms"]);
});

test("the control's line says what it is of where a series was asked otherwise", () => {
  const view: View = { page: documents.nothing(), table: 0, cell: 0, withWarmUp: false, styles: new Map(), choose: () => undefined };
  const legend = (as_control: boolean) => {
    const series = [true, as_control].map((it, index) => ({ stack: `stack-${index}`, knee: null, as_control: it, points: [] }));
    const sweep: Sweep = { round: "r", driver: "proofload", over: "connections", ceiling: [[1, 2]], series };
    return sweepCharts(view, sweep, "sweep")[0]?.legend.at(-1)?.name;
  };
  expect(legend(true)).toBe("ceiling of the control");
  expect(legend(false)).toBe("ceiling of the control (for what was asked alike)");
});

test("times by second say what requests without an answer are in them", () => {
  const cell = documents.everything().cells.find((it) => it.timeline) as Cell;
  const noteOf = (failures: number) => {
    const timeline = cell.timeline as Timeline;
    const failing = { ...timeline, failures_per_s: timeline.seconds.map(() => failures) };
    return timelineCharts({ ...cell, timeline: failing }, false).find((it) => it.id === "timeline-times")?.note;
  };
  expect([noteOf(0), noteOf(0.5)]).toEqual([undefined, expect.stringContaining("waited for")]);
});

test("a time by second that is only known to be longer is told as that", () => {
  const cell = documents.everything().cells.find((it) => it.timeline) as Cell;
  const timeline = cell.timeline as Timeline;
  const bound = { ...timeline, failures_per_s: timeline.seconds.map(() => 1), p99_is_lower_bound: timeline.seconds.map((_, index) => index === 1) };
  const chart = timelineCharts({ ...cell, timeline: bound }, false).find((it) => it.id === "timeline-times");
  const told = (stop: number) => chart?.cursor?.readings(stop, null).map((it) => String(it.value).startsWith(">"));
  expect([told(0), told(1)]).toEqual([[false, false], [false, true]]);
  expect(chart?.note).toContain("only known to be longer");
});

test("a pool that was not seen to fill up is told by bounds", () => {
  const of = (value: number, low: number | null, high: number | null) => ({ value, low, high });
  const common = { doubts: [], residual: 0 };
  const open = poolFigures({ ...common, knee: "not_reached", size: of(64, 60, null), service_time_s: of(0.064, null, null), rate_per_s: of(1000, 950, null) });
  expect(open).toEqual({ size: "≥ 60", time: "64.0\u202fms", rate: "≥ 950.0/s" });
  const full = poolFigures({ ...common, knee: "before_first", size: of(10, 8, 12), service_time_s: of(0.01, 0.009, 0.0125), rate_per_s: of(1000, null, null) });
  expect(full).toEqual({ size: "≤ 12", time: "≤ 12.5\u202fms", rate: "1000/s" });
  const seen = poolFigures({ ...common, knee: "seen", size: of(10, 9, 11), service_time_s: of(0.01, null, null), rate_per_s: of(1000, null, null) });
  expect(seen).toEqual({ size: "10 (9 … 11)", time: "10.0\u202fms", rate: "1000/s" });
});

test("what is so much above or below another is a share and no factor", () => {
  expect([3.2, 0.25, 1.1].map(apart)).toEqual(["220.0\u202f%", "75.0\u202f%", "10.0\u202f%"]);
});

test("every sentence has a Chinese one with the same figures", () => {
  for (const english of ENGLISH) {
    let index = 0;
    const spoken = english.replace(/\{\w+([:#]?)\}/g, () => String(9000 + index++));
    const found = chinese(spoken);
    expect(found, spoken).toBeDefined();
    for (let figure = 0; figure < index; figure++) expect(found, spoken).toContain(String(9000 + figure));
  }
});

test("a mark is told with its interval if it has one, and a lower bound as one", () => {
  expect(markLabel({ value: 100, low: 90, high: 110 }, perS)).toBe("100.0/s (90.0/s … 110.0/s)");
  expect(markLabel({ value: 12_000, low: null, high: null }, time)).toBe("12.0\u202fms");
  expect(markLabel({ value: 12_000, low: null, high: null }, time, true)).toBe(">12.0\u202fms");
});

test("sentences hold sentences", () => {
  expect(chinese("in 1 of 3 comparisons: it is the other way round")).toBe("3 个比较中有 1 个：情况正相反");
  expect(chinese("20 of 20 trials of jetty, 400 connections: late receiver")).toBe("jetty，400 个连接：20 次试验中有 20 次：发生器接收偏晚");
  expect(chinese("of that kernel 25 %, JIT 21 %")).toBe("其中：内核 25 %、JIT 21 %");
  expect(chinese("CPU-bound (kernel 25 %)")).toBe("受限于 CPU（内核 25 %）");
  expect(chinese("something nobody says")).toBeUndefined();
});

test("pauses beside seconds are said in Chinese, and what follows with them", () => {
  const figures = "99th percentile of a second without pauses 2.00ms, of one with 12.0ms (medians)";
  expect(chinese(figures)).toBe("第 99 百分位：无停顿的秒为 2.00ms，有停顿的秒为 12.0ms（中位数）");
  expect(chinese(`${figures}; nothing shows that slow seconds and pauses go together (p = 0.431)`)).toBe("第 99 百分位：无停顿的秒为 2.00ms，有停顿的秒为 12.0ms（中位数）；没有迹象表明慢的秒与停顿同时出现（p = 0.431）");
});

test("where loads came from is said in Chinese, however many machines there were", () => {
  const from = "The loads came from ";
  expect(chinese(`${from}1 agent: a.`)).toBe("负载来自 1 个代理：a。");
  expect(chinese(`${from}2 agents: a, b.`)).toBe("负载来自 2 个代理：a, b。");
  expect(chinese(`${from}10 agents, on other machines than the servers: a.example, b and 8 more.`)).toBe("负载来自 10 个代理，与服务器不在同一台机器上：a.example, b，以及另外 8 个。");
  expect(chinese(`${from}1 agent, on other machines than the servers: load1.`)).toBe("负载来自 1 个代理，与服务器不在同一台机器上：load1。");
});

test("the patterns are of sentences that the crates and the write-ups still say", () => {
  const said = ["explain", "lab", "signals", "plan", "stats", "report", "record"].map((it) => sources(`${ROOT}crates/${it}/src`)).concat(publishedFiles()).join("\n").replace(/\\\n\s*/g, "").replaceAll("_", " ");
  // Parts may be put together from several literals, so not all of a sentence's words stand side by side in the source.
  const gone = ENGLISH.filter((english) => {
    const runs = english.replaceAll("_", " ").split(/\{\w+[:#]?\}|[;:,()]|\/s/).flatMap((piece) => {
      const words = piece.split(" ").filter((it) => it !== "");
      return words.length < 3 ? words : words.slice(2).map((word, index) => `${words[index]} ${words[index + 1]} ${word}`);
    });
    return runs.filter((run) => said.includes(run)).length < runs.length / 2;
  });
  expect(gone).toEqual([]);
});

/** The write-ups say themselves what they set otherwise. */
function publishedFiles(): string[] {
  const names = readdirSync(`${ROOT}published`).filter((name) => name.endsWith(".toml"));
  return names.map((name) => readFileSync(`${ROOT}published/${name}`, "utf8"));
}

function sources(folder: string): string {
  return readdirSync(folder)
    .map((name) => `${folder}/${name}`)
    .map((path) => (statSync(path).isDirectory() ? sources(path) : readFileSync(path, "utf8")))
    .join("\n");
}

/** Sentences of the crate `explain` in a document. */
function sentences(page: Page): string[] {
  const ofVerdicts = page.cells.flatMap(({ why }) => [
    ...why.verdicts.flatMap((it) => [it.phrase, ...it.evidence, ...it.excluded, ...(it.confirm ? [it.confirm.text] : [])]),
    ...why.validity.reasons.map((it) => it.text),
    ...why.not_known,
    ...(why.pauses ?? []),
  ]);
  const ofRows = page.tables.flatMap((table) => [table.load, ...table.rows.flatMap((row) => [row.limit, ...row.doubts.flatMap((it) => [it.name, it.text])])]);
  const ofClaims = (page.claims?.claims ?? []).flatMap((it) => [...(it.parts.length > 0 ? [it.why] : []), ...it.notes, ...it.settings, ...it.parts.flatMap((part) => [part.what, part.why])]);
  const ofCapacities = page.capacities.flatMap((it) => [...it.notes, ...(it.law?.doubts ?? []).map((doubt) => doubt.text), ...(it.pool?.doubts ?? []).map((doubt) => doubt.text)]);
  return [...ofVerdicts, ...ofRows, ...ofClaims, ...ofCapacities, ...page.same_work.map((it) => it.aspect)];
}

/** Bare arithmetic is the same in every language. */
const ARITHMETIC = /^X·S₀ = [^a-z]*(ms|s)? = [\d.]+$/;

test("of what recorded runs say, next to nothing stays English", () => {
  const all = SAMPLES.flatMap((name) => sentences(sample(name)));
  expect(all.length).toBeGreaterThan(500);
  const left = [...new Set(all.filter((it) => chinese(it) === undefined && !ARITHMETIC.test(it)))];
  expect(left.length, left.join("\n")).toBeLessThanOrEqual(3);
});

test("documents, recorded and made up, are as the schema says", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const all: [string, Page][] = [
    ...SAMPLES.map((name): [string, Page] => [name, sample(name)]),
    ...(["everything", "crowd", "single", "nothing", "scripts", "hostile"] as const).map((name): [string, Page] => [name, documents[name]()]),
  ];
  for (const [name, page] of all) {
    validate(JSON.parse(JSON.stringify(page)));
    expect((validate.errors ?? []).slice(0, 3), name).toEqual([]);
  }
});

test("a document can't end its element", () => {
  const html = filled(documents.hostile());
  const json = html.split('id="proofload-page">')[1]?.split("</script>")[0] ?? "";
  expect(json).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(documents.hostile())));
});
