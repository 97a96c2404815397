/** The shapes of the base map, from data that comes with the page: land, borders, states and their names.
 *
 * Every shape has its outline in a few grades of detail, each made when it is first needed and then kept: a map that is
 * zoomed has nothing to work out. Small shapes near each other are one, since every shape costs a stroke of the pen. */

import type { Position } from "geojson";
import { type Extent, getHeight, getWidth } from "ol/extent";
import Polygon from "ol/geom/Polygon";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import statesUrl from "us-atlas/states-10m.json?url";
import coarseUrl from "world-atlas/countries-110m.json?url";
import fineUrl from "world-atlas/countries-50m.json?url";
import { WORLD } from "./scene";

type Source = Topology<Record<string, GeometryCollection<{ name?: string }>>>;

const HALF = WORLD / 2;
const SOUTH = -85.05;
/** Grades of detail: metres a pixel from which on each is fine enough; beneath the last one, every point counts. */
const GRADES = [40_000, 16_000, 6_000, 2_000, 700];
const PATCH = WORLD / 16;

/** A shape or a line. */
export class Outline {
  readonly extent: Extent;
  private readonly paths = new Map<number, Path2D>();

  constructor(private readonly rings: Float64Array[], private readonly closed: boolean) {
    this.extent = [Infinity, Infinity, -Infinity, -Infinity];
    for (const ring of rings) {
      for (let at = 0; at < ring.length; at += 2) {
        this.extent[0] = Math.min(this.extent[0] as number, ring[at] as number);
        this.extent[1] = Math.min(this.extent[1] as number, ring[at + 1] as number);
        this.extent[2] = Math.max(this.extent[2] as number, ring[at] as number);
        this.extent[3] = Math.max(this.extent[3] as number, ring[at + 1] as number);
      }
    }
  }

  /** As fine as a map of so many metres a pixel can show it. */
  path(resolution: number): Path2D {
    const grade = GRADES.find((one) => one <= resolution) ?? 0;
    let path = this.paths.get(grade);
    if (!path) {
      path = this.made(grade * 0.75);
      this.paths.set(grade, path);
    }
    return path;
  }

  /** Points nearer to the one before than `least` metres are left out. */
  private made(least: number): Path2D {
    const path = new Path2D();
    for (const ring of this.rings) {
      const last = ring.length - 2;
      let [x, y] = [ring[0] as number, ring[1] as number];
      path.moveTo(x, y);
      for (let at = 2; at <= last; at += 2) {
        const [nextX, nextY] = [ring[at] as number, ring[at + 1] as number];
        if (at < last && Math.abs(nextX - x) < least && Math.abs(nextY - y) < least) continue;
        [x, y] = [nextX, nextY];
        path.lineTo(x, y);
      }
      if (this.closed) path.closePath();
    }
    return path;
  }
}

/** A name and where it stands; `room`: how many metres wide the country is there. */
export interface Name {
  text: string;
  x: number;
  y: number;
  room: number;
  state: boolean;
}

export interface Atlas {
  land: Outline[];
  borders: Outline[];
  states: Outline[];
  names: Name[];
}

let known: Atlas = { land: [], borders: [], states: [], names: [] };

/** What is there now. */
export function atlas(): Atlas {
  return known;
}

/** Read everything, first roughly; `told` whenever there is more, and whether that is all. */
export async function readAtlas(told: (all: boolean) => void): Promise<void> {
  const tell = (more: Partial<Atlas>, all = false): void => {
    known = { ...known, ...more };
    told(all);
  };
  const coarse = await load(coarseUrl);
  tell({ ...shapes(coarse), names: namesOf(coarse, "countries") });
  const [fine, us] = await Promise.all([load(fineUrl), load(statesUrl)]);
  tell({ ...shapes(fine), states: linesOf(us, "states"), names: [...namesOf(fine, "countries"), ...namesOf(us, "states")] }, true);
}

async function load(url: string): Promise<Source> {
  const response = await fetch(url);
  return (await response.json()) as Source;
}

function shapes(source: Source): Pick<Atlas, "land" | "borders"> {
  return { land: grouped(polygonsOf(source, "land").map((rings) => rings.map(projected)), true), borders: linesOf(source, "countries") };
}

/** Outlines of shapes or lines: those of one patch of the world together, large ones for themselves. */
function grouped(all: Float64Array[][], closed: boolean): Outline[] {
  const patches = new Map<string, Float64Array[]>();
  const outlines: Outline[] = [];
  for (const rings of all) {
    const one = new Outline(rings, closed);
    const [west = 0, south = 0] = one.extent;
    if (Math.max(getWidth(one.extent), getHeight(one.extent)) > PATCH) outlines.push(one);
    else {
      const key = `${Math.floor(west / PATCH)} ${Math.floor(south / PATCH)}`;
      patches.set(key, [...(patches.get(key) ?? []), ...rings]);
    }
  }
  return [...outlines, ...[...patches.values()].map((rings) => new Outline(rings, closed))];
}

/** The polygons of all shapes of that name, each with its holes. */
function polygonsOf(source: Source, name: string): Position[][][] {
  const all = source.objects[name];
  return all ? feature(source, all).features.flatMap((one) => partsOf(one.geometry)) : [];
}

function partsOf(geometry: { type: string; coordinates?: unknown }): Position[][][] {
  const parts = geometry.type === "Polygon" ? [geometry.coordinates as Position[][]] : geometry.type === "MultiPolygon" ? (geometry.coordinates as Position[][][]) : [];
  return parts.map((rings) => rings.map(unwrapped));
}

/** The lines between shapes of that name; not those around all of them. */
function linesOf(source: Source, name: string): Outline[] {
  const all = source.objects[name];
  return all ? grouped(mesh(source, all, (a, b) => a !== b).coordinates.map((line) => [projected(line)]), false) : [];
}

/** Names, each in the largest part of its shape. */
function namesOf(source: Source, name: string): Name[] {
  const all = source.objects[name];
  const names: Name[] = [];
  for (const one of all ? feature(source, all).features : []) {
    const parts = partsOf(one.geometry).map((rings) => new Polygon(rings.map((ring) => pairs(projected(ring)))));
    const largest = parts.reduce<Polygon | null>((best, part) => (best && best.getArea() >= part.getArea() ? best : part), null);
    if (!largest) continue;
    const [x = 0, y = 0, room = 0] = largest.getInteriorPoint().getCoordinates();
    names.push({ text: one.properties?.name ?? "", x, y, room, state: name === "states" });
  }
  return names.sort((a, b) => b.room - a.room);
}

/** A ring whose longitudes run on over the date line instead of jumping back; one around the pole is closed there. */
function unwrapped(ring: Position[]): Position[] {
  const out: Position[] = [];
  let turn = 0;
  let before: number | null = null;
  for (const [lon = 0, lat = 0] of ring) {
    if (before !== null && lon - before > 180) turn -= 360;
    else if (before !== null && lon - before < -180) turn += 360;
    before = lon;
    out.push([lon + turn, lat]);
  }
  const first = out[0]?.[0] ?? 0;
  const last = out.at(-1)?.[0] ?? 0;
  if (Math.abs(last - first) > 180) out.push([last, SOUTH], [first, SOUTH], out[0] ?? [first, SOUTH]);
  return out;
}

/** Longitudes and latitudes as metres of the map, one number after the other. */
function projected(line: Position[]): Float64Array {
  const out = new Float64Array(line.length * 2);
  line.forEach(([lon = 0, lat = 0], at) => {
    out[2 * at] = (lon / 180) * HALF;
    out[2 * at + 1] = (Math.log(Math.tan(Math.PI / 4 + (Math.max(SOUTH, Math.min(85.05, lat)) * Math.PI) / 360)) / Math.PI) * HALF;
  });
  return out;
}

function pairs(flat: Float64Array): number[][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] as number, flat[2 * at + 1] as number]);
}
