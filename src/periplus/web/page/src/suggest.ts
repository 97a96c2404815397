/** Places offered while typing. A combobox as the ARIA practices describe it. */

import { ask, type Place } from "./api";
import { el } from "./dom";
import { count, strings } from "./strings";

export function suggestPlaces(input: HTMLInputElement, list: HTMLElement, onChoose: (place: Place, rest: string) => void): void {
  let chosen = -1;
  let places: Place[] = [];
  let waiting: AbortController | null = null;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", strings.places);
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
  const word = () => {
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    const match = /(?:^|\s)(?:(?:in|near|around|at)\s+)?([\p{L}][\p{L}\p{M}'’.-]*(?:\s[\p{L}][\p{L}\p{M}'’.-]*)?)$/u.exec(before);
    return match?.[1] ?? "";
  };
  const choose = (index: number) => {
    const place = places[index];
    if (!place) return;
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    const typed = lastPart(before, place.name);
    const rest = `${before.slice(0, before.length - typed.length)}${input.value.slice(before.length)}`.replace(/\s(in|near|around|at)\s*$/i, "").trim();
    close();
    onChoose(place, rest);
  };
  const mark = () => {
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    if (chosen >= 0) input.setAttribute("aria-activedescendant", `${list.id}-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    list.replaceChildren(
      ...places.map((place, index) => {
        const item = el("li", { role: "option", id: `${list.id}-${index}`, "aria-selected": "false" }, el("span", {}, place.label ?? place.name), el("small", {}, count(place.pages)));
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          choose(index);
        });
        return item;
      }),
    );
    list.hidden = !places.length;
    chosen = -1;
    input.setAttribute("aria-expanded", String(places.length > 0));
  };
  const load = async () => {
    waiting?.abort();
    const text = word();
    if (text.length < 2) return close();
    waiting = new AbortController();
    try {
      let answer = await ask<{ places: Place[] }>("suggest", new URLSearchParams({ q: text }), waiting.signal);
      const last = text.split(" ").at(-1) ?? "";
      if (!answer.places.length && last !== text && last.length >= 2) {
        answer = await ask<{ places: Place[] }>("suggest", new URLSearchParams({ q: last }), waiting.signal);
      }
      places = answer.places;
      show();
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
      chosen = (chosen + step + places.length + 1) % (places.length + 1);
      if (chosen === places.length) chosen = -1;
      mark();
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Escape") close();
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
