/** Places that are near each other on the screen as one marker, which stands where the most important of them is.
 *
 * OpenLayers' own clusters stand in the middle, where nothing may be, and take several times as long. */

import Feature from "ol/Feature";
import type { Extent } from "ol/extent";
import type Point from "ol/geom/Point";
import type Projection from "ol/proj/Projection";
import VectorSource from "ol/source/Vector";

interface Cluster {
  x: number;
  y: number;
  features: Feature<Point>[];
}

const ROW = 2 ** 22; // more cells than the world has side by side

export class Clusters extends VectorSource<Feature<Point>> {
  private resolution = 0;
  private ordered: Feature<Point>[] = [];

  /** `distance`: in pixels, within which they are one; `order`: of two features, less than 0 if the first is more important. */
  constructor(all: VectorSource<Feature<Point>>, private readonly distance: number, order: (a: Feature<Point>, b: Feature<Point>) => number) {
    super();
    all.on("change", () => {
      this.ordered = all.getFeatures().sort(order);
      this.gather();
    });
  }

  /** The map asks for what it is to draw: by another zoom there are other clusters. */
  override loadFeatures(_: Extent, resolution: number, __: Projection): void {
    if (resolution === this.resolution) return;
    this.resolution = resolution;
    this.gather();
  }

  private gather(): void {
    this.clear(true);
    if (this.resolution) this.addFeatures(this.clusters().map((one) => new Feature({ geometry: one.features[0]?.getGeometry(), features: one.features })));
  }

  private clusters(): Cluster[] {
    const reach = this.distance * this.resolution;
    const cells = new Map<number, Cluster[]>();
    const found: Cluster[] = [];
    for (const feature of this.ordered) {
      const [x = 0, y = 0] = feature.getGeometry()?.getFlatCoordinates() ?? [];
      const [column, row] = [Math.floor(x / reach), Math.floor(y / reach)];
      const near = around(cells, column, row, (one) => Math.abs(one.x - x) < reach && Math.abs(one.y - y) < reach);
      if (near) {
        near.features.push(feature);
        continue;
      }
      const one = { x, y, features: [feature] };
      const key = column * ROW + row;
      const there = cells.get(key);
      if (there) there.push(one);
      else cells.set(key, [one]);
      found.push(one);
    }
    return found;
  }
}

function around(cells: Map<number, Cluster[]>, column: number, row: number, fits: (one: Cluster) => boolean): Cluster | undefined {
  for (const [dx, dy] of [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [1, 1], [-1, 1], [1, -1]] as const) {
    const found = cells.get((column + dx) * ROW + row + dy)?.find(fits);
    if (found) return found;
  }
  return undefined;
}
