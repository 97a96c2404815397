/** Tools of the result map: draw a box or a shape, and what area was asked for. */

import Feature from "ol/Feature";
import type OlMap from "ol/Map";
import { type Extent, getCenter, getWidth } from "ol/extent";
import Polygon from "ol/geom/Polygon";
import Draw, { createBox } from "ol/interaction/Draw";
import VectorLayer from "ol/layer/Vector";
import { toLonLat, transformExtent } from "ol/proj";
import VectorSource from "ol/source/Vector";
import { Fill, Stroke, Style } from "ol/style";
import type { Understood } from "./api";
import { shapesOf } from "./areas";
import { color } from "./basemap";
import { button, el, icon } from "./dom";
import { WORLD } from "./scene";
import { strings } from "./strings";

export interface ToolEvents {
  onArea(bbox: string): void;
  onShape(polygon: string): void;
  onHeat(on: boolean): void;
}

const MOST_CORNERS = 100;

function tool(path: string, onClick: () => void, attributes: Record<string, string>): HTMLButtonElement {
  const one = button("", onClick, attributes);
  one.append(icon(path));
  return one;
}

/** Draws on the map; one shape at a time. */
export class DrawTool {
  readonly element: HTMLElement;
  readonly layer: VectorLayer;
  private readonly source = new VectorSource();
  private readonly hint = el("p", { class: "draw-hint", role: "status" });
  private readonly buttons: Record<"box" | "shape" | "heat", HTMLButtonElement>;
  private drawing: Draw | null = null;
  private map: OlMap | null = null;

  constructor(private readonly events: ToolEvents) {
    this.layer = new VectorLayer({
      source: this.source,
      style: () => new Style({ stroke: new Stroke({ color: color("pin"), width: 2, lineDash: [6, 5] }), fill: new Fill({ color: color("map-area") }) }),
    });
    this.buttons = {
      box: tool("M3 5h12v8H3z", () => this.toggle("box"), { "aria-label": strings.drawBox, title: strings.drawBox, "aria-pressed": "false" }),
      shape: tool("M9 2.5l6.5 5-2.5 8h-8l-2.5-8z", () => this.toggle("shape"), { "aria-label": strings.drawPolygon, title: strings.drawPolygon, "aria-pressed": "false" }),
      heat: tool("M9 2c3 4 5 5.5 5 9a5 5 0 0 1-10 0c0-2 1-3 2-4 .5 1.5 1 2 2 2 .5-2 0-4 1-7z", () => events.onHeat(this.buttons.heat.getAttribute("aria-pressed") !== "true"), { "aria-label": strings.heat, title: strings.heat, "aria-pressed": "false" }),
    };
    this.hint.hidden = true;
    this.element = el("div", { class: "map-tools" }, el("div", { class: "tool-buttons", role: "toolbar", "aria-label": strings.map }, ...Object.values(this.buttons)), this.hint);
  }

  attach(map: OlMap): void {
    this.map = map;
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.stop();
    });
  }

  get active(): boolean {
    return this.drawing !== null;
  }

  /** What the outlined area takes in; null if there is none. */
  get extent(): Extent | null {
    return this.source.isEmpty() ? null : (this.source.getExtent() ?? null);
  }

  /** Whether the heat layer is shown. */
  setHeat(on: boolean): void {
    this.buttons.heat.setAttribute("aria-pressed", String(on));
  }

  /** Outline what was asked for. */
  outline(asked: Understood | null): void {
    this.source.clear(true);
    if (asked) this.source.addFeatures(shapesOf(asked).map((shape) => new Feature(shape)));
  }

  private toggle(kind: "box" | "shape"): void {
    const again = this.buttons[kind].getAttribute("aria-pressed") === "true";
    this.stop();
    if (again || !this.map) return;
    this.buttons[kind].setAttribute("aria-pressed", "true");
    this.hint.hidden = false;
    this.hint.textContent = kind === "box" ? strings.drawHint : strings.drawShapeHint;
    this.drawing = kind === "box" ? new Draw({ type: "Circle", geometryFunction: createBox(), freehand: true }) : new Draw({ type: "Polygon", maxPoints: MOST_CORNERS });
    this.drawing.on("drawend", (event) => {
      const shape = event.feature.getGeometry();
      if (!(shape instanceof Polygon)) return;
      // The click that ends a drawing is not a click on a marker.
      setTimeout(() => this.stop());
      if (kind === "box" || getWidth(shape.getExtent()) >= WORLD) this.events.onArea(boxOf(shape.getExtent()));
      else this.events.onShape(cornersOf(shape));
    });
    this.map.addInteraction(this.drawing);
  }

  private stop(): void {
    if (this.drawing) this.map?.removeInteraction(this.drawing);
    this.drawing = null;
    this.hint.hidden = true;
    this.buttons.box.setAttribute("aria-pressed", "false");
    this.buttons.shape.setAttribute("aria-pressed", "false");
  }
}

/** A longitude between -180 and 180: the map shows the world more than once. */
function wrapped(lon: number): number {
  return ((((lon + 180) % 360) + 360) % 360) - 180;
}

/** An extent of the map as the server wants it; across the date line west is greater than east. */
export function boxOf(extent: Extent): string {
  const [west = 0, south = 0, east = 0, north = 0] = transformExtent(extent, "EPSG:3857", "EPSG:4326");
  const whole = east - west >= 360;
  const box = [whole ? -180 : wrapped(west), Math.max(-90, south), whole ? 180 : wrapped(east), Math.min(90, north)];
  return box.map((n) => n.toFixed(4)).join(",");
}

/** Degrees: the server takes the shorter way from one corner to the next, so that longer edges are given in pieces. */
const LONGEST_EDGE = 170;

/** The corners of a shape as the server wants them; across the date line longitudes go on beyond 180. */
function cornersOf(shape: Polygon): string {
  const world = Math.round((getCenter(shape.getExtent())[0] ?? 0) / WORLD); // the map shows the world more than once
  const ring = (shape.getCoordinates()[0] ?? []).map((corner): [number, number] => [((corner[0] ?? 0) / WORLD - world) * 360, toLonLat(corner)[1] ?? 0]);
  const corners = ring.slice(1).flatMap(([lon, lat], at) => {
    const [fromLon, fromLat] = ring[at] ?? [lon, lat];
    const pieces = Math.max(1, Math.ceil(Math.abs(lon - fromLon) / LONGEST_EDGE));
    return Array.from({ length: pieces }, (_, piece) => [fromLon + ((lon - fromLon) * piece) / pieces, fromLat + ((lat - fromLat) * piece) / pieces]);
  });
  return corners.map((corner) => corner.map((n) => n.toFixed(4)).join(",")).join(";");
}
