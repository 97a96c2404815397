/** The server's answers, and how they are asked for. */

import type { Mark } from "./dom";
import { strings } from "./strings";

export interface Place {
  id: number;
  name: string;
  kind: string;
  country: string;
  admin1: string;
  lat: number | null;
  lon: number | null;
  population: number;
  path: string[];
  pages: number;
  main_pages: number;
  label?: string;
  weight?: number;
}

export interface Hit {
  rank: number;
  url: string;
  title: string;
  snippet: string;
  score: number;
  published: string | null;
  fetched: string;
  topics: string[];
  place: Place | null;
  path: string[];
  other_places: Place[];
  marks: Mark[];
  title_marks: Mark[];
  language: string;
  node: string;
  page: number;
  relation: string;
  reason: string;
}

export interface PlaceFacet {
  id: number;
  name: string;
  kind: string;
  count: number;
  children: PlaceFacet[];
}

export interface Count {
  name: string;
  count: number;
}

export interface Understood {
  text: string;
  what: string;
  where: Place[];
  area: { lat: number; lon: number; km: number; bearing: number | null; relation: string } | { bbox: [number, number, number, number] } | { polygon: [number, number][] } | null;
  also: Place[]; // further places, any of which will do
  excluded: Place | null;
  when: { since: string | null; until: string | null; apart?: [string, string] } | null; // apart: days between that do not count
  reading: string;
  without: { where: string | null; also: string[]; excluded: string | null; when: string | null }; // the words without a part; null: it is not in them
}

export interface SearchAnswer {
  query: Understood;
  total: number;
  hits: Hit[];
  facets: { places: PlaceFacet[]; topics: Count[]; sites: Count[]; languages: Count[] };
  relaxed: boolean;
  did_you_mean: string | null;
  as_of: string;
  seconds: number;
  missing: string[]; // nodes that said nothing: the answer is a part
}

export interface TrendAnswer {
  every: string;
  total: number;
  undated: number;
  buckets: { start: string; count: number }[];
}

export interface Point {
  id: number;
  label: string;
  kind: string;
  lat: number;
  lon: number;
  count: number;
}

export interface Info {
  crawls: { name: string; topic: string; nodes: { node: string; pages: number; places: string[] }[] }[];
  pages: number;
  places: number;
  countries: number;
  first: string | null;
  last: string | null;
  top_places: Place[];
  tasks: boolean;
  comparisons: number;
  tiles: string;
  exports: boolean; // whether results can be taken away as files
}

export interface Evidence {
  topic: string;
  relevant: boolean;
  keyword_relevance: number;
  keyword_threshold: number;
  place_relevance: number;
  place_threshold: number;
  keywords: { name: string; value: number }[];
  places: { name: string; value: number }[];
}

export interface Details {
  evidence: Evidence[];
  links: { url: string; anchor: string; node: string; outcome: string }[];
  archived: boolean;
}

export interface Run {
  id: number;
  cause: string;
  state: string;
  began: number;
  started: number | null;
  ended: number | null;
  reason: string;
  pages: number;
  kept: number;
  queued: number;
  new: number;
  changed: number;
  gone: number;
}

export interface Progress {
  pages: number;
  kept: number;
  queued: number;
  busy_hosts: number;
  hosts: number;
  seconds: number;
  pages_this_run: number;
  page_limit: number;
  rate: number;
  left_seconds: number | null;
  paused: string;
  waits?: string; // runs that began before it was told have none
  errors: Record<string, number>;
  harvest: Record<string, { pages: number; share: number; recent: number }>;
}

export interface Task {
  id: number;
  name: string;
  state: string;
  schedule: string;
  zone: string;
  next_at: number | null;
  wish: string;
  crawl: string;
  about: string[];
  latest: Run | null;
  page_limit: number;
  progress: Progress | null;
}

export interface TaskNode {
  node: string;
  pages: number;
  kept: number;
  queued: number;
  traffic: { peer: string; sent: number; received: number }[];
  lat: number | null;
  lon: number | null;
  placeless?: boolean; // it owns no places and stands where its pages are
}

export interface Question {
  id: number;
  text: string;
  webhook: string;
  asked: number | null;
  trouble: string;
  fresh: number;
}

export interface TaskDetail extends Task {
  job: { keywords: Record<string, number>; places: Record<string, number>; seeds: string[]; seed_count: number; strategy: string; keep: string; pages: number; minutes: number };
  runs: Run[];
  nodes: TaskNode[];
  errors: Record<string, number>;
  log: Record<string, unknown>[];
  questions: Question[];
}

export interface Files {
  models: string[];
  databases: string[];
}

export interface TaskList {
  tasks: Task[];
  budget: { crawls: number; workers: number } | null;
  trouble: string;
  contact: string;
  files: Files;
}

export interface KnownPlace {
  id: number;
  name: string;
  label: string;
  kind: string;
  lat: number;
  lon: number;
  population: number;
}

export interface Learnt {
  memory: string;
  samples: number;
  keywords: Record<string, number>;
  against: Record<string, number>;
  places: (KnownPlace & { weight: number })[];
  candidates: (KnownPlace & { share: number; samples: number })[];
  learnt: Record<string, unknown>;
}

export interface Checked {
  errors: { field: string; text: string }[];
  places: Record<string, { chosen: KnownPlace | null; others: KnownPlace[] }>;
  next: number[];
}

export interface PageView {
  node: string;
  page: number;
  url: string;
  title: string;
  description: string;
  language: string;
  published: string | null;
  fetched: string;
  topics: string[];
  keyword_relevance: number;
  place_relevance: number;
  depth: number;
  text: string;
  marks: Mark[];
  places: Place[];
  similar: Related[];
  nearby: Related[];
}

export interface Related {
  node: string;
  page: number;
  url: string;
  title: string;
  published: string | null;
  place: string | null;
  km?: number;
}

export class Refused extends Error {
  /** `later`: not what was asked is wrong; the same may be answered in a while. */
  constructor(message: string, readonly later = false) {
    super(message);
  }
}

/** No answer at all: the server is gone, or the way to it. */
export class Unanswered extends Refused {}

export async function ask<T>(path: string, parameters?: URLSearchParams, signal?: AbortSignal): Promise<T> {
  const text = parameters?.toString();
  return answered<T>(`/api/${path}${text ? `?${text}` : ""}`, { signal: signal ?? null });
}

/** Write: only pages of this server may, so the browser says that it is one. */
export async function send<T>(method: "POST" | "DELETE", path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const json = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return answered<T>(`/api/${path}`, { method, signal: signal ?? null, ...json });
}

async function answered<T>(address: string, options: RequestInit): Promise<T> {
  let response: Response | undefined;
  let body: unknown = null;
  try {
    response = await fetch(address, options);
    body = await response.json();
  } catch (error) {
    if (wasGivenUp(error)) throw error; // by us, also in the middle of an answer
    if (!response || response.ok) throw new Unanswered(strings.offline, true);
  }
  if (!response.ok) {
    const message = (body as { error?: string } | null)?.error;
    throw new Refused(message ?? `${strings.serverError} (${response.status}).`, response.status === 429 || response.status >= 500);
  }
  return body as T;
}

const AGAIN_MS = 2_000;

/** Wait until the server answers again; false when that is no longer wanted. */
export async function isBack(isWanted: () => boolean): Promise<boolean> {
  while (isWanted()) {
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    const isThere = await fetch("/", { method: "HEAD", cache: "no-store" }).then(() => true, () => false);
    if (isThere) return isWanted();
  }
  return false;
}

/** Whether we ourselves no longer wanted the answer. */
export function wasGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Do something that may be refused, and say so where the person looks. */
export async function attempt(action: () => Promise<void>, say: (message: string) => void): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (wasGivenUp(error)) return;
    if (!(error instanceof Refused)) throw error;
    say(error.message);
  }
}
