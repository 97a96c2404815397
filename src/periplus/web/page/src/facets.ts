/** The facets: the tree of places with counts, and the most frequent topics, sites and languages. */

import type { Count, PlaceFacet, SearchAnswer } from "./api";
import { add, button, el } from "./dom";
import { count, languageName, strings } from "./strings";

export interface FacetEvents {
  onPlace(id: number): void;
  onWord(word: string): void;
}

export function facets(answer: SearchAnswer, chosen: number | null, events: FacetEvents): HTMLElement {
  const box = el("div", { class: "facets" });
  const most = Math.max(1, ...answer.facets.places.map((place) => place.count));
  if (answer.facets.places.length) {
    add(box, el("h2", {}, strings.places), tree(answer.facets.places, chosen, events, most, 0));
  }
  const lists: [string, Count[], string][] = [
    [strings.topics, answer.facets.topics, "inclass"],
    [strings.sites, answer.facets.sites, "site"],
    [strings.languages, answer.facets.languages, "lang"],
  ];
  for (const [title, values, operator] of lists) {
    if (values.length < (operator === "lang" ? 2 : 1)) continue;
    const list = el("ul", { class: "facet-list" });
    for (const value of values.slice(0, 6)) {
      const word = /\s/.test(value.name) ? `${operator}:"${value.name}"` : `${operator}:${value.name}`;
      const go = button("", () => events.onWord(word), { class: "facet" });
      go.append(el("span", { class: "facet-name" }, operator === "lang" ? languageName(value.name) : value.name), el("span", { class: "facet-count" }, count(value.count)));
      list.append(el("li", {}, go));
    }
    add(box, el("h2", {}, title), list);
  }
  return box;
}

/** Places shown at once inside one place. */
const SHOWN = 8;

function holds(place: PlaceFacet, id: number | null): boolean {
  return id !== null && (place.id === id || place.children.some((child) => holds(child, id)));
}

function tree(places: PlaceFacet[], chosen: number | null, events: FacetEvents, most: number, depth: number): HTMLElement {
  const list = el("ul", { class: depth ? "tree" : "tree is-root" });
  places.forEach((place, index) => {
    const go = button("", () => events.onPlace(place.id), place.id === chosen ? { class: "facet is-chosen", "aria-current": "true" } : { class: "facet" });
    go.append(el("span", { class: "facet-name" }, place.name), el("span", { class: "facet-count" }, count(place.count)));
    const item = el("li", index < SHOWN || holds(place, chosen) ? {} : { hidden: true });
    if (place.children.length) {
      // Open while there is only one way on, or where the chosen place is.
      const open = places.length === 1 || holds(place, chosen) || (depth === 0 && places.length <= 3);
      const toggle = button(open ? "▾" : "▸", () => {
        inner.hidden = !inner.hidden;
        toggle.textContent = inner.hidden ? "▸" : "▾";
        toggle.setAttribute("aria-expanded", String(!inner.hidden));
      }, { class: "toggle", "aria-expanded": String(open), "aria-label": place.name });
      const inner = tree(place.children, chosen, events, most, depth + 1);
      inner.hidden = !open;
      add(item, el("div", { class: "tree-row" }, toggle, go), inner);
    } else add(item, el("div", { class: "tree-row" }, el("span", { class: "toggle" }), go));
    list.append(item);
  });
  const more = [...list.children].filter((item) => item instanceof HTMLElement && item.hidden).length;
  if (more) {
    const all = button(`+ ${count(more)} ${strings.more}`, () => {
      for (const one of list.children) if (one instanceof HTMLElement) one.hidden = false;
      item.remove();
    }, { class: "quiet facet-more" });
    const item = el("li", {}, all);
    list.append(item);
  }
  return list;
}
