/** Why each stack stopped where it did: the verdict with its evidence, what it rules out, and what would confirm it. */

import { tableName, untabled, type View } from "../context.ts";
import { given, h, type Child } from "../dom.ts";
import { isNumber, perS } from "../format.ts";
import type { Cell, Confirmed, Verdict } from "../model.ts";
import { isKey, said, t } from "../strings.ts";

/** Up to so many cards are open at once; beyond, those of the first table are. */
const OPEN_MAX = 12;

export function whySection({ page }: View): HTMLElement {
  const { cells, tables } = page;
  const card = (index: number, isOpen: boolean) => {
    const cell = cells[index];
    return cell ? verdictCard(cell, index, isOpen) : null;
  };
  const isFew = cells.length <= OPEN_MAX;
  const groups = tables.map((table, place) => {
    const own = table.rows.filter((row) => cells[row.cell]);
    if (own.length === 0) return null;
    const isOpen = isFew || (place === 0 && own.length <= OPEN_MAX);
    return h("div", null, h("h3", null, h("bdi", null, tableName(table))), h("div", { class: "cards" }, own.map((row) => card(row.cell, isOpen))));
  });
  const rest = untabled(page);
  return h(
    "section",
    { id: "why", "aria-labelledby": "why-heading" },
    h("h2", { id: "why-heading" }, t("s_why")),
    h("p", { class: cells.length === 0 ? "nothing" : "intro" }, t(cells.length === 0 ? "no_why" : "why_intro")),
    groups,
    rest.length > 0 ? h("div", { class: "cards" }, rest.map((index) => card(index, isFew))) : null,
  );
}

function verdictCard({ why, confirmations }: Cell, index: number, isOpen: boolean): HTMLElement {
  const [first, ...others] = why.verdicts;
  const share = why.agreeing < why.trials ? t("agreeing", { n: why.agreeing, all: why.trials }) : "";
  return h(
    "article",
    { class: "card", id: `why-${index}`, "aria-labelledby": `why-${index}-name` },
    h("h4", { id: `why-${index}-name` }, given(why.stack, { class: "stack" }), " ", h("span", { class: "rate" }, perS(why.goodput_per_s))),
    first ? h("p", { class: "verdict" }, said(first.phrase, { class: "phrase" }), " ", confidence(first)) : null,
    share ? h("p", { class: "note" }, share) : null,
    confirmations.map(outcome),
    h(
      "details",
      { open: isOpen },
      h("summary", null, t("because"), h("span", { class: "unseen" }, `: ${why.stack}`)),
      first ? evidence(first) : null,
      others.map((verdict) => h("div", { class: "also" }, h("p", null, h("span", { class: "note" }, `${t("plays_a_part")}: `), said(verdict.phrase, { class: "phrase" }), " ", confidence(verdict)), evidence({ ...verdict, excluded: [] }))),
      why.pauses ? listed(t("by_the_second"), why.pauses, "pauses") : null,
      why.validity.reasons.length > 0 ? listed(t("c_doubts"), why.validity.reasons.map((it) => it.text), "doubting") : null,
      why.not_known.length > 0 ? listed(t("not_known"), why.not_known, "unknown") : null,
    ),
  );
}

/** Kinds whose share is one of requests that fail. */
const FAILING: readonly string[] = ["incorrect_service", "port_exhaustion"];

/** How sure, and how much of the rate or of the requests it can account for. */
function confidence({ kind, confidence, accounts_for: share }: Verdict): Child[] {
  const of = FAILING.includes(kind) ? "accounts_requests" : "accounts_rate";
  return [
    h("span", { class: `badge ${confidence}` }, isKey(confidence) ? t(confidence) : confidence),
    isNumber(share) ? h("span", { class: "note" }, ` ${t(of, { share: share > 0 ? Math.max(Math.round(share * 100), 1) : 0 })}`) : null,
  ];
}

function evidence({ evidence, excluded, confirm }: Verdict): Child[] {
  return [
    h("ul", { class: "evidence" }, evidence.map((text) => h("li", null, said(text)))),
    excluded.length > 0 ? listed(t("ruled_out"), excluded, "excluded") : null,
    confirm && confirm.text !== "" ? listed(t("would_confirm"), [confirm.text], "confirm") : null,
  ];
}

function listed(heading: string, texts: string[], name: string): HTMLElement {
  return h("div", { class: name }, h("h5", null, heading), h("ul", null, texts.map((text) => h("li", null, said(text)))));
}

/** What came of the change that the verdict proposed, or of other numbers of users. */
function outcome({ variant, levels, before_per_s, predicted_per_s, measured_per_s, outcome, why }: Confirmed): HTMLElement {
  const key = `outcome_${outcome}`;
  const predicted = isNumber(predicted_per_s) ? perS(predicted_per_s) : "–";
  const line = variant
    ? t("outcome_line", { variant, before: perS(before_per_s), predicted, measured: perS(measured_per_s) })
    : levels.map(([users, rate]) => t("outcome_level", { users, rate: perS(rate) })).join(", ");
  return h(
    "p",
    { class: `outcome ${/^\w+$/.test(outcome) ? outcome : ""}` },
    h("strong", null, isKey(key) ? t(key) : outcome),
    " ",
    h("bdi", null, line),
    why ? h("span", { class: "note" }, " ", said(why)) : null,
  );
}
