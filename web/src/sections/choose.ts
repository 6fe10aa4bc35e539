/** What one chooses by: a table of what each stack carries, how long it takes at rates that all can carry, memory, boot and limit. */

import { type View } from "../context.ts";
import { given, h, type Child } from "../dom.ts";
import { bounded, brief, bytes, ends, isNumber, NONE, off, percent, perS, time } from "../format.ts";
import type { Boots, Choice, ChoiceAt, ChoiceRow, Interval, Invalid } from "../model.ts";
import { said, sentence, t } from "../strings.ts";

/** Nothing where no stack was asked at a share of what the slowest carries. */
export function chooseSection(view: View): HTMLElement | null {
  const choices = view.page.choices ?? [];
  if (choices.length === 0) return null;
  return h("section", { id: "choose", "aria-labelledby": "choose-heading" }, h("h2", { id: "choose-heading" }, t("s_choose")), choices.map(block));
}

function block(choice: Choice, index: number): HTMLElement {
  const id = `choice-${index}`;
  return h(
    "div",
    { class: "choice" },
    h("h3", { id }, h("bdi", null, t("table_heading", { round: choice.round, load: sentence(choice.load) }))),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": id }, tableOf(choice)),
  );
}

function tableOf(choice: Choice): HTMLElement {
  const shares = choice.rates.map(({ share }) => shareOf(share));
  const last = shares.at(-1) ?? NONE;
  const numbers = [t("c_goodput"), ...shares.map((share) => t("c_p99_at", { share })), t("c_memory_at", { share: last }), t("c_boot")];
  const head = [t("c_rank"), t("c_stack"), ...numbers, t("c_limit")].map((text, index) => h("th", { class: index >= 2 && index < 2 + numbers.length ? "number" : null, scope: "col" }, text));
  return h("table", { class: "plain" }, h("caption", null, captionOf(choice)), h("thead", null, h("tr", null, head)), h("tbody", null, choice.rows.map((row) => rowOf(choice, row))));
}

function rowOf(choice: Choice, row: ChoiceRow): HTMLElement {
  const rank = row.rank_from === row.rank_to ? String(row.rank_from) : `${row.rank_from}–${row.rank_to}`;
  const at = choice.rates.map((_, index) => number(row.at[index] ? p99(row.at[index]) : NONE));
  const memory = row.at.at(-1)?.rss_bytes;
  return h(
    "tr",
    null,
    h("td", null, rank),
    h("th", { scope: "row" }, given(row.stack, { class: "stack" }), letters(row.letters)),
    number([struck(perS(row.goodput_per_s.value), row.invalid === "all"), toBest(row.to_best)]),
    at,
    number(bytes(memory)),
    number(row.boot ? boot(row.boot) : NONE),
    h("td", null, row.limit ? said(row.limit) : NONE, badge(row.invalid), doubts(choice, row)),
  );
}

/** A share of what the slowest carries, to the tenth of a percent as it is asked for. */
function shareOf(share: number): string {
  return brief(percent(share, 1));
}

/** What speaks against the figures of a row, at full load and at each of the rates. What its limit says need not be said again. */
export function doubtsOf({ rates }: Choice, row: ChoiceRow): { where: string; texts: string[] }[] {
  const unsaid = (texts: string[]) => texts.filter((it) => !row.limit.startsWith(it));
  const at = rates.map(({ share }, index) => ({ where: t("at_share", { share: shareOf(share) }), texts: unsaid(row.at[index]?.doubts ?? []) }));
  return [{ where: t("at_full_load"), texts: unsaid(row.doubts) }, ...at].filter(({ texts }) => texts.length > 0);
}

function doubts(choice: Choice, row: ChoiceRow): Child {
  return doubtsOf(choice, row).map(({ where, texts }) =>
    h("span", { class: "line note" }, where, t("colon"), texts.map((text, index) => [index > 0 ? t("comma") : "", said(text)])),
  );
}

function number(child: Child): HTMLElement {
  return h("td", { class: "number" }, child);
}

function letters(of: string): Child {
  return of === "" ? null : h("sup", { class: "letters", title: t("letters_label") }, of);
}

/** A figure, struck out where it is not valid. */
function struck(text: string, isOut: boolean): Child {
  return isOut && text !== NONE ? h("s", null, text) : text;
}

function badge(invalid: Invalid): Child {
  return invalid === "none" ? null : [" ", h("span", { class: "badge bad" }, t(`invalid_${invalid}`))];
}

function toBest(ratio: Interval | null): Child {
  if (!ratio || !isNumber(ratio.value)) return null;
  const interval = ends(ratio, off);
  return h("span", { class: "range" }, `${off(ratio.value)}${interval ? ` (${interval})` : ""}`);
}

function p99(at: ChoiceAt): Child {
  return [struck(bounded(at.p99), at.invalid !== "none"), letters(at.letters), toBest(at.to_best)];
}

function boot({ seconds }: Boots): Child {
  const of = (value: number) => time(value * 1e6);
  const interval = ends(seconds, of);
  return [of(seconds.value), interval ? h("span", { class: "range" }, `(${interval})`) : null];
}

function captionOf(choice: Choice): string {
  const rates = choice.rates.map(({ share, per_s }) => `${shareOf(share)} (${perS(per_s)})`).join(t("and"));
  const isStruck = choice.rows.some((row) => row.invalid === "all" || row.at.some((it) => it !== null && it.invalid !== "none"));
  const untested = choice.ended_by_claims ? "caption_ended" : "caption_untested";
  return [t("choose_caption", { rates }), t(choice.tested ? "choose_tested" : untested), t("choose_memory"), isStruck ? t("struck") : ""].join(" ").trim();
}
