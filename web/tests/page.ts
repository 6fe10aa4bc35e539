/** Opens documents as a user would: a file on a disk, without a server. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL, fileURLToPath } from "node:url";

import { expect, type Page as Browser, type TestInfo } from "@playwright/test";

import type { Page } from "../src/model.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const EMPTY = "<script type=\"application/json\" id=\"proofload-page\">null</script>";

/** A recorded run's document. */
export function sample(name: string): Page {
  return JSON.parse(readFileSync(`${HERE}samples/${name}.json`, "utf8")) as Page;
}

export const SAMPLES = ["quick", "servlet-containers", "elastic", "gateways"];

/** The page with a document in it, as `report::html` makes it: nothing in the JSON can end its element. */
export function filled(page: Page): string {
  const dist = readFileSync(`${HERE}../dist/report.html`, "utf8");
  const json = JSON.stringify(page).replace(/[<>&\u2028\u2029]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
  expect(dist.split(EMPTY).length, "the page has one place for a document").toBe(2);
  return dist.replace(EMPTY, () => EMPTY.replace("null", () => json));
}

export interface Options {
  lang?: string;
  theme?: string;
  width?: number;
}

/** What a page did that it should not. */
export class Watch {
  readonly faults: string[] = [];

  constructor(browser: Browser, file: string) {
    browser.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.faults.push(`console: ${message.text()}`);
    });
    browser.on("pageerror", (error) => this.faults.push(`error: ${error.message}`));
    browser.on("request", (request) => {
      if (!request.url().startsWith(file) && !request.url().startsWith("data:")) this.faults.push(`request: ${request.url()}`);
    });
  }

  clean(): void {
    expect(this.faults).toEqual([]);
  }
}

/** Opens a document. */
export async function open(browser: Browser, info: TestInfo, page: Page, { lang = "en", theme = "light", width = 1440 }: Options = {}): Promise<Watch> {
  mkdirSync(`${HERE}out`, { recursive: true });
  const file = `${HERE}out/${info.testId}-${lang}-${theme}-${width}.html`;
  writeFileSync(file, filled(page));
  const url = pathToFileURL(file).href;
  const watch = new Watch(browser, url);
  await browser.setViewportSize({ width, height: 900 });
  await browser.goto(`${url}?lang=${lang}&theme=${theme}`);
  await expect(browser.locator("main")).toBeVisible();
  return watch;
}

/**
 * Scrolls through the page, so that every chart has come into view. A headless Chromium can lose the frame that it was asked
 * for and make none until something moves again; so a frame is waited for up to FRAME_MS, and what stayed undrawn is
 * scrolled to again.
 */
export async function seeAll(browser: Browser): Promise<void> {
  const undrawn = () =>
    browser.evaluate(async (frameMs) => {
      const isDrawn = (box: Element) => box.querySelector(".stage svg") !== null;
      for (const box of document.querySelectorAll(".chart-box")) {
        if (isDrawn(box)) continue;
        box.scrollIntoView({ behavior: "instant", block: "center" });
        // Observers report after a frame.
        await new Promise<void>((done) => {
          const late = setTimeout(done, frameMs);
          requestAnimationFrame(() => setTimeout(() => (clearTimeout(late), done()), 0));
        });
      }
      scrollTo({ top: 0, behavior: "instant" });
      return [...document.querySelectorAll(".chart-box")].filter((box) => !isDrawn(box)).length;
    }, FRAME_MS);
  await expect.poll(undrawn, { timeout: 30_000 }).toBe(0);
}

const FRAME_MS = 1000;
