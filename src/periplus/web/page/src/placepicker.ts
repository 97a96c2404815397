/** Places of a new crawl: by name with all their meanings, or by a click on the map. */

import { ask, attempt, type KnownPlace } from "./api";
import { button, el } from "./dom";
import { strings } from "./strings";
import { WorldMap } from "./worldmap";

interface Chosen {
  place: KnownPlace;
  weight: number;
}

export class PlacePicker {
  readonly element = el("div", { class: "picker" });
  private readonly input = el("input", { type: "text", id: "place-name", maxlength: "200", autocomplete: "off", placeholder: strings.placePlaceholder });
  private readonly offers = el("ul", { class: "offers", "aria-label": strings.choosePlace });
  private readonly list = el("ul", { class: "picked" });
  private readonly note = el("p", { class: "field-note", role: "status" });
  private readonly map = new WorldMap(strings.mapPick, (lat, lon) => void this.at(lat, lon));
  private chosen = new Map<number, Chosen>();
  private waiting: AbortController | null = null;
  private timer = 0;

  constructor(private readonly onChange: () => void) {
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.look(), 200);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.offers.querySelector("button")?.click();
    });
    this.element.append(
      el("div", { class: "picker-left" }, el("label", { for: "place-name" }, strings.placeLabel), this.input, this.note, this.offers, this.list),
      this.map.element,
    );
  }

  /** Id and weight of each place. */
  get value(): Record<string, number> {
    return Object.fromEntries([...this.chosen.values()].map(({ place, weight }) => [String(place.id), weight]));
  }

  set(places: (KnownPlace & { weight?: number })[]): void {
    this.chosen = new Map(places.map((place) => [place.id, { place, weight: place.weight ?? 1 }]));
    this.draw();
  }

  private async look(): Promise<void> {
    this.waiting?.abort();
    const text = this.input.value.trim();
    if (text.length < 2) return this.offer([], "");
    this.waiting = new AbortController();
    const signal = this.waiting.signal;
    await attempt(async () => {
      const { places } = await ask<{ places: KnownPlace[] }>("places", new URLSearchParams({ q: text }), signal);
      this.offer(places, places.length ? "" : strings.noSuchPlace);
    }, (message) => this.offer([], message));
  }

  private async at(lat: number, lon: number): Promise<void> {
    await attempt(async () => {
      const near = `${lat.toFixed(4)},${lon.toFixed(4)}`;
      const { places } = await ask<{ places: KnownPlace[] }>("places", new URLSearchParams({ near }));
      this.offer(places, places.length ? strings.choosePlace : strings.noSuchPlace);
    }, (message) => this.offer([], message));
  }

  private offer(places: KnownPlace[], note: string): void {
    this.note.textContent = note;
    this.offers.replaceChildren(
      ...places.map((place) => {
        const go = button("", () => this.choose(place), { class: "offer" });
        go.append(el("span", {}, place.label), el("small", {}, strings.kinds[place.kind] ?? place.kind));
        return el("li", {}, go);
      }),
    );
  }

  private choose(place: KnownPlace): void {
    this.chosen.set(place.id, { place, weight: 1 });
    this.input.value = "";
    this.offer([], "");
    this.draw();
    this.onChange();
  }

  private draw(): void {
    this.list.replaceChildren(
      ...[...this.chosen.values()].map((one) => {
        const weight = el("input", { type: "number", min: "0.01", max: "1", step: "any", required: true, value: String(one.weight), "aria-label": `${strings.weightLabel}: ${one.place.label}` });
        weight.addEventListener("input", () => {
          if (weight.validity.valid) one.weight = Number(weight.value);
          this.onChange();
        });
        const gone = button("×", () => {
          this.chosen.delete(one.place.id);
          this.draw();
          this.onChange();
        }, { class: "chip-clear", "aria-label": `${one.place.label}: ${strings.remove}` });
        return el("li", {}, el("span", {}, one.place.label), weight, gone);
      }),
    );
    this.map.show([...this.chosen.values()].map(({ place, weight }) => ({ lat: place.lat, lon: place.lon, label: place.name, size: weight / 3 })));
  }
}
