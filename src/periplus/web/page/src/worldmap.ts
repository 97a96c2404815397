/** A smaller map for forms and live views: points that can be chosen, nodes and the links between them. */

import Feature, { type FeatureLike } from "ol/Feature";
import OlMap from "ol/Map";
import View from "ol/View";
import { defaults as defaultControls } from "ol/control/defaults";
import { boundingExtent } from "ol/extent";
import LineString from "ol/geom/LineString";
import Point from "ol/geom/Point";
import { defaults as defaultInteractions } from "ol/interaction/defaults";
import VectorLayer from "ol/layer/Vector";
import { fromLonLat, toLonLat } from "ol/proj";
import VectorSource from "ol/source/Vector";
import { Circle, Fill, RegularShape, Stroke, Style, Text } from "ol/style";
import { baseMap, color, fontFamily, onOtherColors, zoomSigns } from "./basemap";
import { el } from "./dom";

/** How wide the buttons at the right are, with half of a name beside them. */
const ZOOM_BUTTONS = 96;

export interface Dot {
  lat: number;
  lon: number;
  label: string;
  size: number; // 0..1
}

export interface Way {
  from: Dot;
  to: Dot;
  weight: number; // 0..1
  label: string;
}

export class WorldMap {
  readonly element: HTMLElement;
  private readonly map: OlMap;
  private readonly dots = new VectorSource();
  private readonly ways = new VectorSource();
  private shown = "";
  private placed = { resolution: 0, revision: 0, sides: new Map<FeatureLike, Side>() };

  constructor(label: string, onPick?: (lat: number, lon: number) => void) {
    const base = baseMap();
    const target = el("div", { class: "world-canvas", tabindex: "0", role: "application", "aria-label": label });
    this.element = el("div", { class: "world" }, target);
    const dotLayer = new VectorLayer({ source: this.dots, style: (one, resolution) => dotStyle(String(one.get("label")), Number(one.get("size")), this.sides(resolution).get(one) ?? ABOVE), declutter: "ways", zIndex: 1 });
    const wayLayer = new VectorLayer({ source: this.ways, style: (one) => wayStyle(one.get("course") as number[][], Number(one.get("weight")), String(one.get("label"))), declutter: "ways" });
    this.map = new OlMap({
      target,
      layers: [...base.layers, wayLayer, dotLayer],
      controls: defaultControls({ attribution: false, rotate: false, zoomOptions: zoomSigns() }),
      interactions: defaultInteractions({ altShiftDragRotate: false, pinchRotate: false, mouseWheelZoom: !onPick }),
      view: new View({ center: fromLonLat([0, 25]), zoom: 1.2, minZoom: 0.5, maxZoom: 12 }),
    });
    if (onPick) {
      this.map.on("click", (event) => {
        const [lon = 0, lat = 0] = toLonLat(event.coordinate);
        onPick(lat, lon);
      });
      target.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        const [lon = 0, lat = 0] = toLonLat(this.map.getView().getCenter() ?? [0, 0]);
        onPick(lat, lon);
      });
    }
    new ResizeObserver(() => this.map.updateSize()).observe(target);
    onOtherColors(() => {
      base.restyle();
      dotLayer.changed();
      wayLayer.changed();
    });
  }

  /** At which side of its dot each name stands, so that none stands on another. */
  private sides(resolution: number): Map<FeatureLike, Side> {
    const revision = this.dots.getRevision();
    if (this.placed.resolution !== resolution || this.placed.revision !== revision) {
      this.placed = { resolution, revision, sides: sidesOf(this.dots.getFeatures(), resolution) };
    }
    return this.placed.sides;
  }

  /** Show these, and everything of them when they are others than before. */
  show(dots: Dot[], ways: Way[] = []): void {
    const at = (dot: Dot) => fromLonLat([dot.lon, dot.lat]);
    this.dots.clear(true);
    this.ways.clear(true);
    this.dots.addFeatures(dots.map((dot) => new Feature({ geometry: new Point(at(dot)), label: dot.label, size: dot.size })));
    this.ways.addFeatures(
      ways.map((way) => {
        const course = bow(at(way.from), at(way.to));
        return new Feature({ geometry: new LineString(course), course, weight: way.weight, label: way.label });
      }),
    );
    const now = dots.map((dot) => `${dot.lat},${dot.lon}`).join(";");
    if (now === this.shown) return;
    this.shown = now;
    this.map.updateSize();
    if (dots.length) this.map.getView().fit(boundingExtent(dots.map(at)), { padding: [50, ZOOM_BUTTONS, 40, 60], maxZoom: 6 });
  }
}

/** A line that bows to its right, so that both directions between two nodes are seen. */
function bow(from: number[], to: number[]): number[][] {
  const [x1 = 0, y1 = 0] = from;
  const [x2 = 0, y2 = 0] = to;
  const [mx, my] = [(x1 + x2) / 2 + (y2 - y1) * 0.14, (y1 + y2) / 2 - (x2 - x1) * 0.14];
  return Array.from({ length: 25 }, (_, step) => {
    const t = step / 24;
    const u = 1 - t;
    return [u * u * x1 + 2 * u * t * mx + t * t * x2, u * u * y1 + 2 * u * t * my + t * t * y2];
  });
}

type Side = readonly [number, number]; // right and down, as parts of the way beyond the dot
type Box = [number, number, number, number];

const ABOVE: Side = [0, -1];
const SIDES: readonly Side[] = [ABOVE, [0, 1], [1, 0], [-1, 0]];
const NAME_FONT = "600 12px";
const NAME_HEIGHT = 15;

const radiusOf = (size: number): number => 6 + size * 10;
const pen = document.createElement("canvas").getContext("2d");

function widthOf(label: string): number {
  if (!pen) return label.length * 7;
  pen.font = `${NAME_FONT} ${fontFamily()}`;
  return pen.measureText(label).width;
}

/** How far the middle of a name is from that of its dot. */
function offsetOf([right, down]: Side, width: number, size: number): [number, number] {
  return [right * (radiusOf(size) + 5 + width / 2), down * (radiusOf(size) + 10)];
}

/** For each dot the side where its name covers no other name and no other dot; those of larger dots choose first. */
function sidesOf(dots: Feature[], resolution: number): Map<FeatureLike, Side> {
  const all = dots.map((dot) => {
    const [x = 0, y = 0] = (dot.getGeometry() as Point).getCoordinates();
    return { dot, x: x / resolution, y: -y / resolution, size: Number(dot.get("size")), width: widthOf(String(dot.get("label"))) };
  }).sort((a, b) => b.size - a.size);
  const discs = all.map((one): Box => [one.x - radiusOf(one.size), one.y - radiusOf(one.size), one.x + radiusOf(one.size), one.y + radiusOf(one.size)]);
  const names: Box[] = [];
  const sides = new Map<FeatureLike, Side>();
  all.forEach((one, index) => {
    const boxAt = (side: Side): Box => {
      const [right, down] = offsetOf(side, one.width, one.size);
      return [one.x + right - one.width / 2, one.y + down - NAME_HEIGHT / 2, one.x + right + one.width / 2, one.y + down + NAME_HEIGHT / 2];
    };
    const covered = (side: Side) => [...names, ...discs.filter((_, other) => other !== index)].filter((box) => overlap(box, boxAt(side))).length;
    const best = SIDES.reduce((least, side) => (covered(side) < covered(least) ? side : least), ABOVE);
    names.push(boxAt(best));
    sides.set(one.dot, best);
  });
  return sides;
}

function overlap(a: Box, b: Box): boolean {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function dotStyle(label: string, size: number, side: Side): Style {
  const [offsetX, offsetY] = offsetOf(side, widthOf(label), size);
  return new Style({
    image: new Circle({ radius: radiusOf(size), fill: new Fill({ color: color("pin") }), stroke: new Stroke({ color: color("pin-edge"), width: 1.5 }), declutterMode: "obstacle" }),
    text: new Text({
      text: label,
      declutterMode: "obstacle", // always shown; the number of a way gives way to it
      font: `${NAME_FONT} ${fontFamily()}`,
      fill: new Fill({ color: color("map-place") }),
      stroke: new Stroke({ color: color("map-land"), width: 3 }),
      offsetX,
      offsetY,
    }),
  });
}

/** A line as thick as what goes along it, with an arrow and the number where it is two thirds of its way. */
function wayStyle(course: number[][], weight: number, label: string): Style[] {
  const [x = 0, y = 0] = course[16] ?? [];
  const [nextX = 0, nextY = 0] = course[17] ?? [];
  return [
    new Style({ stroke: new Stroke({ color: color("map-way"), width: 1 + weight * 4 }), zIndex: 0 }),
    new Style({
      geometry: new Point([x, y]),
      image: new RegularShape({ points: 3, radius: 6 + weight * 4, rotation: Math.atan2(nextX - x, nextY - y), fill: new Fill({ color: color("accent") }), declutterMode: "none" }),
      text: new Text({ text: label, font: `600 11px ${fontFamily()}`, fill: new Fill({ color: color("accent") }), stroke: new Stroke({ color: color("map-land"), width: 3 }), offsetY: 14 }),
      zIndex: 1,
    }),
  ];
}
