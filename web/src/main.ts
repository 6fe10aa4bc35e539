/** The page: reads the document that is in it, and shows it in the language and the colours that are wanted. */

import "./style.css";

import { drawForPrint, drawForScreen, reset } from "./charts/frame.ts";
import { stylesOf, type View } from "./context.ts";
import { h, type Child } from "./dom.ts";
import { instant } from "./format.ts";
import { PAGE_VERSION, type Page } from "./model.ts";
import { againSection, missingSection } from "./sections/again.ts";
import { answerSection } from "./sections/answer.ts";
import { chooseSection } from "./sections/choose.ts";
import { claimsSection } from "./sections/claims.ts";
import { curvesSection } from "./sections/curves.ts";
import { rankingSection } from "./sections/ranking.ts";
import { firstCell, trialSection } from "./sections/trial.ts";
import { whySection } from "./sections/why.ts";
import { workSection } from "./sections/work.ts";
import { isKey, LANGS, lang, setLang, t, type Key, type Lang } from "./strings.ts";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** What of a section's title is in the contents, in the order of the page. */
const SECTIONS: { id: string; title: Key; make(view: View): HTMLElement | null }[] = [
  { id: "choose", title: "s_choose", make: chooseSection },
  { id: "ranking", title: "s_ranking", make: rankingSection },
  { id: "curves", title: "s_curves", make: curvesSection },
  { id: "trial", title: "s_trial", make: trialSection },
  { id: "why", title: "s_why", make: whySection },
  { id: "claims", title: "s_claims", make: claimsSection },
  { id: "work", title: "s_work", make: workSection },
  { id: "again", title: "s_again", make: againSection },
  { id: "missing", title: "s_missing", make: missingSection },
];

/** Remembered between visits, where the browser lets a page do that. */
const memory = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`proofload-${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string): void {
    try {
      localStorage.setItem(`proofload-${name}`, value);
    } catch {
      // Then it is not remembered.
    }
  },
};

function wantedLang(): Lang {
  const asked = new URLSearchParams(location.search).get("lang") ?? memory.get("lang");
  const all = asked === null ? [...navigator.languages] : [asked, ...navigator.languages];
  return all.map((it) => LANGS.find((lang) => it.toLowerCase().startsWith(lang))).find((it) => it !== undefined) ?? "en";
}

function wantedTheme(): Theme {
  const asked = new URLSearchParams(location.search).get("theme") ?? memory.get("theme");
  return THEMES.find((it) => it === asked) ?? "auto";
}

function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function header(view: View, theme: Theme, again: () => void): HTMLElement {
  const { run } = view.page;
  const language = choice("lang", "lang_label", LANGS.map((it) => [it, it === "en" ? "English" : "中文"]), lang(), (to) => {
    setLang(to as Lang);
    memory.set("lang", to);
    again();
  });
  const colours = choice("theme", "theme_label", THEMES.map((it) => [it, t(`theme_${it}`)]), theme, (to) => {
    memory.set("theme", to);
    applyTheme(to as Theme);
  });
  const pace = `pace_${run.pace}`;
  return h(
    "header",
    { class: "top" },
    h("a", { class: "skip", href: "#answer" }, t("skip")),
    h("div", { class: "title" }, h("h1", { dir: "auto" }, run.title || "Proofload"), h("p", { class: "note" }, t("run_line", { trials: run.trials, started: instant(run.started) }), run.pace !== "full" && isKey(pace) ? [t("stop"), " ", t(pace)] : null)),
    h("div", { class: "settings", role: "group", "aria-label": t("settings") }, language, colours, h("button", { type: "button", onclick: () => print() }, t("print"))),
  );
}

function choice(id: string, label: Key, options: [string, string][], now: string, chosen: (to: string) => void): HTMLElement {
  const select = h("select", { id, onchange: () => chosen(select.value) }, options.map(([value, text]) => h("option", { value, selected: value === now }, text)));
  return h("label", { for: id }, h("span", null, t(label)), select);
}

/** A section, or what went wrong in it: the rest of the page is still worth reading. */
function made({ id, title, make }: (typeof SECTIONS)[number], view: View): HTMLElement | null {
  try {
    return make(view);
  } catch (error) {
    console.error(error);
    return h("section", { id }, h("h2", null, t(title)), h("p", { class: "nothing" }, t("section_failed", { why: String(error) })));
  }
}

function show(root: HTMLElement, view: View, theme: Theme): void {
  document.documentElement.lang = lang() === "zh" ? "zh-Hans" : "en";
  const { page } = view;
  document.title = `${page.run.title} · Proofload`;
  reset();
  const sections = SECTIONS.map((section) => ({ ...section, element: made(section, view) })).filter((it) => it.element !== null);
  const links = sections.map(({ id, title }) => h("li", null, h("a", { href: `#${id}` }, t(title))));
  const notice: Child = page.version > PAGE_VERSION ? h("p", { class: "notice" }, t("newer_document", { version: page.version, known: PAGE_VERSION })) : null;
  root.replaceChildren(
    header(view, theme, () => show(root, view, wantedTheme())),
    ...[notice].filter((it): it is HTMLElement => it !== null),
    h("main", null, answerSection(view), h("nav", { class: "contents", "aria-label": t("contents") }, h("ul", null, links)), sections.map((it) => it.element)),
    h("footer", null, h("p", null, t("made_by", { measured: page.run.proofload, made: page.proofload }))),
  );
}

/** The document, or the sentence that says why there is none. */
function read(): Page | string {
  const text = document.getElementById("proofload-page")?.textContent ?? "null";
  try {
    const page = JSON.parse(text) as Page | null;
    return page ?? t("no_document");
  } catch (error) {
    return t("bad_document", { why: String(error) });
  }
}

function start(): void {
  const root = document.getElementById("report");
  if (!root) return;
  setLang(wantedLang());
  const theme = wantedTheme();
  applyTheme(theme);
  const page = read();
  if (typeof page === "string") {
    root.replaceChildren(h("main", null, h("h1", null, "Proofload"), h("p", { class: "nothing" }, page)));
    return;
  }
  const view: View = { page, table: 0, cell: firstCell(page), withWarmUp: false, styles: stylesOf(page), choose: () => undefined };
  show(root, view, theme);
  root.addEventListener("click", (event) => {
    const cell = (event.target as Element).closest<HTMLElement>("a[data-cell]")?.dataset["cell"];
    if (cell !== undefined) view.choose(Number(cell));
  });
  root.addEventListener("click", openTarget);
  printing();
}

/** A link to a card that is folded opens it. */
function openTarget(event: Event): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[href^='#why-']");
  const details = link && document.getElementById(link.hash.slice(1))?.querySelector("details");
  if (details) details.open = true;
}

/** On paper everything is open and drawn; afterwards it is as it was. */
function printing(): void {
  let opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open]):not(.behind)")];
    for (const details of opened) details.open = true;
    drawForPrint();
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    drawForScreen();
  });
}

start();
