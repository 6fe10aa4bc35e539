/** What it takes to measure the same again, and what is missing. */

import type { View } from "../context.ts";
import { given, h, type Child } from "../dom.ts";
import { bytes, count, shell } from "../format.ts";
import type { Missing, RunFacts } from "../model.ts";
import { isKey, said, sentence, t, type Key } from "../strings.ts";

export function againSection({ page }: View): HTMLElement {
  const { run } = page;
  return h(
    "section",
    { id: "again", "aria-labelledby": "again-heading" },
    h("h2", { id: "again-heading" }, t("s_again")),
    command(run),
    h("div", { class: "facts" }, facts(run), machine(run), tools(run)),
    stacks(run),
    run.experiment === "" ? null : h("details", { class: "behind" }, h("summary", null, t("experiment")), h("pre", { tabindex: 0, role: "region", "aria-label": t("experiment") }, run.experiment)),
  );
}

function command({ argv }: RunFacts): HTMLElement {
  const text = shell(argv);
  const said = h("span", { class: "unseen", "aria-live": "polite" });
  const code = h("code", null, text);
  const button = h(
    "button",
    {
      type: "button",
      class: "copy",
      onclick: () => {
        const done = () => {
          button.textContent = t("copied");
          said.textContent = t("copied");
        };
        // A page opened from a disk may not write to the clipboard everywhere; then the text is selected.
        const select = () => getSelection()?.selectAllChildren(code);
        if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select);
        else select();
      },
    },
    t("copy"),
  );
  return h("div", { class: "command" }, h("pre", { tabindex: 0, role: "region", "aria-label": t("command") }, code), button, said);
}

function definitions(heading: Key, entries: [string, Child][]): HTMLElement {
  return h("div", null, h("h3", null, t(heading)), h("dl", null, entries.map(([term, value]) => [h("dt", null, term), h("dd", null, value)])));
}

function facts(run: RunFacts): HTMLElement {
  const [pace, placement] = [`pace_${run.pace}`, `placement_${run.placement}`];
  // Where they came from other machines there was no client to place beside the servers.
  const isPlaced = run.placement !== "" || !run.loaded_from;
  const placed: [string, Child][] = isPlaced ? [[t("placement"), isKey(placement) ? t(placement) : run.placement || t("unknown")]] : [];
  const loads: [string, Child][] = run.loaded_from ? [[t("loads"), said(run.loaded_from)]] : [];
  const sides: [string, Child][] = run.sides ? [[t("sides"), said(run.sides)]] : [];
  const processes = `processes_${run.processes}`;
  const lived: [string, Child][] = isKey(processes) ? [[t("processes"), t(processes)]] : [];
  return definitions("trials", [
    [t("started"), run.started],
    [t("seed"), String(run.seed)],
    [t("pace"), isKey(pace) ? t(pace) : run.pace || t("unknown")],
    ...placed,
    ...sides,
    ...loads,
    ...lived,
    [t("blocks"), t("blocks_text", { blocks: run.blocks, most: Math.max(run.blocks_max, run.blocks) })],
    [t("trials"), t("trials_text", { made: run.trials, planned: run.trials_planned })],
    [t("directory"), h("code", null, run.dir)],
  ]);
}

function machine({ machine }: RunFacts): HTMLElement {
  const { cpu, cores, memory_bytes, kernel, open_files, sysctls } = machine;
  const settings = Object.entries(sysctls);
  return definitions("machine", [
    [t("cpu"), [h("bdi", null, cpu ?? t("unknown")), `${t("comma")}${t("cores", { n: cores })}`]],
    [t("memory"), memory_bytes === null ? t("unknown") : bytes(memory_bytes)],
    [t("kernel"), kernel ?? t("unknown")],
    [t("open_files"), open_files === null ? t("unknown") : count(open_files)],
    ...(settings.length > 0
      ? [[t("sysctls"), h("ul", { class: "values" }, settings.map(([name, value]) => h("li", null, h("code", null, `${name} = ${value}`))))] as [string, Child]]
      : []),
  ]);
}

function tools({ tools, proofload }: RunFacts): HTMLElement {
  const all = Object.entries({ proofload, ...tools });
  return definitions("tools", all.map(([name, version]) => [name, h("bdi", null, version)]));
}

function stacks({ stacks }: RunFacts): Child {
  const all = Object.entries(stacks);
  if (all.length === 0) return null;
  const heads: Key[] = ["c_stack", "c_title", "c_inputs", "c_jdk", "c_upstreams"];
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": t("stacks") },
    h(
      "table",
      { class: "plain" },
      h("caption", null, t("stacks")),
      h("thead", null, h("tr", null, heads.map((key) => h("th", { scope: "col" }, t(key))))),
      h(
        "tbody",
        null,
        all.map(([id, { title, inputs, jdk, upstreams }]) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, given(id)),
            h("td", null, given(title)),
            h("td", null, inputs === null ? "–" : h("code", { class: "hash" }, inputs)),
            h("td", null, jdk ?? "–"),
            h("td", null, upstreams.length === 0 ? "–" : upstreams.map((it, index) => [index > 0 ? t("comma") : "", given(it)])),
          ),
        ),
      ),
    ),
  );
}

export function missingSection({ page }: View): HTMLElement {
  const { failures, left_out, not_reached } = page.missing;
  const isEmpty = failures.length === 0 && Object.keys(left_out).length === 0 && not_reached.length === 0;
  return h(
    "section",
    { id: "missing", "aria-labelledby": "missing-heading" },
    h("h2", { id: "missing-heading" }, t("s_missing")),
    isEmpty ? h("p", { class: "nothing" }, t("nothing_missing")) : [failed(page.missing), leftOut(page.missing), notReached(page.missing)],
  );
}

function failed({ failures }: Missing): Child {
  if (failures.length === 0) return null;
  const heads: Key[] = ["c_stack", "c_round", "c_load", "c_block", "c_error"];
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": t("failed_trials") },
    h(
      "table",
      { class: "plain" },
      h("caption", null, t("failed_trials")),
      h("thead", null, h("tr", null, heads.map((key) => h("th", { scope: "col" }, t(key))))),
      h(
        "tbody",
        null,
        failures.map(({ stack, round, load, block, error }) =>
          h("tr", null, h("th", { scope: "row" }, given(stack)), h("td", null, given(round)), h("td", null, sentence(load)), h("td", { class: "number" }, block), h("td", { class: "error", dir: "auto" }, error)),
        ),
      ),
    ),
  );
}

function leftOut({ left_out }: Missing): Child {
  const all = Object.entries(left_out);
  if (all.length === 0) return null;
  return h("div", null, h("h3", null, t("left_out")), h("ul", null, all.map(([stack, why]) => h("li", null, given(stack, { class: "stack" }), ": ", said(why)))));
}

function notReached({ not_reached }: Missing): Child {
  if (not_reached.length === 0) return null;
  return h("div", null, h("h3", null, t("not_reached")), h("ul", { class: "inline" }, not_reached.map((stack) => h("li", null, given(stack)))));
}
