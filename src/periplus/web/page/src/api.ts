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
  area: { lat: number; lon: number; km: number } | { bbox: [number, number, number, number] } | null;
  when: { since: string | null; until: string | null } | null;
}

export interface SearchAnswer {
  query: Understood;
  total: number;
  hits: Hit[];
  facets: { places: PlaceFacet[]; topics: Count[]; sites: Count[]; languages: Count[] };
  relaxed: boolean;
  seconds: number;
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

export class Refused extends Error {}

export async function ask<T>(path: string, parameters?: URLSearchParams, signal?: AbortSignal): Promise<T> {
  const text = parameters?.toString();
  let response: Response;
  try {
    response = await fetch(`/api/${path}${text ? `?${text}` : ""}`, { signal: signal ?? null });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(strings.offline);
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const message = (body as { error?: string } | null)?.error;
    throw new Refused(message ?? `${response.status}`);
  }
  return body as T;
}
