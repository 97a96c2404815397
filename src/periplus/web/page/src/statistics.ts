/** The statistics of a question: the same numbers as tables. The time line stands beside them. */

import type { Count, Point, SearchAnswer, TrendAnswer } from "./api";
import { add, button, el } from "./dom";
import { meter } from "./overview";
import { count, countOf, languageName, strings } from "./strings";
import { label } from "./trend";

export interface StatisticsEvents {
  onPlace(id: number): void;
  onWord(word: string): void;
}

/** `asked`: what stands above says how many pages there are. */
export function statistics(asked: boolean, answer: SearchAnswer, points: Point[], trend: TrendAnswer | null, events: StatisticsEvents): HTMLElement {
  const box = el("div", { class: "statistics" }, el("h2", {}, strings.statistics), asked ? null : el("p", { class: "hint" }, countOf(answer.total, "page", "pages")));
  add(box, table(strings.places, points.slice(0, 15).map((point) => ({ name: point.label, count: point.count, go: () => events.onPlace(point.id) }))));
  const words = (values: Count[], operator: string) =>
    values.map((value) => ({ ...value, name: operator === "lang" ? languageName(value.name) : value.name, go: () => events.onWord(/\s/.test(value.name) ? `${operator}:"${value.name}"` : `${operator}:${value.name}`) }));
  add(box, table(strings.topics, words(answer.facets.topics, "inclass")));
  add(box, table(strings.sites, words(answer.facets.sites, "site")));
  add(box, table(strings.languages, words(answer.facets.languages, "lang")));
  if (trend) add(box, table(strings.trend, trend.buckets.filter((bucket) => bucket.count).map((bucket) => ({ name: label(bucket.start, trend.every), count: bucket.count }))));
  return box;
}

function table(title: string, rows: { name: string; count: number; go?: () => void }[]): HTMLElement | null {
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map((row) => row.count));
  const body = el("tbody", {});
  for (const row of rows) {
    const name = row.go ? button(row.name, row.go, { class: "quiet" }) : row.name;
    body.append(el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "n" }, count(row.count)), el("td", { class: "m" }, meter(row.count / most))));
  }
  return el("table", {}, el("caption", {}, title), body);
}
