/** What is shown before any question: what the collection holds. */

import type { Info, SearchAnswer } from "./api";
import { add, button, el } from "./dom";
import { count, day, strings } from "./strings";

export interface OverviewEvents {
  onPlace(id: number): void;
  onWord(word: string): void;
}

export function overview(info: Info, answer: SearchAnswer, events: OverviewEvents): HTMLElement {
  const box = el("div", { class: "overview" });
  const names = info.crawls.map((crawl) => crawl.name).join(", ");
  add(box, el("p", { class: "eyebrow" }, names), el("h2", { class: "overview-title" }, strings.overviewTitle), el("p", { class: "hint" }, info.places ? strings.overviewHint : strings.overviewPlaceless));
  const figures = el("dl", { class: "figures" });
  const figure = (n: number, one: string, many: string) => add(figures, el("div", {}, el("dt", {}, n === 1 ? one : many), el("dd", {}, count(n))));
  figure(info.pages, "page", "pages");
  figure(info.places, "place", "places");
  figure(info.countries, "country", "countries");
  add(box, figures);
  if (info.first && info.last) add(box, el("p", { class: "span" }, info.first === info.last ? `${strings.date}: ${day(info.first)}` : `${strings.dates}: ${day(info.first)} – ${day(info.last)}`));
  const top = el("ol", { class: "top-places" });
  const most = Math.max(1, ...info.top_places.map((place) => place.main_pages));
  for (const place of info.top_places) {
    const go = button("", () => events.onPlace(place.id), { class: "bar-row" });
    go.append(el("span", { class: "bar-name" }, place.name, " ", el("small", {}, (place.label ?? "").split(", ").slice(1).join(", "))), el("span", { class: "bar-count" }, count(place.main_pages)), meter(place.main_pages / most));
    top.append(el("li", {}, go));
  }
  if (info.top_places.length) add(box, el("h3", {}, strings.topPlaces), top);
  if (answer.facets.topics.length) {
    const topics = el("p", { class: "topic-cloud" });
    for (const topic of answer.facets.topics) {
      const word = /\s/.test(topic.name) ? `inclass:"${topic.name}"` : `inclass:${topic.name}`;
      add(topics, button(`${topic.name} · ${count(topic.count)}`, () => events.onWord(word), { class: "chip" }));
    }
    add(box, el("h3", {}, strings.topics), topics);
  }
  add(box, nodes(info));
  return box;
}

export function meter(share: number): HTMLElement {
  const bar = el("progress", { class: "meter", max: "100", value: String(Math.round(share * 100)), "aria-hidden": "true" });
  return bar;
}

function nodes(info: Info): HTMLElement | null {
  const all = info.crawls.flatMap((crawl) => crawl.nodes);
  if (all.length < 2) return null;
  const list = el("ul", { class: "nodes" });
  for (const node of all) {
    const owned = node.places.length > 3 ? `${node.places.slice(0, 3).join(" · ")} +${node.places.length - 3}` : node.places.join(" · ");
    list.append(el("li", {}, el("strong", {}, node.node), " ", el("span", {}, count(node.pages)), owned ? el("small", {}, owned) : null));
  }
  return el("details", { class: "node-box" }, el("summary", {}, `${strings.nodes} (${all.length})`), list);
}
