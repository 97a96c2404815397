/** Pages as warmth: a glow at each place, and glows add up.
 *
 * OpenLayers' own heat layer needs a worker from a blob, which the content policy forbids. Glows are soft, so they are
 * painted at a quarter of the size and blown up: a thousand of them take a few milliseconds. While the map is moved the last
 * picture moves along. */

import type Feature from "ol/Feature";
import { type Extent, getHeight, getWidth } from "ol/extent";
import type Point from "ol/geom/Point";
import ImageLayer from "ol/layer/Image";
import { get as projectionOf } from "ol/proj";
import ImageCanvasSource from "ol/source/ImageCanvas";
import type VectorSource from "ol/source/Vector";
import type { Point as PlacePoint } from "./api";
import { color } from "./basemap";

const COARSE = 4; // pixels of the screen for one that is painted
const GLOW = 160; // pixels of the largest glow
const WORLD = getWidth(projectionOf("EPSG:3857")?.getExtent() ?? [0, 0, 4e7, 4e7]);

export function heatLayer(places: VectorSource<Feature<Point>>): ImageLayer<ImageCanvasSource> {
  const source = new ImageCanvasSource({
    ratio: 1.4,
    projection: "EPSG:3857",
    canvasFunction: (extent, resolution, ratio, size) => painted(places, extent, resolution / ratio, size),
  });
  places.on("change", () => source.changed());
  return new ImageLayer({ source, visible: false });
}

/** `resolution`: metres of a pixel of the picture. */
function painted(places: VectorSource<Feature<Point>>, extent: Extent, resolution: number, size: number[]): HTMLCanvasElement {
  const [width = 1, height = 1] = size.map((one) => Math.max(1, Math.round(one)));
  const coarse = canvasOf(Math.ceil(width / COARSE), Math.ceil(height / COARSE));
  const pen = coarse.getContext("2d");
  const whole = canvasOf(width, height);
  const brush = whole.getContext("2d");
  if (!pen || !brush) return whole;
  const glow = glowOf(color("heat"));
  const [west = 0, , , north = 0] = extent;
  const step = resolution * COARSE;
  const from = Math.floor((west - WORLD / 2) / WORLD);
  const to = Math.ceil((west + getWidth(extent) + WORLD / 2) / WORLD);
  for (const place of places.getFeatures()) {
    const [x = 0, y = 0] = place.getGeometry()?.getCoordinates() ?? [];
    const warmth = Math.log10(1 + (place.get("point") as PlacePoint).count);
    const across = (GLOW / COARSE) * (0.35 + Math.min(1, warmth / 3) * 0.65);
    const down = (north - y) / step - across / 2;
    if (down > getHeight(extent) / step || down < -across) continue;
    pen.globalAlpha = Math.min(1, 0.45 + warmth / 6);
    for (let world = from; world <= to; world++) {
      const right = (x + world * WORLD - west) / step - across / 2;
      if (right > -across && right < coarse.width) pen.drawImage(glow, right, down, across, across);
    }
  }
  brush.drawImage(coarse, 0, 0, coarse.width * COARSE, coarse.height * COARSE);
  return whole;
}

function canvasOf(width: number, height: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

const glows = new Map<string, HTMLCanvasElement>();

function glowOf(hue: string): HTMLCanvasElement {
  const known = glows.get(hue);
  if (known) return known;
  const side = GLOW / COARSE;
  const canvas = canvasOf(side, side);
  const pen = canvas.getContext("2d");
  if (pen) {
    const shade = pen.createRadialGradient(side / 2, side / 2, 0, side / 2, side / 2, side / 2);
    for (const [at, alpha] of [[0, 0.6], [0.3, 0.3], [0.65, 0.09], [1, 0]] as const) shade.addColorStop(at, `rgb(${hue} / ${alpha})`);
    pen.fillStyle = shade;
    pen.fillRect(0, 0, side, side);
  }
  glows.set(hue, canvas);
  return canvas;
}
