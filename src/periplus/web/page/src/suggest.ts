/** What may be typed next, offered while typing: places and words. A combobox as the ARIA practices describe it. */

import { ask, type Place } from "./api";
import { el } from "./dom";
import { count, strings } from "./strings";

interface Suggested {
  places: Place[];
  terms: { text: string; pages: number }[];
}

interface Offer {
  text: string;
  note: string;
  kind: "place" | "term";
  take(): void;
}

const MOST_TERMS = 3;

/** `onPlace`: with the question that is left without the place's name; `onWhole`: with a whole question. */
export function suggest(input: HTMLInputElement, list: HTMLElement, onPlace: (place: Place, rest: string) => void, onWhole: (text: string) => void): void {
  let chosen = -1;
  let offers: Offer[] = [];
  let waiting: AbortController | null = null;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", strings.suggestions);
  list.hidden = true;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const typed = () => input.value.slice(0, input.selectionStart ?? input.value.length);
  const take = (index: number) => {
    const offer = offers[index];
    close();
    offer?.take();
  };
  const takePlace = (place: Place) => {
    const before = typed();
    const rest = `${before.slice(0, before.length - lastPart(before, place.name).length)}${input.value.slice(before.length)}`;
    onPlace(place, rest.replace(/(^|\s)(in|near|around|at)\s*$/i, "").trim());
  };
  const mark = () => {
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    if (chosen >= 0) input.setAttribute("aria-activedescendant", `${list.id}-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    list.replaceChildren(
      ...offers.map((offer, index) => {
        const item = el("li", { role: "option", id: `${list.id}-${index}`, class: `is-${offer.kind}`, "aria-selected": "false" }, el("span", {}, offer.text), el("small", {}, offer.note));
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(index);
        });
        return item;
      }),
    );
    list.hidden = !offers.length;
    chosen = -1;
    input.setAttribute("aria-expanded", String(offers.length > 0));
  };
  const load = async () => {
    waiting?.abort();
    const text = typed();
    if (text.trim().length < 2) return close();
    waiting = new AbortController();
    try {
      const found = await ask<Suggested>("suggest", new URLSearchParams({ q: text }), waiting.signal);
      const isPlace = (text: string) => found.places.some((place) => text.endsWith(place.name.toLowerCase())); // offered above, with its country
      const terms = found.terms.filter((term) => term.text.trim().toLowerCase() !== input.value.trim().toLowerCase() && !isPlace(term.text.toLowerCase())).slice(0, MOST_TERMS);
      const named = (place: Place) => place.label ?? place.name;
      const twice = (place: Place) => found.places.filter((one) => named(one) === named(place)).length > 1;
      offers = [
        ...found.places.map((place): Offer => ({ text: twice(place) ? `${named(place)} (${strings.kinds[place.kind] ?? place.kind})` : named(place), note: count(place.pages), kind: "place", take: () => takePlace(place) })),
        ...terms.map((term): Offer => ({ text: term.text, note: count(term.pages), kind: "term", take: () => onWhole(term.text) })),
      ];
      if (document.activeElement === input) show();
    } catch {
      close(); // a suggestion that does not come is no loss
    }
  };
  input.addEventListener("input", () => void load());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      chosen = (chosen + step + offers.length + 1) % (offers.length + 1);
      if (chosen === offers.length) chosen = -1;
      mark();
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === "Escape") {
      event.preventDefault(); // else the browser empties the box
      close();
    }
  });
  input.form?.addEventListener("submit", () => {
    waiting?.abort();
    close();
  });
}

/** How much of what was typed last is the beginning of the place's name. */
function lastPart(before: string, name: string): string {
  const plain = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = before.split(/(?<=\s)/);
  for (let start = 0; start < words.length; start++) {
    const part = words.slice(start).join("");
    if (part.trim() && plain(name).startsWith(plain(part).trim())) return part;
  }
  return words.at(-1) ?? "";
}
