/** The page: state in the address, one question at a time to the server, and the parts that show the answer. */

import "@fontsource-variable/source-sans-3/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import "ol/ol.css";
import { ask, attempt, type Info, isBack, type Point, Refused, type SearchAnswer, type TrendAnswer, Unanswered, wasGivenUp } from "./api";
import { add, button, el, icon, keepFocus } from "./dom";
import { facets } from "./facets";
import { ResultList } from "./list";
import { ResultMap } from "./map";
import { meaning, partial } from "./meaning";
import { overview } from "./overview";
import { PageDialog } from "./pageview";
import { fromAddress, hasQuestion, initial, PAGE_SIZE, question, type State, toAddress, type View } from "./state";
import { statistics } from "./statistics";
import { countOf, isCalm, strings } from "./strings";
import { suggest } from "./suggest";
import { folded, TrendPanel } from "./trend";
import { Workspace } from "./workspace";

let state: State = fromAddress(location.search);
let asking: AbortController | null = null;
let known: Info | null = null;
let selected: number[] = []; // ranks whose marker is open
const stacked = matchMedia("(max-width: 760px)"); // the list is below the map, and both are seldom seen at once
let shown: SearchAnswer | null = null; // what the list shows
let shownQuestion = ""; // what was asked for it
let leaving: Partial<State>[] | null = null; // what was wanted while the browser was on its way back: it does not go at once

// -- The frame -------------------------------------------------------------------------------------

const input = el("input", { type: "search", name: "q", id: "q", maxlength: "1000", autocomplete: "off", spellcheck: "false", placeholder: strings.searchPlaceholder, "aria-label": strings.searchLabel });
const suggestions = el("ul", { class: "suggestions", id: "suggestions" });
const statisticsButton = button("", () => change({ q: input.value, view: state.view === "statistics" ? "results" : "statistics", offset: 0 }), { class: "secondary", "aria-pressed": "false", "aria-label": strings.statistics });
add(statisticsButton, icon("M3.500 15V9M9 15V3M14.500 15V6.500"), el("span", { class: "label" }, strings.statistics));
const form = el("form", { class: "search", role: "search", action: "/", method: "get" }, el("div", { class: "search-box" }, input, suggestions), el("button", { type: "submit", class: "primary", "aria-label": strings.search }, icon("M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3zM12 12l3.500 3.500"), el("span", { class: "label" }, strings.search)), statisticsButton);
const home = el("a", { class: "brand", href: "/", "aria-label": strings.name }, el("span", { class: "rose", "aria-hidden": "true" }), el("h1", { class: "wordmark" }, strings.name));
const nav = el("nav", { class: "views", "aria-label": strings.views });
const holdings = el("p", { class: "holdings" });
const spoken = el("p", { class: "spoken", role: "status" }); // for those who cannot see it; seen while an answer takes long
const side = el("aside", { class: "side", id: "facets", "aria-label": strings.narrow });
const main = el("main", { class: "main", id: "results", tabindex: "-1", "aria-label": strings.results });

const list = new ResultList({
  onHover: (ranks) => highlight(ranks),
  onReveal: (rank) => {
    map.reveal(rank);
    if (stacked.matches) map.element.scrollIntoView({ block: "nearest", behavior: isCalm() ? "auto" : "smooth" });
  },
  onOpen: (hit) => change({ page: `${hit.node}/${hit.page}` }),
  onPlace: (id) => choosePlace(id),
  onTopic: (topic) => addWord(/\s/.test(topic) ? `inclass:"${topic}"` : `inclass:${topic}`),
  onOffset: (offset) => change({ offset, map: "", as_of: offset ? state.as_of || (shown?.as_of ?? "") : "" }),
});
const map: ResultMap = new ResultMap({
  onMarker: (ranks) => {
    selected = ranks;
    highlight([]);
    if (!stacked.matches) list.scrollTo(ranks[0]);
  },
  onEntry: (rank) => {
    selected = [rank];
    highlight([]);
    list.scrollTo(rank);
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
    history.replaceState(history.state, "", toAddress(state));
  },
});
const trend = new TrendPanel({
  onRange: (since, until) => change({ since, until, offset: 0, as_of: "" }),
  onEvery: (every) => change({ every }),
});
const dialog = new PageDialog(() => closePage(), (id) => {
  dialog.hide();
  choosePlace(id);
}, (reference) => change({ page: reference }));

const workspace = new Workspace((changes) => change(changes));
const searchBody = el("div", { class: "body" }, side, main, map.element, trend.element);

const skip = el("a", { class: "skip", href: "#results" }, strings.skip);
skip.addEventListener("click", (event) => {
  event.preventDefault(); // the address says what is shown, not where one reads
  (searchBody.hidden ? workspace.element : main).focus();
});

document.getElementById("app")?.replaceChildren(
  skip,
  el("header", { class: "head" }, home, nav, form, holdings, spoken),
  searchBody,
  workspace.element,
  dialog.element,
);

/** What the head says of this server. */
function showInfo(info: Info): void {
  showViews(info);
  holdings.textContent = `${countOf(info.pages, "page", "pages")} · ${countOf(info.places, "place", "places")}`;
}

/** The views that this server has, as links. */
function showViews(info: Pick<Info, "tasks" | "comparisons">): void {
  const views: [string, Partial<State>, boolean][] = [
    [strings.searchView, { view: "results" }, state.view === "results" || state.view === "statistics"],
    ...(info.tasks ? [[strings.tasksView, { view: "tasks" }, state.view === "tasks" || state.view === "new"] as [string, Partial<State>, boolean]] : []),
    ...(info.comparisons ? [[strings.compareView, { view: "compare" }, state.view === "compare"] as [string, Partial<State>, boolean]] : []),
  ];
  nav.hidden = views.length < 2 && !searchBody.hidden; // there is always a way back to searching
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
  const before = state;
  state = fromAddress(location.search);
  if (toAddress({ ...before, page: state.page }) === toAddress(state)) showPage();
  else void show();
  const waiting = leaving ?? [];
  leaving = null;
  for (const changes of waiting) change(changes);
});

/** Entries and markers under the pointer, beside those that were clicked. */
function highlight(hovered: number[]): void {
  const ranks = [...selected, ...hovered];
  map.highlight(ranks);
  list.highlight(ranks);
}

/** Only what is in the place; a name in the words that may mean it says no more ("near Houston"). */
function choosePlace(id: number): void {
  const asked = shown?.query;
  const rest = asked?.text === state.q && asked.where.some((place) => place.id === id) ? asked.without.where : null;
  change({ ...(rest !== null && { q: rest }), place: String(id), near: "", bbox: "", polygon: "", offset: 0, as_of: "", map: "", page: "" });
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
  if (leaving) return void leaving.push(changes);
  const before = state;
  state = { ...state, ...changes };
  const address = toAddress(state);
  if (address !== toAddress(before)) history.pushState({ over: !state.page ? 0 : before.page ? over() && over() + 1 : 1 }, "", address);
  const onlyPage = Object.keys(changes).join() === "page";
  if (onlyPage) showPage();
  else void show();
}

/** How far back in the history the list is that pages were opened from, one from the other; 0 if it is not there. */
function over(): number {
  return (history.state as { over?: number } | null)?.over ?? 0;
}

/** Close the page that is shown, so that Back does not open it again. */
function closePage(): void {
  if (!state.page) return;
  state = { ...state, page: "" };
  if (!over()) return history.replaceState(null, "", toAddress(state));
  leaving = [];
  history.go(-over());
}

function showPage(): void {
  if (state.page) void dialog.show(state.page, state.q);
  else dialog.hide();
}

// -- Showing ---------------------------------------------------------------------------------------

const PATIENCE_MS = 1_000;

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
  document.body.classList.toggle("is-overview", !hasQuestion(state) && state.view !== "statistics");
  document.title = state.q ? `${state.q} — ${strings.name}` : strings.name;
  document.body.classList.add("is-loading");
  if (!main.childElementCount) main.replaceChildren(el("p", { class: "hint" }, strings.loading));
  const patience = setTimeout(() => {
    spoken.textContent = strings.loading;
  }, PATIENCE_MS);
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
  trended.set("every", state.every || "month");
  let gone = false;
  try {
    const [answer, points, times, info] = await Promise.all([
      ask<SearchAnswer>("search", paged, mine.signal),
      ask<{ points: Point[] }>("points", base, mine.signal),
      ask<TrendAnswer>("trend", trended, mine.signal),
      known && hasQuestion(state) ? Promise.resolve(known) : ask<Info>("info", undefined, mine.signal),
    ]);
    known = info;
    showInfo(info);
    present(answer, points.points, state.every ? times : folded(times), info);
    toTop(paged.toString());
  } catch (error) {
    if (wasGivenUp(error)) return;
    if (!(error instanceof Refused)) throw error;
    gone = error instanceof Unanswered;
    failed(error);
    void showHead(mine);
  } finally {
    clearTimeout(patience);
    if (asking === mine) document.body.classList.remove("is-loading");
  }
  showPage();
  if (gone && (await isBack(() => asking === mine))) await show();
}

/** A view beside searching: it asks for itself; only the head is shown here. */
async function showWork(mine: AbortController): Promise<void> {
  document.body.classList.remove("is-loading", "is-overview");
  const titles: Partial<Record<View, string>> = { compare: strings.compareView, new: strings.newTask };
  document.title = `${titles[state.view] ?? strings.tasksView} — ${strings.name}`;
  await showHead(mine);
  if (known && !known.tasks && state.view !== "compare") workspace.refuse();
}

/** The views in the head, also where there is nothing else to show. */
async function showHead(mine: AbortController): Promise<void> {
  await attempt(async () => {
    known ??= await ask<Info>("info", undefined, mine.signal);
    showInfo(known);
  }, () => undefined); // what is shown below says what is wrong
}

/** What answers another question is read from its beginning. */
function toTop(asked: string): void {
  const isNew = shownQuestion !== "" && asked !== shownQuestion;
  shownQuestion = asked;
  if (!isNew) return;
  main.scrollTo({ top: 0 });
  if (stacked.matches && state.offset) main.scrollIntoView();
  else window.scrollTo({ top: 0 });
}

function present(answer: SearchAnswer, points: Point[], over: TrendAnswer, info: Info): void {
  const asked = hasQuestion(state);
  const refocus = keepFocus(main, side);
  const events = { onPlace: choosePlace, onWord: addWord };
  shown = answer;
  spoken.textContent = countOf(answer.total, "page", "pages");
  map.setTiles(info.tiles);
  const heat = state.layer === "heat";
  trend.show(over, answer.query.when?.since ?? "", answer.query.when?.until ?? "");
  if (state.view === "statistics") {
    main.replaceChildren(asked ? meaning(answer, state, info.exports, { change, onNarrow: narrow }) : (partial(answer, () => change({})) ?? ""), statistics(asked, answer, points, over, events));
    side.replaceChildren(facets(answer, chosenPlace(answer), events));
    map.show([], points, state.map, answer.query, heat);
  } else if (!asked) {
    main.replaceChildren(partial(answer, () => change({})) ?? "", info.pages ? overview(info, answer, events) : emptyCollection(info));
    side.replaceChildren();
    map.show([], points, state.map, null, heat);
  } else {
    list.show(answer, state, info.tasks);
    main.replaceChildren(meaning(answer, state, info.exports, { change, onNarrow: narrow }), answer.hits.length || (answer.total && state.offset) ? list.element : answer.missing.length ? nothing(strings.noAnswerTitle, strings.noAnswerText) : info.pages ? nothing() : emptyCollection(info));
    side.replaceChildren(answer.total ? facets(answer, chosenPlace(answer), events) : "");
    map.show(answer.hits, points, state.map, answer.query, heat);
  }
  refocus();
}

function chosenPlace(answer: SearchAnswer): number | null {
  return answer.query.area ? null : (answer.query.where[0]?.id ?? null);
}

function nothing(title: string = strings.noHitsTitle, text: string = strings.noHitsText): HTMLElement {
  const wider: [boolean, string, Partial<State>][] = [
    [Boolean(state.since || state.until), strings.anyTime, { since: "", until: "" }],
    [Boolean(state.place || state.near || state.bbox || state.polygon), strings.anywhere, { place: "", near: "", bbox: "", polygon: "", map: "" }],
  ];
  return empty(title, text,
    ...wider.filter(([is]) => is).map(([, name, changes]) => button(name, () => change({ ...changes, offset: 0, as_of: "" }), { class: "secondary" })),
    button(strings.clearAll, () => change({ ...initial }), { class: "secondary" }),
  );
}

/** What to do about a collection that holds nothing. */
function emptyCollection(info: Info): HTMLElement {
  if (!info.tasks) return empty(strings.emptyTitle, strings.emptyText, button(strings.askAgain, () => void show(), { class: "secondary" }));
  const all = button(strings.tasksTitle, () => change({ ...initial, view: "tasks" }), { class: "secondary" });
  return empty(strings.emptyTitle, strings.emptyTasksText, button(strings.newTask, () => change({ ...initial, view: "new" }), { class: "primary" }), all);
}

function empty(title: string, text: string, ...ways: HTMLElement[]): HTMLElement {
  return el("div", { class: "empty" }, el("span", { class: "rose is-large", "aria-hidden": "true" }), el("h2", {}, title), el("p", {}, text), el("div", { class: "ways" }, ...ways));
}

function failed(error: Refused): void {
  const refocus = keepFocus(main, side);
  const again = button(strings.askAgain, () => void show(), { class: "secondary" });
  const way = error.later ? again : button(strings.clearAll, () => change({ ...initial }), { class: "secondary" });
  const message = error instanceof Unanswered ? `${error.message} ${strings.goesOn}` : error.message;
  spoken.textContent = ""; // the alert speaks for itself
  main.replaceChildren(el("div", { class: "empty is-error", role: "alert" }, el("h2", {}, strings.errorTitle), el("p", {}, message), way));
  side.replaceChildren();
  map.show([], [], state.map);
  trend.show(null, "", "");
  refocus();
}

const views = document.documentElement.dataset["views"] ?? "tasks"; // the server wrote them there, so that the head does not move later
showViews({ tasks: views.includes("tasks"), comparisons: Number(views.includes("compare")) });
void show();
