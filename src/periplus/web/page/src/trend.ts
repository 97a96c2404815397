/** Pages over time as bars; dragging over them, or the two date fields, chooses a time. */

import type { TrendAnswer } from "./api";
import { button, el, svg } from "./dom";
import type { Every } from "./state";
import { count, countOf, day, month, strings } from "./strings";

export interface TrendEvents {
  onRange(since: string, until: string): void;
  onEvery(every: Every): void;
}

const HEIGHT = 72;
const BASE = 18;

/** The last day of the bucket that begins at `start`. */
export function lastDay(start: string, every: string): string {
  const date = new Date(`${start}T00:00:00Z`);
  if (every === "week") date.setUTCDate(date.getUTCDate() + 6);
  else if (every === "month") date.setUTCMonth(date.getUTCMonth() + 1, 0);
  else if (every === "year") date.setUTCFullYear(date.getUTCFullYear() + 1, 0, 0);
  return date.toISOString().slice(0, 10);
}

export function label(start: string, every: string): string {
  if (every === "year") return start.slice(0, 4);
  if (every === "month") return month(start);
  return every === "week" ? `${day(start)} – ${day(lastDay(start, every))}` : day(start);
}

const MOST_MONTHS = 240;

/** Months as years where they would be too many to tell apart. */
export function folded(answer: TrendAnswer): TrendAnswer {
  if (answer.every !== "month" || spanOf(answer).slots <= MOST_MONTHS) return answer;
  const years = new Map<string, number>();
  for (const bucket of answer.buckets) {
    const start = `${bucket.start.slice(0, 4)}-01-01`;
    years.set(start, (years.get(start) ?? 0) + bucket.count);
  }
  return { ...answer, every: "year", buckets: [...years].map(([start, pages]) => ({ start, count: pages })) };
}

export class TrendPanel {
  readonly element = el("section", { class: "trend", "aria-label": strings.trend });
  private readonly chart = el("div", { class: "trend-chart" });
  private readonly note = el("p", { class: "trend-note", "aria-live": "polite" });
  private readonly since = el("input", { type: "date", "aria-label": strings.since });
  private readonly until = el("input", { type: "date", "aria-label": strings.until });
  private readonly clear: HTMLButtonElement;
  private readonly every = el("select", { "aria-label": strings.every });
  private answer: TrendAnswer | null = null;
  private range: [string, string] = ["", ""];

  constructor(private readonly events: TrendEvents) {
    for (const name of ["day", "week", "month", "year"] as const) this.every.append(el("option", { value: name }, strings[name]));
    this.every.addEventListener("change", () => events.onEvery(this.every.value as Every));
    for (const field of [this.since, this.until]) {
      field.addEventListener("change", () => events.onRange(this.since.value, this.until.value));
    }
    this.clear = button(strings.clearDates, () => events.onRange("", ""), { class: "quiet" });
    this.element.append(
      el(
        "header",
        { class: "trend-head" },
        el("h2", {}, strings.trend),
        this.note,
        el("span", { class: "trend-tools" }, el("label", {}, `${strings.since} `, this.since), el("label", {}, `${strings.until} `, this.until), this.clear, el("label", {}, `${strings.every} `, this.every)),
      ),
      this.chart,
    );
    new ResizeObserver(() => this.draw()).observe(this.chart);
  }

  show(answer: TrendAnswer | null, since: string, until: string): void {
    this.answer = answer;
    this.range = [since, until];
    put(this.since, since);
    put(this.until, until);
    this.every.value = answer?.every ?? "month";
    this.clear.hidden = !since && !until;
    this.say();
    this.draw();
  }

  private say(text?: string): void {
    const undated = this.answer?.undated ?? 0;
    this.note.textContent = text ?? (undated ? `${countOf(undated, "page", "pages")} without a date` : "");
  }

  private draw(): void {
    const answer = this.answer;
    const buckets = answer?.buckets ?? [];
    const width = this.chart.clientWidth;
    if (!answer || !buckets.length || width < 20) {
      this.chart.replaceChildren(el("p", { class: "trend-empty" }, answer ? strings.trendEmpty : ""));
      return;
    }
    const most = Math.max(...buckets.map((bucket) => bucket.count), 1);
    const { first, slots } = spanOf(answer);
    const step = Math.min(120, width / slots);
    const spoken = buckets.filter((bucket) => bucket.count).slice(0, 60).map((bucket) => `${label(bucket.start, answer.every)} ${bucket.count}`);
    const picture = svg("svg", { width, height: HEIGHT + BASE, role: "img", "aria-label": `${strings.trend}: ${spoken.join(", ")}` });
    picture.append(svg("line", { x1: 0, x2: width, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5, class: "axis" }));
    const gap = step > 6 ? Math.min(3, step * 0.18) : 0;
    const least = slots > buckets.length ? 2 : 0.8; // a bar that stands alone is to be seen
    for (const bucket of buckets) {
      const tall = bucket.count ? Math.max(2, (bucket.count / most) * (HEIGHT - 12)) : 0;
      const x = (ordinal(bucket.start, answer.every) - first) * step + gap / 2;
      const chosen = this.isChosen(bucket.start, answer.every);
      picture.append(svg("rect", { x, y: HEIGHT - tall, width: Math.max(least, step - gap), height: tall, rx: step > 8 ? 2 : 0, class: chosen ? "bar" : "bar is-out" }));
    }
    this.ticks(picture, answer, step);
    picture.append(svg("text", { x: width - 2, y: 10, class: "tick tick-most", "text-anchor": "end" }, count(most)));
    this.brush(picture, answer, step);
    this.chart.replaceChildren(picture);
  }

  private isChosen(start: string, every: string): boolean {
    const [since, until] = this.range;
    return (!since || lastDay(start, every) >= since) && (!until || start <= until);
  }

  private ticks(picture: SVGSVGElement, answer: TrendAnswer, step: number): void {
    const { first, slots } = spanOf(answer);
    const room = answer.every === "year" ? 40 : answer.every === "month" ? 64 : 130;
    const least = Math.ceil(room / step);
    const round = ROUND[answer.every];
    const each = round?.find((one) => one >= least) ?? least;
    const isCentred = step > room;
    for (let slot = round ? (each - (first % each)) % each : 0; slot < slots; slot += each) {
      const x = slot * step + (isCentred ? step / 2 : 1);
      if (!isCentred && slot && x + room * 0.8 > slots * step) return;
      const start = startOf(first + slot, answer.every);
      const text = answer.every === "week" ? day(start) : label(start, answer.every);
      picture.append(svg("text", { x, y: HEIGHT + 14, class: "tick", "text-anchor": isCentred ? "middle" : "start" }, text));
    }
  }

  /** Say what is under the pointer, and choose a time by a click or by dragging. */
  private brush(picture: SVGSVGElement, answer: TrendAnswer, step: number): void {
    const { first, slots } = spanOf(answer);
    const pages = new Map(answer.buckets.map((bucket) => [ordinal(bucket.start, answer.every) - first, bucket.count]));
    const shade = svg("rect", { y: 0, height: HEIGHT, width: 0, x: 0, class: "brush" });
    const under = svg("rect", { y: 0, height: HEIGHT, width: 0, x: 0, class: "bar-area" });
    picture.append(under, shade);
    let from: number | null = null; // pixels
    const slotAt = (x: number) => Math.max(0, Math.min(slots - 1, Math.floor(x / step)));
    const at = (event: PointerEvent) => event.clientX - picture.getBoundingClientRect().left;
    const cover = (rect: SVGRectElement, a: number, b: number) => {
      rect.setAttribute("x", String(Math.min(a, b) * step));
      rect.setAttribute("width", String(Math.max(1, (Math.abs(a - b) + 1) * step)));
    };
    /** The slot at a point; where there are several on a pixel, the fullest near it. */
    const pointed = (x: number) => {
      let best = slotAt(x);
      if (step >= NEAR) return best;
      for (let slot = slotAt(x - NEAR); slot <= slotAt(x + NEAR); slot++) if ((pages.get(slot) ?? 0) > (pages.get(best) ?? 0)) best = slot;
      return best;
    };
    const release = () => {
      from = null;
      shade.setAttribute("width", "0");
    };
    picture.addEventListener("pointerdown", (event) => {
      if (at(event) > slots * step) return; // beside the bars
      from = at(event);
      picture.setPointerCapture(event.pointerId);
      cover(shade, pointed(from), pointed(from));
    });
    picture.addEventListener("pointermove", (event) => {
      const slot = pointed(at(event));
      if (from !== null) cover(shade, slotAt(from), slotAt(at(event)));
      else cover(under, slot, slot);
      this.say(at(event) > slots * step ? undefined : `${label(startOf(first + slot, answer.every), answer.every)}: ${countOf(pages.get(slot) ?? 0, "page", "pages")}`);
    });
    picture.addEventListener("pointerleave", () => {
      under.setAttribute("width", "0");
      this.say();
    });
    picture.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const isClick = Math.abs(at(event) - from) < NEAR;
      const [a, b] = isClick ? [pointed(from), pointed(from)] : [slotAt(from), slotAt(at(event))];
      from = null;
      this.events.onRange(startOf(first + Math.min(a, b), answer.every), lastDay(startOf(first + Math.max(a, b), answer.every), answer.every));
    });
    picture.addEventListener("pointercancel", release);
  }
}

const NEAR = 3; // pixels: so far beside a bar still means it

/** So many years or months from one label to the next: numbers that people count by. */
const ROUND: Record<string, number[]> = { year: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], month: [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000] };

/** Where the time line begins, and how many buckets it has room for: the server leaves out empty ones where they are very many. */
function spanOf(answer: TrendAnswer): { first: number; slots: number } {
  const [first, last] = [answer.buckets[0], answer.buckets.at(-1)].map((bucket) => (bucket ? ordinal(bucket.start, answer.every) : 0)) as [number, number];
  return { first, slots: last - first + 1 };
}

const DAY = 86_400_000;

/** Which bucket of all times it is. Weeks begin on Monday, and the first day of 1970 was a Thursday. */
function ordinal(start: string, every: string): number {
  const [year = 0, month = 1] = start.split("-").map(Number);
  if (every === "year") return year;
  if (every === "month") return year * 12 + month - 1;
  const days = Math.round(Date.parse(`${start}T00:00:00Z`) / DAY);
  return every === "week" ? Math.floor((days + 3) / 7) : days;
}

/** The first day of that bucket. */
function startOf(bucket: number, every: string): string {
  const iso = (year: number, month: number) => `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-01`;
  if (every === "year") return iso(bucket, 1);
  if (every === "month") return iso(Math.floor(bucket / 12), (bucket % 12) + 1);
  return new Date((every === "week" ? bucket * 7 - 3 : bucket) * DAY).toISOString().slice(0, 10);
}

/** Show a day in a field. One that is being typed has no value yet; to set that again would throw away what stands there. */
function put(field: HTMLInputElement, day: string): void {
  const value = day.length === 10 ? day : "";
  if (field.value !== value) field.value = value;
}
