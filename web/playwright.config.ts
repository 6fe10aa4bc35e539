import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";

/** A Chromium of the system: none is fetched for a test. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"];
const chromium = process.env["PROOFLOAD_CHROMIUM"] ?? PLACES.find((it) => existsSync(it));

export default defineConfig({
  testDir: "tests",
  outputDir: "tests/out/results",
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  // Once in many hundred tests a headless Chromium stops making frames for good. A test that needed a second try is listed as
  // flaky; one that fails twice fails.
  retries: 1,
  reporter: "list",
  use: { browserName: "chromium", launchOptions: chromium === undefined ? {} : { executablePath: chromium } },
});
