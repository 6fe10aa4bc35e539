/** Elements without markup: every text goes in as text, so nothing in a record can become an element. */

export type Child = Node | string | number | null | undefined | false | Child[];
export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes that are null, undefined or false are left out; functions become listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes?: Attributes | null,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name) as SVGElementTagNameMap[K], attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes | null | undefined, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

function append(to: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(to, child);
    else if (child instanceof Node) to.append(child);
    else if (child !== null && child !== undefined && child !== false) to.append(String(child));
  }
}

/** A name from a record, which may be in any script and direction: it keeps its order of letters to itself. */
export function given(text: string, attributes?: Attributes): HTMLElement {
  return h("bdi", attributes, text);
}
