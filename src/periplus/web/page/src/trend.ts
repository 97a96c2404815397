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
  if (answer.every !== "month" || answer.buckets.length <= MOST_MONTHS) return answer;
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
    const step = Math.min(120, width / buckets.length);
    const picture = svg("svg", { width, height: HEIGHT + BASE, role: "img" });
    picture.append(svg("title", {}, `${strings.trend}: ${buckets.map((b) => `${b.start} ${b.count}`).slice(0, 60).join(", ")}`));
    picture.append(svg("line", { x1: 0, x2: width, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5, class: "axis" }));
    buckets.forEach((bucket, index) => {
      const tall = bucket.count ? Math.max(2, (bucket.count / most) * (HEIGHT - 12)) : 0;
      const chosen = this.isChosen(bucket.start, answer.every);
      const gap = step > 6 ? Math.min(3, step * 0.18) : 0;
      const bar = svg("rect", { x: index * step + gap / 2, y: HEIGHT - tall, width: Math.max(0.8, step - gap), height: tall, rx: step > 8 ? 2 : 0, class: chosen ? "bar" : "bar is-out" });
      const area = svg("rect", { x: index * step, y: 0, width: step, height: HEIGHT, class: "bar-area" });
      area.addEventListener("pointerenter", () => this.say(`${label(bucket.start, answer.every)}: ${countOf(bucket.count, "page", "pages")}`));
      area.addEventListener("pointerleave", () => this.say());
      picture.append(bar, area);
    });
    this.ticks(picture, step);
    picture.append(svg("text", { x: width - 2, y: 10, class: "tick tick-most", "text-anchor": "end" }, count(most)));
    this.brush(picture, step);
    this.chart.replaceChildren(picture);
  }

  private isChosen(start: string, every: string): boolean {
    const [since, until] = this.range;
    return (!since || lastDay(start, every) >= since) && (!until || start <= until);
  }

  private ticks(picture: SVGSVGElement, step: number): void {
    const answer = this.answer;
    if (!answer) return;
    const room = answer.every === "year" ? 40 : answer.every === "month" ? 64 : 130;
    const least = Math.ceil(room / step);
    const each = ROUND[answer.every]?.find((one) => one >= least) ?? least;
    answer.buckets.forEach((bucket, index) => {
      if (ordinal(bucket.start, answer.every, index) % each) return;
      const text = answer.every === "week" ? day(bucket.start) : label(bucket.start, answer.every);
      const isCentred = step > room;
      const x = index * step + (isCentred ? step / 2 : 1);
      if (!isCentred && index && x + room * 0.8 > answer.buckets.length * step) return;
      picture.append(svg("text", { x, y: HEIGHT + 14, class: "tick", "text-anchor": isCentred ? "middle" : "start" }, text));
    });
  }

  private brush(picture: SVGSVGElement, step: number): void {
    const answer = this.answer;
    if (!answer) return;
    const shade = svg("rect", { y: 0, height: HEIGHT, width: 0, x: 0, class: "brush" });
    picture.append(shade);
    let from: number | null = null;
    const at = (event: PointerEvent) => {
      const x = event.clientX - picture.getBoundingClientRect().left;
      return Math.max(0, Math.min(answer.buckets.length - 1, Math.floor(x / step)));
    };
    const cover = (a: number, b: number) => {
      shade.setAttribute("x", String(Math.min(a, b) * step));
      shade.setAttribute("width", String((Math.abs(a - b) + 1) * step));
    };
    picture.addEventListener("pointerdown", (event) => {
      from = at(event);
      picture.setPointerCapture(event.pointerId);
      cover(from, from);
    });
    picture.addEventListener("pointermove", (event) => {
      if (from !== null) cover(from, at(event));
    });
    picture.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const to = at(event);
      const first = answer.buckets[Math.min(from, to)];
      const last = answer.buckets[Math.max(from, to)];
      from = null;
      if (first && last) this.events.onRange(first.start, lastDay(last.start, answer.every));
    });
    picture.addEventListener("pointercancel", () => {
      from = null;
      shade.setAttribute("width", "0");
    });
  }
}

/** So many years or months from one label to the next: numbers that people count by. */
const ROUND: Record<string, number[]> = { year: [1, 2, 5, 10, 20, 50, 100, 200, 500], month: [1, 2, 3, 6, 12, 24, 60, 120] };

/** Which bucket it is: years and months by the calendar, others as they come. */
function ordinal(start: string, every: string, index: number): number {
  const [year = 0, month = 1] = start.split("-").map(Number);
  return every === "year" ? year : every === "month" ? year * 12 + month - 1 : index;
}

/** Show a day in a field. One that is being typed has no value yet; to set that again would throw away what stands there. */
function put(field: HTMLInputElement, day: string): void {
  const value = day.length === 10 ? day : "";
  if (field.value !== value) field.value = value;
}
