/** Every word a person reads, in one place. */

export const strings = {
  name: "Periplus",
  skip: "Skip to the content",
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
  noAnswerTitle: "No answer yet",
  noAnswerText: "The nodes that did answer have nothing of it, and some did not answer at all. Ask again in a moment.",
  clearAll: "Show everything",
  errorTitle: "That did not work",
  offline: "The server does not answer. Is “periplus serve” still running?",
  serverError: "The server could not answer",
  goesOn: "The page goes on by itself when it is back.",
  partial: "This is a part of the answer. No answer came from",
  askAgain: "Ask again",
  relaxed: "No page has all of these words; these have some of them.",
  where: "Where",
  orIn: "or",
  leftOut: "Not in",
  when: "When",
  meant: "Did you mean another one?",
  anyTime: "At any time",
  anywhere: "Anywhere",
  places: "Places",
  topics: "Topics",
  sites: "Sites",
  languages: "Languages",
  or: "or",
  sinceDay: "since",
  untilDay: "until",
  suggestions: "Suggestions",
  narrow: "Narrow",
  sort: "Sort by",
  relevance: "relevance",
  time: "newest",
  previous: "Previous",
  next: "Next",
  fullText: "Full text",
  mapResults: "Map of the results",
  markers: "Markers of the map, one by one with the arrow keys",
  pin: "Result",
  pins: "Results",
  showOnMap: "show on the map",
  mostListed: "the first 10,000 are listed",
  searchArea: "Search this area",
  searchHere: "Pages about this place",
  remove: "remove",
  undated: "no date",
  noPlace: "no place",
  otherPlaces: "also",
  overviewTitle: "What this collection holds",
  overviewHint: "Each circle is a place, as large as its number of pages. Click one, or ask a question above.",
  overviewPlaceless: "None of its pages is about a known place, so the map stays empty. Ask a question above.",
  emptyTitle: "Nothing has been kept yet",
  emptyText: "The crawl has found no page that is relevant yet. If it still runs, look again in a moment.",
  emptyTasksText: "Say what you look for and where, and Periplus collects the pages. A crawl that runs shows here what it keeps.",
  pages: "pages",
  topPlaces: "Places with most pages",
  nodes: "Nodes",
  date: "Date",
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

  // Views
  views: "Views",
  searchView: "Search",
  tasksView: "Crawls",
  compareView: "Compare",

  // Search
  didYouMean: "Did you mean",
  asOf: "Results as they were when you began to page.",
  asOfNow: "Show the newest",
  export: "Export",
  exportHint: "At most 10,000 results",
  csv: "CSV (spreadsheet)",
  geojson: "GeoJSON (QGIS, web maps)",
  gpkg: "GeoPackage (QGIS)",
  geoparquet: "GeoParquet (DuckDB, GeoPandas)",
  inPolygon: "in the drawn shape",
  drawBox: "Draw a box",
  drawPolygon: "Draw a shape",
  drawHint: "Drag for a box. Esc ends drawing.",
  drawShapeHint: "Click corners, double-click the last one. Esc ends drawing.",
  heat: "Heat map",
  good: "This page belongs to the topic",
  bad: "This page does not belong to the topic",
  thumbTopic: "Topic that is judged",
  taught: "Thank you. The topic was learnt anew; the next run judges by it.",
  noted: "Noted.",
  moreNeeded: "and the topic is learnt anew",

  // Page view
  evidence: "Evidence",
  evidenceNote: "Judged again from the stored text.",
  least: "at least",
  keywords: "Keywords",
  links: "Links of this page",
  noLinks: "No links were stored.",
  linkTo: "to",
  unknownUrl: "address not stored",
  record: "Archive record (WARC)",
  noEvidence: "This crawl has no topic: every page was kept.",

  // Tasks
  noCrawlsTitle: "No crawls on this server",
  noCrawlsText: "It shows what has been collected, and was started without saved crawls (--no-tasks).",
  tasksTitle: "Saved crawls",
  tasksIntro: "A crawl collects pages about your topics and places, now or on a schedule.",
  newTask: "New crawl",
  lastFailed: "The last run failed:",
  nothingRead: "The last run could not read a single page. Open it to see what did not work.",
  noTasksTitle: "No crawls yet",
  noTasksText: "Say what you look for and where; Periplus collects the pages, shows them on the map and keeps them up to date.",
  back: "All crawls",
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  stop: "Stop",
  removeTask: "Remove",
  removeAsk: "Remove this crawl and its history? The pages that it found stay on disk.",
  eraseAsk: "Also delete the pages",
  cancel: "Cancel",
  byHand: "By hand",
  nextRun: "next run",
  previousRun: "last run",
  never: "never",
  waitingForRoom: "waits for room: other crawls run",
  pausedFor: (reason: string) => `Paused: ${reason}`,
  waitsFor: (what: string) => `Waits ${what}`,
  pageRead: "page read",
  pagesRead: "pages read",
  pagesKept: "kept",
  pagesPerSecond: "pages a second",
  harvest: "harvest",
  harvestHint: "share of the pages read that belong to the topic",
  queue: "in the queue",
  timeLeft: "left",
  hosts: "sites busy",
  errors: "What did not work",
  noErrors: "Nothing so far.",
  reason: "Reason",
  number: "Number",
  log: "Log",
  emptyLog: "Nothing yet.",
  nodesMap: "Nodes and the links that they send each other",
  offMap: "Not on the map yet, since nothing says where they stand:",
  amongPages: "A node that owns no places stands among its pages:",
  nodesTable: "Nodes",
  sentLinks: "sent",
  history: "Runs",
  noRuns: "It has not run yet.",
  began: "Began",
  took: "Took",
  cause: "Why",
  state: "State",
  newPages: "New",
  changedPages: "Changed",
  gonePages: "Gone",
  ended: "How it ended",
  causes: { hand: "by hand", schedule: "schedule", missed: "missed, caught up" } as Record<string, string>,
  states: {
    new: "not run yet", scheduled: "scheduled", waiting: "waiting", running: "running", pausing: "pausing…", paused: "paused",
    stopping: "stopping…", done: "done", limit: "limit reached", stopped: "stopped", failed: "failed",
  } as Record<string, string>,
  alerts: "Alerts",
  alertsHint: "A saved question: what is new goes into a feed, and to a webhook if you give one.",
  questionLabel: "Question",
  webhookLabel: "Webhook (optional)",
  saveQuestion: "Save",
  newHits: "new",
  feed: "Feed",
  showResults: "Show the pages",
  aboutJob: "What it looks for",
  seeds: "Seeds",
  liveLost: "The live view is interrupted; it will go on by itself.",

  // New crawl
  formTitle: "New crawl",
  formIntro: "Name it, say what and where, and where to begin. The rest has sensible defaults.",
  nameLabel: "Name",
  namePlaceholder: "Floods around Sylhet",
  whatTitle: "What",
  whatHint: "Words and phrases of the pages you look for. The weight says how much each counts.",
  keywordLabel: "Keyword",
  weightLabel: "Weight",
  addKeyword: "Add a keyword",
  learnTitle: "Learn from samples",
  learnHint: "Give 3 to 100 pages or texts that are what you look for. You can change what was learnt before you start.",
  learnFiles: "Sample files (text or HTML)",
  learning: "Learning…",
  learntFrom: "Learnt from",
  whereTitle: "Where",
  whereHint: "Type a name and choose the right one, or click on the map.",
  placeLabel: "Place",
  placePlaceholder: "Lisbon",
  noSuchPlace: "No place of that name.",
  choosePlace: "Which one?",
  kinds: { city: "town", admin1: "state or region", admin2: "county", country: "country", continent: "continent", feature: "landscape", region: "region" } as Record<string, string>,
  mapPick: "Map: click to choose a place",
  beginTitle: "Where to begin",
  seedsLabel: "Addresses, one a line",
  seedsPlaceholder: "https://example.org/news",
  seedsFile: "or from a file",
  contactLabel: "Contact",
  contactHint: "Your web or e-mail address: sites see it, so that they can reach you.",
  howTitle: "How",
  strategyLabel: "Strategy",
  strategies: {
    url: "url — by places in the address", anchor: "anchor — by the words of the link", content: "content — by the page it stands on",
    blend: "blend — by all signs together", classifier: "classifier — by a trained model", ip: "ip — by where its server is",
    nearest: "nearest — the closest node", "place+nearest": "place+nearest — the closest of a place's nodes",
    hash: "hash — spread evenly", "hash-host": "hash-host — spread by site",
  } as Record<string, string>,
  modelLabel: "Model of the classifier",
  databaseLabel: "Where addresses are",
  noFile: "none",
  noModels: "No model is offered here. Train one with periplus classifier train, and start the server with --classifier FILE.",
  noDatabases: "No database is offered here. Start the server with --ip-database FILE (a city database, .mmdb).",
  blendDatabase: "Not needed, but it helps where names of places are missing.",
  nearestHint: "Nodes measure how far each site is from them; useful where they run on several machines.",
  nodesLabel: "Nodes",
  nodesHint: "Leave empty for one node. With several, each owns places: links about them go to it.",
  nodeName: "Node",
  nodePlaces: "Its places, separated by ;",
  addNode: "Add a node",
  pagesLabel: "Pages a run (0: no limit)",
  minutesLabel: "Minutes a run (0: no limit)",
  delayLabel: "Seconds between requests to a site",
  workersLabel: "Worker processes (0: its share)",
  keepLabel: "Keep",
  keepRelevant: "pages about the topic",
  keepAll: "all pages",
  whenTitle: "When",
  everyLabel: "Every",
  hoursWord: "hours",
  dailyLabel: "Daily at",
  cronLabel: "Cron line",
  nextRuns: "Next runs",
  saveAndStart: "Save and start",
  saveOnly: "Save",
  checking: "Checking…",
  saving: "Saving…",
  allGood: "Everything is fine.",
  fix: "Please look at",
  fields: {
    name: "Name", keywords: "What", places: "Where", seeds: "Where to begin", contact: "Contact", schedule: "When", nodes: "Nodes", strategy: "Strategy",
    "f-pages": "Pages a run", "f-minutes": "Minutes a run", "f-delay": "Seconds between requests", "f-workers": "Worker processes", "f-keep": "Keep",
  } as Record<string, string>,
  numberFrom: "Give a number from",
  clearForm: "Clear the form",
  more1: "Limits, nodes and strategy",

  // Compare
  compareTitle: "Strategies compared",
  compareEmpty: "No comparison is served",
  compareEmptyText: "Make one with “periplus compare”, then serve it with “--compare FOLDER”.",
  noComparison: "This is the first comparison. There is none of the name",
  noMeasure: "This is the first measure. There is none of the name",
  comparison: "Comparison",
  measure: "Measure",
  strategy: "Strategy",
  overPages: "over pages",
  loadingWord: "Loading…",
  measures: {
    geo_coverage: "geo-coverage", geo_focus: "geo-focus", entity_uniqueness: "entity uniqueness", geo_centrality: "geo-centrality",
    overlap: "overlap", diversity: "diversity", communication_overhead: "URLs sent a page", accuracy: "accuracy", coverage: "coverage",
    own_target_pages_per_download: "own-target pages a download", links_assigned_away_per_page: "links for others a page",
  } as Record<string, string>,
} as const;

const numbers = new Intl.NumberFormat("en");

export function count(n: number): string {
  return numbers.format(n);
}

export function countOf(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** English, with the parts of a date in the order of the reader's own language. */
const order = new Intl.DateTimeFormat(navigator.languages).formatToParts().find((part) => ["day", "month", "year"].includes(part.type));
const language = order?.type === "month" ? "en-US" : "en-GB";
const dates = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });
const months = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", timeZone: "UTC" });

export function day(iso: string): string {
  const time = Date.parse(`${iso.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(time) ? iso : dates.format(time);
}

/** The day so many days later. */
function beside(iso: string, n: number): string {
  return new Date(Date.parse(`${iso}T00:00:00Z`) + n * 86_400_000).toISOString().slice(0, 10);
}

/** `since Jan 1, 2030`, `until …`, a single day, or two with a dash; with a gap `apart`, two such spans. */
export function days(since: string | null, until: string | null, apart: [string, string] | null): string {
  if (apart) return `${days(since, beside(apart[0], -1), null)} ${strings.or} ${days(beside(apart[1], 1), until, null)}`;
  if (since && until) return since === until ? day(since) : `${day(since)} – ${day(until)}`;
  return since ? `${strings.sinceDay} ${day(since)}` : until ? `${strings.untilDay} ${day(until)}` : "";
}

export function month(iso: string): string {
  return months.format(Date.parse(`${iso}T00:00:00Z`));
}

const clock = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const moments = new Intl.DateTimeFormat(language, clock);
const momentsOfYears = new Intl.DateTimeFormat(language, { ...clock, year: "numeric" });

/** A Unix time in the reader's own zone; with the year if it is not this one. */
export function moment(at: number | null): string {
  if (at === null) return strings.never;
  const isNow = new Date(at * 1000).getFullYear() === new Date().getFullYear();
  return (isNow ? moments : momentsOfYears).format(at * 1000).replaceAll(" ", "\u00a0"); // one word: a line does not end in it
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (h) return `${h} h ${m} min`;
  return m ? `${m} min ${s} s` : `${s} s`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}\u00a0%`;
}

export function position(lat: number, lon: number): string {
  const ns = lat >= 0 ? "N" : "S";
  const ew = lon >= 0 ? "E" : "W";
  return `${Math.abs(lat).toFixed(4)}° ${ns}, ${Math.abs(lon).toFixed(4)}° ${ew}`;
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** `German` for `de`; what is no code of a language stays as it is. */
export function languageName(code: string): string {
  try {
    return languageNames.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Whether the reader wants nothing to move by itself. */
export function isCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
