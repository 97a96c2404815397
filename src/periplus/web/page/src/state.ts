/** What is shown, as a value that lives in the address: a copied address shows the same view. */

export type Every = "day" | "week" | "month" | "year";

export interface State {
  q: string;
  place: string;
  near: string;
  bbox: string;
  polygon: string;
  since: string;
  until: string;
  sort: "relevance" | "time";
  offset: number;
  view: View;
  every: Every | ""; // empty: months, or years where they would be too many
  map: string;
  page: string;
  layer: "places" | "heat";
  as_of: string;
  task: string;
  result: string;
  measure: string;
}

export type View = "results" | "statistics" | "tasks" | "new" | "compare";

export const initial: State = {
  q: "",
  place: "",
  near: "",
  bbox: "",
  polygon: "",
  since: "",
  until: "",
  sort: "relevance",
  offset: 0,
  view: "results",
  every: "",
  map: "",
  page: "",
  layer: "places",
  as_of: "",
  task: "",
  result: "",
  measure: "",
};

export const PAGE_SIZE = 10;

export function fromAddress(search: string): State {
  const given = new URLSearchParams(search);
  const state: State = { ...initial };
  for (const key of ["q", "place", "near", "bbox", "polygon", "since", "until", "map", "page", "as_of", "task", "result", "measure"] as const) {
    state[key] = given.get(key) ?? "";
  }
  state.sort = given.get("sort") === "time" ? "time" : "relevance";
  const view = given.get("view");
  if (view === "statistics" || view === "tasks" || view === "new" || view === "compare") state.view = view;
  if (given.get("layer") === "heat") state.layer = "heat";
  const every = given.get("every");
  if (every === "day" || every === "week" || every === "month" || every === "year") state.every = every;
  const offset = Number.parseInt(given.get("offset") ?? "0", 10);
  state.offset = Number.isFinite(offset) && offset > 0 ? offset : 0;
  return state;
}

export function toAddress(state: State): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value !== initial[key as keyof State] && value !== "") out.set(key, String(value));
  }
  const text = out.toString();
  return text ? `?${text}` : location.pathname;
}

export function hasQuestion(state: State): boolean {
  return Boolean(state.q.trim() || state.place || state.near || state.bbox || state.polygon || state.since || state.until);
}

/** The part of the state that the server is asked with. */
export function question(state: State): URLSearchParams {
  const out = new URLSearchParams();
  for (const key of ["q", "place", "near", "bbox", "polygon", "since", "until"] as const) {
    if (state[key]) out.set(key, state[key]);
  }
  return out;
}
