/** Do the stacks of a round do the same work? */

import type { View } from "../context.ts";
import { given, h } from "../dom.ts";
import { names, said, t } from "../strings.ts";

export function workSection({ page }: View): HTMLElement | null {
  const { same_work: all, tables } = page;
  if (tables.length === 0) return null;
  return h(
    "section",
    { id: "work", "aria-labelledby": "work-heading" },
    h("h2", { id: "work-heading" }, t("s_work")),
    h("p", { class: all.length === 0 ? "nothing" : "intro" }, t(all.length === 0 ? "work_same" : "work_differs")),
    all.length === 0
      ? null
      : h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "work-heading" },
          h(
            "table",
            { class: "plain" },
            h("caption", { class: "unseen" }, t("s_work")),
            h("thead", null, h("tr", null, [t("c_round"), t("c_aspect"), t("c_values")].map((text) => h("th", { scope: "col" }, text)))),
            h(
              "tbody",
              null,
              all.map(({ round, aspect, values }) =>
                h(
                  "tr",
                  null,
                  h("td", null, given(round)),
                  h("th", { scope: "row" }, said(aspect)),
                  h("td", null, h("ul", { class: "values" }, values.map(([value, stacks]) => h("li", null, h("code", null, said(value)), " ", h("span", { class: "note" }, names(stacks, 12)))))),
                ),
              ),
            ),
          ),
        ),
  );
}
