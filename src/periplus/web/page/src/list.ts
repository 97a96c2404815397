/** The list of results: numbered as the markers are, each entry tied to its marker. */

import { attempt, type Hit, type SearchAnswer, send } from "./api";
import { add, button, el, icon, marked, outerLink } from "./dom";
import { PAGE_SIZE, type State } from "./state";
import { count, countOf, day, isCalm, strings } from "./strings";

const MOST_LISTED = 10_000; // the server lists no more

export interface ListEvents {
  onHover(ranks: number[]): void;
  onReveal(rank: number): void;
  onOpen(hit: Hit): void;
  onPlace(id: number): void;
  onTopic(topic: string): void;
  onOffset(offset: number): void;
}

export class ResultList {
  readonly element = el("div", { class: "list" });
  private entries = new Map<number, HTMLElement>();
  private judging = false;

  constructor(private readonly events: ListEvents) {}

  /** `judging`: whether hits can be judged. */
  show(answer: SearchAnswer, state: State, judging = false): void {
    this.judging = judging;
    this.entries.clear();
    const list = el("ol", { class: "hits", start: String(state.offset + 1) });
    let near = false;
    for (const hit of answer.hits) {
      if (hit.relation === "near" && !near) {
        near = true;
        list.append(el("li", { class: "divider" }, strings.nearby));
      }
      const entry = this.entry(hit);
      this.entries.set(hit.rank, entry);
      list.append(entry);
    }
    this.element.replaceChildren(list, this.paging(answer, state));
  }

  /** Which of the page's places made it a hit, unless the line above says so already. */
  private reason(hit: Hit): HTMLElement[] {
    const isSaid = !hit.reason || (hit.place !== null && hit.reason.startsWith(`${hit.place.name} is in `));
    return isSaid ? [] : [el("p", { class: "reason" }, hit.reason)];
  }

  private entry(hit: Hit): HTMLElement {
    const title = outerLink(hit.url, "", { class: "title" });
    title.append(hit.title ? marked(hit.title, hit.title_marks) : hit.url);
    const number = hit.place
      ? button(String(hit.rank), () => this.events.onReveal(hit.rank), { class: "number", "aria-label": `${hit.rank}: ${strings.showOnMap}` })
      : el("span", { class: "number is-placeless", title: strings.noPlace }, String(hit.rank));
    const entry = el(
      "li",
      { class: "hit", "data-rank": String(hit.rank) },
      number,
      el(
        "article",
        {},
        el("h3", { dir: "auto" }, title),
        this.placeLine(hit),
        el("p", { class: "snippet", dir: "auto", lang: hit.language || null }, marked(hit.snippet, hit.marks)),
        ...this.reason(hit),
        this.footer(hit),
      ),
    );
    entry.addEventListener("pointerenter", () => this.events.onHover([hit.rank]));
    entry.addEventListener("pointerleave", () => this.events.onHover([]));
    entry.addEventListener("focusin", () => this.events.onHover([hit.rank]));
    return entry;
  }

  private placeLine(hit: Hit): HTMLElement {
    const line = el("p", { class: "place-line" });
    if (hit.place) {
      const place = hit.place;
      line.append(button(place.name, () => this.events.onPlace(place.id), { class: "place" }));
      const around = [place.path[3], place.path[2]].filter((name) => name && name !== place.name && place.path.at(-1) !== name);
      if (around.length) add(line, el("span", { class: "path", title: place.path.join(" › ") }, around.join(", ")));
    } else line.append(el("span", { class: "path" }, strings.noPlace));
    add(line, el("time", hit.published ? { datetime: hit.published } : {}, hit.published ? day(hit.published) : strings.undated));
    return line;
  }

  private footer(hit: Hit): HTMLElement {
    const footer = el("p", { class: "hit-foot" }, el("span", { class: "url", title: hit.url }, readable(hit.url)));
    add(footer, button(strings.fullText, () => this.events.onOpen(hit), { class: "quiet", "aria-label": `${strings.fullText}: ${hit.title || hit.url}` }));
    for (const topic of hit.topics) add(footer, button(topic, () => this.events.onTopic(topic), { class: "topic" }));
    const others = hit.other_places.slice(0, 3);
    if (others.length) {
      const also = el("span", { class: "also" }, `${strings.otherPlaces} `);
      others.forEach((place, index) => add(also, index ? ", " : null, button(place.name, () => this.events.onPlace(place.id), { class: "place is-small" })));
      add(footer, also);
    }
    if (this.judging && hit.topics.length) add(footer, thumbs(hit));
    return footer;
  }

  private paging(answer: SearchAnswer, state: State): HTMLElement {
    const nav = el("nav", { class: "paging", "aria-label": strings.textPages });
    const shown = answer.hits.filter((hit) => hit.relation !== "near").length;
    // Pages that say the same are one hit, so there may be fewer hits than pages: a list that is not full is the last.
    if (shown < PAGE_SIZE && !state.offset) return nav;
    const first = state.offset + 1;
    const last = state.offset + shown;
    const back = button(strings.previous, () => this.events.onOffset(Math.max(0, state.offset - PAGE_SIZE)));
    const on = button(strings.next, () => this.events.onOffset(state.offset + PAGE_SIZE));
    back.disabled = state.offset === 0;
    const isEnd = state.offset + 2 * PAGE_SIZE > MOST_LISTED;
    on.disabled = shown < PAGE_SIZE || last >= answer.total || isEnd;
    const note = isEnd && last < answer.total ? ` · ${strings.mostListed}` : "";
    add(nav, back, el("span", {}, shown ? `${count(first)}–${count(last)} of ${count(answer.total)}${note}` : ""), on);
    return nav;
  }

  /** Mark entries that belong to a marker. */
  highlight(ranks: number[]): void {
    for (const [rank, entry] of this.entries) entry.classList.toggle("is-hot", ranks.includes(rank));
  }

  /** Bring an entry into view. */
  scrollTo(rank: number | undefined): void {
    const entry = rank !== undefined ? this.entries.get(rank) : undefined;
    entry?.scrollIntoView({ block: "nearest", behavior: isCalm() ? "auto" : "smooth" });
  }
}

const UP = "M2 8h3v8H2zM5 8l4-6c1.4 0 2 1 1.7 2.3L10 7h4.4c1.1 0 1.8 1 1.5 2l-1.6 5.6c-.2.8-.9 1.4-1.7 1.4H5z";
const DOWN = "M2 10h3V2H2zM5 10l4 6c1.4 0 2-1 1.7-2.3L10 11h4.4c1.1 0 1.8-1 1.5-2l-1.6-5.6C14.100 2.600 13.400 2 12.600 2H5z";

function thumb(path: string, onClick: () => void, attributes: Record<string, string>): HTMLButtonElement {
  const one = button("", onClick, attributes);
  one.append(icon(path));
  return one;
}

/** Thumbs that teach a topic, of several the chosen one; a second click takes the judgement back. */
function thumbs(hit: Hit): HTMLElement {
  const note = el("span", { class: "thumb-note", role: "status" });
  const box = el("span", { class: "thumbs" });
  const topics = el("select", { class: "thumb-topic", "aria-label": strings.thumbTopic, title: strings.thumbTopic }, ...hit.topics.map((topic) => el("option", { value: topic }, topic)));
  const several = hit.topics.length > 1;
  const judgements = new Map<string, boolean | null>(); // by topic
  const show = () => {
    up.setAttribute("aria-pressed", String(judgements.get(topics.value) === true));
    down.setAttribute("aria-pressed", String(judgements.get(topics.value) === false));
  };
  const judge = (good: boolean) =>
    void attempt(async () => {
      const topic = topics.value;
      const now = judgements.get(topic) === good ? null : good;
      const answer = await send<{ retrained: boolean; wanted: number }>("POST", "judge", { node: hit.node, page: hit.page, good: now, ...(several && { topic }) });
      judgements.set(topic, now);
      show();
      note.textContent = answer.retrained ? strings.taught : answer.wanted ? `${strings.noted} ${countOf(answer.wanted, "more good page", "more good pages")} ${strings.moreNeeded}` : strings.noted;
    }, (message) => {
      note.textContent = message;
    });
  const up = thumb(UP, () => judge(true), { class: "thumb", "aria-label": `${strings.good}: ${hit.title || hit.url}`, title: strings.good, "aria-pressed": "false" });
  const down = thumb(DOWN, () => judge(false), { class: "thumb", "aria-label": `${strings.bad}: ${hit.title || hit.url}`, title: strings.bad, "aria-pressed": "false" });
  topics.addEventListener("change", () => {
    note.textContent = "";
    show();
  });
  add(box, several && topics, up, down, note);
  return box;
}

function readable(url: string): string {
  try {
    const parsed = new URL(url);
    return parsed.host + (parsed.pathname === "/" ? "" : safelyDecoded(parsed.pathname)) + parsed.search;
  } catch {
    return url;
  }
}

function safelyDecoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
