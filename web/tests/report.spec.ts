/**
 * The page in a browser. Layout is held by boxes (what is beside what, what fits where) and not by pictures: fonts differ
 * between machines, and a tolerance that forgives them forgives a broken row as well.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test, type Page as Browser } from "@playwright/test";

import type { Page } from "../src/model.ts";
import * as documents from "./documents.ts";
import { open, sample, SAMPLES, seeAll } from "./page.ts";

const AXE = readFileSync(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");

const MADE_UP = {
  everything: documents.everything,
  crowd: documents.crowd,
  single: documents.single,
  nothing: documents.nothing,
  invalid: documents.invalid,
  scripts: documents.scripts,
  hostile: documents.hostile,
  choosing: documents.choosing,
};
const ALL: [string, () => Page][] = [...SAMPLES.map((name): [string, () => Page] => [name, () => sample(name)]), ...Object.entries(MADE_UP)];

/** Marks in every drawing: a line, a bar or a dot that data made. */
const MARKS = "path, circle, rect, line";

for (const [name, make] of ALL) {
  test(`${name}: is whole, quiet, and draws every chart`, async ({ page }, info) => {
    const document = make();
    const watch = await open(page, info, document);
    await seeAll(page);
    const empty = await page.locator(".stage svg").evaluateAll((drawings, marks) => drawings.filter((it) => it.querySelectorAll(marks).length < 3).length, MARKS);
    expect(empty).toBe(0);
    await expect(page.locator("#answer .headline")).not.toBeEmpty();
    const rows = document.tables.reduce((sum, table) => sum + table.rows.length, 0);
    await expect(page.locator(".rows tbody tr")).toHaveCount(rows);
    await expect(page.locator(".card")).toHaveCount(document.cells.length);
    for (const id of ["ranking", "curves", "trial", "why", "again", "missing"]) await expect(page.locator(`section#${id} > h2`)).toBeVisible();
    expect(await page.getByText(/undefined|NaN|Infinity|\[object/).count()).toBe(0);
    watch.clean();
  });
}

test("it says where loads came from, and nothing of a client beside the servers", async ({ page }, info) => {
  const document = documents.everything();
  const loaded_from = "The loads came from 2 agents, on other machines than the servers: load1, load2.";
  const watch = await open(page, info, { ...document, run: { ...document.run, placement: "", loaded_from } }, { lang: "en" });
  await expect(page.locator("#again dd").filter({ hasText: loaded_from })).toHaveCount(1);
  await expect(page.locator("#again dt").filter({ hasText: "Placement" })).toHaveCount(0);
  watch.clean();
});

test("where cores are not all alike it says which each side had", async ({ page }, info) => {
  const document = documents.everything();
  const sides = "servers on 4-7 (the fastest kind, node 1), client on 0-3 (the slowest kind, node 0)";
  const watch = await open(page, info, { ...document, run: { ...document.run, placement: "split", sides, processes: "block" } }, { lang: "en" });
  await expect(page.locator("#again dd").filter({ hasText: sides })).toHaveCount(1);
  await expect(page.locator("#again dd").filter({ hasText: "each block had its own" })).toHaveCount(1);
  await page.locator("#lang").selectOption("zh");
  await expect(page.locator("#again dd").filter({ hasText: "服务器用 4-7（最快的一种、节点 1），客户端用 0-3（最慢的一种、节点 0）" })).toHaveCount(1);
  watch.clean();
});

test("a run that ended when its claims were decided is not said to have too few blocks", async ({ page }, info) => {
  const document = documents.full({ stacks: ["one", "two"], loads: [64, 128], seconds: 3, tested: false });
  for (const table of document.tables) table.ended_by_claims = true;
  const watch = await open(page, info, document, { lang: "en" });
  await expect(page.locator("#answer .badge")).toHaveText(["not tested: ended with the claims", "not tested: ended with the claims"]);
  await expect(page.locator(".rows caption").first()).toContainText("Blocks ended when claims were decided");
  await expect(page.locator(".rows caption").filter({ hasText: "Too few blocks" })).toHaveCount(0);
  await page.locator("#lang").selectOption("zh");
  await expect(page.locator("#answer .headline")).toContainText("试验随论断判定而结束");
  watch.clean();
});

test("hostile strings are text", async ({ page }, info) => {
  const watch = await open(page, info, documents.hostile());
  await seeAll(page);
  await hover(page, "#percentiles .stage");
  await expect(page.locator("#percentiles .tip")).toContainText("<img src=x");
  for (const summary of await page.locator("details.behind > summary").all()) await summary.click();
  expect(await page.evaluate(() => (window as unknown as { owned?: number }).owned)).toBeUndefined();
  await expect(page.locator("#report img, #report script, #report iframe")).toHaveCount(0);
  watch.clean();
});

test("the page allows itself no network and no other script", async ({ page }, info) => {
  await open(page, info, documents.single());
  const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'unsafe-inline'; img-src data:;/);
  const tried = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.owned = 4";
    document.body.append(script);
    const fetched = await fetch("http://127.0.0.1:9/").then(() => "sent", () => "refused");
    return [(window as unknown as { owned?: number }).owned, fetched];
  });
  expect(tried).toEqual([undefined, "refused"]);
});

async function hover(page: Browser, stage: string, share = 0.5): Promise<void> {
  const place = page.locator(stage).first();
  await place.scrollIntoViewIfNeeded();
  await expect(place.locator("svg")).toBeVisible();
  const box = await place.boundingBox();
  if (!box) throw new Error(`${stage} has no box`);
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
}

test("tool tips say what is under the pointer, and legends switch", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything());
  for (const chart of ["#sweep-0-rate", "#sweep-0-times", "#percentiles", "#slope-ratio"]) {
    await hover(page, `${chart} .stage`);
    await expect(page.locator(`${chart} .tip`)).toBeVisible();
    await expect(page.locator(`${chart} .tip td`).first()).toHaveText(/\d/);
  }
  await hover(page, "#percentiles .stage", 0.6);
  const rows = page.locator("#percentiles .tip tr");
  const all = await rows.count();
  const lines = page.locator("#percentiles svg .marks");
  const drawn = await lines.count();
  await page.locator("#percentiles .legend button").first().click();
  await expect(page.locator("#percentiles .legend button").first()).toHaveAttribute("aria-pressed", "false");
  await expect(lines).toHaveCount(drawn - 1);
  await hover(page, "#percentiles .stage", 0.6);
  await expect(rows).toHaveCount(all - 1);
  await page.locator("#percentiles .legend button").first().click();
  await expect(lines).toHaveCount(drawn);
  watch.clean();
});

test("a cursor in one panel is a cursor in all", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything());
  await seeAll(page);
  await hover(page, "#timeline-rate .stage", 0.7);
  const panels = await page.locator(".panels .chart").count();
  expect(panels).toBeGreaterThanOrEqual(9);
  await expect(page.locator(".panels .rule[visibility='visible']")).toHaveCount(panels);
  await expect(page.locator("#timeline-memory .legend .value").first()).toHaveText(/MiB/);
  await expect(page.locator("#timeline-thread_groups .legend .value").first()).toHaveText(/\d/);
  await page.mouse.move(5, 5);
  await expect(page.locator(".panels .rule[visibility='visible']")).toHaveCount(0);
  watch.clean();
});

test("another trial, another table, and the warm-up can be chosen", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything());
  await seeAll(page);
  await page.locator("#choose-cell").selectOption({ index: 3 });
  await expect(page.locator("#trial .about")).toContainText("tomcat-nio");
  await page.locator(".switch input").check();
  await expect(page.locator("#timeline-cpu .stage > svg g[fill='var(--shade)'] rect")).toHaveCount(1);
  await page.locator("#choose-table").selectOption({ index: 2 });
  await expect(page.locator("#percentiles .stage")).toHaveAttribute("aria-label", /256 connections/);
  await page.locator("a[data-cell='1']").click();
  await expect(page.locator("#trial .about")).toContainText("jetty");
  watch.clean();
});

test("everything is reached by keyboard, and seen to be", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything());
  await seeAll(page);
  const stage = page.locator("#sweep-0-rate .stage");
  await stage.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(page.locator("#sweep-0-rate .tip")).toContainText("64 connections");
  await expect(page.locator("#sweep-0-rate [aria-live]")).toContainText("undertow");
  await page.keyboard.press("Escape");
  await expect(page.locator("#sweep-0-rate .tip")).toBeHidden();
  await page.locator("#timeline-cpu .stage").focus();
  await page.keyboard.press("End");
  await expect(page.locator("#timeline-rate .rule")).toHaveAttribute("visibility", "visible");
  // From the top, each stop of the tab key is a control with a visible mark of focus.
  await page.reload();
  const seen = new Set<string>();
  for (let press = 0; press < 25; press++) {
    await page.keyboard.press("Tab");
    const now = await page.evaluate(() => {
      const it = document.activeElement as HTMLElement;
      return { name: `${it.tagName} ${it.id} ${it.textContent?.slice(0, 20)}`, outline: getComputedStyle(it).outlineStyle };
    });
    expect(now.outline, now.name).not.toBe("none");
    seen.add(now.name.split(" ")[0] ?? "");
  }
  for (const tag of ["A", "SELECT", "BUTTON", "SUMMARY"]) expect([...seen]).toContain(tag);
  watch.clean();
});

test("what one chooses by is one table, before the rankings", async ({ page }, info) => {
  const watch = await open(page, info, documents.choosing(), { lang: "en" });
  await expect(page.locator("main > section").nth(1)).toHaveAttribute("id", "choose");
  const rows = page.locator("#choose tbody tr");
  const cells = async (row: number) => (await rows.nth(row).locator("td, th").allInnerTexts()).map((it) => it.replace(/\s+/g, " "));
  expect(await cells(0)).toEqual(["1", "jettya", "10000/s", "2.50 msa", "9.10 msa", "512 MiB", "1.50 s (1.40 s … 1.70 s)", "pool of 200 (http-nio-*-exec-*) at 80 %: late receiver"]);
  expect(await cells(1)).toEqual(["2", "tomcatb", "8000/s −20.0 % (−21.0 % … −19.0 %)", "–", ">2.00 sa", "–", "2.00 s", "pool of 200 (http-nio-*-exec-*)"]);
  await expect(rows.nth(0).locator("s")).toHaveText("9.10 ms");
  await expect(page.locator("#choose caption")).toContainText("asked 50 % (4000/s) and 80 % (6400/s) of what the slowest of them carries");
  await page.locator("#lang").selectOption("zh");
  await expect(page.locator("#choose-heading")).toHaveText("选型表");
  await expect(page.locator("#choose thead")).toContainText("80 % 负载下的内存");
  await expect(page.locator("#choose h3")).toContainText("64 个连接");
  await expect(rows.nth(0)).toContainText("80 % 负载下：发生器接收偏晚");
  watch.clean();
});

test("it speaks English and Chinese, and remembers", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything(), { lang: "en" });
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.locator("#ranking-heading")).toHaveText("Ranking");
  await page.locator("#lang").selectOption("zh");
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  await expect(page.locator("#ranking-heading")).toHaveText("排名");
  await expect(page.locator("#answer .headline")).toContainText("undertow 的有效速率比 jetty 高 11.0");
  await expect(page.locator("#why-0")).toContainText("200 个线程的池");
  await expect(page.locator("#why-0")).toContainText("垃圾回收：占 1.0 % 的时间");
  await expect(page.locator(".doubts summary").first()).toHaveAttribute("aria-label", /^[\u4e00-\u9fff][^a-z]*：疑点详情$/);
  await page.goto(page.url().replace("lang=en&", ""));
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  // What has no translation says that it is English.
  await expect(page.locator("#claims [lang=en]").first()).toBeVisible();
  await expect(page.locator("#claims .otherwise")).toContainText("核心数：原文 4 个，这里 2 个");
  await expect(page.locator("#claims .derived")).toHaveCount(1);
  watch.clean();
});

test("the language is the browser's where nobody chose", async ({ browser }, info) => {
  const context = await browser.newContext({ locale: "zh-CN" });
  const page = await context.newPage();
  await open(page, info, documents.single(), { lang: "" });
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  await context.close();
});

test("dark and light, by the system and by choice", async ({ page }, info) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, info, documents.single(), { theme: "auto" });
  expect(await ground()).toBe("rgb(21, 23, 26)");
  await page.locator("#theme").selectOption("light");
  expect(await ground()).toBe("rgb(253, 253, 251)");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("#theme").selectOption("dark");
  expect(await ground()).toBe("rgb(21, 23, 26)");
});

test("on paper every chart is drawn, seen before or not", async ({ page }, info) => {
  const watch = await open(page, info, documents.everything(), { theme: "dark" });
  const charts = await page.locator(".chart").count();
  expect(charts).toBeGreaterThan(12);
  expect(await page.locator(".stage svg").count()).toBeLessThan(charts);
  await page.evaluate(() => {
    const counts: number[] = [];
    Object.assign(window, { counts });
    addEventListener("beforeprint", () => counts.push(document.querySelectorAll(".stage svg").length, document.querySelectorAll(".card details[open]").length));
  });
  const paper = await page.pdf({ format: "A4", printBackground: false });
  const [drawn, open_] = (await page.evaluate(() => (window as unknown as { counts: number[] }).counts)) as [number, number];
  expect(drawn).toBe(charts);
  expect(open_).toBe(await page.locator(".card").count());
  const pages = paper.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
  expect(pages).toBeGreaterThan(4);
  await page.emulateMedia({ media: "print" });
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
  await expect(page.locator(".settings")).toBeHidden();
  // As wide as A4 between its margins: nothing is cut off, and names have their room.
  await page.setViewportSize({ width: 703, height: 1000 });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(704);
  const cut = await page.locator(".scroll").evaluateAll((all) => all.filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.getAttribute("aria-label") ?? it.getAttribute("aria-labelledby")));
  expect(cut).toEqual([]);
  const box = await page.locator(".rows tbody .c-stack").first().boundingBox();
  expect(box?.width).toBeGreaterThan(100);
  watch.clean();
});

for (const [name, make] of [["everything", documents.everything], ["quick", () => sample("quick")], ["servlet-containers", () => sample("servlet-containers")], ["nothing", documents.nothing]] as [string, () => Page][]) {
  for (const theme of ["light", "dark"]) {
    test(`axe finds nothing serious: ${name}, ${theme}`, async ({ page }, info) => {
      await open(page, info, make(), { theme, lang: theme === "dark" ? "zh" : "en" });
      await seeAll(page);
      // All that is folded but the figures behind charts, of which one is like another.
      await page.evaluate(() => {
        const folded = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
        const figures = folded.filter((it) => it.closest(".chart"));
        for (const it of [...folded.filter((one) => !figures.includes(one)), ...figures.slice(0, 1)]) it.open = true;
      });
      await page.evaluate(AXE);
      const faults = await page.evaluate(async () => {
        type Found = { violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] };
        const { violations } = await (window as unknown as { axe: { run(): Promise<Found> } }).axe.run();
        return violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) => `${it.id}: ${it.nodes.length} × ${it.nodes[0]?.html.slice(0, 160)} ${it.nodes[0]?.failureSummary}`);
      });
      expect(faults).toEqual([]);
    });
  }
}

for (const width of [360, 800, 1440]) {
  for (const [name, make] of [["everything", documents.everything], ["scripts", documents.scripts], ["crowd", documents.crowd]] as [string, () => Page][]) {
    test(`${name} fits ${width} px`, async ({ page }, info) => {
      await open(page, info, make(), { width, lang: name === "scripts" ? "zh" : "en" });
      await seeAll(page);
      const wide = await page.evaluate(() => {
        const most = document.documentElement.clientWidth + 1;
        const isScrolled = (it: Element) => it.closest(".scroll, .unseen, .legend, svg") !== null || it.classList.contains("skip");
        const all = [...document.querySelectorAll("#report *")].filter((it) => !isScrolled(it));
        return [document.documentElement.scrollWidth <= most ? "" : "the page scrolls sideways", ...all.filter((it) => it.getBoundingClientRect().right > most).map((it) => `${it.tagName}.${it.className}`)].filter((it) => it !== "");
      });
      expect([...new Set(wide)]).toEqual([]);
      const sections = await page.locator("main > section").evaluateAll((all) => all.map((it) => it.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]));
      for (let index = 1; index < sections.length; index++) expect(sections[index]?.[0] ?? 0).toBeGreaterThanOrEqual((sections[index - 1]?.[1] ?? 0) - 1);
      await boxes(page, width);
    });
  }
}

/** Documents that people read, and those made up to strain the page. */
const DOCUMENTS: [string, () => Page][] = [
  ...SAMPLES.map((name): [string, () => Page] => [name, () => sample(name)]),
  ["everything", documents.everything],
  ["scripts", documents.scripts],
];

// The least at which rows are a table, and the widths that most screens have.
for (const width of [1181, 1280, 1366, 1440]) {
  for (const lang of ["en", "zh"]) {
    test(`no column of a table is cut off at ${width} px, ${lang}`, async ({ page }, info) => {
      const cut: string[] = [];
      for (const [name, make] of DOCUMENTS) {
        await open(page, info, make(), { width, lang });
        await seeAll(page);
        const wide = await page.locator(".scroll").evaluateAll((all) =>
          all
            .filter((it) => it.clientWidth > 0 && it.scrollWidth > it.clientWidth)
            .map((it) => `${it.querySelector("table")?.className}: ${it.scrollWidth - it.clientWidth} px`),
        );
        cut.push(...wide.map((it) => `${name}: ${it}`));
      }
      expect(cut).toEqual([]);
    });
  }
}

/** What is beside what at a width. */
async function boxes(page: Browser, width: number): Promise<void> {
  const first = page.locator(".rows tbody tr").first();
  const cell = async (name: string) => {
    const box = await first.locator(`.c-${name}`).boundingBox();
    if (!box) throw new Error(`a row has no ${name}`);
    return box;
  };
  const [stack, goodput, p50, p99, limit] = [await cell("stack"), await cell("goodput"), await cell("p50"), await cell("p99"), await cell("limit")];
  expect(goodput.x).toBeGreaterThanOrEqual(stack.x + stack.width - 1);
  expect(p99.x).toBeGreaterThan(p50.x);
  expect(Math.abs(p99.y - p50.y)).toBeLessThan(2);
  if (width < 1180) {
    // A card: the limit has a line to itself below the figures.
    expect(limit.y).toBeGreaterThan(p50.y + p50.height - 1);
  } else {
    expect(Math.abs(limit.y - stack.y)).toBeLessThan(2);
    // Numbers of a column end at one edge.
    const rights = await page.locator(".rows").first().locator("tbody .c-p99").evaluateAll((all) => all.map((it) => Math.round(it.getBoundingClientRect().right)));
    expect(new Set(rights).size).toBe(1);
  }
  const halves = await page.locator(".halves").first().locator(".chart").evaluateAll((all) => all.slice(0, 2).map((it) => it.getBoundingClientRect().top));
  if (halves.length === 2) expect(Math.abs((halves[1] ?? 0) - (halves[0] ?? 0)) < 2).toBe(width > 1000);
  // Drawings are as wide as their place, so that nothing in them is scaled.
  const off = await page.locator(".stage svg").evaluateAll((all) => all.filter((it) => Math.abs(it.getBoundingClientRect().width - (it.parentElement?.clientWidth ?? 0)) > 2).length);
  expect(off).toBe(0);
}

test("a page without a document says so", async ({ page }, info) => {
  await open(page, info, null as unknown as Page);
  await expect(page.locator("main")).toContainText("There is no document in this page");
});

test("a newer document is shown with a word of warning", async ({ page }, info) => {
  const watch = await open(page, info, { ...documents.single(), version: 99 });
  await expect(page.locator(".notice")).toContainText("version 99");
  watch.clean();
});
