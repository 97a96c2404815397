/** How the question was understood: what, where with the other candidates, when; each can be taken back. */

import type { Place, SearchAnswer } from "./api";
import { add, button, el } from "./dom";
import { question, type State } from "./state";
import { count, countOf, days, position, strings } from "./strings";

export interface MeaningEvents {
  change(changes: Partial<State>): void;
  onNarrow(): boolean; // whether the facets are shown now
}

/** `exports`: whether the results can be taken away as files. */
export function meaning(answer: SearchAnswer, state: State, exports: boolean, events: MeaningEvents): HTMLElement {
  const bar = el("div", { class: "meaning" });
  add(bar, el("p", { class: "total" }, el("strong", {}, countOf(answer.total, "page", "pages")), el("span", { class: "took" }, ` in ${Math.max(1, Math.round(answer.seconds * 1000))} ms`)));
  const chips = el("div", { class: "chips" });
  where(chips, answer, state, events);
  when(chips, answer, state, events);
  if (answer.total && state.view !== "statistics") add(bar, sorting(state, events));
  if (answer.total) add(bar, narrowing(events), exports && exporting(state));
  add(bar, el("p", { class: "reading" }, answer.query.reading));
  if (chips.childElementCount) add(bar, chips);
  if (answer.did_you_mean) {
    const meant = answer.did_you_mean;
    add(bar, el("p", { class: "notice" }, `${strings.didYouMean} `, button(meant, () => events.change({ q: meant, offset: 0, as_of: "", map: "" }), { class: "quiet did-you-mean" }), "?"));
  }
  if (state.as_of) add(bar, el("p", { class: "notice as-of" }, `${strings.asOf} `, button(strings.asOfNow, () => events.change({ as_of: "", offset: 0 }), { class: "quiet" })));
  if (answer.relaxed) add(bar, el("p", { class: "notice" }, strings.relaxed));
  add(bar, partial(answer, () => events.change({})));
  return bar;
}

/** Which nodes said nothing, if some did: what is shown lacks their pages. */
export function partial(answer: SearchAnswer, again: () => void): HTMLElement | null {
  if (!answer.missing.length) return null;
  return el("p", { class: "notice partial", role: "status" }, `${strings.partial} ${answer.missing.join(", ")}. `, button(strings.askAgain, again, { class: "quiet" }));
}

function where(chips: HTMLElement, answer: SearchAnswer, state: State, events: MeaningEvents): void {
  const [chosen, ...others] = answer.query.where;
  const without = answer.query.without;
  const isGiven = Boolean(state.place || state.near || state.bbox || state.polygon); // beside the words
  const clear = isGiven || without.where !== null ? remover(strings.where, { place: "", near: "", bbox: "", polygon: "", map: "", ...(without.where !== null && { q: without.where }) }, events) : null;
  if (chosen) {
    const group = el("span", { class: "chip-group", role: "group", "aria-label": strings.where }, el("span", { class: "chip-label" }, strings.where));
    const choose = (id: number) => events.change({ place: String(id), near: "", bbox: "", polygon: "", offset: 0, as_of: "", map: "" });
    const area = answer.query.area;
    const around = area && "km" in area ? `${area.relation} ` : "";
    add(group, button(`${around}${short(chosen.label ?? chosen.name)} · ${count(chosen.pages)}`, () => choose(chosen.id), { class: "chip is-chosen", "aria-pressed": "true" }), clear);
    const most = (one: Place, two: Place) => two.pages - one.pages; // the order of the numbers that are shown
    for (const other of others.slice(0, 5).sort(most)) {
      add(group, button(`${short(other.label ?? other.name)} · ${count(other.pages)}`, () => choose(other.id), { class: "chip", "aria-pressed": "false", title: strings.meant }));
    }
    add(chips, group);
  } else if (answer.query.area) {
    const area = answer.query.area;
    const text = "km" in area ? `${area.relation} ${position(area.lat, area.lon)}` : "polygon" in area ? strings.inPolygon : strings.inBox;
    add(chips, labelled(strings.where, text, clear));
  }
  const further: [string, Place | null, string | null | undefined][] = [
    ...answer.query.also.map((place, index): [string, Place, string | undefined] => [strings.orIn, place, without.also[index]]),
    [strings.leftOut, answer.query.excluded, without.excluded],
  ];
  for (const [label, place, rest] of further) {
    if (!place) continue;
    const name = short(place.label ?? place.name);
    add(chips, labelled(label, `${name} · ${count(place.pages)}`, typeof rest === "string" ? remover(`${label} ${name}`, { q: rest, map: "" }, events) : null));
  }
}

function when(chips: HTMLElement, answer: SearchAnswer, state: State, events: MeaningEvents): void {
  const span = answer.query.when;
  if (!span) return;
  const rest = answer.query.without.when;
  const isRemovable = state.since || state.until || rest !== null;
  add(chips, labelled(strings.when, days(span.since, span.until, span.apart ?? null), isRemovable ? remover(strings.when, { since: "", until: "", ...(rest !== null && { q: rest }) }, events) : null));
}

/** A part of the question that was understood, and what takes it back. */
function labelled(label: string, text: string, clear: HTMLElement | null): HTMLElement {
  return el("span", { class: "chip-group" }, el("span", { class: "chip-label" }, label), el("span", { class: "chip is-chosen" }, text), clear);
}

function remover(name: string, changes: Partial<State>, events: MeaningEvents): HTMLElement {
  const remove = () => {
    const isOld = "q" in changes && document.body.classList.contains("is-loading"); // its words are those of the question before
    if (!isOld) events.change({ ...changes, offset: 0, as_of: "" });
  };
  return button("×", remove, { class: "chip-clear", "aria-label": `${name}: ${strings.remove}`, title: `${name}: ${strings.remove}` });
}

/** For windows in which the facets have no room of their own. */
function narrowing(events: MeaningEvents): HTMLElement {
  const open = document.body.classList.contains("is-narrowing");
  const one = button(strings.narrow, () => one.setAttribute("aria-expanded", String(events.onNarrow())), { class: "narrow-button", "aria-expanded": String(open), "aria-controls": "facets" });
  return one;
}

/** The results as files: links that the browser saves. */
function exporting(state: State): HTMLElement {
  const menu = el("ul", { class: "menu-list" }, el("li", { class: "menu-hint" }, strings.exportHint));
  for (const form of ["csv", "geojson", "gpkg", "geoparquet"] as const) {
    const asked = question(state);
    asked.set("to", form);
    menu.append(el("li", {}, el("a", { href: `/api/export?${asked.toString()}`, download: `periplus-results.${form}` }, strings[form])));
  }
  const box = el("details", { class: "menu" }, el("summary", {}, strings.export), menu);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    box.open = false;
    box.querySelector("summary")?.focus();
  });
  box.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget as Node | null)) box.open = false;
  });
  return box;
}

function sorting(state: State, events: MeaningEvents): HTMLElement {
  const group = el("span", { class: "sorting", role: "group", "aria-label": strings.sort });
  for (const [value, name] of [["relevance", strings.relevance], ["time", strings.time]] as const) {
    add(group, button(name, () => events.change({ sort: value, offset: 0, as_of: "" }), { "aria-pressed": String(state.sort === value), class: state.sort === value ? "segment is-chosen" : "segment" }));
  }
  return group;
}

/** `Lisbon, Lisbon District, Portugal` → `Lisbon, Portugal`; in one's own country the state is what tells apart. */
function short(label: string): string {
  const parts = label.split(", ");
  const last = parts.at(-1);
  if (parts.length < 3 || !last) return label;
  return last === "United States" ? `${parts[0]}, ${parts[1]}` : `${parts[0]}, ${last}`;
}
