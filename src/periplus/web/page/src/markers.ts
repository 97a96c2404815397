/** How markers look: numbered pins for results, circles for places. Every look is made once and used again, since a map that
 * is being moved asks for the looks of all its markers many times a second. */

import type Feature from "ol/Feature";
import type { FeatureLike } from "ol/Feature";
import { Circle, Fill, Icon, Stroke, Style, Text } from "ol/style";
import type { Hit, Point as PlacePoint } from "./api";
import { color, fontFamily } from "./basemap";
import { countOf, strings } from "./strings";

export const members = (cluster: FeatureLike): Feature[] => (cluster.get("features") as Feature[] | undefined) ?? [];
export const hitOf = (one: Feature): Hit => one.get("hit") as Hit;
export const pointOf = (one: Feature): PlacePoint => one.get("point") as PlacePoint;

const MOST_LOOKS = 2_000;
const NAMED_RESOLUTION = 6_000; // metres a pixel from which on a place's name would not help
const TALLY = "tally"; // of a cluster, counted once: clusters are made anew when the zoom changes

const looks = new Map<string, Style>();

/** The look of that key; made if it is not there yet. */
function look(key: string, make: () => Style): Style {
  let found = looks.get(key);
  if (!found) {
    if (looks.size >= MOST_LOOKS) looks.clear();
    found = make();
    looks.set(key, found);
  }
  return found;
}

const NEAREST: Record<string, number> = { world: 1.6, continent: 3, region: 4, country: 4.5, admin1: 6 };
const TOWN = 7;

/** How near to look at the one place of all results: of a country nothing is seen from where a town is. */
export function nearest(hits: Feature[]): number {
  return Math.min(TOWN, ...hits.map((one) => NEAREST[hitOf(one).place?.kind ?? ""] ?? TOWN));
}

/** The colours have changed: make every look anew. */
export function forgetLooks(): void {
  looks.clear();
}

// -- Places ----------------------------------------------------------------------------------------

interface Tally {
  pages: number;
  largest: PlacePoint;
}

function tally(cluster: FeatureLike): Tally {
  let known = cluster.get(TALLY) as Tally | undefined;
  if (!known) {
    const points = members(cluster).map(pointOf);
    known = {
      pages: points.reduce((sum, point) => sum + point.count, 0),
      largest: points.reduce((best, point) => (point.count > best.count ? point : best)),
    };
    (cluster as Feature).set(TALLY, known, true);
  }
  return known;
}

/** How many pages the places of a circle have together. */
export function pagesOf(cluster: FeatureLike): number {
  return tally(cluster).pages;
}

/** The place of a circle that has most pages. */
export function largestOf(cluster: FeatureLike): PlacePoint {
  return tally(cluster).largest;
}

/** `behind`: results are shown, so circles are only the background. In half pixels, so that few looks are needed. */
export function placeRadius(pages: number, behind: boolean): number {
  return Math.round(2 * Math.min(behind ? 22 : 30, 5 + Math.sqrt(pages) * 1.35)) / 2;
}

export function placeStyle(cluster: FeatureLike, resolution: number, behind: boolean): Style[] {
  const { pages, largest } = tally(cluster);
  const radius = placeRadius(pages, behind);
  const label = behind || radius < 10 ? "" : pages >= 1000 ? `${Math.round(pages / 100) / 10}k` : String(pages);
  const circle = look(`circle ${radius} ${label} ${behind} ${pages}`, () => circleStyle(radius, label, behind, pages));
  if (resolution > NAMED_RESOLUTION || !["city", "feature"].includes(largest.kind)) return [circle];
  const name = largest.label.split(", ")[0] ?? "";
  return [circle, look(`name ${radius} ${pages} ${name}`, () => nameStyle(name, radius, pages))];
}

function circleStyle(radius: number, label: string, behind: boolean, pages: number): Style {
  return new Style({
    image: look(`disc ${radius} ${behind}`, () => new Style({ image: disc(radius, behind) })).getImage() ?? disc(radius, behind),
    ...(label && {
      text: new Text({
        text: label,
        font: `600 ${Math.max(10, Math.min(14, Math.round(radius * 0.62)))}px ${fontFamily()}`,
        fill: new Fill({ color: color("map-bubble-text") }),
        offsetY: 1,
        declutterMode: "none",
      }),
    }),
    zIndex: pages,
  });
}

/** The circle itself, which OpenLayers draws to a picture of its own for every new object. */
function disc(radius: number, behind: boolean): Circle {
  return new Circle({
    radius,
    declutterMode: "none",
    fill: new Fill({ color: color(behind ? "map-behind" : "map-bubble") }),
    stroke: new Stroke({ color: color(behind ? "map-behind-edge" : "map-bubble-edge"), width: behind ? 1 : 1.5 }),
  });
}

function nameStyle(name: string, radius: number, pages: number): Style {
  return new Style({
    text: new Text({
      text: name,
      font: `600 12px ${fontFamily()}`,
      fill: new Fill({ color: color("map-place") }),
      stroke: new Stroke({ color: color("map-land"), width: 3 }),
      offsetY: radius + 10,
    }),
    zIndex: pages,
  });
}

// -- Results ---------------------------------------------------------------------------------------

const ranksOf = (cluster: FeatureLike): number[] => members(cluster).map((one) => hitOf(one).rank).sort((a, b) => a - b);

export function hitStyle(cluster: FeatureLike, hot: ReadonlySet<number>): Style {
  const ranks = ranksOf(cluster);
  const isHot = ranks.some((rank) => hot.has(rank));
  const label = rankLabel(ranks);
  return look(`pin ${ranks[0] ?? 0} ${label} ${isHot}`, () => pinStyle(label, ranks[0] ?? 0, isHot));
}

function pinStyle(label: string, first: number, hot: boolean): Style {
  return new Style({
    image: new Icon({ img: pin(widthOf(label), color(hot ? "pin-hot" : "pin"), color("pin-edge")), anchor: [0.5, 1], scale: (hot ? 1.18 : 1) / SHARP }),
    text: new Text({
      text: label,
      font: `700 ${hot ? 14 : 12.5}px ${fontFamily()}`,
      fill: new Fill({ color: color(hot ? "pin-hot-text" : "pin-text") }),
      offsetY: hot ? -25 : -21,
    }),
    zIndex: hot ? 10_000 : 1_000 - first,
  });
}

export function pinWidth(cluster: FeatureLike): number {
  return widthOf(rankLabel(ranksOf(cluster)));
}

function widthOf(label: string): number {
  return Math.max(28, 14 + label.length * 7.5);
}

const pins = new Map<string, HTMLCanvasElement>();
const SHARP = 2; // drawn larger than shown, for dense screens

/** A marker drawn once for each width and colour: a pill on a tail. A canvas is there at once, an image is not. */
function pin(width: number, fill: string, edge: string): HTMLCanvasElement {
  const key = `${width}|${fill}|${edge}`;
  const known = pins.get(key);
  if (known) return known;
  const w = Math.round(width);
  const middle = w / 2 + 1;
  const canvas = document.createElement("canvas");
  canvas.width = (w + 2) * SHARP;
  canvas.height = 36 * SHARP;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.scale(SHARP, SHARP);
    pen.fillStyle = fill;
    pen.strokeStyle = edge;
    const tail = (half: number, tip: number) => {
      pen.beginPath();
      pen.moveTo(middle - half, 22);
      pen.lineTo(middle, tip);
      pen.lineTo(middle + half, 22);
      pen.closePath();
    };
    tail(6, 34);
    pen.lineWidth = 2;
    pen.stroke();
    pen.fill();
    pen.beginPath();
    pen.roundRect(1, 1, w, 26, 13);
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.fill();
    tail(5, 32);
    pen.fill();
  }
  pins.set(key, canvas);
  return canvas;
}

/** `3`, `3–7` for a run, `3 · 8` for two, `3 +4` for more. */
function rankLabel(ranks: number[]): string {
  const first = ranks[0] ?? 0;
  const last = ranks.at(-1) ?? 0;
  if (ranks.length === 1) return String(first);
  if (last - first === ranks.length - 1) return `${first}–${last}`;
  return ranks.length === 2 ? ranks.join(" · ") : `${first} +${ranks.length - 1}`;
}

// -- Names -----------------------------------------------------------------------------------------

export const firstRank = (cluster: FeatureLike): number => Math.min(...members(cluster).map((one) => hitOf(one).rank));

/** `Results 3, 8: Houston`. */
export function pinName(cluster: FeatureLike): string {
  const hits = members(cluster).map(hitOf).sort((a, b) => a.rank - b.rank);
  const places = [...new Set(hits.map((hit) => hit.place?.name ?? ""))];
  return `${hits.length === 1 ? strings.pin : strings.pins} ${hits.map((hit) => hit.rank).join(", ")}: ${places.join(", ")}`;
}

/** `Houston, Texas, United States: 46 pages`, `… + 3 places: 60 pages`. */
export function circleName(cluster: FeatureLike): string {
  const more = members(cluster).length - 1;
  return `${largestOf(cluster).label}${more ? ` + ${countOf(more, "place", "places")}` : ""}: ${countOf(pagesOf(cluster), "page", "pages")}`;
}
