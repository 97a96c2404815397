/** The area that was asked for, as a shape of the map: a box, a drawn shape, a circle, or a part of one. */

import type { Coordinate } from "ol/coordinate";
import Polygon, { fromExtent } from "ol/geom/Polygon";
import { fromLonLat, transformExtent } from "ol/proj";
import { offset } from "ol/sphere";
import type { Understood } from "./api";

const HIGHEST = 85; // degrees: the map's projection ends here
const SIDES = 180;
const SECTOR = 45; // degrees to either side of "north of": as the search counts them
const HALF_THE_EARTH = 10_000; // km, from which on a circle takes in nearly everything and has no outline that helps

type Area = NonNullable<Understood["area"]>;

/** All that was asked for: the area and, where it is a circle around the first of several places, those around the others. */
export function shapesOf({ area, also }: Understood): Polygon[] {
  if (!area) return [];
  const others: Area[] = "km" in area ? also.flatMap(({ lat, lon }) => (lat === null || lon === null ? [] : [{ ...area, lat, lon }])) : [];
  return [area, ...others].map(shapeOf).filter((shape) => shape !== null);
}

/** Nothing for what has no outline. */
function shapeOf(area: Area): Polygon | null {
  if ("bbox" in area) {
    const [west, south, east, north] = area.bbox;
    const extent = [west, Math.max(-HIGHEST, south), east < west ? east + 360 : east, Math.min(HIGHEST, north)];
    return fromExtent(transformExtent(extent, "EPSG:4326", "EPSG:3857"));
  }
  if ("polygon" in area) return closed(area.polygon);
  if (area.km > HALF_THE_EARTH) return null;
  const from = (area.bearing ?? 0) - SECTOR;
  const reach = area.bearing === null ? 360 : 2 * SECTOR;
  const middle: Coordinate = [area.lon, area.lat];
  const edge = Array.from({ length: SIDES + 1 }, (_, side) => offset(middle, area.km * 1000, ((from + (side / SIDES) * reach) * Math.PI) / 180));
  return closed(area.bearing === null ? aroundPole(unrolled(edge), area.lat) : unrolled([middle, ...edge]));
}

function closed(corners: Coordinate[]): Polygon {
  const ring = corners.map(([lon = 0, lat = 0]) => fromLonLat([lon, Math.max(-HIGHEST, Math.min(HIGHEST, lat))]));
  return new Polygon([[...ring, ring[0] ?? [0, 0]]]);
}

/** Longitudes without jumps: a line goes on over the date line into the next world. */
function unrolled(line: Coordinate[]): Coordinate[] {
  let last = line[0]?.[0] ?? 0;
  return line.map(([lon = 0, lat = 0]) => {
    last = lon + Math.round((last - lon) / 360) * 360;
    return [last, lat];
  });
}

/** A circle around a pole goes once around the world: what it takes in lies between it and the map's edge. */
function aroundPole(line: Coordinate[], lat: number): Coordinate[] {
  const [first = 0, last = 0] = [line[0]?.[0], line.at(-1)?.[0]];
  if (Math.abs(last - first) < 180) return line;
  const end = Math.sign(lat) * HIGHEST;
  return [...line, [last, end], [first, end]];
}
