/** The answer in a sentence, so that the first screen says it. */

import { tableName, type View } from "../context.ts";
import { given, h } from "../dom.ts";
import { isNumber, off, percent, signedPercent } from "../format.ts";
import type { Answer, Interval, Table } from "../model.ts";
import { lang, names, parts, said, t, type Key } from "../strings.ts";

/** What stopped so many is told beside the headline; the rows have all. */
const STOPPED_MAX = 9;
/** Where a sentence begins to tell the limits, which stand below the headline one by one. */
const LIMITS = / Limits: /;

export function answerSection({ page }: View): HTMLElement {
  const [first, ...others] = page.answers;
  const table = page.tables[0];
  const section = h("section", { id: "answer", class: "answer", "aria-labelledby": "answer-heading" });
  section.append(h("h2", { id: "answer-heading", class: "unseen" }, t("s_answer")));
  if (!first) {
    section.append(h("p", { class: "headline" }, t("nothing_measured")));
    return section;
  }
  section.append(
    h(
      "div",
      { class: `headline-box kind-${first.kind}` },
      h("p", { class: "eyebrow" }, table ? h("bdi", null, tableName(table)) : null, kindBadge(first, table)),
      h("p", { class: "headline" }, sentenceOf(first, table, first.stopped_by.length > 0)),
      ahead(first, table),
      stoppedBy(first),
    ),
  );
  if (others.length > 0) section.append(otherAnswers(others, page.tables.slice(1)));
  return section;
}

function kindBadge({ kind }: Answer, table: Table | undefined): HTMLElement {
  const isEnded = isUntested(kind) && table?.ended_by_claims === true;
  const key: Key = isEnded ? "kind_ended" : `kind_${kind}`;
  return h("span", { class: "badge" }, t(key));
}

function isUntested(kind: Answer["kind"]): boolean {
  return kind === "ahead" || kind === "overlap";
}

/** The sentence of the document in English; in Chinese it is made of its parts. */
function sentenceOf(answer: Answer, table: Table | undefined, isShort: boolean): HTMLElement {
  if (lang() === "en") return said(isShort ? (answer.sentence.split(LIMITS)[0] ?? "") : answer.sentence);
  const byPhrase = new Map<string, string[]>();
  for (const { stack, phrase } of isShort ? [] : answer.stopped_by) byPhrase.set(phrase, [...(byPhrase.get(phrase) ?? []), stack]);
  const limits = [...byPhrase].flatMap(([phrase, stacks], index) => [index === 0 ? t("limits") : t("semicolon"), ...names(stacks), t("colon"), said(phrase)]);
  // Documents made before failures were told have no such list.
  const failing = (answer.failing ?? []).flatMap(({ stack, failed, blocks }) => parts("a_failing", { stack: given(stack), failed: String(failed), blocks: String(blocks) }));
  return h("span", { dir: "auto" }, failing, composed(answer, table), t("stop"), limits, limits.length > 0 ? t("stop") : "");
}

function composed(answer: Answer, table: Table | undefined): (Node | string)[] {
  const { kind, best, next, ahead } = answer;
  const isRate = table?.ranked_by !== "response_p99";
  const shown = { best: h("span", null, names(best)), next: next === null ? "" : given(next) };
  const interval = ahead && isNumber(ahead.value) ? ahead : null;
  switch (kind) {
    case "winner": {
      if (next === null || !interval) return parts(isRate ? "a_winner_rate_plain" : "a_winner_p99_plain", shown);
      const sentence = parts(isRate ? "a_winner_rate" : "a_winner_p99", { ...shown, ahead: apart(interval.value) });
      return [...sentence, ...between(interval)];
    }
    case "tie": {
      const sentence = parts("a_tie", shown);
      return next !== null && interval ? [...sentence, ...parts("a_tie_ahead", { ...shown, ahead: apart(interval.value) }), ...between(interval)] : sentence;
    }
    case "ahead":
      if (table?.ended_by_claims) return parts("a_ahead_ended", shown);
      return parts(next === null ? "a_ahead_single" : "a_ahead", shown);
    case "overlap":
      return parts(table?.ended_by_claims ? "a_overlap_ended" : "a_overlap", shown);
    case "single":
      return parts("a_single", shown);
    case "bounded":
      return parts(isRate ? "a_bounded" : "a_bounded_p99", { ...shown, bounded: h("span", null, names(answer.bounded)) });
    case "invalid":
      return parts(best.length > 0 ? "a_invalid" : "a_invalid_plain", shown);
    default:
      return parts("a_nothing", {});
  }
}

/** How far a ratio is from 1, without its sign: the sentence says which way. Always a share: what is so much above or below cannot be a factor. */
export function apart(ratio: number): string {
  return percent(Math.abs(ratio - 1));
}

function between({ low, high }: Interval): (Node | string)[] {
  return isNumber(low) && isNumber(high) ? parts("a_interval", { low: signedPercent(low), high: signedPercent(high) }) : [];
}

/** How far the best is ahead, large enough to be seen from the door. */
function ahead({ ahead, kind, best, next }: Answer, table: Table | undefined): HTMLElement | null {
  if (kind !== "winner" || !ahead || !isNumber(ahead.value) || next === null) return null;
  const interval = isNumber(ahead.low) && isNumber(ahead.high) ? `${off(ahead.low)} … ${off(ahead.high)}` : "";
  return h(
    "p",
    { class: "ahead" },
    h("strong", null, off(ahead.value)),
    h("span", { class: "note" }, interval && h("span", { class: "numbers" }, interval), " ", given(best[0] ?? ""), " / ", given(next), table?.ranked_by === "response_p99" ? ` (${t("c_p99")})` : ""),
  );
}

function stoppedBy({ stopped_by }: Answer): HTMLElement | null {
  if (stopped_by.length === 0) return null;
  const items = stopped_by.slice(0, STOPPED_MAX).map(({ stack, phrase }) => h("li", null, given(stack, { class: "stack" }), " ", said(phrase, { class: "limit" })));
  const more = stopped_by.length - items.length;
  return h(
    "div",
    { class: "stopped" },
    h("h3", null, t("stopped_by")),
    h("ul", null, items, more > 0 ? h("li", { class: "note" }, t("and_more", { n: more })) : null),
  );
}

function otherAnswers(answers: Answer[], tables: Table[]): HTMLElement {
  const items = answers.map((answer, index) => {
    const table = tables[index];
    const name = table ? h("a", { href: `#table-${index + 1}` }, h("bdi", null, tableName(table))) : "";
    return h("li", null, h("span", { class: "which" }, name, " ", kindBadge(answer, table)), h("span", null, sentenceOf(answer, table, false)));
  });
  return h("div", { class: "others" }, h("h3", null, t("other_answers")), h("ul", null, items));
}
