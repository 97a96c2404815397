/** Elements made without markup: whatever was crawled only ever becomes text. */

type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  add(element, ...children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  add(element, ...children);
  return element;
}

/** A drawn sign of 18 by 18, since fonts differ in what they have. */
export function icon(path: string): SVGSVGElement {
  return svg("svg", { viewBox: "0 0 18 18", class: "tool-icon", "aria-hidden": "true" }, svg("path", { d: path }));
}

export function add(parent: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
}

export function button(label: string, onClick: () => void, attributes: Record<string, string | boolean> = {}): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

export type Mark = [number, number, string, (number | null)?];

/** Text with marks as elements. Offsets count code points, as Python does, not UTF-16 units. */
export function marked(text: string, marks: Mark[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const characters = Array.from(text);
  let at = 0;
  for (const [start, end, kind] of marks) {
    if (start < at || end <= start) continue;
    fragment.append(characters.slice(at, start).join(""));
    fragment.append(el("mark", { class: kind === "where" ? "where" : "what" }, characters.slice(start, end).join("")));
    at = end;
  }
  fragment.append(characters.slice(at).join(""));
  return fragment;
}

/** A link out of the page; anything but http and https stays text. */
export function outerLink(url: string, label: string, attributes: Record<string, string> = {}): HTMLElement {
  let safe = false;
  try {
    safe = ["http:", "https:"].includes(new URL(url).protocol);
  } catch {
    safe = false;
  }
  if (!safe) return el("span", attributes, label);
  return el("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank", ...attributes }, label);
}

/** For what replaces the content of regions, which takes the focus with it: call what this gives afterwards, and who was at
 * a button with the keyboard is at the button of that name again, else at the beginning of the first region. */
export function keepFocus(...regions: HTMLElement[]): () => void {
  const held = document.activeElement as HTMLElement;
  const region = regions.find((one) => one !== held && one.contains(held));
  const name = nameOf(held);
  const isPaging = held.closest(".paging") !== null; // the next list is read from its beginning
  return () => {
    if (!region || region.contains(held)) return;
    const same = [...region.querySelectorAll<HTMLElement>("button:enabled, a, summary")].find((one) => !isPaging && nameOf(one) === name);
    (same ?? regions[0])?.focus({ preventScroll: true });
  };
}

function nameOf(control: HTMLElement): string {
  return `${control.tagName} ${control.getAttribute("aria-label") ?? control.textContent}`;
}

/** What may be wider than its place and is scrolled sideways then, with the keyboard as well. */
export function wide(label: string, ...children: HTMLElement[]): HTMLElement {
  return el("div", { class: "wide", role: "region", "aria-label": label, tabindex: "0" }, ...children);
}
