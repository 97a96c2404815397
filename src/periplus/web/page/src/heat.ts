/** Pages as warmth: a glow at each place, and glows add up.
 *
 * OpenLayers' own heat layer needs a worker from a blob, which the content policy forbids. Glows are soft, so they are
 * painted at a quarter of the size and blown up by the browser. */

import { type Pen, type Scene, WORLD, worldsOf } from "./scene";

export const COARSE = 4; // pixels of the screen for one that is painted
const GLOW = 160; // pixels of the largest glow

/** `places`: x, y and pages of each; `hue`: as the three numbers of a colour. */
export function warm(pen: Pen, scene: Scene, places: Float64Array, hue: string): void {
  const glow = glowOf(hue);
  const [west = 0, , , north = 0] = scene.extent;
  for (let at = 0; at < places.length; at += 3) {
    const [x, y, pages] = places.subarray(at, at + 3) as unknown as [number, number, number];
    const warmth = Math.log10(1 + pages);
    const across = GLOW * (0.35 + Math.min(1, warmth / 3) * 0.65);
    const reach = (across / 2) * scene.resolution;
    pen.globalAlpha = Math.min(1, 0.45 + warmth / 6);
    for (const world of worldsOf([x - reach, y - reach, x + reach, y + reach], scene.extent)) {
      pen.drawImage(glow, (x + world * WORLD - west) / scene.resolution - across / 2, (north - y) / scene.resolution - across / 2, across, across);
    }
  }
}

const glows = new Map<string, OffscreenCanvas>();

function glowOf(hue: string): OffscreenCanvas {
  const known = glows.get(hue);
  if (known) return known;
  const side = GLOW / COARSE;
  const canvas = new OffscreenCanvas(side, side);
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
