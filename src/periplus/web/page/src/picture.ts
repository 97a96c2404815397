/** A layer that is one picture: painted while the map rests, and moved along by the browser while it is dragged or zoomed,
 * which costs the page nothing. */

import type { FrameState } from "ol/Map";
import ViewHint from "ol/ViewHint";
import { containsExtent } from "ol/extent";
import Layer from "ol/layer/Layer";
import type { Scene } from "./scene";

/** A scene as a picture, with so many pixels for one of the screen. */
export type Paint = (scene: Scene, ratio: number) => Promise<ImageBitmap>;

/** How much larger than the map the picture is, so that a drag does not run out of it at once. */
const AROUND = 1.4;

export class PictureLayer extends Layer {
  private readonly canvas = document.createElement("canvas");
  private readonly screen = this.canvas.getContext("bitmaprenderer");
  private frame: FrameState | null = null;
  private shown: { scene: Scene; ratio: number } | null = null;
  private stale = true;
  private busy = false;

  /** `coarse`: pixels of the screen for one that is painted. */
  constructor(private readonly paint: Paint, private readonly coarse = 1, visible = true) {
    super({ visible });
    this.canvas.className = "picture";
  }

  /** What it is made of has changed. */
  repaint(): void {
    this.stale = true;
    this.changed();
  }

  override render(frame: FrameState): HTMLElement {
    this.frame = frame;
    if (!this.busy && this.isWanted(frame)) {
      this.busy = true;
      requestAnimationFrame(() => void this.draw()); // the markers are in this frame already
    }
    this.place(frame);
    return this.canvas;
  }

  private isWanted(frame: FrameState): boolean {
    const shown = this.shown;
    if (!shown || this.stale) return true;
    const covers = frame.extent !== null && containsExtent(shown.scene.extent, frame.extent);
    const moving = frame.viewHints[ViewHint.ANIMATING] || frame.viewHints[ViewHint.INTERACTING];
    return !covers || (!moving && (shown.scene.resolution !== frame.viewState.resolution || shown.ratio !== frame.pixelRatio));
  }

  private async draw(): Promise<void> {
    const frame = this.frame;
    if (!frame) return;
    this.stale = false;
    const { center, resolution } = frame.viewState;
    const [width = 1, height = 1] = frame.size.map((side) => Math.ceil((side * AROUND) / this.coarse) * this.coarse);
    const [x = 0, y = 0] = center;
    const extent = [x - (width / 2) * resolution, y - (height / 2) * resolution, x + (width / 2) * resolution, y + (height / 2) * resolution];
    const scene = { extent, resolution, width, height };
    const picture = await this.paint(scene, frame.pixelRatio / this.coarse);
    this.screen?.transferFromImageBitmap(picture);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.shown = { scene, ratio: frame.pixelRatio };
    this.busy = false;
    this.place(this.frame ?? frame);
    if (this.isWanted(this.frame ?? frame)) this.changed(); // it has moved on meanwhile
  }

  /** Where the picture lies in this frame. */
  private place(frame: FrameState): void {
    const scene = this.shown?.scene;
    if (!scene) return;
    const { center, resolution } = frame.viewState;
    const [x = 0, y = 0] = center;
    const [west = 0, , , north = 0] = scene.extent;
    const [width = 0, height = 0] = frame.size;
    const left = width / 2 + (west - x) / resolution;
    const top = height / 2 + (y - north) / resolution;
    const scale = scene.resolution / resolution;
    this.canvas.style.transform = `matrix(${scale}, 0, 0, ${scale}, ${left}, ${top})`;
  }
}
