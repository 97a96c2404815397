/** The map: numbered markers that match the list, circles for all places, popups, and searching an area. */

import Feature, { type FeatureLike } from "ol/Feature";
import OlMap from "ol/Map";
import View from "ol/View";
import { defaults as defaultControls } from "ol/control/defaults";
import { boundingExtent, type Extent, getWidth } from "ol/extent";
import Point from "ol/geom/Point";
import { defaults as defaultInteractions } from "ol/interaction/defaults";
import TileLayer from "ol/layer/Tile";
import VectorLayer from "ol/layer/Vector";
import { fromLonLat, toLonLat } from "ol/proj";
import VectorSource from "ol/source/Vector";
import XYZ from "ol/source/XYZ";
import type { Hit, Point as PlacePoint, Understood } from "./api";
import { baseMap, heatLayer, onOtherColors, zoomSigns } from "./basemap";
import { Clusters } from "./clusters";
import { button, el } from "./dom";
import { boxOf, DrawTool } from "./maptools";
import { MarkerStops, type Stop } from "./markerstops";
import { circleName, firstRank, forgetLooks, hitOf, hitStyle, largestOf, members, nearest, pagesOf, pinName, pinWidth, placeRadius, placeStyle, pointOf } from "./markers";
import { Popup } from "./popup";
import { WORLD } from "./scene";
import { count, countOf, position, strings } from "./strings";

export interface MapEvents {
  onMarker(ranks: number[]): void;
  onEntry(rank: number): void;
  onHover(ranks: number[]): void;
  onClose(): void;
  onPlace(id: number): void;
  onArea(bbox: string): void;
  onShape(polygon: string): void;
  onHeat(on: boolean): void;
  onMove(view: string): void;
}

export class ResultMap {
  readonly element: HTMLElement;
  private readonly map: OlMap;
  private readonly hits = new VectorSource<Feature<Point>>();
  private readonly places = new VectorSource<Feature<Point>>();
  private readonly hitLayer: VectorLayer<Clusters>;
  private readonly placeLayer: VectorLayer<Clusters>;
  private readonly heat = heatLayer(this.places);
  private readonly tools: DrawTool;
  private readonly popup = new Popup(() => this.closePopup());
  private readonly areaButton: HTMLButtonElement;
  private readonly stops: MarkerStops;
  private hot = new Set<number>();
  private moved = false;
  private tiled = false;
  private readonly under: number; // where the base map ends
  private settling = false; // the view is being set by us
  private given = ""; // the view that was asked for, if any

  constructor(private readonly events: MapEvents) {
    const base = baseMap();
    const target = el("div", { class: "map-canvas", tabindex: "0", role: "application", "aria-label": strings.mapResults });
    this.areaButton = button(strings.searchArea, () => this.searchArea(), { class: "area-button" });
    this.areaButton.hidden = true;
    this.tools = new DrawTool(this.events);
    this.placeLayer = new VectorLayer({
      source: new Clusters(this.places, 52, (a, b) => pointOf(b).count - pointOf(a).count),
      style: (cluster, resolution) => placeStyle(cluster, resolution, this.behind),
      declutter: "names",
    });
    this.hitLayer = new VectorLayer({
      source: new Clusters(this.hits, 30, (a, b) => hitOf(a).rank - hitOf(b).rank),
      style: (cluster) => hitStyle(cluster, this.hot),
    });
    this.map = new OlMap({
      target,
      layers: [...base.layers, this.heat, this.placeLayer, this.tools.layer, this.hitLayer],
      overlays: [this.popup.overlay],
      controls: defaultControls({ attribution: false, rotate: false, zoomOptions: zoomSigns() }),
      interactions: defaultInteractions({ altShiftDragRotate: false, pinchRotate: false }),
      // Not as OpenLayers would have it: a high and narrow map may show what is beyond the poles, else it could not show the world.
      view: new View({ center: fromLonLat([0, 25]), zoom: 2, minZoom: innerWidth < 1180 ? 0 : 1, maxZoom: 14, extent: [-9 * WORLD, -WORLD / 2, 9 * WORLD, WORLD / 2], constrainOnlyCenter: true }),
    });
    this.tools.attach(this.map);
    this.stops = new MarkerStops(this.map, () => this.markers());
    this.element = el("section", { class: "map", "aria-label": strings.map }, target, this.stops.element, this.tools.element, this.areaButton);
    this.under = base.layers.length;
    this.listen(target);
    onOtherColors(() => {
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
    target.addEventListener("keydown", (event) => {
      if (event.key.startsWith("Arrow")) this.userMoved();
    });
    this.map.getView().on("change:resolution", () => {
      if (!this.settling) this.userMoved(); // by wheel, keys, buttons, fingers or a double click
    });
    this.map.on("moveend", () => {
      if (this.moved) this.events.onMove(this.position());
    });
    this.map.on("change:size", () => {
      if (!this.moved && !this.given && !this.settling) this.settle(""); // what was to be seen still is
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
  show(hits: Hit[], points: PlacePoint[], view: string, asked: Understood | null = null, heat = false): void {
    this.closePopup();
    this.tools.outline(asked);
    this.tools.setHeat(heat);
    this.heat.setVisible(heat);
    this.placeLayer.setVisible(!heat);
    this.hits.clear(true);
    this.places.clear(true);
    this.hits.addFeatures(
      hits.flatMap((hit) => {
        const place = hit.place;
        if (!place || place.lat === null || place.lon === null) return [];
        const one = new Feature(new Point(onMap(place.lon, place.lat)));
        one.set("hit", hit);
        return [one];
      }),
    );
    this.places.addFeatures(
      points.map((point) => {
        const one = new Feature(new Point(onMap(point.lon, point.lat)));
        one.set("point", point);
        return one;
      }),
    );
    this.areaButton.hidden = true;
    this.element.setAttribute("data-places", String(points.length));
    this.element.removeAttribute("data-drawn");
    this.settle(view);
    this.map.once("rendercomplete", () => {
      this.stops.place();
      this.element.setAttribute("data-drawn", "");
    });
    this.map.render();
  }

  /** Show the view that is given, else the area that was asked for, else the results. */
  private settle(view: string): void {
    this.given = view;
    this.moved = false;
    this.settling = true;
    this.lookAt(view);
    this.settling = false;
  }

  private lookAt(view: string): void {
    const [lon, lat, zoom] = view.split(",").map(Number);
    if (view && [lon, lat, zoom].every((n) => n !== undefined && Number.isFinite(n))) {
      this.map.getView().setCenter(onMap(lon ?? 0, lat ?? 0));
      this.map.getView().setZoom(zoom ?? 2);
      return;
    }
    const hits = this.hits.getFeatures().map((one) => one.getGeometry()?.getCoordinates() ?? [0, 0]);
    const area = this.tools.extent;
    const extent = area ?? (hits.length ? boundingExtent(unrolled(hits)) : this.densest());
    this.map.updateSize();
    if (!area && !hits.length && !this.places.getFeatures().length) {
      this.map.getView().setCenter(fromLonLat([0, 25]));
      this.map.getView().setZoom(1.6);
      return;
    }
    const size = this.map.getSize() ?? [800, 600];
    const side = Math.min(60, (size[0] ?? 800) / 8);
    this.map.getView().fit(extent, { padding: [70, Math.max(side, TOOLS), 44, side], maxZoom: area ? 13 : getWidth(extent) === 0 ? nearest(this.hits.getFeatures()) : 9 });
  }

  /** Where nearly all pages are: a few far away must not make a map of the world of them. */
  private densest(): Extent {
    const points = unrolled(this.places.getFeatures().map((one) => one.getGeometry()?.getCoordinates() ?? [0, 0]));
    const all = this.places.getFeatures().map((one, index) => ({ at: points[index] ?? [0, 0], pages: pointOf(one).count }));
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
    if (ranks.length === this.hot.size && ranks.every((rank) => this.hot.has(rank))) return; // the pointer moves all the time
    this.hot = new Set(ranks);
    this.hitLayer.changed();
  }

  /** Open the popup of an entry's marker. */
  reveal(rank: number): void {
    const cluster = this.hitLayer.getSource()?.getFeatures().find((one) => members(one).some((m) => hitOf(m).rank === rank));
    if (cluster) this.openHits(cluster, this.map.getView().getCenter()?.[0] ?? 0, rank);
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
    forgetLooks();
    this.heat.repaint();
    this.hitLayer.changed();
    this.placeLayer.changed();
  }

  /** The marker under a pixel, else the circle. By where they stand: OpenLayers would draw them once more to find out. */
  private at(pixel: number[]): FeatureLike | undefined {
    const [x = 0, y = 0] = pixel;
    const [middle = 0, height = 0] = this.map.getCoordinateFromPixel([x, y]) ?? [];
    const reach = REACH * (this.map.getView().getResolution() ?? 1);
    const near = (layer: VectorLayer<Clusters>, holds: (cluster: Feature, dx: number, dy: number) => boolean) =>
      worldsAround(middle).flatMap((world) =>
        (layer.getSource()?.getFeaturesInExtent([middle - world - reach, height - reach, middle - world + reach, height + reach]) ?? []).filter((cluster) => {
          const at = this.map.getPixelFromCoordinate(placeOf(cluster, world));
          return at !== null && holds(cluster, x - (at[0] ?? 0), y - (at[1] ?? 0));
        }),
      );
    const pins = near(this.hitLayer, (cluster, dx, dy) => Math.abs(dx) <= pinWidth(cluster) / 2 + 3 && dy >= -38 && dy <= 3);
    if (pins.length) return pins.sort((a, b) => firstRank(a) - firstRank(b))[0];
    if (!this.placeLayer.getVisible()) return undefined;
    const circles = near(this.placeLayer, (cluster, dx, dy) => Math.hypot(dx, dy) <= placeRadius(pagesOf(cluster), this.behind) + 3);
    return circles.sort((a, b) => pagesOf(b) - pagesOf(a))[0];
  }

  /** Whether results are shown, so that circles are only their background. */
  private get behind(): boolean {
    return !this.hits.isEmpty();
  }

  private onClick(pixel: number[]): void {
    const cluster = this.at(pixel);
    if (!cluster) return this.closePopup();
    const [x = 0] = this.map.getCoordinateFromPixel(pixel) ?? [];
    if (members(cluster)[0]?.get("hit")) this.openHits(cluster, x);
    else this.openPlaces(cluster, x);
  }

  /** The popup of a marker; one that was asked for by its entry shows that entry first. `x`: as in `open`. */
  private openHits(cluster: FeatureLike, x: number, chosen?: number): void {
    const order = (hit: Hit) => (hit.rank === chosen ? 0 : hit.rank);
    const hits = members(cluster).map(hitOf).sort((a, b) => order(a) - order(b));
    const byPlace = new Map<number, Hit[]>();
    for (const hit of hits) if (hit.place) byPlace.set(hit.place.id, [...(byPlace.get(hit.place.id) ?? []), hit]);
    const places = [...byPlace.values()].map((group) => {
      const place = group[0]?.place;
      const list = el("ol", { class: "popup-hits" });
      for (const hit of group) {
        const entry = button("", () => this.events.onEntry(hit.rank), { class: "popup-hit" });
        entry.append(el("span", { class: "number" }, String(hit.rank)), el("span", { dir: "auto" }, hit.title || hit.url));
        list.append(el("li", {}, entry));
      }
      return this.popupPlace(place?.name ?? "", place?.path.slice(1, -1) ?? [], place?.lat ?? 0, place?.lon ?? 0, list);
    });
    this.open(cluster, x, 42, places);
    this.events.onMarker(chosen === undefined ? hits.map((hit) => hit.rank) : [chosen]);
  }

  private openPlaces(cluster: FeatureLike, x: number): void {
    const points = members(cluster).map(pointOf).sort((a, b) => b.count - a.count);
    const more = points.length - SHOWN_PLACES;
    this.open(cluster, x, 14, [
      ...points.slice(0, SHOWN_PLACES).map((point) => {
        const [name, ...around] = point.label.split(", ");
        const go = button(`${strings.searchHere} (${count(point.count)})`, () => this.events.onPlace(point.id), { class: "popup-go" });
        return this.popupPlace(name ?? point.label, around.reverse(), point.lat, point.lon, go);
      }),
      more > 0 ? el("p", { class: "popup-more" }, `+ ${countOf(more, "place", "places")}`) : "",
    ]);
  }

  /** Everything that can be opened, for the keyboard: pins by their numbers, then circles by their pages. */
  private markers(): Stop[] {
    const middle = this.map.getView().getCenter()?.[0] ?? 0;
    const stops = (layer: VectorLayer<Clusters>, order: (one: Feature) => number, describe: (one: Feature) => Omit<Stop, "at" | "open">, open: (one: Feature, x: number) => void) =>
      (layer.getVisible() ? [...(layer.getSource()?.getFeatures() ?? [])] : []).sort((a, b) => order(a) - order(b)).map((one): Stop => {
        const [x = 0] = placeOf(one);
        const at = placeOf(one, Math.round((middle - x) / WORLD) * WORLD);
        return { ...describe(one), at, open: () => this.byKeyboard(() => open(one, at[0] ?? 0)) };
      });
    return [
      ...stops(this.hitLayer, firstRank, (one) => ({ key: `pin ${firstRank(one)}`, name: pinName(one), raise: 20 }), (one, x) => this.openHits(one, x)),
      ...stops(this.placeLayer, (one) => -pagesOf(one), (one) => ({ key: `place ${largestOf(one).id}`, name: circleName(one), raise: 0 }), (one, x) => this.openPlaces(one, x)),
    ];
  }

  /** A popup that was opened by keyboard takes it, and gives it back. */
  private byKeyboard(open: () => void): void {
    open();
    this.popup.focus(() => this.stops.refocus());
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

  /** `x`: in metres, what it is to be near to, since the map shows the world more than once. */
  private open(cluster: FeatureLike, x: number, above: number, content: (Node | string)[]): void {
    const [at = 0] = placeOf(cluster);
    this.popup.show(this.map, placeOf(cluster, Math.round((x - at) / WORLD) * WORLD), above, content);
  }

  closePopup(): void {
    this.popup.hide();
    this.events.onClose();
  }

  private searchArea(): void {
    this.events.onArea(boxOf(this.map.getView().calculateExtent()));
  }
}

/** How far a marker's picture reaches from its place, in pixels. */
const REACH = 60;
/** How wide the tools at the right are, with half of a large circle beside them. */
const TOOLS = 88;
const SHOWN_PLACES = 50;

/** A point of the map; the poles, which its projection does not have, are at its edges. */
function onMap(lon: number, lat: number): number[] {
  return fromLonLat([lon, Math.max(-85, Math.min(85, lat))]);
}

/** Where a marker stands in the world that begins so many metres to the east. */
function placeOf(cluster: FeatureLike, world = 0): number[] {
  const geometry = cluster.getGeometry();
  const [x = 0, y = 0] = geometry instanceof Point ? geometry.getCoordinates() : [];
  return [x + world, y];
}

/** The beginnings of the worlds at both sides of a point, in metres: what stands at the date line reaches over it. */
function worldsAround(x: number): number[] {
  const here = Math.round(x / WORLD);
  return [here - 1, here, here + 1].map((world) => world * WORLD);
}

/** Points at both sides of the date line and nowhere else, side by side. */
function unrolled(points: number[][]): number[][] {
  const east = points.map(([x = 0, y = 0]) => [x < 0 ? x + WORLD : x, y]);
  const width = (some: number[][]) => (some.length ? getWidth(boundingExtent(some)) : 0);
  return width(points) > WORLD / 2 && width(east) < WORLD / 2 ? east : points;
}
