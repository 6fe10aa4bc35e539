/** What a write-up published against what was measured, and what became of its claims. */

import { chart } from "../charts/frame.ts";
import { CLAIM_VERDICTS, notDrawn, shown, slopeCharts } from "../charts/slope.ts";
import type { View } from "../context.ts";
import { h } from "../dom.ts";
import { isNumber } from "../format.ts";
import type { ClaimPart, ClaimsReport, JudgedClaim } from "../model.ts";
import { said, t } from "../strings.ts";

/** Nothing where the run repeats no write-up. */
export function claimsSection({ page }: View): HTMLElement | null {
  const { claims } = page;
  if (!claims) return null;
  const missing = notDrawn(claims);
  return h(
    "section",
    { id: "claims", "aria-labelledby": "claims-heading" },
    h("h2", { id: "claims-heading" }, t("s_claims")),
    about(claims),
    h("ul", { class: "counts" }, CLAIM_VERDICTS.filter((verdict) => (claims.counts[verdict] ?? 0) > 0).map((verdict) => h("li", { class: verdict }, h("strong", null, claims.counts[verdict]), ` ${t(`v_${verdict}`)}`))),
    slopeCharts(claims).map(chart),
    missing > 0 ? h("p", { class: "note" }, t("not_drawn", { n: missing })) : null,
    claims.claims.map(claimBlock),
  );
}

function about(claims: ClaimsReport): HTMLElement {
  const { title, source, when, driver, published_machine: there, machine, blocks, quick } = claims;
  const cores = (n: number | null) => (isNumber(n) ? `${t("cores", { n })}${t("comma")}` : "");
  return h(
    "div",
    { class: "about" },
    h("p", { dir: "auto" }, t("claims_of", { title, source, when })),
    h("p", { class: "note", dir: "auto" }, t("claims_there", { cores: cores(there.cores), machine: there.description, driver })),
    h("p", { class: "note", dir: "auto" }, t("claims_here", { cores: cores(machine.cores), cpu: machine.cpu ?? t("unknown"), blocks }), quick ? t("quick_look") : ""),
  );
}

function claimBlock(claim: JudgedClaim, index: number): HTMLElement {
  const { sentence, verdict, why, parts, notes, settings, is_derived } = claim;
  return h(
    "article",
    { class: "claim", "aria-labelledby": `claim-${index}` },
    h("h3", { id: `claim-${index}` }, h("span", { class: `badge ${verdict}` }, t(`v_${verdict}`)), " ", said(sentence)),
    is_derived ? h("p", { class: "note derived" }, t("claim_derived")) : null,
    h("p", { class: "why" }, said(why)),
    parts.length > 0 ? partsTable(claim, index) : null,
    settings.length > 0 ? h("ul", { class: "otherwise", "aria-label": t("claim_settings") }, settings.map((setting) => h("li", { class: "note" }, said(setting)))) : null,
    notes.length > 0 ? h("details", { class: "behind" }, h("summary", null, t("notes"), h("span", { class: "unseen" }, `: ${sentence}`)), h("ul", null, notes.map((note) => h("li", null, said(note))))) : null,
  );
}

function partsTable({ parts }: JudgedClaim, index: number): HTMLElement {
  const heads = [t("c_what"), t("published"), t("expected"), t("measured"), t("c_blocks"), t("c_verdict")];
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": `claim-${index}` },
    h(
      "table",
      { class: "plain parts" },
      h("caption", { class: "unseen" }, t("comparisons", { n: parts.length })),
      h("thead", null, h("tr", null, heads.map((text, place) => h("th", { scope: "col", class: place > 0 && place < 5 ? "number" : null }, text)))),
      h("tbody", null, parts.map(partRow)),
    ),
  );
}

function partRow(part: ClaimPart): HTMLElement {
  const { what, unit, published, expected, measured, low, high, blocks, verdict, why } = part;
  const interval = isNumber(low) && isNumber(high) ? ` (${shown(unit, low)} … ${shown(unit, high)})` : "";
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, said(what)),
    h("td", { class: "number" }, shown(unit, published)),
    h("td", { class: "number" }, shown(unit, expected)),
    h("td", { class: "number" }, shown(unit, measured), interval),
    h("td", { class: "number" }, blocks),
    h("td", null, h("span", { class: `badge ${verdict}` }, t(`v_${verdict}`)), " ", said(why, { class: "note" })),
  );
}
