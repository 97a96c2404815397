/** Every word a person reads, in one place. */

export const strings = {
  name: "Periplus",
  skip: "Skip to the results",
  searchLabel: "Search by what, where and when",
  searchPlaceholder: "What, where, when — for example: pizza in Lisbon since 2026",
  search: "Search",
  statistics: "Statistics",
  results: "Results",
  map: "Map",
  trend: "Over time",
  loading: "Searching…",
  noHitsTitle: "Nothing found",
  noHitsText: "No page of this collection answers that. Try fewer words, a wider place, or other dates.",
  clearAll: "Show everything",
  errorTitle: "That did not work",
  offline: "The server does not answer. Is `periplus serve` still running?",
  relaxed: "No page has all of these words; these have some of them.",
  where: "Where",
  when: "When",
  within: "within",
  of: "of",
  meant: "Did you mean another one?",
  anyTime: "any time",
  places: "Places",
  topics: "Topics",
  sites: "Sites",
  languages: "Languages",
  sort: "Sort by",
  relevance: "relevance",
  time: "newest",
  previous: "Previous",
  next: "Next",
  fullText: "Full text",
  mapResults: "Map of the results",
  searchArea: "Search this area",
  searchHere: "Pages about this place",
  remove: "remove",
  undated: "no date",
  noPlace: "no place",
  otherPlaces: "also",
  overviewTitle: "What this collection holds",
  overviewHint: "Each circle is a place, as large as its number of pages. Click one, or ask a question above.",
  emptyTitle: "Nothing has been kept yet",
  emptyText: "The crawl has found no page that is relevant. Reload the page to look again.",
  pages: "pages",
  placesFound: "places",
  countries: "countries",
  topPlaces: "Places with most pages",
  nodes: "Nodes",
  dates: "Dates",
  every: "By",
  day: "day",
  week: "week",
  month: "month",
  year: "year",
  since: "From",
  until: "to",
  clearDates: "any time",
  trendHint: "Drag over the bars to choose a time; click one to choose it.",
  trendEmpty: "No dated pages",
  textPages: "Pages",
  close: "Close",
  similarPages: "Pages like this one",
  nearbyPages: "Pages about places near by",
  why: "Why it was kept",
  keywordRelevance: "keyword relevance",
  placeRelevance: "place relevance",
  placesOfPage: "Places of this page",
  openOriginal: "Open the original page",
  inBox: "in the chosen area",
  nearby: "Close by, within 50 km",
  more: "more",
  coordinates: "coordinates",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  node: "node",
} as const;

const numbers = new Intl.NumberFormat("en");

export function count(n: number): string {
  return numbers.format(n);
}

export function countOf(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const dates = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });

export function day(iso: string): string {
  const time = Date.parse(`${iso.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(time) ? iso : dates.format(time);
}

export function position(lat: number, lon: number): string {
  const ns = lat >= 0 ? "N" : "S";
  const ew = lon >= 0 ? "E" : "W";
  return `${Math.abs(lat).toFixed(4)}° ${ns}, ${Math.abs(lon).toFixed(4)}° ${ew}`;
}
