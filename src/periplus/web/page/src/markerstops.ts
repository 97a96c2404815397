/** Markers by keyboard: each that is in view is a button at its place, all of them one stop of the Tab key. */

import type OlMap from "ol/Map";
import type { Coordinate } from "ol/coordinate";
import { button, el } from "./dom";
import { strings } from "./strings";

export interface Stop {
  key: string; // what it stays by when the map moves
  name: string;
  at: Coordinate;
  raise: number; // pixels from its place up to its middle
  open(): void;
}

const MOST_STOPS = 100;

export class MarkerStops {
  readonly element = el("div", { class: "marker-stops", role: "toolbar", "aria-label": strings.markers, "aria-orientation": "horizontal" });
  private last = ""; // the key of the one that was reached last

  /** `stops`: the markers as the map shows them now, the most important first. */
  constructor(private readonly map: OlMap, private readonly stops: () => Stop[]) {
    this.element.addEventListener("keydown", (event) => this.go(event));
    map.on("moveend", () => this.place());
  }

  /** Put a button at every marker. */
  place(): void {
    const hadFocus = this.element.contains(document.activeElement);
    const [width = 0, height = 0] = this.map.getSize() ?? [];
    const buttons = this.stops().flatMap((stop) => {
      const [x, y] = this.map.getPixelFromCoordinate(stop.at) ?? [-1, -1];
      if (x === undefined || y === undefined || x < 0 || y - stop.raise < 0 || x > width || y - stop.raise > height) return [];
      const one = button("", () => stop.open(), { class: "marker-stop", "aria-label": stop.name, tabindex: "-1", "data-key": stop.key });
      one.addEventListener("focus", () => this.choose(one));
      one.style.left = `${x}px`;
      one.style.top = `${y - stop.raise}px`;
      return [one];
    }).slice(0, MOST_STOPS);
    this.element.replaceChildren(...buttons);
    this.element.hidden = !buttons.length;
    const here = this.find(this.last) ?? buttons[0];
    if (here) here.tabIndex = 0;
    if (hadFocus) here?.focus({ preventScroll: true });
  }

  /** Back to the marker that was reached last; to the map if it is no longer there. */
  refocus(): void {
    (this.find(this.last) ?? this.map.getTargetElement()).focus({ preventScroll: true });
  }

  private find(key: string): HTMLButtonElement | undefined {
    return this.all.find((one) => one.dataset["key"] === key);
  }

  private get all(): HTMLButtonElement[] {
    return [...this.element.children] as HTMLButtonElement[];
  }

  private choose(chosen: HTMLButtonElement): void {
    this.last = chosen.dataset["key"] ?? "";
    for (const one of this.all) one.tabIndex = one === chosen ? 0 : -1;
  }

  private go(event: KeyboardEvent): void {
    const all = this.all;
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus({ preventScroll: true });
  }
}
