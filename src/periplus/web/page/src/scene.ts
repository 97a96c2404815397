/** What a picture of the map shows, and how large the world is in it. */

import type { Extent } from "ol/extent";

export type Pen = OffscreenCanvasRenderingContext2D;

export interface Scene {
  extent: Extent;
  resolution: number; // metres a pixel
  width: number;
  height: number;
}

/** The width of the world in metres of the map's projection. */
export const WORLD = 40_075_016.685578488;

/** The worlds side by side, as multiples of its width, in which a shape is to be seen. */
export function worldsOf(shape: Extent, scene: Extent): number[] {
  const [left, right] = [scene[0] as number, scene[2] as number];
  if ((shape[3] as number) < (scene[1] as number) || (shape[1] as number) > (scene[3] as number)) return [];
  const from = Math.ceil((left - (shape[2] as number)) / WORLD);
  const to = Math.floor((right - (shape[0] as number)) / WORLD);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
}
