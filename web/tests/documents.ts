/** Made-up documents: what no recorded run has together, and what is at the ends of what may come. */

import type { Answer, Cell, Choice, ChoiceAt, ClaimPart, Confirmed, Driver, Heat, Page, Row, Signal, Sweep, Table, Verdict } from "../src/model.ts";

/** The same numbers every time (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Shape {
  /** Stacks by name, best first. */
  stacks: string[];
  /** Connections of each table. */
  loads: number[];
  seconds: number;
  tested: boolean;
}

const EVIDENCE: Verdict[] = [
  {
    kind: "pool_limit",
    phrase: "pool of 200 (http-nio-*-exec-*)",
    confidence: "sure",
    evidence: ["X·S₀ = 1974.0/s × 101.2 ms = 199.8 ≈ 200 threads `http-nio-*-exec-*`", "31 % of the CPU used"],
    excluded: [
      "the client: its busiest thread was busy 4 % of the time, 2 % of what it reaches of the calibration target",
      "others on the machine: 0.00 cores",
      "a CPU quota: there is none",
      "garbage collection: 1.0 % of the time",
      "the accept queue: up to 8 of 100 waited",
    ],
    confirm: { text: "make it 400 threads; the rate should become 2965/s", setting: "pool", now: 200, threads: ["http-nio-*-exec-*"], rate_per_s: 1974, rate_max_per_s: 2965 },
  },
  {
    kind: "cpu_bound",
    phrase: "CPU-bound (kernel 25 %)",
    confidence: "likely",
    evidence: ["the servers used 1.87 of 2 cores, 523 µs a request", "of that kernel 25 %"],
    excluded: ["others on the machine: 0.00 cores"],
    confirm: { text: "give the server twice the cores; the rate should rise", setting: "cores", now: 2, threads: [], rate_per_s: 3582, rate_max_per_s: null },
  },
  {
    kind: "unexplained",
    phrase: "unexplained",
    confidence: "possible",
    evidence: ["neither the load, nor a pool of threads, nor CPU accounts for the rate"],
    excluded: [],
    confirm: null,
  },
];

/** A document of that shape, with everything in it that a document can have. */
export function full({ stacks, loads, seconds, tested }: Shape): Page {
  const next = random(7);
  const cells: Cell[] = [];
  const tables = loads.map((load) => tableOf(stacks, load, tested, seconds, cells, next));
  const page: Page = {
    version: 1,
    proofload: "0.1.0",
    run: {
      title: "A made-up run",
      dir: "runs/made-up",
      started: "2026-11-22T03:36:43Z",
      proofload: "0.1.0",
      argv: ["proofload", "run", "experiments/made up.toml"],
      experiment: 'title = "A made-up run"\n\n[[round]]\nname = "hello"\n',
      seed: 42,
      pace: tested ? "full" : "quick",
      placement: "shared",
      blocks: tested ? 10 : 3,
      blocks_max: 20,
      trials: stacks.length * loads.length * 3,
      trials_planned: stacks.length * loads.length * 3,
      machine: { kernel: "6.1.0", cpu: "A processor", cores: 2, memory_bytes: 8 * 2 ** 30, open_files: 1048576, sysctls: { "net.core.somaxconn": "4096" } },
      tools: { java: "25.0.1", nginx: "1.22.1" },
      stacks: Object.fromEntries(stacks.map((stack) => [stack, { title: `The stack ${stack}`, inputs: "3f786850e387550fdab836ed7e6dc881de23001b", jdk: "25", upstreams: [] }])),
    },
    answers: tables.map((table) => answerOf(table, cells)),
    tables,
    sweeps: sweepsOf(stacks, tables, cells),
    cells,
    capacities: [],
    same_work: [{ round: "hello", aspect: "bytes on the wire", values: [["118", stacks.slice(0, 1)], ["83", stacks.slice(1)]] }],
    claims: claimsOf(stacks),
    missing: {
      failures: [{ round: "hello", load: "64 connections", stack: stacks.at(-1) ?? "none", driver: "proofload", block: 2, error: "it did not boot:\n  java.net.BindException: Address already in use" }],
      left_out: { "nginx-quic": "nginx was built without HTTP/3" },
      not_reached: ["haproxy"],
    },
  };
  return page;
}

function tableOf(stacks: string[], load: number, tested: boolean, seconds: number, cells: Cell[], next: () => number): Table {
  const best = 40_000 + next() * 10_000;
  const rows = stacks.map((stack, index): Row => {
    const rate = best * 0.9 ** index * Math.min(1, load / 64);
    const slow = 800 * 1.2 ** Math.min(index, 20);
    const isBad = index % 4 === 3;
    const cell = cells.push(cellOf(stack, load, rate, slow, seconds, index, next)) - 1;
    return {
      stack,
      cell,
      rank_from: index + 1,
      rank_to: Math.min(index + (tested ? 2 : 1), stacks.length),
      letters: tested ? String.fromCharCode(97 + (index % 26)) : "",
      trials: tested ? 10 : 3,
      failed: index % 5 === 4 ? 1 : 0,
      failed_blocks: index % 5 === 4 ? 1 : 0,
      goodput_per_s: { value: rate, low: rate * 0.94, high: rate * 1.03 },
      to_best: tested && index > 0 ? { value: 0.9 ** index, low: 0.88 ** index, high: Math.min(0.93 ** index, 1.2) } : null,
      service_times: false,
      p50: { us: slow, is_lower_bound: false },
      p99: { us: slow * 4, is_lower_bound: false },
      p99_9: { us: slow * 9, is_lower_bound: isBad },
      server_us_per_request: 12.5 + index,
      client_us_per_request: 5.1,
      client_busy_share: 0.31,
      as_control: true,
      errors: isBad ? { timed_out: 0.0041, unsent: 0.0002 } : {},
      limit: EVIDENCE[index % EVIDENCE.length]?.phrase ?? "",
      limit_kind: EVIDENCE[index % EVIDENCE.length]?.kind ?? null,
      doubts: isBad ? [{ kind: "censored", name: "censored", trials: 2, text: "41 of 10000 requests ended without an answer, so response times from p99 up are lower bounds; mend what keeps answers away, load it less, or wait longer for them" }] : [],
      invalid: isBad ? (index % 8 === 7 ? "all" : "times") : "none",
    };
  });
  return { round: "hello", load: `${load} connections`, driver: "proofload", ranked_by: "goodput", tested, least_effect: tested ? 0.02 : null, ceiling_per_s: best * 1.4, twin: { stack: stacks[0] ?? "", ratio: { value: 1.004, low: 0.98, high: 1.02 }, noise: 0.01 }, rows };
}

/** A verdict that a variant confirmed. */
function changed(stack: string, rate: number): Confirmed {
  return { variant: `${stack}@400`, levels: [], before_per_s: rate, predicted_per_s: rate * 1.5, measured_per_s: rate * 1.45, outcome: "confirmed", why: null };
}

/** One that other numbers of users did not decide. */
function withOtherUsers(rate: number): Confirmed {
  const levels: [number, number][] = [[32, rate * 0.9], [64, rate], [128, rate * 1.2]];
  return { variant: null, levels, before_per_s: rate, predicted_per_s: null, measured_per_s: rate * 1.2, outcome: "could_not_tell", why: "with 128 users it was 1.20 times the rate, neither the same nor twice" };
}

function cellOf(stack: string, load: number, rate: number, slow: number, seconds: number, index: number, next: () => number): Cell {
  const quantiles = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999];
  const curve = quantiles.map((q): [number, number] => [q, slow * (0.4 + 0.6 / (1 - q) ** 0.35)]);
  const isCensored = index % 4 === 3;
  const verdict = EVIDENCE[index % EVIDENCE.length] as Verdict;
  return {
    why: {
      round: "hello",
      load: `${load} connections`,
      stack,
      goodput_per_s: rate,
      trials: 3,
      agreeing: index % 2 === 0 ? 3 : 2,
      validity: { valid: !isCensored, verdict: isCensored ? "censored" : "valid", reasons: isCensored ? [{ kind: "censored", text: "41 of 10000 requests ended without an answer, so response times from p99 up are lower bounds; mend what keeps answers away, load it less, or wait longer for them" }] : [] },
      verdicts: index % 3 === 0 ? [verdict, EVIDENCE[1] as Verdict] : [verdict],
      not_known: index === 1 ? ["the network's counts: /proc/net/netstat"] : [],
    },
    confirmations: index === 0 ? [changed(stack, rate)] : index === 1 ? [withOtherUsers(rate)] : [],
    trial: index,
    url: "http://127.0.0.1:8080/hello",
    command: ["java", "-jar", `${stack}.jar`],
    percentiles: isCensored ? curve.slice(0, -3) : curve,
    percentiles_censored: isCensored ? curve.slice(-3) : [],
    samples: 100_000,
    censored: isCensored ? 41 : 0,
    service_times: false,
    heat: heatOf(seconds, slow, isCensored, next),
    timeline: timelineOf(seconds, rate, slow, load, next),
    stages: [{ part: "first_byte", count: 100_000, resumed: null, mean: { us: slow, is_lower_bound: false }, p50: { us: slow, is_lower_bound: false }, p99: null }],
    warm_up: { bursts: [{ goodput_per_s: rate * 0.7, jit_share: 0.4 }, { goodput_per_s: rate, jit_share: 0.02 }], steady: true },
  };
}

function heatOf(seconds: number, slow: number, isCensored: boolean, next: () => number): Heat {
  const edges = Array.from({ length: 17 }, (_, row) => slow * 0.2 * 1.5 ** row);
  const counts: [number, number, number][] = [];
  for (let column = 0; column < seconds; column++) {
    for (let row = 0; row < 16; row++) {
      const n = Math.round(2000 * Math.exp(-((row - 4 - 2 * next()) ** 2) / 4));
      if (n > 0) counts.push([column, row, n]);
    }
  }
  return { column_s: 1, columns: seconds, edges_us: edges, counts, censored: isCensored ? [[Math.floor(seconds / 2), 15, 41]] : [] };
}

function timelineOf(seconds: number, rate: number, slow: number, load: number, next: () => number): Cell["timeline"] {
  const middles = Array.from({ length: seconds }, (_, index) => index + 0.5);
  const readings = Array.from({ length: (seconds + 3) * 10 }, (_, index) => index / 10 - 3);
  const wave = (level: number) => readings.map(() => level * (0.9 + 0.2 * next()));
  const signal = (panel: Signal["panel"], name: string, values: (number | null)[], is_given = false): Signal => ({ panel, name, is_given, values });
  const seldom = (values: number[]) => values.map((value, index) => (index % 5 === 0 ? value : null));
  return {
    window_s: seconds,
    seconds: middles,
    goodput_per_s: middles.map(() => rate * (0.97 + 0.06 * next())),
    failures_per_s: middles.map(() => 0),
    p50_us: middles.map((_, index) => (index === 2 ? null : slow * (0.9 + 0.2 * next()))),
    p50_is_lower_bound: middles.map(() => false),
    p99_us: middles.map((_, index) => (index === 2 ? null : slow * 4 * (0.9 + 0.2 * next()))),
    p99_is_lower_bound: middles.map(() => false),
    readings,
    signals: [
      signal("cpu", "server_user", wave(1.1)),
      signal("cpu", "server_system", wave(0.3)),
      signal("cpu", "client", wave(0.2)),
      signal("cpu", "steal", wave(0.01)),
      signal("thread_groups", "http-nio-*-exec-*", seldom(wave(1.0)), true),
      signal("thread_groups", "C2 CompilerThread*", seldom(wave(0.2)), true),
      signal("sockets", "established", wave(load)),
      signal("sockets", "accept_queue", wave(2)),
      signal("sockets", "accept_queue_limit", readings.map(() => 100)),
      signal("jvm", "gc", wave(0.02)),
      signal("jvm", "jit", wave(0.1)),
      signal("memory", "heap_used", wave(3e8)),
      signal("memory", "rss", wave(7e8)),
      signal("threads", "threads", wave(220)),
    ],
  };
}

function answerOf(table: Table, cells: Cell[]): Answer {
  const [first, second] = table.rows;
  const stopped_by = table.rows.map((row) => ({ stack: row.stack, kind: row.limit_kind ?? "unexplained", phrase: row.limit }) as Answer["stopped_by"][number]);
  if (!first || cells.length === 0) return { kind: "nothing", sentence: "Nothing was measured.", best: [], next: null, ahead: null, failing: [], bounded: [], stopped_by: [] };
  if (!second) return { kind: "single", sentence: `${first.stack} was measured alone. Limits: ${first.stack}: ${first.limit}.`, best: [first.stack], next: null, ahead: null, failing: [], bounded: [], stopped_by };
  if (!table.tested) return { kind: "overlap", sentence: `The data support no winner: too few trials to test, and ${first.stack} and ${second.stack} overlap in goodput. Limits: all.`, best: [first.stack, second.stack], next: null, ahead: null, failing: [], bounded: [], stopped_by };
  return { kind: "winner", sentence: `${first.stack} carries 11 % more than ${second.stack} (95 % interval 8 % to 14 %). Limits: all.`, best: [first.stack], next: second.stack, ahead: { value: 1.11, low: 1.08, high: 1.14 }, failing: [], bounded: [], stopped_by };
}

function sweepsOf(stacks: string[], tables: Table[], cells: Cell[]): Sweep[] {
  if (tables.length < 2) return [];
  const point = (table: Table, index: number, x: number) => {
    const row = table.rows[index] as Row;
    const us = row.p99?.us ?? 1000;
    return { x, cell: row.cell, goodput_per_s: row.goodput_per_s, p50_us: { value: us / 4, low: us / 5, high: us / 3, is_lower_bound: false }, p99_us: { value: us, low: us * 0.8, high: us * 1.3, is_lower_bound: row.invalid !== "none" }, invalid: row.invalid };
  };
  const loadOf = (table: Table) => Number.parseFloat(table.load);
  const series = (scale: number) =>
    stacks.map((stack, index) => ({ stack, points: tables.map((table) => point(table, index, loadOf(table) * scale)), knee: index === 0 ? { value: 90, low: 70, high: 120 } : null, as_control: true }));
  const driver: Driver = "proofload";
  const ceiling = tables.map((table): [number, number] => [loadOf(table), table.ceiling_per_s ?? 0]);
  return cells.length === 0 ? [] : [
    { round: "hello", driver, over: "connections", series: series(1), ceiling },
    { round: "hello, open", driver: "proofload", over: "rate", series: series(100).map((it) => ({ ...it, knee: null })), ceiling: [] },
  ];
}

function claimsOf(stacks: string[]): NonNullable<Page["claims"]> {
  const [a, b, c] = [stacks[0] ?? "a", stacks[1] ?? "b", stacks[2] ?? "c"];
  const part = (over: Partial<ClaimPart>): ClaimPart => ({ what: `${a} / ${b}, 64 connections`, unit: "ratio", published: 1.43, expected: 1.43, measured: 1.18, low: 1.12, high: 1.21, blocks: 20, p: 0.001, points_the_same_way: true, size: "refuted", verdict: "size_refuted", why: "the direction holds, and it is surely less than claimed", ...over });
  const settled = { goes_on: false, is_derived: false, settings: [] };
  return {
    version: 2,
    title: "A write-up",
    source: "somewhere",
    when: "2019",
    driver: "wrk -t50 -c400 -d30s",
    published_machine: { cores: 4, memory_gb: 8, description: "a rented machine", jdk: null },
    machine: { kernel: null, cpu: null, cores: 2, memory_bytes: null, open_files: null, sysctls: {} },
    run: "runs/made-up",
    blocks: 20,
    quick: false,
    counts: { confirmed: 0, size_undecided: 0, size_refuted: 1, reversed: 1, tied: 1, undecided: 0, not_measured: 1, not_testable: 1 },
    claims: [
      { ...settled, id: "one", sentence: "The first carries more than the second", kind: "ratio", metric: "goodput", verdict: "size_refuted", why: "the direction holds, and it is surely less than claimed", parts: [part({})], notes: [`20 of 20 trials of ${a}, 64 connections: late receiver`] },
      { ...settled, is_derived: true, settings: ["cores: there 4, here 2"], id: "two", sentence: "The second carries more than the third", kind: "order", metric: "goodput", verdict: "reversed", why: "it is the other way round", parts: [part({ what: `${b} / ${c}, 64 connections`, published: 1.06, expected: null, measured: 0.75, low: 0.71, high: 0.78, size: null, verdict: "reversed", why: "it is the other way round" })], notes: [] },
      { ...settled, id: "three", sentence: "The first is at its ceiling", kind: "ceiling", metric: "goodput", verdict: "tied", why: "it may be within 5.0 % and may not", parts: [part({ what: `${a}, 64 connections`, unit: "per_s", published: 2000, expected: 1980, measured: 1974, low: 1800, high: 2100, size: null, verdict: "tied", why: "it may be within 5.0 % and may not" })], notes: [] },
      { ...settled, id: "five", sentence: "The third carries more than a fourth", kind: "order", metric: "goodput", verdict: "not_measured", why: `the run has no trial of ${c}, 64 connections`, parts: [], notes: [] },
      { ...settled, id: "four", sentence: "Something else is faster", kind: "not-testable", metric: "response-p99", verdict: "not_testable", why: "no round here has it", parts: [], notes: [] },
    ],
  };
}

const SEVEN = ["undertow", "jetty", "tomcat-apr", "tomcat-nio", "netty", "gin", "nginx-proxy@keep-alive-unlimited"];

/** Something of everything. */
export const everything = (): Page => full({ stacks: SEVEN, loads: [16, 64, 256], seconds: 15, tested: true });

/** So many stacks that no chart can show each of them. */
export const crowd = (): Page => full({ stacks: Array.from({ length: 200 }, (_, index) => `stack-${index + 1}`), loads: [64, 128], seconds: 3, tested: false });

/** One stack, one trial. */
export function single(): Page {
  const page = full({ stacks: ["alone"], loads: [64], seconds: 5, tested: false });
  const bare = { ...page, same_work: [], capacities: [], missing: { failures: [], left_out: {}, not_reached: [] } };
  delete bare.claims;
  for (const row of bare.tables[0]?.rows ?? []) Object.assign(row, { trials: 1, goodput_per_s: { value: row.goodput_per_s.value, low: null, high: null } });
  return bare;
}

/** A run that was ended before its first trial. */
export function nothing(): Page {
  const page = single();
  return { ...page, run: { ...page.run, trials: 0 }, answers: [], tables: [], sweeps: [], cells: [], missing: { failures: [], left_out: {}, not_reached: ["alone"] } };
}

/** Trials, and none whose figures stand; some figures could not be divided. */
export function invalid(): Page {
  const page = full({ stacks: ["one", "two"], loads: [64, 128], seconds: 5, tested: false });
  const none = Number.NaN as number;
  for (const table of page.tables) {
    for (const row of table.rows) {
      Object.assign(row, { invalid: "all", p50: null, p99: { us: 2e6, is_lower_bound: true }, p99_9: null, goodput_per_s: { value: 0, low: 0, high: 0 }, server_us_per_request: none, limit_kind: null });
    }
  }
  for (const cell of page.cells) Object.assign(cell, { percentiles: [], percentiles_censored: [[0, 2e6], [1, 2e6]], heat: null, timeline: null, warm_up: null });
  for (const sweep of page.sweeps) for (const series of sweep.series) for (const point of series.points) Object.assign(point, { goodput_per_s: { value: 0, low: 0, high: 0 }, p50_us: null, p99_us: null });
  page.answers = page.tables.map(() => ({ kind: "invalid", sentence: "The data support no winner: one comes first, and its figures do not stand (censored).", best: ["one"], next: null, ahead: null, failing: [], bounded: [], stopped_by: [] }));
  // What is no number is null in JSON.
  return JSON.parse(JSON.stringify(page)) as Page;
}

/** Names in any script and direction, and long ones. */
export const scripts = (): Page =>
  full({
    stacks: ["春日服务器", "שרת-אינטרנט", "خادم-الويب", "सर्वर", "🐢🐇 race", "a".repeat(160), "with spaces and (brackets) / slashes, and, commas"],
    loads: [64, 256],
    seconds: 5,
    tested: true,
  });

/** What a hostile string tries. Run, any of it sets `window.owned`. */
export const HOSTILE = '</script><script>window.owned=1</script><img src=x onerror="window.owned=2"><!--<script>\u2028\u2029\u202e"\'`${window.owned=3}&lt;';

/** The same document with such a string in each of its texts, names of keys included. */
export function hostile(): Page {
  const kept = new Set(["kind", "limit_kind", "ranked_by", "invalid", "over", "panel", "driver", "confidence", "setting", "unit", "size", "verdict", "explained_by", "knee", "metric", "part"]);
  const spoil = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return kept.has(key) ? value : `${value}${HOSTILE}`;
    if (Array.isArray(value)) return value.map((it) => spoil(it, key));
    if (value === null || typeof value !== "object") return value;
    const isMap = ["stacks", "tools", "sysctls", "errors", "left_out"].includes(key);
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [isMap ? name + HOSTILE : name, spoil(it, isMap ? "" : name)]));
  };
  return spoil(full({ stacks: ["one", "two", "three", "four"], loads: [64, 256], seconds: 5, tested: true })) as Page;
}

/** One table to choose by: a bound, what is not known, what is not valid, and boots with and without an interval. */
export function choosing(): Page {
  const page = full({ stacks: ["tomcat", "jetty"], loads: [64], seconds: 5, tested: true });
  const at = (us: number, more: Partial<ChoiceAt> = {}): ChoiceAt => ({ p99: { us, is_lower_bound: false }, rank_from: 1, rank_to: 1, letters: "a", to_best: null, invalid: "none", doubts: [], rss_bytes: 512 * 2 ** 20, ...more });
  const row = { invalid: "none", doubts: [], limit: "pool of 200 (http-nio-*-exec-*)", to_best: null } as const;
  const choice: Choice = {
    round: "hello",
    load: "64 connections",
    tested: true,
    rates: [{ share: 0.5, per_s: 4000 }, { share: 0.8, per_s: 6400 }],
    rows: [
      { ...row, doubts: [], stack: "jetty", rank_from: 1, rank_to: 1, letters: "a", goodput_per_s: { value: 10000, low: 9900, high: 10100 }, at: [at(2500), at(9100, { invalid: "times", doubts: ["late receiver"] })], boot: { seconds: { value: 1.5, low: 1.4, high: 1.7 }, count: 14 } },
      { ...row, doubts: [], stack: "tomcat", rank_from: 2, rank_to: 2, letters: "b", goodput_per_s: { value: 8000, low: 7900, high: 8100 }, to_best: { value: 0.8, low: 0.79, high: 0.81 }, at: [null, at(2e6, { p99: { us: 2e6, is_lower_bound: true }, rss_bytes: null })], boot: { seconds: { value: 2, low: null, high: null }, count: 4 } },
    ],
  };
  page.choices = [choice];
  return page;
}
