import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "@playwright/test";
import { Ajv2020 } from "ajv/dist/2020.js";

import { extent, linearTicks, logTicks } from "../src/charts/axes.ts";
import { rowStep } from "../src/charts/figures.ts";
import { linesOf, percentileChart, valueAt } from "../src/charts/percentiles.ts";
import { sweepCharts } from "../src/charts/sweep.ts";
import { timelineCharts } from "../src/charts/timeline.ts";
import { untabled, type View } from "../src/context.ts";
import { around, brief, bytes, count, instant, off, percent, perS, plain, quantile, shell, signedPercent, time, times } from "../src/format.ts";
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
  expect([0, 0.0001, 0.5, 0.9996, 1].map((it) => percent(it))).toEqual(["0.0\u202f%", "<0.1\u202f%", "50.0\u202f%", ">99.9\u202f%", "100.0\u202f%"]);
  expect([0.999, 1].map((it) => percent(it, 0))).toEqual([">99\u202f%", "100\u202f%"]);
  expect([1.5, 0.9, 0.0004, 0].map(signedPercent)).toEqual(["+50.0\u202f%", "−10.0\u202f%", "−99.96\u202f%", "−100.0\u202f%"]);
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

test("a quantile has its own value, and not that of its neighbour", () => {
  const exact = [{ q: 0.5, us: 100 }, { q: 0.75, us: 200 }];
  const censored = [{ q: 0.9, us: 500 }, { q: 0.95, us: 800 }];
  expect([0, 0.25, 0.5, 0.75].map((q) => valueAt({ exact, censored }, q))).toEqual([undefined, undefined, { us: 100, isBound: false }, { us: 200, isBound: false }]);
  // Between two bounds, and beyond the last one, it is surely longer than the one below.
  expect([0.8, 0.9, 0.92, 0.999].map((q) => valueAt({ exact, censored }, q))).toEqual([undefined, { us: 500, isBound: true }, { us: 500, isBound: true }, { us: 800, isBound: true }]);
});

test("the lines of a curve go from point to point in order, dashed to a bound and from it", () => {
  const at = (x: number) => ({ x, us: 10 * x });
  const told = (exact: number[], censored: number[]) => {
    const { solid, dashed } = linesOf({ exact: exact.map(at), censored: censored.map(at) });
    return [solid, dashed].map((line) => line.map((it) => it.x));
  };
  const gap = Number.NaN;
  expect(told([2, 4, 10], [1, 20])).toEqual([[gap, 2, 4, 10], [gap, 1, 2, gap, 10, 20]]);
  expect(told([1, 2, 10], [4, 20, 40])).toEqual([[gap, 1, 2], [gap, 2, 4, 10, 20, 40]]);
  expect(told([], [1, 2])).toEqual([[], [gap, 1, 2]]);
  expect(told([], [])).toEqual([[], []]);
});

test("what few samples say of a percentile stands at that percentile", () => {
  const page = documents.everything();
  for (const cell of page.cells) Object.assign(cell, { samples: 50, percentiles: [[0.5, 100]], percentiles_censored: [[0.9, 200], [0.99, 500]] });
  const chart = percentileChart({ page, table: 0, cell: 0, withWarmUp: false, styles: new Map(), choose: () => undefined });
  const last = (chart?.cursor?.stops ?? 0) - 1;
  expect(chart?.cursor?.heading(last)).toBe("p99");
  expect(chart?.cursor?.readings(last, null)[0]?.value).toBe(">500\u202fµs");
});

test("a table of figures shows all of few rows, and some of many", () => {
  expect([1, 400, 401, 1000].map(rowStep)).toEqual([1, 1, 2, 3]);
});

test("cells of no table are found", () => {
  const page = documents.everything();
  expect(untabled(page)).toEqual([]);
  page.tables.pop();
  expect(untabled(page)).toEqual([14, 15, 16, 17, 18, 19, 20]);
});

test("what is so much above or below another is a share and no factor", () => {
  expect([3.2, 0.25, 1.1].map(apart)).toEqual(["220.0\u202f%", "75.0\u202f%", "10.0\u202f%"]);
});

test("every sentence has a Chinese one with the same figures", () => {
  for (const english of ENGLISH) {
    let index = 0;
    const spoken = english.replace(/\{\w+[:;#]?\}/g, () => String(9000 + index++));
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

test("what speaks against machines of several is said in Chinese, however many are named", () => {
  const busy = "the rate may be its limit and not the server's; take more machines, or more --threads on free cores";
  const busySaid = "速率可能是它的极限而不是服务器的；请用更多机器，或在空闲核心上使用更多 --threads";
  const three = [7, 6, 5].map((it) => `agent ${it} of 8 (h${it}, n${it}) had a load thread busy 9${it} % of the time`);
  const threeSaid = [7, 6, 5].map((it) => `代理 ${it}/8（h${it}, n${it}）有一个负载线程忙了 9${it} % 的时间`);
  expect(chinese(`${three[0]}: ${busy}`)).toBe(`${threeSaid[0]}：${busySaid}`);
  expect(chinese(`${three.join("; ")}; and 5 more: ${busy}`)).toBe(`${threeSaid.join("；")}；以及另外 5 个：${busySaid}`);
  const lost = "agent 0 of 2 (a) was last heard of at 7 s, and 4711 requests with it: it ended (signal: 9)";
  const other = "agent 1 of 2 (b) was last heard of at 9 s, and 12 requests with it: it cannot be reached (refused)";
  const advice = "whether those were sent is not known; percentiles are bounds; look at the machine and the way to it, and run it again";
  expect(chinese(`${lost}; ${other}: ${advice}`)).toMatch(
    /^代理 0\/2（a）在第 7 s 后失联，涉及 4711 个请求（ended \(signal: 9\)）；代理 1\/2（b）在第 9 s 后失联，涉及 12 个请求（cannot be reached \(refused\)）：不知道/,
  );
  const clocks = "agent 0 of 2 (a) has a clock that jumped; agent 1 of 2 (b) has a clock that is known within 3.0 ms only";
  const asleep = "it slept, or was moved to another host; counts are exact, and the gaps between requests of several machines are not; keep it awake and where it is, and run it again";
  expect(chinese(`${clocks}: ${asleep}`)).toMatch(/^代理 0\/2（a）的时钟发生了跳变；代理 1\/2（b）的时钟只精确到 3\.0 ms：它休眠过/);
});

test("parts of sentences are said in Chinese as well", () => {
  const law = "X·S₀ = 1974.0/s × 101.2 ms = 199.8 (195.0 to 204.2)";
  const lawSaid = "X·S₀ = 1974.0/s × 101.2 ms = 199.8（195.0 至 204.2）";
  for (const [english, said] of [
    [`${law} ≈ 4 processes \`gunicorn\``, `${lawSaid} ≈ 4 个 \`gunicorn\` 进程`],
    ["pool of 4 processes (gunicorn)", "4 个进程的池（gunicorn）"],
    ["pool of 200 (http-nio-*-exec-*)", "200 个线程的池（http-nio-*-exec-*）"],
    ["one at a time (Python's lock)", "一次一个（Python 的锁）"],
    ["no group of threads or processes has 8: `a` 4 threads or 2 processes, `b of c` 9 threads for any number of requests", "没有哪组线程或进程是 8 个：`a` 4 个线程或 2 个进程、`b of c` 9 个线程，处理任意个数的请求"],
    ["other processes used 1.20 of 2 cores (java 0.81, rustc 0.20), the hypervisor took 5 % of the CPU", "其他进程占用了 2 个核心中的 1.20 个（java 0.81, rustc 0.20），虚拟机管理程序拿走了 5 % 的 CPU"],
    ["5.0 % of 100 requests: 3 not connected, 2 reset", "100 个请求的 5.0 %：3 个未连上、2 个被重置"],
    [
      "12.00 % of 100 requests brought no good answer: 2 reset, 10 answered otherwise than expected (7 redirects, which are not followed); mend the request or the service, or load it less",
      "100 个请求中有 12.00 % 没有得到正确应答：2 个被重置、10 个应答与预期不符（其中 7 个是重定向，不会跟随）；请修正请求或服务，或减小负载",
    ],
    ["the control group of db, with the client in it, may use 1.50 cores and used 1.49; threads were kept from running for 0.30 s a second", "db 的控制组（客户端也在其中）可用 1.50 个核心，用了 1.49 个；线程每秒有 0.30 秒不得运行"],
    ["the rate was the same with 128 users, and with 32; what lets so many in at a time would keep it as well", "128 个用户和 32 个用户时速率相同；每次只放行这么多的机制也会使它保持不变"],
    ["with 128 users it was 0.98 times the rate, and the cores were used up (97 %)", "128 个用户时为该速率的 0.98 倍，核心已用尽（97 %）"],
    ["errors: timed out <0.1 %, unsent 2.0 %", "错误：超时 <0.1 %、未发出 2.0 %"],
    ["servers on 4-7 (the fastest kind, node 1), client on 0-3 (the slowest kind, node 0)", "服务器用 4-7（最快的一种、节点 1），客户端用 0-3（最慢的一种、节点 0）"],
    ["1000 users, ramp-up 50s, 5 requests each, think 100ms, fresh", "1000 个用户，爬坡 50s，每人 5 个请求，思考 100ms，每次新建"],
    ["7/m (bursts of 100) on 50", "7/m（每次突发 100 个），50 个连接"],
    ["in 2 of 3 comparisons, the first: jetty / undertow, 400 connections, it is the other way round", "3 个比较中有 2 个，第一个是 jetty / undertow，400 个连接：情况正相反"],
    [
      "in 3 of 3 comparisons, the first: tomcat-nio, 1000 / 300 connections, the run has no trial of tomcat-nio, 1000 connections",
      "3 个比较中有 3 个，第一个是 tomcat-nio，1000 / 300 个连接：本次运行没有 tomcat-nio，1000 个连接 的试验",
    ],
    ["the CPU: 12 % of the CPU used", "CPU：CPU 用了 12 %"],
    [`${law}: how long the server worked for the 7 % of requests that failed is not known, and so not how many had their turn at a time`, `${lawSaid}：服务器为失败的 7 % 请求工作了多久不得而知，因而也不知道每次处理多少个`],
  ] as const) {
    expect(chinese(english), english).toBe(said);
  }
  expect(chinese("a".repeat(5000))).toBeUndefined();
});

/** What of the crate `explain` the page does not show. */
const NOT_SHOWN = /\/(compare|gate|calibration|versions|history|conditions)(\.rs|\/)/;
/** Names that the page has texts of its own for, what a panic says, and the name of threads. */
const NO_SENTENCES = new Set([
  "another curve",
  "direction confirmed, size undecided",
  "direction confirmed, size refuted",
  "not testable here",
  "partly: it moved that way, and another limit is near",
  "a claim's cells are those of its statement",
  "the client's threads",
]);

/** Literals of Rust, but for those of tests, lists of names (of threads, statuses), and what a kind of doubt means, which the page leaves to the text. */
function literals(source: string): string[] {
  const code = source
    .replace(/#\[cfg\(test\)\]\s*mod tests[\s\S]*$/, "")
    .replace(/fn meaning\(self\)[\s\S]*?\n {4}\}/, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/\s\/\/ .*$/gm, "")
    .replace(/\\\n\s*/g, "")
    .replace(/const \w+: \[&str; \d+\] =\s*\[[^\]]*\];/g, "");
  return [...code.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((it) => it[1] ?? "");
}

/** The words of a sentence between its places and stops, by threes. */
function runsOf(text: string): string[] {
  return text.toLowerCase().replaceAll("_", " ").split(/\{[^}]*\}|[;:,()`]/).flatMap((piece) => {
    const words = piece.split(" ").filter((it) => it !== "");
    return words.length < 3 ? [words.join(" ")] : words.slice(2).map((word, index) => `${words[index]} ${words[index + 1]} ${word}`);
  });
}

test("what the crate `explain` can say has a Chinese pair, whether a recorded run says it or not", () => {
  const known = ENGLISH.map((it) => it.toLowerCase().replaceAll("_", " ").replace(/\{\w+[:;#]?\}|[;:,()`]/g, " | ").replace(/ +/g, " ")).join("\n");
  const files = sourceFiles(`${ROOT}crates/explain/src`).filter((path) => !NOT_SHOWN.test(path));
  expect(files.length).toBeGreaterThan(30);
  const all = files.flatMap((path) => literals(readFileSync(path, "utf8"))).filter((it) => it.includes(" ") && !NO_SENTENCES.has(it));
  expect(all.length).toBeGreaterThan(300);
  // Of a sentence that is put together from several literals, each has words that some pattern has.
  const isKnown = (it: string) => chinese(it.replace(/\{[^}]*\}/g, "7")) !== undefined || runsOf(it).every((run) => !/[a-z]{2}/.test(run) || known.includes(run));
  expect([...new Set(all.filter((it) => !isKnown(it)))]).toEqual([]);
});

test("where loads came from is said in Chinese, however many machines there were", () => {
  const from = "The loads came from ";
  expect(chinese(`${from}1 agent: a.`)).toBe("负载来自 1 个代理：a。");
  expect(chinese(`${from}2 agents: a, b.`)).toBe("负载来自 2 个代理：a, b。");
  expect(chinese(`${from}10 agents, on other machines than the servers: a.example, b and 8 more.`)).toBe("负载来自 10 个代理，与服务器不在同一台机器上：a.example, b，以及另外 8 个。");
  expect(chinese(`${from}1 agent, on other machines than the servers: load1.`)).toBe("负载来自 1 个代理，与服务器不在同一台机器上：load1。");
});

test("the patterns are of sentences that the crates and the write-ups still say", () => {
  const said = ["explain", "lab", "signals", "plan", "stack", "stats", "report", "record"].map((it) => sources(`${ROOT}crates/${it}/src`)).concat(publishedFiles()).join("\n").replace(/\\\n\s*/g, "").replaceAll("_", " ");
  // Parts may be put together from several literals, so not all of a sentence's words stand side by side in the source.
  const gone = ENGLISH.filter((english) => {
    const runs = english.replaceAll("_", " ").split(/\{\w+[:;#]?\}|[;:,()]|\/s/).flatMap((piece) => {
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

function sourceFiles(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => `${folder}/${name}`)
    .flatMap((path) => (statSync(path).isDirectory() ? sourceFiles(path) : [path]));
}

function sources(folder: string): string {
  return sourceFiles(folder).map((path) => readFileSync(path, "utf8")).join("\n");
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
