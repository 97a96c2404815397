/** The base map and the heat layer: their colours, and their pictures, which a painter in a thread of its own makes. */

import type Feature from "ol/Feature";
import type Point from "ol/geom/Point";
import type VectorSource from "ol/source/Vector";
import type { Options as ZoomOptions } from "ol/control/Zoom";
import type { Point as PlacePoint } from "./api";
import { el } from "./dom";
import { COARSE } from "./heat";
import type { Delivery, Order } from "./painter";
import { PictureLayer } from "./picture";
import type { Scene } from "./scene";
import { strings } from "./strings";

const COLORS = ["map-sea", "map-grid", "map-land", "map-state", "map-border", "map-coast", "map-name", "heat"];

const colors = new Map<string, string>();
let family = "";

/** A colour of the style sheet, so that the map follows light and dark. Remembered: styles are made for every frame. */
export function color(name: string): string {
  let value = colors.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    if (forced.matches && CSS.supports("color", value)) value = chosenColor(name);
    colors.set(name, value);
  }
  return value;
}

/** The colour that the reader chose for it, in numbers: names like `CanvasText` are known to elements, not to painters. */
function chosenColor(name: string): string {
  const probe = el("span", { class: "color-probe" });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const forced = matchMedia("(forced-colors: active)");

/** Light has become dark, or the reader has chosen colours. */
export function onOtherColors(act: () => void): void {
  for (const query of [matchMedia("(prefers-color-scheme: dark)"), forced]) query.addEventListener("change", act);
}

/** The page's font, for labels. */
export function fontFamily(): string {
  family ||= getComputedStyle(document.body).fontFamily;
  return family;
}

/** The buttons of a map, by names that can be read out. */
export function zoomSigns(): ZoomOptions {
  const sign = (text: string) => el("span", { "aria-hidden": "true" }, text);
  return { zoomInLabel: sign("+"), zoomOutLabel: sign("–"), zoomInTipLabel: strings.zoomIn, zoomOutTipLabel: strings.zoomOut };
}

export interface BaseMap {
  layers: PictureLayer[];
  restyle(): void;
}

export function baseMap(): BaseMap {
  const layer = new PictureLayer((scene, ratio) => painted(scene, ratio));
  layers.add(layer);
  const restyle = (): void => {
    colors.clear();
    layer.repaint();
  };
  return { layers: [layer], restyle };
}

/** The warmth of places, if it is to be shown. */
export function heatLayer(places: VectorSource<Feature<Point>>): PictureLayer {
  let heat = new Float64Array();
  const layer = new PictureLayer((scene, ratio) => painted(scene, ratio, heat), COARSE, false);
  places.on("change", () => {
    heat = Float64Array.from(places.getFeatures().flatMap((one) => [...(one.getGeometry()?.getFlatCoordinates() ?? [0, 0]), (one.get("point") as PlacePoint).count]));
    layer.repaint();
  });
  return layer;
}

const layers = new Set<PictureLayer>();
const ordered = new Map<number, (picture: ImageBitmap) => void>();
let painter: Worker | null = null;
let last = 0;

function painted(scene: Scene, ratio: number, heat?: Float64Array): Promise<ImageBitmap> {
  painter ??= hired();
  const order: Order = { id: ++last, scene, ratio, colors: Object.fromEntries(COLORS.map((name) => [name, color(name)])), ...(heat && { heat }) };
  painter.postMessage(order);
  return new Promise((done) => ordered.set(order.id, done));
}

/** One painter for all maps of the page. */
function hired(): Worker {
  const one = new Worker(new URL("./painter.ts", import.meta.url), { type: "module" });
  one.addEventListener("message", (event: MessageEvent<Delivery>) => {
    if ("more" in event.data) {
      for (const layer of layers) layer.repaint();
      return;
    }
    if (event.data.whole) document.documentElement.dataset["map"] = "whole";
    ordered.get(event.data.id)?.(event.data.picture);
    ordered.delete(event.data.id);
  });
  return one;
}
