// Measures the three libraries, and the page itself, on a document: node bench/run.js DOCUMENT.json (a `Page`).
// Each is opened ROUNDS times in turn in a fresh page; medians are printed.

import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { chromium } from "@playwright/test";
import { build } from "vite";

const ROUNDS = 7;
const here = fileURLToPath(new URL(".", import.meta.url));
const [document] = process.argv.slice(2);
if (!document) {
  console.error("bench: name a document: node bench/run.js DOCUMENT.json");
  process.exit(2);
}
const json = readFileSync(document, "utf8").replace(/[<>&\u2028\u2029]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
const slot = '<script type="application/json" id="proofload-page">null</script>';
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function bundle(name) {
  const { output } = await build({ configFile: false, logLevel: "error", root: here, build: { write: false, target: "es2022", rollupOptions: { input: `${here}${name}.js` } } }).then((it) => [it].flat()[0]);
  return output.find((it) => it.type === "chunk").code.replaceAll("</script", "<\\/script");
}

mkdirSync(`${here}out`, { recursive: true });
const subjects = [];
for (const name of ["plot", "echarts", "uplot"]) {
  const code = await bundle(name);
  const html = `<!doctype html><meta charset="utf-8"><div id="report"></div>${slot.replace("null", () => json)}<script type="module">${code}</script>`;
  writeFileSync(`${here}out/${name}.html`, html);
  subjects.push({ name, code, html });
}
const dist = readFileSync(`${here}../dist/report.html`, "utf8");
writeFileSync(`${here}out/page.html`, dist.replace(slot, () => slot.replace("null", () => json)));
subjects.push({ name: "page", code: dist, html: dist });

const browser = await chromium.launch({ executablePath: process.env.PROOFLOAD_CHROMIUM ?? "/usr/bin/chromium", args: ["--enable-precise-memory-info", "--js-flags=--expose-gc"] });
const took = new Map(subjects.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const { name } of subjects) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    await page.goto(pathToFileURL(`${here}out/${name}.html`).href);
    if (name === "page") {
      // Usable: the answer and the first table are there and a frame was painted.
      await page.waitForSelector("main section#ranking");
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => ((window.took = { draw_ms: Number.NaN, open_ms: performance.getEntriesByType("paint").at(-1)?.startTime ?? performance.now() }), done()), 0))));
    } else await page.waitForFunction(() => window.took);
    const one = await page.evaluate(() => {
      globalThis.gc?.();
      return { ...window.took, heap: performance.memory.usedJSHeapSize, nodes: document.querySelectorAll("*").length };
    });
    took.get(name).push(one);
    await page.close();
  }
}
await browser.close();
console.log("| | code, KB | gzipped, KB | drawing, ms | opening to drawn, ms | JS heap, MB | elements |\n|---|---:|---:|---:|---:|---:|---:|");
for (const { name, code } of subjects) {
  const of = (key) => median(took.get(name).map((it) => it[key]));
  const cells = [name, code.length / 1e3, gzipSync(code).length / 1e3, of("draw_ms"), of("open_ms"), of("heap") / 1e6, of("nodes")];
  console.log(`| ${cells.map((it) => (typeof it === "number" ? (Number.isNaN(it) ? "–" : it.toFixed(it < 20 ? 1 : 0)) : it)).join(" | ")} |`);
}
