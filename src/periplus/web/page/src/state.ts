/** What is shown, as a value that lives in the address: a copied address shows the same view. */

export type Every = "day" | "week" | "month" | "year";

export interface State {
  q: string;
  place: string;
  near: string;
  bbox: string;
  since: string;
  until: string;
  sort: "relevance" | "time";
  offset: number;
  view: "results" | "statistics";
  every: Every;
  map: string;
  page: string;
}

export const initial: State = {
  q: "",
  place: "",
  near: "",
  bbox: "",
  since: "",
  until: "",
  sort: "relevance",
  offset: 0,
  view: "results",
  every: "month",
  map: "",
  page: "",
};

export const PAGE_SIZE = 10;

export function fromAddress(search: string): State {
  const given = new URLSearchParams(search);
  const state: State = { ...initial };
  for (const key of ["q", "place", "near", "bbox", "since", "until", "map", "page"] as const) {
    state[key] = given.get(key) ?? "";
  }
  state.sort = given.get("sort") === "time" ? "time" : "relevance";
  state.view = given.get("view") === "statistics" ? "statistics" : "results";
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
  return Boolean(state.q.trim() || state.place || state.near || state.bbox || state.since || state.until);
}

/** The part of the state that the server is asked with. */
export function question(state: State): URLSearchParams {
  const out = new URLSearchParams();
  for (const key of ["q", "place", "near", "bbox", "since", "until"] as const) {
    if (state[key]) out.set(key, state[key]);
  }
  return out;
}
