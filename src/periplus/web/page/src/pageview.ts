/** One page: its text as it was read, with places and words marked, and why it was kept. Never its own HTML. */

import { ask, attempt, type Details, type Evidence, type PageView, type Related } from "./api";
import { add, button, el, marked, outerLink } from "./dom";
import { count, day, strings } from "./strings";

const SHOWN_PLACES = 12;

export class PageDialog {
  readonly element = el("dialog", { class: "page-dialog", "aria-label": strings.fullText });

  private asking: AbortController | null = null;

  constructor(
    private readonly onClose: () => void,
    private readonly onPlace: (id: number) => void,
    private readonly onPage: (reference: string) => void,
  ) {
    this.element.addEventListener("close", () => this.onClose());
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  async show(reference: string, q: string): Promise<void> {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    const [node = "", page = ""] = reference.split("/");
    if (!this.element.open) this.element.showModal();
    this.element.replaceChildren(this.closer(), el("p", { class: "hint", role: "status" }, strings.loadingWord));
    await attempt(async () => {
      const parameters = new URLSearchParams(q ? { q } : {});
      this.fill(await ask<PageView>(`page/${encodeURIComponent(node)}/${encodeURIComponent(page || "0")}`, parameters, mine.signal));
    }, (message) => {
      const again = button(strings.askAgain, () => void this.show(reference, q), { class: "small secondary" });
      this.element.replaceChildren(this.closer(), el("div", { class: "empty is-error", role: "alert" }, el("h2", {}, strings.errorTitle), el("p", {}, message), again));
    });
  }

  hide(): void {
    this.asking?.abort();
    if (this.element.open) this.element.close();
  }

  private closer(): HTMLElement {
    return button("×", () => this.element.close(), { class: "dialog-close", "aria-label": strings.close });
  }

  private others(title: string, pages: Related[]): HTMLElement | string {
    if (!pages.length) return "";
    const list = el("ul", { class: "related" });
    for (const page of pages) {
      const where = [page.place, page.km === undefined ? null : `${page.km} km`].filter(Boolean).join(" · ");
      list.append(el("li", {}, button(page.title || page.url, () => this.onPage(`${page.node}/${page.page}`), { class: "quiet", dir: "auto" }), el("small", {}, where)));
    }
    return el("section", { class: "related-box" }, el("h3", {}, title), list);
  }

  /** Why it was kept, its links and its archive record: asked for apart, since it takes longer than the text. */
  private async detail(view: PageView, why: HTMLElement, links: HTMLElement): Promise<void> {
    const path = `page/${encodeURIComponent(view.node)}/${view.page}`;
    await attempt(async () => {
      const found = await ask<Details>(`${path}/details`);
      why.replaceChildren(...(found.evidence.length ? found.evidence.map(evidence) : [el("p", { class: "path" }, strings.noEvidence)]));
      if (found.archived) why.append(el("p", {}, el("a", { href: `/api/${path}/record`, download: "" }, strings.record)));
      const list = el("ul", { class: "link-list" });
      for (const link of found.links) {
        const name = link.anchor || link.url || strings.unknownUrl;
        list.append(el("li", {}, link.url ? outerLink(link.url, name) : el("span", {}, name), el("small", {}, `${strings.linkTo} ${link.node || "–"}${link.outcome ? ` · ${link.outcome.replaceAll("_", " ")}` : ""}`)));
      }
      links.replaceChildren(el("details", {}, el("summary", {}, `${strings.links} (${count(found.links.length)})`), found.links.length ? list : el("p", { class: "path" }, strings.noLinks)));
    }, (message) => why.replaceChildren(el("p", { class: "is-error" }, message)));
  }

  private fill(view: PageView): void {
    const facts = el("dl", { class: "facts" });
    const fact = (name: string, value: string) => add(facts, el("div", {}, el("dt", {}, name), el("dd", {}, value)));
    fact(strings.keywordRelevance, view.keyword_relevance.toFixed(2));
    fact(strings.placeRelevance, view.place_relevance.toFixed(2));
    fact(strings.node, view.node);
    const places = el("ul", { class: "page-places" });
    const notable = view.places.filter((one) => (one.weight ?? 1) >= 0.01);
    for (const place of notable.slice(0, SHOWN_PLACES)) {
      const share = place.weight === undefined ? "" : ` · ${Math.round(place.weight * 100)}\u00a0%`;
      places.append(el("li", {}, button(`${place.label ?? place.name}${share}`, () => this.onPlace(place.id), { class: "chip" })));
    }
    if (notable.length > SHOWN_PLACES) places.append(el("li", { class: "path" }, `+ ${count(notable.length - SHOWN_PLACES)} ${strings.more}`));
    const why = el("div", { class: "evidence" }, el("p", { class: "path" }, strings.loadingWord));
    const links = el("div", { class: "page-links" });
    void this.detail(view, why, links);
    const text = el("div", { class: "page-text", dir: "auto", lang: view.language || null }, marked(view.text, view.marks));
    this.element.replaceChildren(
      this.closer(),
      el("h2", { dir: "auto" }, view.title || view.url),
      el("p", { class: "path" }, `${view.published ? day(view.published) : strings.undated} · `, outerLink(view.url, view.url)),
      places,
      text,
      el("details", { class: "why", open: true }, el("summary", {}, strings.why), facts, why),
      links,
      this.others(strings.nearbyPages, view.nearby),
      this.others(strings.similarPages, view.similar),
    );
    this.element.scrollTop = 0;
  }
}

function evidence(one: Evidence): HTMLElement {
  // A part without evidence that is fulfilled all the same is one that the topic does not have.
  const rows = (title: string, relevance: number, least: number, values: { name: string; value: number }[]) =>
    !values.length && relevance >= 1 ? null : el("div", { class: "evidence-part" }, el("h4", {}, `${title} ${relevance.toFixed(2)} (${strings.least} ${least.toFixed(2)})`), el("p", { class: "evidence-chips" }, ...values.map((value) => el("span", { class: "chip" }, `${value.name} · ${Number(value.value.toFixed(2))}`))));
  return el("section", { class: "evidence-topic" }, el("h3", {}, one.topic), rows(strings.keywords, one.keyword_relevance, one.keyword_threshold, one.keywords), rows(strings.places, one.place_relevance, one.place_threshold, one.places), el("p", { class: "path" }, strings.evidenceNote));
}
