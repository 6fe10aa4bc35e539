/** The served pages in a browser, with an answer made up for each path that they ask for. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test, type Page as Browser } from "@playwright/test";

const LIVE = fileURLToPath(new URL("../live/", import.meta.url));
const AXE = readFileSync(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");
/** No request leaves the browser: each is answered here. */
const HERE = "http://proofload.test";

const KINDS: Record<string, string> = { html: "text/html; charset=utf-8", css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" };

const trial = { number: 7, of: 54, of_max: 54, block: 2, round: "hello", load: "64 connections", stack: "nginx", role: "stack", driver: "proofload" };

/** A load of several machines under way, as `crates/live/src/view.rs` has it. */
const VIEW = {
  version: 1,
  kind: "experiment",
  title: "Quick look",
  dir: null,
  elapsed_s: 75,
  stage: { name: "measuring", detail: null, for_s: 3, of_s: 15 },
  trial,
  bursts: [{ goodput_per_s: 4821, jit_share: null }],
  steadiness: "steady",
  left: { trials: 48, trials_max: 48, left_s: 500, left_s_max: 900 },
  finished: [{ ...trial, goodput_per_s: 5000, p99_us: 3400, p99_is_lower_bound: true, verdict: "valid", failure: null }],
  finished_count: 1,
  seconds: [0, 1, 2].map((from_s) => ({ burst: null, from_s, goodput_per_s: 5000 + from_s, p50_us: 800, p50_is_lower_bound: false, p99_us: 3400 + from_s, p99_is_lower_bound: from_s === 2, failures: {} })),
  last_second_ago_s: 7.2,
  outcomes: { intended: 1000, answered_as_expected: 985, failures: { timed_out: 15 } },
  outcomes_so_far: { intended: 2000, answered_as_expected: 1985, failures: { timed_out: 15 } },
  histogram: [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, null].map((up_to_us) => ({ up_to_us, count: 10 })),
  cpu: { cores: 2, generator: 0.43, servers: 1.02, others: 0.1, interrupts: null, steal: 0 },
  warnings: [{ kind: "doubt", of: "gin", text: "late generator: lag p99 3 ms", times: 2 }],
  agents: [
    { number: 2, name: "load3", generator_lag_p99_us: 3000, generator_lag_p99_is_lower_bound: false, silent_s: 12, lost: true },
    { number: 0, name: "load1", generator_lag_p99_us: 38, generator_lag_p99_is_lower_bound: true, silent_s: 0, lost: false },
  ],
  ended: null,
};

const RUNS = { runs: [{ name: "quick-1", title: "Quick look", started: "2026-11-22T03:36:43Z", pace: "quick", trials: 54, planned: 54, state: "complete", error: null }] };
const HISTORY = {
  series: [{ title: "Quick look", round: "hello", load: "64 connections", stack: "nginx", driver: null, agents: null, pace: "quick", placement: "shared", processes: null, points: [{ run: "quick-1", value: 5000 }], changes: [] }],
};

/** Opens a page as the program serves it. */
async function open(browser: Browser, page: "live" | "runs", { lang = "en", view = VIEW, width = 1440 }: { lang?: string; view?: object; width?: number } = {}): Promise<void> {
  await browser.route(`${HERE}/**`, (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/events") return route.fulfill({ contentType: "text/event-stream", body: `data: ${JSON.stringify(view)}\n\n` });
    if (path === "/runs.json") return route.fulfill({ json: RUNS });
    if (path === "/history.json") return route.fulfill({ json: HISTORY });
    const name = path === "/" ? `${page}.html` : path.slice(1);
    return route.fulfill({ contentType: KINDS[name.split(".").at(-1) ?? ""] ?? "text/plain", body: readFileSync(`${LIVE}${name}`, "utf8") });
  });
  await browser.setViewportSize({ width, height: 900 });
  await browser.goto(`${HERE}/?lang=${lang}`);
  await expect(browser.locator(page === "live" ? "#finished tr" : "#history svg")).toHaveCount(1);
}

for (const page of ["live", "runs"] as const) {
  for (const lang of ["en", "zh"]) {
    test(`axe finds nothing serious in the page ${page}, ${lang}`, async ({ page: browser }) => {
      await browser.emulateMedia({ colorScheme: lang === "zh" ? "dark" : "light" });
      await open(browser, page, { lang });
      await browser.evaluate(AXE);
      const faults = await browser.evaluate(async () => {
        type Found = { violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] };
        const { violations } = await (window as unknown as { axe: { run(): Promise<Found> } }).axe.run();
        return violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) => `${it.id}: ${it.nodes.length} × ${it.nodes[0]?.html.slice(0, 160)} ${it.nodes[0]?.failureSummary}`);
      });
      expect(faults).toEqual([]);
    });
  }

  test(`the page ${page} fits a phone, and what is wider is scrolled by keyboard`, async ({ page: browser }) => {
    await open(browser, page, { width: 360 });
    expect(await browser.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(361);
    const unreached = await browser.locator(".wide").evaluateAll((all) => all.filter((it) => it.getAttribute("tabindex") !== "0" || !it.hasAttribute("aria-labelledby")).length);
    expect(unreached).toBe(0);
  });
}

test("figures that change twice a second are read out when one goes there, and not by themselves", async ({ page }) => {
  await open(page, "live");
  // `output` announces each change of what is in it.
  await expect(page.locator("output, #rate[aria-live], #p99[aria-live]")).toHaveCount(0);
  await expect(page.locator("#rate-curve svg")).toHaveAttribute("aria-label", "goodput: 5002/s; largest 5002/s");
  await expect(page.locator("#p99-curve svg")).toHaveAttribute("aria-label", "p99: >3.40 ms; largest >3.40 ms");
  await expect(page.locator("#p99-curve svg text")).toHaveText(">3.40 ms");
  await expect(page.locator("#histogram svg")).toHaveAttribute("aria-label", /: ≤ 500 us: 8\.3 %, /);
  await expect(page.locator("#cpu progress").first()).toHaveAttribute("aria-label", "servers");
});

test("the page says how long ago its figures were made", async ({ page }) => {
  await open(page, "live");
  await expect(page.locator("#as-of")).toContainText("It ended 7 s ago.");
  await open(page, "live", { view: { ...VIEW, last_second_ago_s: null } });
  await expect(page.locator("#as-of")).toContainText("of an earlier load");
});

test("the page has the machines that carry the load, the worst first", async ({ page }) => {
  await open(page, "live");
  await expect(page.locator("#agents li")).toHaveText(["2 (load3) lost", "0 (load1) lag >38.0 us"]);
  const { agents: _, ...alone } = VIEW;
  await open(page, "live", { view: alone });
  await expect(page.locator("#agents-part")).toBeHidden();
});

test("counts are in the page's language", async ({ page }) => {
  await open(page, "live", { lang: "zh", view: { ...VIEW, stage: { name: "opening", detail: "31 of 300", for_s: 1, of_s: null } } });
  await expect(page.locator("#stage")).toHaveText("建立连接 31 / 300");
  await expect(page.locator("#language")).toHaveAttribute("lang", "en");
});

test("each word of the pages has a Chinese one", async ({ page }) => {
  await open(page, "live");
  const keys = (lang: string) => page.evaluate(`[WORDS.${lang}, WORDS.${lang}.stages, WORDS.${lang}.kinds].map((words) => Object.keys(words).sort())`);
  expect(await keys("zh")).toEqual(await keys("en"));
});
