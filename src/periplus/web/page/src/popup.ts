/** The popup of a marker: whole inside the map, which moves to make room for it. */

import type OlMap from "ol/Map";
import Overlay from "ol/Overlay";
import type { Coordinate } from "ol/coordinate";
import { button, el } from "./dom";
import { isCalm, strings } from "./strings";

/** Pixels between the popup and the edges of the map; at the right stand the tools. */
const EDGE = 8;
const TOOLS = 56;
/** How far below a place it begins, where there is no room above. */
const BELOW = 12;

export class Popup {
  readonly overlay: Overlay;
  private readonly body = el("div", { class: "popup-body" });
  private readonly box: HTMLElement;
  private giveBack: () => void = () => undefined;

  constructor(onClose: () => void) {
    const close = button("×", onClose, { class: "popup-close", "aria-label": strings.close });
    this.box = el("div", { class: "popup", role: "dialog", "aria-label": strings.where }, close, this.body);
    this.overlay = new Overlay({ element: this.box, positioning: "top-center", stopEvent: true });
  }

  hide(): void {
    const hadFocus = this.box.contains(document.activeElement);
    this.overlay.setPosition(undefined);
    if (hadFocus) this.giveBack();
    this.giveBack = () => undefined;
  }

  /** Take the keyboard; `giveBack` is called when it is closed from within. */
  focus(giveBack: () => void): void {
    this.giveBack = giveBack;
    this.body.querySelector<HTMLElement>("button, a")?.focus({ preventScroll: true });
  }

  /** `above`: how far a marker reaches over its place, in pixels. */
  show(map: OlMap, at: Coordinate, above: number, content: (Node | string)[]): void {
    this.body.replaceChildren(...content);
    this.overlay.setPosition(at); // now it has a size
    this.box.scrollTop = 0;
    const view = map.getView();
    const [width = 0, height = 0] = map.getSize() ?? [];
    const [wide, high] = [this.box.offsetWidth, this.box.offsetHeight];
    const resolution = view.getResolution() ?? 1;
    const center = view.getCenter() ?? [0, 0];
    const pixel = ([x = 0, y = 0]: Coordinate): [number, number] => [width / 2 + ((at[0] ?? 0) - x) / resolution, height / 2 - ((at[1] ?? 0) - y) / resolution];
    const inWidth = (x: number) => clamp(x, EDGE + wide / 2, width - TOOLS - wide / 2);

    const [x, y] = pixel(center);
    const [moveX, moveY] = [inWidth(x) - x, clamp(y, EDGE + high + above, height - EDGE) - y];
    const wanted = [(center[0] ?? 0) - moveX * resolution, (center[1] ?? 0) + moveY * resolution];
    const possible = view.getConstrainedCenter(wanted) ?? wanted; // no map goes beyond the poles
    if (moveX || moveY) view.animate({ center: possible, duration: isCalm() ? 0 : 250 });

    const [endX, endY] = pixel(possible);
    const [over, under] = [endY - above - high, endY + BELOW];
    const top = over >= EDGE ? over : under + high <= height - EDGE ? under : clamp(over, EDGE, height - EDGE - high);
    this.overlay.setOffset([inWidth(endX) - endX, top - endY]);
  }
}

/** The number itself, or the bound that it is beyond; the upper one counts where both cannot hold. */
function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
