/** The page: state in the address, one question at a time to the server, and the parts that show the answer. */

import "@fontsource-variable/source-sans-3/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import "ol/ol.css";
import { ask, attempt, type Info, type Point, Refused, type SearchAnswer, type TrendAnswer, wasGivenUp } from "./api";
import { add, button, el, icon } from "./dom";
import { facets } from "./facets";
import { ResultList } from "./list";
import { ResultMap } from "./map";
import { meaning, partial } from "./meaning";
import { overview } from "./overview";
import { PageDialog } from "./pageview";
import { fromAddress, hasQuestion, initial, PAGE_SIZE, question, type State, toAddress } from "./state";
import { statistics } from "./statistics";
import { countOf, strings } from "./strings";
import { suggest } from "./suggest";
import { TrendPanel } from "./trend";
import { Workspace } from "./workspace";

let state: State = fromAddress(location.search);
let asking: AbortController | null = null;
let known: Info | null = null;
let selected: number[] = []; // ranks whose marker is open
let shownAsOf = ""; // the state of the collection that the list shows

// -- The frame -------------------------------------------------------------------------------------

const input = el("input", { type: "search", name: "q", id: "q", maxlength: "1000", autocomplete: "off", spellcheck: "false", placeholder: strings.searchPlaceholder, "aria-label": strings.searchLabel });
const suggestions = el("ul", { class: "suggestions", id: "suggestions" });
const statisticsButton = button("", () => change({ q: input.value, view: state.view === "statistics" ? "results" : "statistics", offset: 0 }), { class: "secondary", "aria-pressed": "false", "aria-label": strings.statistics });
add(statisticsButton, icon("M3.500 15V9M9 15V3M14.500 15V6.500"), el("span", { class: "label" }, strings.statistics));
const form = el("form", { class: "search", role: "search", action: "/", method: "get" }, el("div", { class: "search-box" }, input, suggestions), el("button", { type: "submit", class: "primary", "aria-label": strings.search }, icon("M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM12 12l3.500 3.500"), el("span", { class: "label" }, strings.search)), statisticsButton);
const home = el("a", { class: "brand", href: "/", "aria-label": strings.name }, el("span", { class: "rose", "aria-hidden": "true" }), el("h1", { class: "wordmark" }, strings.name));
const nav = el("nav", { class: "views", "aria-label": strings.views });
const holdings = el("p", { class: "holdings" });
const side = el("aside", { class: "side", id: "facets", "aria-label": strings.narrow });
const main = el("main", { class: "main", id: "results", tabindex: "-1", "aria-label": strings.results });

const list = new ResultList({
  onHover: (ranks) => highlight(ranks),
  onReveal: (rank) => map.reveal(rank),
  onOpen: (hit) => change({ page: `${hit.node}/${hit.page}` }),
  onPlace: (id) => choosePlace(id),
  onTopic: (topic) => addWord(/\s/.test(topic) ? `inclass:"${topic}"` : `inclass:${topic}`),
  onOffset: (offset) => {
    change({ offset, map: "", as_of: offset ? state.as_of || shownAsOf : "" });
    main.scrollTo({ top: 0 });
  },
});
const map: ResultMap = new ResultMap({
  onMarker: (ranks) => {
    selected = ranks;
    highlight([]);
    list.scrollTo(ranks[0]);
  },
  onHover: (ranks) => highlight(ranks),
  onClose: () => {
    selected = [];
    highlight([]);
  },
  onPlace: (id) => choosePlace(id),
  onArea: (bbox) => change({ bbox, polygon: "", place: "", near: "", offset: 0, as_of: "", map: map.position() }),
  onShape: (polygon) => change({ polygon, bbox: "", place: "", near: "", offset: 0, as_of: "", map: map.position() }),
  onHeat: (on) => change({ layer: on ? "heat" : "places" }),
  onMove: (view) => {
    state = { ...state, map: view };
    history.replaceState(null, "", toAddress(state));
  },
});
const trend = new TrendPanel({
  onRange: (since, until) => change({ since, until, offset: 0, as_of: "" }),
  onEvery: (every) => change({ every }),
});
const dialog = new PageDialog(() => state.page && change({ page: "" }), (id) => {
  dialog.hide();
  choosePlace(id);
}, (reference) => change({ page: reference }));

const workspace = new Workspace((changes) => change(changes));
const searchBody = el("div", { class: "body" }, side, main, map.element, trend.element);

document.getElementById("app")?.replaceChildren(
  el("a", { class: "skip", href: "#results" }, strings.skip),
  el("header", { class: "head" }, home, nav, form, holdings),
  searchBody,
  workspace.element,
  dialog.element,
);

/** The views that this server has, as links. */
function showViews(info: Info): void {
  const views: [string, Partial<State>, boolean][] = [
    [strings.searchView, { view: "results" }, state.view === "results" || state.view === "statistics"],
    ...(info.tasks ? [[strings.tasksView, { view: "tasks" }, state.view === "tasks" || state.view === "new"] as [string, Partial<State>, boolean]] : []),
    ...(info.comparisons ? [[strings.compareView, { view: "compare" }, state.view === "compare"] as [string, Partial<State>, boolean]] : []),
  ];
  nav.hidden = views.length < 2;
  nav.replaceChildren(
    ...views.map(([name, changes, here]) => {
      const link = el("a", { href: toAddress({ ...initial, ...changes }) === location.pathname ? "/" : toAddress({ ...initial, ...changes }), class: "view", "aria-current": here ? "page" : null }, name);
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        change({ ...initial, ...changes });
      });
      return link;
    }),
  );
}

/** Ask what stands in the box. */
function submit(): void {
  const view = state.view === "statistics" ? "statistics" : "results";
  change({ q: input.value.trim(), offset: 0, map: "", as_of: "", place: input.value.trim() === state.q ? state.place : "", bbox: "", polygon: "", task: "", view });
  input.blur();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
home.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  change({ ...initial });
});
suggest(input, suggestions, (place, rest) => {
  input.value = rest;
  change({ q: rest, place: String(place.id), near: "", bbox: "", polygon: "", offset: 0, as_of: "", map: "", task: "", view: state.view === "statistics" ? "statistics" : "results" });
}, (text) => {
  input.value = text;
  submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) map.closePopup();
});
window.addEventListener("popstate", () => {
  state = fromAddress(location.search);
  void show();
});

/** Entries and markers under the pointer, beside those that were clicked. */
function highlight(hovered: number[]): void {
  const ranks = [...selected, ...hovered];
  map.highlight(ranks);
  list.highlight(ranks);
}

function choosePlace(id: number): void {
  change({ place: String(id), near: "", bbox: "", polygon: "", offset: 0, as_of: "", map: "", page: "" });
}

function addWord(word: string): void {
  const words = state.q.includes(word) ? state.q : `${state.q} ${word}`.trim();
  change({ q: words, offset: 0, as_of: "", map: "" });
}

/** Where the window is too small for the facets beside the list, they are shown and hidden again. */
function narrow(): boolean {
  return document.body.classList.toggle("is-narrowing");
}

/** The one way to change what is shown. */
function change(changes: Partial<State>): void {
  const before = toAddress(state);
  state = { ...state, ...changes };
  const address = toAddress(state);
  if (address !== before) history.pushState(null, "", address);
  const onlyPage = Object.keys(changes).join() === "page";
  if (onlyPage) showPage();
  else void show();
}

function showPage(): void {
  if (state.page) void dialog.show(state.page, state.q);
  else dialog.hide();
}

// -- Showing ---------------------------------------------------------------------------------------

async function show(): Promise<void> {
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  input.value = state.q;
  statisticsButton.setAttribute("aria-pressed", String(state.view === "statistics"));
  const working = workspace.show(state);
  searchBody.hidden = working;
  document.body.classList.toggle("is-working", working);
  if (working) return showWork(mine);
  document.title = state.q ? `${state.q} — ${strings.name}` : strings.name;
  document.body.classList.add("is-loading");
  if (!main.childElementCount) main.replaceChildren(el("p", { class: "hint", role: "status" }, strings.loading));
  const base = question(state);
  const withoutDates = new URLSearchParams(base);
  withoutDates.delete("since");
  withoutDates.delete("until");
  const paged = new URLSearchParams(base);
  paged.set("limit", String(PAGE_SIZE));
  paged.set("offset", String(state.offset));
  paged.set("sort", state.sort);
  if (state.as_of) paged.set("as_of", state.as_of);
  const trended = new URLSearchParams(withoutDates);
  trended.set("every", state.every);
  try {
    const [answer, points, over, info] = await Promise.all([
      ask<SearchAnswer>("search", paged, mine.signal),
      ask<{ points: Point[] }>("points", base, mine.signal),
      ask<TrendAnswer>("trend", trended, mine.signal),
      known && hasQuestion(state) ? Promise.resolve(known) : ask<Info>("info", undefined, mine.signal),
    ]);
    known = info;
    showViews(info);
    present(answer, points.points, over, info);
  } catch (error) {
    if (wasGivenUp(error)) return;
    if (!(error instanceof Refused)) throw error;
    failed(error.message);
    void showHead(mine);
  } finally {
    if (asking === mine) document.body.classList.remove("is-loading");
  }
  showPage();
}

/** A view beside searching: it asks for itself; only the head is shown here. */
async function showWork(mine: AbortController): Promise<void> {
  document.body.classList.remove("is-loading", "is-overview");
  document.title = `${state.view === "compare" ? strings.compareView : strings.tasksView} — ${strings.name}`;
  await showHead(mine);
}

/** The views in the head, also where there is nothing else to show. */
async function showHead(mine: AbortController): Promise<void> {
  await attempt(async () => {
    known ??= await ask<Info>("info", undefined, mine.signal);
    showViews(known);
  }, () => undefined); // what is shown below says what is wrong
}

function present(answer: SearchAnswer, points: Point[], over: TrendAnswer, info: Info): void {
  const asked = hasQuestion(state);
  const events = { onPlace: choosePlace, onWord: addWord };
  shownAsOf = answer.as_of;
  map.setTiles(info.tiles);
  const heat = state.layer === "heat";
  holdings.textContent = `${countOf(info.pages, "page", "pages")} · ${countOf(info.places, "place", "places")}`;
  document.body.classList.toggle("is-overview", !asked && state.view !== "statistics");
  trend.show(over, answer.query.when?.since ?? "", answer.query.when?.until ?? "", state.every);
  if (state.view === "statistics") {
    main.replaceChildren(asked ? meaning(answer, state, info.exports, { change, onNarrow: narrow }) : (partial(answer, () => change({})) ?? ""), statistics(answer, points, over, events));
    side.replaceChildren(facets(answer, chosenPlace(answer), events));
    map.show([], points, state.map, answer.query.area, heat);
  } else if (!asked) {
    main.replaceChildren(partial(answer, () => change({})) ?? "", info.pages ? overview(info, answer, events) : nothing(strings.emptyTitle, strings.emptyText));
    side.replaceChildren();
    map.show([], points, state.map, null, heat);
  } else {
    list.show(answer, state, info.tasks);
    main.replaceChildren(meaning(answer, state, info.exports, { change, onNarrow: narrow }), answer.hits.length || (answer.total && state.offset) ? list.element : answer.missing.length ? nothing(strings.noAnswerTitle, strings.noAnswerText) : info.pages ? nothing() : nothing(strings.emptyTitle, strings.emptyText));
    side.replaceChildren(answer.total ? facets(answer, chosenPlace(answer), events) : "");
    map.show(answer.hits, points, state.map, answer.query.area, heat);
  }
}

function chosenPlace(answer: SearchAnswer): number | null {
  return answer.query.area ? null : (answer.query.where[0]?.id ?? null);
}

function nothing(title: string = strings.noHitsTitle, text: string = strings.noHitsText): HTMLElement {
  return el("div", { class: "empty" }, el("span", { class: "rose is-large", "aria-hidden": "true" }), el("h2", {}, title), el("p", {}, text), button(strings.clearAll, () => change({ ...initial }), { class: "secondary" }));
}

function failed(message: string): void {
  const box = el("div", { class: "empty is-error", role: "alert" }, el("h2", {}, strings.errorTitle), el("p", {}, message));
  add(box, button(strings.clearAll, () => change({ ...initial }), { class: "secondary" }));
  main.replaceChildren(box);
  side.replaceChildren();
  map.show([], [], state.map);
  trend.show(null, "", "", state.every);
}

void show();
