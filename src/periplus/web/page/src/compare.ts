/** A comparison of strategies: a table, bars for one measure, and lines over the course of the crawl. */

import { ask, attempt } from "./api";
import { add, button, el, svg, wide } from "./dom";
import { count, countOf, strings } from "./strings";

type Row = Record<string, unknown> & { progress?: Record<string, number | null>[] };

interface Comparison {
  name: string;
  about: Record<string, unknown>;
  strategies: Record<string, Row>;
}

const COLOURS = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7", "series-8", "series-9", "series-10"];
const LESS_IS_BETTER = new Set(["overlap", "communication_overhead", "links_assigned_away_per_page"]);
const HEIGHT = 260;
const small = matchMedia("(max-width: 760px)");
/** Plots are drawn as wide as they are shown, or their letters would shrink. */
const wideness = () => (small.matches ? 340 : 640);

export interface CompareEvents {
  onResult(name: string): void;
  onMeasure(name: string): void;
}

export class CompareView {
  readonly element = el("div", { class: "compare" });
  private readonly note = el("p", { class: "notice", role: "status" });
  private readonly which = el("select", { id: "c-which" });
  private readonly whichLabel = el("label", { for: "c-which" }, strings.comparison, " ", this.which);
  private readonly measure = el("select", { id: "c-measure" });
  private readonly tools = el("div", { class: "compare-tools" }, this.whichLabel, el("label", { for: "c-measure" }, strings.measure, " ", this.measure));
  private readonly body = el("div", {});
  private found: Comparison | null = null;
  private asking: AbortController | null = null;

  constructor(events: CompareEvents) {
    this.which.addEventListener("change", () => events.onResult(this.which.value));
    this.measure.addEventListener("change", () => events.onMeasure(this.measure.value));
    small.addEventListener("change", () => this.draw());
    this.tools.hidden = true;
    this.note.hidden = true;
    add(this.element, el("h2", { class: "overview-title" }, strings.compareTitle), this.note, this.tools, this.body);
  }

  /** `name` and `measure`: what the address says; the first ones if it says nothing. */
  async show(name: string, measure: string): Promise<void> {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    if (!this.found) this.body.replaceChildren(el("p", { class: "hint", role: "status" }, strings.loadingWord));
    await attempt(async () => {
      const { results } = await ask<{ results: string[] }>("compare", undefined, mine.signal);
      const wanted = results.includes(name) ? name : (results[0] ?? "");
      if (!wanted) return this.body.replaceChildren(nothing());
      if (this.found?.name !== wanted) this.found = await ask<Comparison>(`compare/${encodeURIComponent(wanted)}`, undefined, mine.signal);
      this.which.replaceChildren(...results.map((one) => el("option", { value: one, selected: one === wanted }, one)));
      this.whichLabel.hidden = results.length < 2;
      const measures = measuresOf(this.found);
      this.measure.replaceChildren(...measures.map((one) => el("option", { value: one, selected: one === measure }, label(one))));
      this.say(name && name !== wanted ? `${strings.noComparison} ${name}` : measure && !measures.includes(measure) ? `${strings.noMeasure} ${measure}` : "");
      this.tools.hidden = false;
      this.draw();
    }, (message) => {
      this.found = null;
      const again = button(strings.askAgain, () => void this.show(name, measure), { class: "secondary" });
      this.body.replaceChildren(el("div", { class: "empty is-error", role: "alert" }, el("h3", {}, strings.errorTitle), el("p", {}, message), again));
    });
  }

  private say(message: string): void {
    this.note.hidden = !message;
    this.note.textContent = message;
  }

  private draw(): void {
    const found = this.found;
    if (!found) return;
    const measure = this.measure.value;
    const facts = Object.entries(found.about).filter(([, value]) => ["string", "number"].includes(typeof value)).slice(0, 8);
    this.body.replaceChildren(
      el("p", { class: "path" }, facts.map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "number" ? count(value) : String(value)}`).join(" · ")),
      el("div", { class: "compare-plots" }, figure(label(measure), bars(found, measure)), course(found, measure)),
      table(found),
    );
  }
}

function nothing(): HTMLElement {
  return el("div", { class: "empty" }, el("span", { class: "rose is-large", "aria-hidden": "true" }), el("h3", {}, strings.compareEmpty), el("p", {}, strings.compareEmptyText));
}

function label(measure: string): string {
  return strings.measures[measure] ?? measure.replaceAll("_", " ");
}

function numberOf(row: Row, measure: string): number | null {
  const value = row[measure];
  return typeof value === "number" ? value : null;
}

function measuresOf(found: Comparison): string[] {
  const names = Object.values(found.strategies).flatMap((row) => Object.keys(row).filter((key) => typeof row[key] === "number" && !key.endsWith("_interval")));
  const place = (name: string) => (name === "geo_coverage" ? 0 : name === "pages" ? 2 : 1);
  return [...new Set(names)].sort((a, b) => place(a) - place(b));
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? count(Math.round(value)) : Math.abs(value) >= 1 ? value.toFixed(2) : value.toFixed(3);
}

function table(found: Comparison): HTMLElement {
  const measures = measuresOf(found);
  const head = el("tr", {}, el("th", { scope: "col" }, strings.strategy), ...measures.map((one) => el("th", { scope: "col" }, label(one))));
  const best = new Map(measures.filter((one) => one !== "pages").map((one) => {
    const values = Object.values(found.strategies).flatMap((row) => numberOf(row, one) ?? []);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return [one, least === most ? NaN : LESS_IS_BETTER.has(one) ? least : most]; // where all are equal none is the best
  }));
  const rows = Object.entries(found.strategies).map(([name, row]) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...measures.map((one) => {
      const value = numberOf(row, one);
      const spread = numberOf(row, `${one}_interval`);
      return el("td", { class: value !== null && value === best.get(one) ? "is-most" : "" }, value === null ? "–" : short(value), spread === null ? null : el("small", {}, ` ± ${short(spread)}`));
    })),
  );
  return wide(strings.compareTitle, el("table", { class: "plain" }, el("caption", {}, strings.compareTitle), el("thead", {}, head), el("tbody", {}, ...rows)));
}

function bars(found: Comparison, measure: string): SVGSVGElement {
  const width = wideness();
  const rows = Object.entries(found.strategies).map(([name, row]) => [name, numberOf(row, measure)] as const);
  const most = Math.max(1e-9, ...rows.map(([, value]) => value ?? 0));
  const high = Math.max(HEIGHT, rows.length * 30 + 12); // as high as the plot beside it
  const step = Math.min(52, (high - 12) / rows.length);
  const thick = Math.min(26, step - 8);
  const top = (high - rows.length * step) / 2 + (step - thick) / 2;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${high}`, class: "plot", role: "img", "aria-label": `${label(measure)}: ${rows.map(([name, value]) => `${name} ${value === null ? "–" : short(value)}`).join(", ")}` });
  rows.forEach(([name, value], index) => {
    const y = top + index * step;
    const length = ((value ?? 0) / most) * (width - 230);
    picture.append(
      svg("text", { x: 110, y: y + thick / 2 + 4.5, class: "plot-name", "text-anchor": "end" }, name),
      svg("rect", { x: 120, y, width: Math.max(0, length), height: thick, rx: 3, class: COLOURS[index % COLOURS.length] ?? "" }),
      svg("text", { x: 128 + Math.max(0, length), y: y + thick / 2 + 4.5, class: "plot-value" }, value === null ? "–" : short(value)),
    );
  });
  return picture;
}

function figure(title: string, picture: SVGSVGElement): HTMLElement {
  return el("figure", { class: "plot-box" }, el("figcaption", {}, title), picture);
}

/** The course of the crawl: of this measure if it was kept, else of geo-coverage. */
function course(found: Comparison, measure: string): HTMLElement | null {
  for (const one of [measure, "geo_coverage"]) {
    const picture = lines(found, one);
    if (picture) return figure(`${label(one)} ${strings.overPages}`, picture);
  }
  return null;
}

/** The measure over the pages of the crawl, where the comparison kept its course. */
function lines(found: Comparison, measure: string): SVGSVGElement | null {
  const series = Object.entries(found.strategies).map(([name, row], index) => ({
    name,
    colour: COLOURS[index % COLOURS.length] ?? "",
    points: (row.progress ?? []).flatMap((at) => (typeof at["pages"] === "number" && typeof at[measure] === "number" ? [[at["pages"], at[measure]] as const] : [])),
  }));
  const all = series.flatMap((one) => one.points);
  if (all.length < 2 || measure === "pages") return null;
  const [left, bottom, top] = [46, 34, 12];
  const width = wideness();
  const far = Math.max(...all.map(([pages]) => pages));
  const high = Math.max(1e-9, ...all.map(([, value]) => value));
  const x = (pages: number) => left + (pages / far) * (width - left - 110);
  const y = (value: number) => HEIGHT - bottom - (value / high) * (HEIGHT - bottom - top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "plot", role: "img", "aria-label": `${label(measure)} ${strings.overPages}` });
  for (const share of [0, 0.5, 1]) {
    picture.append(svg("line", { x1: left, x2: width - 110, y1: y(high * share), y2: y(high * share), class: "axis" }), svg("text", { x: left - 8, y: y(high * share) + 4, class: "tick", "text-anchor": "end" }, short(high * share)));
  }
  picture.append(svg("text", { x: width - 110, y: HEIGHT - 8, class: "tick", "text-anchor": "end" }, countOf(Math.round(far), "page", "pages")));
  let lowest = -Infinity;
  for (const one of [...series].sort((a, b) => y(a.points.at(-1)?.[1] ?? 0) - y(b.points.at(-1)?.[1] ?? 0))) {
    const last = one.points.at(-1);
    if (!last) continue;
    lowest = Math.max(lowest + 14, y(last[1]) + 4); // names do not cover each other
    picture.append(
      svg("polyline", { points: one.points.map(([pages, value]) => `${x(pages).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: `line ${one.colour}` }),
      svg("text", { x: x(last[0]) + 8, y: lowest, class: `plot-name ${one.colour}` }, one.name),
    );
  }
  return picture;
}
