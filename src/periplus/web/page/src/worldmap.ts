/** A smaller map for forms and live views: points that can be chosen, nodes and the links between them. */

import Feature from "ol/Feature";
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
import { baseMap, color, fontFamily, zoomSigns } from "./basemap";
import { el } from "./dom";

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

  constructor(label: string, onPick?: (lat: number, lon: number) => void) {
    const base = baseMap();
    const target = el("div", { class: "world-canvas", tabindex: "0", role: "application", "aria-label": label });
    this.element = el("div", { class: "world" }, target);
    const dotLayer = new VectorLayer({ source: this.dots, style: (one) => dotStyle(String(one.get("label")), Number(one.get("size"))), declutter: "ways", zIndex: 1 });
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
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      base.restyle();
      dotLayer.changed();
      wayLayer.changed();
    });
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
    if (dots.length) this.map.getView().fit(boundingExtent(dots.map(at)), { padding: [50, 60, 40, 60], maxZoom: 6 });
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

function dotStyle(label: string, size: number): Style {
  return new Style({
    image: new Circle({ radius: 6 + size * 10, fill: new Fill({ color: color("pin") }), stroke: new Stroke({ color: color("pin-edge"), width: 1.5 }), declutterMode: "obstacle" }),
    text: new Text({
      text: label,
      declutterMode: "obstacle", // always shown; the number of a way gives way to it
      font: `600 12px ${fontFamily()}`,
      fill: new Fill({ color: color("map-place") }),
      stroke: new Stroke({ color: color("map-land"), width: 3 }),
      offsetY: -(16 + size * 10),
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
