/** The painter of base maps and of warmth. It works in a thread of its own, so that no reading of an atlas and no painting holds up a frame. */

import fontUrl from "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2?url";
import { atlas, type Name, type Outline, readAtlas } from "./atlas";
import { warm } from "./heat";
import { type Pen, type Scene, WORLD, worldsOf } from "./scene";

/** What is to be painted; `colors` by their names in the style sheet. */
export interface Order {
  id: number;
  scene: Scene;
  ratio: number; // pixels to paint for one of the screen
  colors: Record<string, string>;
  heat?: Float64Array; // paint warmth instead of the map: x, y and pages of each place
}

/** A picture, or that there is more to paint than before. */
export type Delivery = { id: number; picture: ImageBitmap; whole: boolean } | { more: true };

interface Thread {
  fonts: FontFaceSet;
  postMessage(delivery: Delivery, transferred?: Transferable[]): void;
}

/** Metres a pixel from which on states, and names, would only be in the way. */
const STATES_TO = 9_000;
const STATE_NAMES_TO = 4_500;
const NAMES_TO = 20_000;
const STEP = WORLD / 24; // of the grid: 15 degrees of longitude
const FAMILY = "map, sans-serif";

const thread = self as unknown as Thread;
const more = (): void => thread.postMessage({ more: true });

const face = new FontFace("map", `url(${fontUrl})`, { weight: "200 900" });
thread.fonts.add(face);
void face.load().then(more, () => undefined);
let whole = false; // whether the atlas has been read
void readAtlas((all) => {
  whole = all;
  more();
}).catch(() => undefined); // without a base map the markers are still right

self.addEventListener("message", (event: MessageEvent<Order>) => {
  const { id, scene, ratio, colors, heat } = event.data;
  const canvas = new OffscreenCanvas(Math.ceil(scene.width * ratio), Math.ceil(scene.height * ratio));
  const pen = canvas.getContext("2d", { alpha: Boolean(heat) });
  if (!pen) return;
  pen.scale(ratio, ratio);
  if (heat) warm(pen, scene, heat, colors["heat"] ?? "");
  else paint(pen, scene, (name) => colors[name] ?? "");
  const picture = canvas.transferToImageBitmap();
  thread.postMessage({ id, picture, whole }, [picture]);
});

function paint(pen: Pen, scene: Scene, color: (name: string) => string): void {
  pen.fillStyle = color("map-sea");
  pen.fillRect(0, 0, scene.width, scene.height);
  grid(pen, scene, color("map-grid"));
  const { land, borders, states, names } = atlas();
  pen.fillStyle = color("map-land");
  draw(pen, scene, land, (path) => pen.fill(path, "evenodd"));
  const lines: [Outline[], string][] = [[scene.resolution < STATES_TO ? states : [], "map-state"], [borders, "map-border"], [land, "map-coast"]];
  for (const [shapes, name] of lines) {
    pen.strokeStyle = color(name);
    draw(pen, scene, shapes, (path) => pen.stroke(path));
  }
  const end = ((scene.extent[3] ?? 0) + WORLD / 2) / scene.resolution; // of the projection; the land there goes on to the pole
  pen.fillStyle = color("map-land");
  if (end < scene.height) pen.fillRect(0, end - 2, scene.width, scene.height - end + 2);
  pen.strokeStyle = color("map-land");
  pen.fillStyle = color("map-name");
  if (scene.resolution < NAMES_TO) label(pen, scene, names);
}

/** Shapes in metres, in every world that the scene shows. */
function draw(pen: Pen, scene: Scene, shapes: Outline[], act: (path: Path2D) => void): void {
  const [west = 0, , , north = 0] = scene.extent;
  pen.lineWidth = scene.resolution;
  pen.lineJoin = "round";
  for (const shape of shapes) {
    for (const world of worldsOf(shape.extent, scene.extent)) {
      pen.save();
      pen.scale(1 / scene.resolution, -1 / scene.resolution);
      pen.translate(world * WORLD - west, -north);
      act(shape.path(scene.resolution));
      pen.restore();
    }
  }
}

function grid(pen: Pen, scene: Scene, color: string): void {
  const [west = 0, south = 0, east = 0, north = 0] = scene.extent;
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = Math.ceil(west / STEP) * STEP; x <= east; x += STEP) {
    const at = Math.round((x - west) / scene.resolution) + 0.5;
    pen.moveTo(at, 0);
    pen.lineTo(at, scene.height);
  }
  for (let lat = -75; lat <= 75; lat += 15) {
    const y = (Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * WORLD;
    if (y < south || y > north) continue;
    const at = Math.round((north - y) / scene.resolution) + 0.5;
    pen.moveTo(0, at);
    pen.lineTo(scene.width, at);
  }
  pen.stroke();
}

/** Names that have room in their country and beside the others, those of the larger ones first. */
function label(pen: Pen, scene: Scene, names: Name[]): void {
  const [west = 0, , , north = 0] = scene.extent;
  const taken: [number, number, number][] = []; // x, y, half the width
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  for (const name of names) {
    const room = name.room / scene.resolution;
    if (room < 34 || (name.state && scene.resolution > STATE_NAMES_TO)) continue;
    for (const world of worldsOf([name.x, name.y, name.x, name.y], scene.extent)) {
      const [x, y] = [(name.x + world * WORLD - west) / scene.resolution, (north - name.y) / scene.resolution];
      pen.font = name.state ? `500 12px ${FAMILY}` : `600 13px ${FAMILY}`;
      const half = pen.measureText(name.text).width / 2;
      if (2 * half > room || taken.some(([otherX, otherY, other]) => Math.abs(otherY - y) < 16 && Math.abs(otherX - x) < other + half + 6)) continue;
      taken.push([x, y, half]);
      pen.strokeText(name.text, x, y);
      pen.fillText(name.text, x, y);
    }
  }
}
