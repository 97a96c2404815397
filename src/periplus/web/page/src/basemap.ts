/** The base map, drawn from data that comes with the page: land, borders, states, a grid, names. */

import type { FeatureCollection, Position } from "geojson";
import Feature from "ol/Feature";
import GeoJSON from "ol/format/GeoJSON";
import { LineString, MultiPolygon, Polygon } from "ol/geom";
import type Geometry from "ol/geom/Geometry";
import VectorLayer from "ol/layer/Vector";
import VectorImageLayer from "ol/layer/VectorImage";
import { fromLonLat } from "ol/proj";
import VectorSource from "ol/source/Vector";
import { Fill, Stroke, Style, Text } from "ol/style";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import statesUrl from "us-atlas/states-10m.json?url";
import coarseUrl from "world-atlas/countries-110m.json?url";
import fineUrl from "world-atlas/countries-50m.json?url";

type Atlas = Topology<Record<string, GeometryCollection<{ name?: string }>>>;

const geojson = new GeoJSON({ featureProjection: "EPSG:3857" });

const colors = new Map<string, string>();
let family = "";

/** A colour of the style sheet, so that the map follows light and dark. Remembered: styles are made for every frame. */
export function color(name: string): string {
  let value = colors.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colors.set(name, value);
  }
  return value;
}

/** The page's font, for labels. */
export function fontFamily(): string {
  family ||= getComputedStyle(document.body).fontFamily;
  return family;
}

function gridLines(): Feature[] {
  const lines: Feature[] = [];
  const line = (points: [number, number][]) =>
    lines.push(new Feature(new LineString(points.map((point) => fromLonLat(point)))));
  for (let lon = -180; lon <= 180; lon += 15) line([[lon, -84], [lon, 84]]);
  for (let lat = -75; lat <= 75; lat += 15) line([[-180, lat], [180, lat]]);
  return lines;
}

const SOUTH = -85.05;

/** A ring whose longitudes run on over the date line instead of jumping back; one around the pole is closed there. */
function unwrapRing(ring: Position[]): Position[] {
  const out: Position[] = [];
  let turn = 0;
  let before: number | null = null;
  for (const [lon = 0, lat = 0] of ring) {
    if (before !== null && lon - before > 180) turn -= 360;
    else if (before !== null && lon - before < -180) turn += 360;
    before = lon;
    out.push([lon + turn, Math.max(SOUTH, lat)]);
  }
  const first = out[0]?.[0] ?? 0;
  const last = out.at(-1)?.[0] ?? 0;
  if (Math.abs(last - first) > 180) out.push([last, SOUTH], [first, SOUTH], out[0] ?? [first, SOUTH]);
  return out;
}

function unwrapped(all: FeatureCollection): FeatureCollection {
  const features = all.features.map((one) => {
    const geometry = one.geometry;
    if (geometry.type === "Polygon") return { ...one, geometry: { ...geometry, coordinates: geometry.coordinates.map(unwrapRing) } };
    if (geometry.type === "MultiPolygon") return { ...one, geometry: { ...geometry, coordinates: geometry.coordinates.map((part) => part.map(unwrapRing)) } };
    return one;
  });
  return { ...all, features };
}

async function load(url: string): Promise<Atlas> {
  const response = await fetch(url);
  return (await response.json()) as Atlas;
}

/** The largest part of a country, in which its name stands. */
function largestPart(geometry: Geometry | undefined): Polygon | null {
  if (geometry instanceof Polygon) return geometry;
  if (!(geometry instanceof MultiPolygon)) return null;
  return geometry.getPolygons().reduce((best, part) => (part.getArea() > best.getArea() ? part : best));
}

export interface BaseMap {
  layers: (VectorImageLayer<VectorSource> | VectorLayer<VectorSource>)[];
  restyle(): void;
}

export function baseMap(): BaseMap {
  const grid = new VectorImageLayer({ source: new VectorSource({ features: gridLines() }) });
  const land = new VectorImageLayer({ source: new VectorSource<Feature>(), imageRatio: 1.5 });
  const states = new VectorImageLayer({ source: new VectorSource<Feature>(), imageRatio: 1.5, maxResolution: 9000 });
  const names = new VectorLayer({ source: new VectorSource<Feature>(), declutter: true, maxResolution: 14000 });

  const restyle = (): void => {
    colors.clear();
    grid.setStyle(new Style({ stroke: new Stroke({ color: color("map-grid"), width: 1 }) }));
    land.setStyle(
      new Style({
        fill: new Fill({ color: color("map-land") }),
        stroke: new Stroke({ color: color("map-border"), width: 1 }),
      }),
    );
    states.setStyle(new Style({ stroke: new Stroke({ color: color("map-state"), width: 1, lineDash: [3, 3] }) }));
    const font = fontFamily();
    const fill = new Fill({ color: color("map-name") });
    const halo = new Stroke({ color: color("map-land"), width: 3 });
    names.setStyle((named, resolution) => {
      const geometry = named.getGeometry();
      const isState = Boolean(named.get("state"));
      if (isState && resolution > 4500) return undefined;
      const width = geometry ? (geometry.getExtent()[2] ?? 0) - (geometry.getExtent()[0] ?? 0) : 0;
      if (width / resolution < 60) return undefined;
      return new Style({
        text: new Text({
          text: String(named.get("name") ?? ""),
          font: isState ? `500 11px ${font}` : `600 12px ${font}`,
          fill,
          stroke: halo,
          overflow: false,
        }),
      });
    });
  };

  const show = async (url: string): Promise<void> => {
    const atlas = await load(url);
    const countries = atlas.objects.countries;
    if (!countries) return;
    const features = geojson.readFeatures(unwrapped(feature(atlas, countries))) as Feature[];
    land.getSource()?.clear(true);
    land.getSource()?.addFeatures(features);
    nameAll(names, features, false);
  };

  const showStates = async (): Promise<void> => {
    const atlas = await load(statesUrl);
    const all = atlas.objects.states;
    if (!all) return;
    const borders = mesh(atlas, all, (a, b) => a !== b);
    states.getSource()?.addFeatures([new Feature(geojson.readGeometry(borders))]);
    nameAll(names, geojson.readFeatures(feature(atlas, all)) as Feature[], true);
  };

  restyle();
  void show(coarseUrl)
    .then(() => Promise.all([show(fineUrl), showStates()]))
    .catch(() => undefined); // without a base map the markers are still right
  return { layers: [grid, land, states, names], restyle };
}

function nameAll(layer: VectorLayer<VectorSource>, features: Feature[], state: boolean): void {
  const source = layer.getSource();
  if (!source) return;
  for (const old of source.getFeatures()) if (Boolean(old.get("state")) === state) source.removeFeature(old);
  for (const one of features) {
    const part = largestPart(one.getGeometry());
    if (!part) continue;
    const named = new Feature(part);
    named.setProperties({ name: one.get("name") as string, state });
    source.addFeature(named);
  }
}
