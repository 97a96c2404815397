/** The map: numbered markers that match the list, circles for all places, popups, and searching an area. */

import Feature, { type FeatureLike } from "ol/Feature";
import OlMap from "ol/Map";
import Overlay from "ol/Overlay";
import View from "ol/View";
import { defaults as defaultControls } from "ol/control/defaults";
import { boundingExtent, type Extent, getWidth } from "ol/extent";
import Point from "ol/geom/Point";
import { defaults as defaultInteractions } from "ol/interaction/defaults";
import TileLayer from "ol/layer/Tile";
import VectorLayer from "ol/layer/Vector";
import { fromLonLat, toLonLat, transformExtent } from "ol/proj";
import Cluster from "ol/source/Cluster";
import VectorSource from "ol/source/Vector";
import XYZ from "ol/source/XYZ";
import { Circle, Fill, Icon, Stroke, Style, Text } from "ol/style";
import type { Hit, Point as PlacePoint, Understood } from "./api";
import { baseMap, color, fontFamily } from "./basemap";
import { button, el } from "./dom";
import { DrawTool, heatLayer } from "./maptools";
import { count, countOf, position, strings } from "./strings";

export interface MapEvents {
  onMarker(ranks: number[]): void;
  onHover(ranks: number[]): void;
  onClose(): void;
  onPlace(id: number): void;
  onArea(bbox: string): void;
  onShape(polygon: string): void;
  onHeat(on: boolean): void;
  onMove(view: string): void;
}

const members = (cluster: FeatureLike): Feature[] => (cluster.get("features") as Feature[] | undefined) ?? [];
const hitOf = (one: Feature): Hit => one.get("hit") as Hit;
const pointOf = (one: Feature): PlacePoint => one.get("point") as PlacePoint;

export class ResultMap {
  readonly element: HTMLElement;
  private readonly map: OlMap;
  private readonly hits = new VectorSource<Feature<Point>>();
  private readonly places = new VectorSource<Feature<Point>>();
  private readonly hitLayer: VectorLayer<Cluster<Feature>>;
  private readonly placeLayer: VectorLayer<Cluster<Feature>>;
  private readonly heat = heatLayer(this.places);
  private readonly tools: DrawTool;
  private readonly popup: Overlay;
  private readonly popupBody = el("div", { class: "popup-body" });
  private readonly areaButton: HTMLButtonElement;
  private hot = new Set<number>();
  private moved = false;
  private tiled = false;
  private readonly under: number; // where the base map ends
  private settling = true;

  constructor(private readonly events: MapEvents) {
    const base = baseMap();
    const target = el("div", { class: "map-canvas", tabindex: "0", role: "application", "aria-label": strings.mapResults });
    this.areaButton = button(strings.searchArea, () => this.searchArea(), { class: "area-button" });
    this.areaButton.hidden = true;
    const close = button("×", () => this.closePopup(), { class: "popup-close", "aria-label": strings.close });
    const popup = el("div", { class: "popup", role: "dialog", "aria-label": strings.where }, close, this.popupBody);
    this.tools = new DrawTool(this.events);
    this.element = el("section", { class: "map", "aria-label": strings.map }, target, this.tools.element, this.areaButton);

    this.placeLayer = new VectorLayer({
      source: new Cluster<Feature>({ source: this.places, distance: 44, minDistance: 14 }),
      style: (cluster, resolution) => this.placeStyle(cluster, resolution),
      declutter: "names",
    });
    this.hitLayer = new VectorLayer({
      source: new Cluster<Feature>({ source: this.hits, distance: 30 }),
      style: (cluster) => this.hitStyle(cluster),
    });
    this.popup = new Overlay({ element: popup, positioning: "bottom-center", offset: [0, -12], stopEvent: true, autoPan: { margin: 24 } });
    this.map = new OlMap({
      target,
      layers: [...base.layers, this.heat, this.placeLayer, this.tools.layer, this.hitLayer],
      overlays: [this.popup],
      controls: defaultControls({ attribution: false, rotate: false, zoomOptions: { zoomInTipLabel: strings.zoomIn, zoomOutTipLabel: strings.zoomOut } }),
      interactions: defaultInteractions({ altShiftDragRotate: false, pinchRotate: false }),
      view: new View({ center: fromLonLat([0, 25]), zoom: 2, minZoom: 1, maxZoom: 14 }),
    });
    this.tools.attach(this.map);
    this.under = base.layers.length;
    this.listen(target);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      base.restyle();
      this.redraw();
    });
  }

  private listen(target: HTMLElement): void {
    this.map.on("click", (event) => {
      if (!this.tools.active) this.onClick(event.pixel);
    });
    this.map.on("pointermove", (event) => {
      if (event.dragging || this.tools.active) return;
      const cluster = this.at(event.pixel);
      target.classList.toggle("is-pointing", Boolean(cluster));
      const ranks = cluster ? members(cluster).filter((m) => m.get("hit")).map((m) => hitOf(m).rank) : [];
      this.events.onHover(ranks);
    });
    this.map.on("pointerdrag", () => {
      if (!this.tools.active) this.userMoved();
    });
    target.addEventListener("wheel", () => this.userMoved(), { passive: true });
    target.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closePopup();
      else if (event.key.startsWith("Arrow") || event.key === "+" || event.key === "-") this.userMoved();
    });
    this.map.on("moveend", () => {
      if (this.moved && !this.settling) this.events.onMove(this.position());
      this.settling = false;
    });
  }

  private userMoved(): void {
    this.moved = true;
    this.areaButton.hidden = false;
  }

  position(): string {
    const view = this.map.getView();
    const [lon, lat] = toLonLat(view.getCenter() ?? [0, 0]);
    return [(lon ?? 0).toFixed(4), (lat ?? 0).toFixed(4), (view.getZoom() ?? 2).toFixed(2)].join(",");
  }

  /** Show the results of the list, and all places that answer; fit to them unless a view is given. */
  show(hits: Hit[], points: PlacePoint[], view: string, area: Understood["area"] = null, heat = false): void {
    this.closePopup();
    this.tools.outline(area);
    this.tools.setHeat(heat);
    this.heat.setVisible(heat);
    this.placeLayer.setVisible(!heat);
    this.hits.clear(true);
    this.places.clear(true);
    this.hits.addFeatures(
      hits.flatMap((hit) => {
        const place = hit.place;
        if (!place || place.lat === null || place.lon === null) return [];
        const one = new Feature(new Point(fromLonLat([place.lon, place.lat])));
        one.set("hit", hit);
        return [one];
      }),
    );
    this.places.addFeatures(
      points.map((point) => {
        const one = new Feature(new Point(fromLonLat([point.lon, point.lat])));
        one.set("point", point);
        return one;
      }),
    );
    this.areaButton.hidden = true;
    this.element.removeAttribute("data-drawn");
    this.settle(view);
    this.map.once("rendercomplete", () => this.element.setAttribute("data-drawn", ""));
    this.map.render();
  }

  private settle(view: string): void {
    const [lon, lat, zoom] = view.split(",").map(Number);
    this.settling = true;
    this.moved = false;
    if (view && [lon, lat, zoom].every((n) => n !== undefined && Number.isFinite(n))) {
      this.map.getView().setCenter(fromLonLat([lon ?? 0, lat ?? 0]));
      this.map.getView().setZoom(zoom ?? 2);
      return;
    }
    const hits = this.hits.getFeatures().map((one) => one.getGeometry()?.getCoordinates() ?? [0, 0]);
    const extent = hits.length ? boundingExtent(hits) : this.densest();
    this.map.updateSize();
    if (!hits.length && !this.places.getFeatures().length) {
      this.map.getView().setCenter(fromLonLat([0, 25]));
      this.map.getView().setZoom(1.6);
      return;
    }
    const size = this.map.getSize() ?? [800, 600];
    const side = Math.min(60, (size[0] ?? 800) / 8);
    this.map.getView().fit(extent, { padding: [70, Math.max(side, 72), 40, side], maxZoom: getWidth(extent) === 0 ? 7 : 9 });
  }

  /** Where nearly all pages are: a few far away must not make a map of the world of them. */
  private densest(): Extent {
    const all = this.places.getFeatures().map((one) => ({ at: one.getGeometry()?.getCoordinates() ?? [0, 0], pages: pointOf(one).count }));
    const total = all.reduce((sum, one) => sum + one.pages, 0);
    const bounds = (axis: 0 | 1): [number, number] => {
      const sorted = [...all].sort((a, b) => (a.at[axis] ?? 0) - (b.at[axis] ?? 0));
      let passed = 0;
      let low = sorted[0]?.at[axis] ?? 0;
      let high = low;
      for (const one of sorted) {
        if (passed <= total * 0.04) low = one.at[axis] ?? 0;
        if (passed < total * 0.96) high = one.at[axis] ?? 0;
        passed += one.pages;
      }
      return [low, high];
    };
    const [west, east] = bounds(0);
    const [south, north] = bounds(1);
    return [west, south, east, north];
  }

  /** Make the markers of these entries stand out. */
  highlight(ranks: number[]): void {
    this.hot = new Set(ranks);
    this.hitLayer.changed();
  }

  /** Open the popup of an entry's marker. */
  reveal(rank: number): void {
    const cluster = this.hitLayer.getSource()?.getFeatures().find((one) => members(one).some((m) => hitOf(m).rank === rank));
    if (cluster) this.openHits(cluster, rank);
  }

  /** An online base map over the built-in one, if the server has one configured. */
  setTiles(url: string): void {
    if (!url || this.tiled) return;
    this.tiled = true;
    this.map.getLayers().insertAt(this.under, new TileLayer({ source: new XYZ({ url }) }));
  }

  updateSize(): void {
    this.map.updateSize();
  }

  private redraw(): void {
    this.hitLayer.changed();
    this.placeLayer.changed();
  }

  private at(pixel: number[]): FeatureLike | undefined {
    return this.map.forEachFeatureAtPixel(pixel, (one) => one, {
      hitTolerance: 3,
      layerFilter: (layer) => layer === this.hitLayer || layer === this.placeLayer,
    });
  }

  private onClick(pixel: number[]): void {
    const cluster = this.at(pixel);
    if (!cluster) return this.closePopup();
    if (members(cluster)[0]?.get("hit")) this.openHits(cluster);
    else this.openPlaces(cluster);
  }

  /** The popup of a marker; one that was asked for by its entry shows that entry first. */
  private openHits(cluster: FeatureLike, chosen?: number): void {
    const order = (hit: Hit) => (hit.rank === chosen ? 0 : hit.rank);
    const hits = members(cluster).map(hitOf).sort((a, b) => order(a) - order(b));
    const byPlace = new Map<number, Hit[]>();
    for (const hit of hits) if (hit.place) byPlace.set(hit.place.id, [...(byPlace.get(hit.place.id) ?? []), hit]);
    this.popupBody.replaceChildren(
      ...[...byPlace.values()].map((group) => {
        const place = group[0]?.place;
        const list = el("ol", { class: "popup-hits" });
        for (const hit of group.slice(0, 8)) {
          const entry = button("", () => this.events.onMarker([hit.rank]), { class: "popup-hit" });
          entry.append(el("span", { class: "number" }, String(hit.rank)), el("span", {}, hit.title || hit.url));
          list.append(el("li", {}, entry));
        }
        return this.popupPlace(place?.name ?? "", place?.path.slice(1, -1) ?? [], place?.lat ?? 0, place?.lon ?? 0, list);
      }),
    );
    this.open(cluster, -42);
    this.events.onMarker(chosen === undefined ? hits.map((hit) => hit.rank) : [chosen]);
  }

  private openPlaces(cluster: FeatureLike): void {
    const points = members(cluster).map(pointOf).sort((a, b) => b.count - a.count);
    this.popupBody.replaceChildren(
      ...points.slice(0, 6).map((point) => {
        const [name, ...around] = point.label.split(", ");
        const go = button(`${strings.searchHere} (${count(point.count)})`, () => this.events.onPlace(point.id), { class: "popup-go" });
        return this.popupPlace(name ?? point.label, around.reverse(), point.lat, point.lon, go);
      }),
      points.length > 6 ? el("p", { class: "popup-more" }, `+ ${countOf(points.length - 6, "place", "places")}`) : "",
    );
    this.open(cluster, -14);
  }

  private popupPlace(name: string, around: string[], lat: number, lon: number, rest: HTMLElement): HTMLElement {
    return el(
      "div",
      { class: "popup-place" },
      el("h3", {}, name),
      around.length > 0 && el("p", { class: "path" }, around.join(" › ")),
      el("p", { class: "coordinates" }, position(lat, lon)),
      rest,
    );
  }

  private open(cluster: FeatureLike, above: number): void {
    this.popup.setOffset([0, above]);
    const geometry = cluster.getGeometry();
    if (geometry instanceof Point) this.popup.setPosition(geometry.getCoordinates());
  }

  closePopup(): void {
    this.popup.setPosition(undefined);
    this.events.onClose();
  }

  private searchArea(): void {
    const extent = transformExtent(this.map.getView().calculateExtent(), "EPSG:3857", "EPSG:4326");
    const [west, south, east, north] = extent as [number, number, number, number];
    const wrap = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180;
    const whole = east - west >= 360;
    const box = [whole ? -180 : wrap(west), Math.max(-90, south), whole ? 180 : wrap(east), Math.min(90, north)];
    this.events.onArea(box.map((n) => n.toFixed(4)).join(","));
  }

  private placeStyle(cluster: FeatureLike, resolution: number): Style[] {
    const points = members(cluster).map(pointOf);
    const pages = points.reduce((sum, point) => sum + point.count, 0);
    const behind = this.hits.getFeatures().length > 0;
    const radius = Math.min(behind ? 22 : 30, 5 + Math.sqrt(pages) * 1.35);
    const label = behind || radius < 10 ? "" : pages >= 1000 ? `${Math.round(pages / 100) / 10}k` : String(pages);
    const circle = new Style({
      image: new Circle({
        radius,
        declutterMode: "none",
        fill: new Fill({ color: color(behind ? "map-behind" : "map-bubble") }),
        stroke: new Stroke({ color: color("map-bubble-edge"), width: behind ? 1 : 1.5 }),
      }),
      text: new Text({
        text: label,
        font: `600 ${Math.max(10, Math.min(14, radius * 0.62))}px ${fontFamily()}`,
        fill: new Fill({ color: color("map-bubble-text") }),
        offsetY: 1,
        declutterMode: "none",
      }),
      zIndex: pages,
    });
    const largest = points.reduce((best, point) => (point.count > best.count ? point : best));
    if (resolution > 6000 || !["city", "feature"].includes(largest.kind)) return [circle];
    const name = new Style({
      text: new Text({
        text: largest.label.split(", ")[0] ?? "",
        font: `600 12px ${fontFamily()}`,
        fill: new Fill({ color: color("map-place") }),
        stroke: new Stroke({ color: color("map-land"), width: 3 }),
        offsetY: radius + 10,
      }),
      zIndex: pages,
    });
    return [circle, name];
  }

  private hitStyle(cluster: FeatureLike): Style[] {
    const ranks = members(cluster).map((one) => hitOf(one).rank).sort((a, b) => a - b);
    const hot = ranks.some((rank) => this.hot.has(rank));
    const first = ranks[0] ?? 0;
    const label = rankLabel(ranks);
    const width = Math.max(28, 14 + label.length * 7.5);
    const scale = hot ? 1.18 : 1;
    return [
      new Style({
        image: new Icon({ img: pin(width, color(hot ? "pin-hot" : "pin"), color("pin-edge")), anchor: [0.5, 1], scale: scale / SHARP }),
        text: new Text({
          text: label,
          font: `700 ${hot ? 14 : 12.5}px ${fontFamily()}`,
          fill: new Fill({ color: color("pin-text") }),
          offsetY: hot ? -25 : -21,
        }),
        zIndex: hot ? 10_000 : 1_000 - first,
      }),
    ];
  }
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
