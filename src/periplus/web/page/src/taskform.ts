/** The form of a new crawl: what, where, from where, how and when; checked by the server as it is typed. */

import { attempt, type Checked, type Files, type Learnt, send, type Task } from "./api";
import { add, button, el } from "./dom";
import { PlacePicker } from "./placepicker";
import { StrategyField } from "./strategyfield";
import { count, countOf, isCalm, moment, strings } from "./strings";

export interface TaskFormEvents {
  onSaved(task: Task): void;
  onCancel(): void;
  onClear(): void;
}

const MOST_SAMPLES = 100;
const MOST_SAMPLE_BYTES = 2 * 2 ** 20;

export class TaskFormView {
  readonly element = el("form", { class: "task-form", novalidate: true });
  private readonly name = el("input", { type: "text", id: "f-name", maxlength: "80", placeholder: strings.namePlaceholder, autocomplete: "off" });
  private readonly contact = el("input", { type: "text", id: "f-contact", maxlength: "300" });
  private readonly seeds = el("textarea", { id: "f-seeds", rows: "5", spellcheck: "false", placeholder: strings.seedsPlaceholder });
  private readonly strategy: StrategyField;
  private readonly keep = el("select", { id: "f-keep" }, el("option", { value: "relevant" }, strings.keepRelevant), el("option", { value: "all" }, strings.keepAll));
  private readonly pages = number("f-pages", 1_000, 100_000_000);
  private readonly minutes = number("f-minutes", 0, 1_000_000);
  private readonly delay = number("f-delay", 1, 3_600);
  private readonly workers = number("f-workers", 0, 256);
  private readonly hours = el("input", { type: "number", id: "f-hours", value: "24", min: "1" });
  private readonly daily = el("input", { type: "time", id: "f-daily", value: "03:30" });
  private readonly cron = el("input", { type: "text", id: "f-cron", value: "0 3 * * 1-5", spellcheck: "false" });
  private readonly keywords = el("ul", { class: "keyword-rows" });
  private readonly nodes = el("ul", { class: "node-rows" });
  private readonly places = new PlacePicker(() => this.changed());
  private readonly learnNote = el("p", { class: "field-note", role: "status" });
  private readonly status = el("p", { class: "form-status", role: "status" });
  private readonly errors = new Map<string, HTMLElement>();
  private readonly next = el("p", { class: "field-note" });
  private learnt: Learnt | null = null;
  private touched = false;
  private saving = false;
  private timer = 0;
  private waiting: AbortController | null = null;

  constructor(private readonly events: TaskFormEvents, contact: string, files: Files) {
    this.contact.value = contact;
    this.strategy = new StrategyField(files, this.error("strategy"));
    add(
      this.element,
      button(`‹ ${strings.back}`, () => events.onCancel(), { class: "quiet" }),
      el("h2", { class: "overview-title" }, strings.formTitle),
      el("p", { class: "path" }, strings.formIntro),
      this.part("", this.field(strings.nameLabel, this.name, "name")),
      this.part(strings.whatTitle, el("p", { class: "path" }, strings.whatHint), this.keywords, button(`+ ${strings.addKeyword}`, () => this.addKeyword("", 1, true), { class: "quiet" }), this.error("keywords"), this.learnBox()),
      this.part(strings.whereTitle, el("p", { class: "path" }, strings.whereHint), this.places.element, this.error("places")),
      this.part(strings.beginTitle, this.field(strings.seedsLabel, this.seeds, "seeds"), this.seedFile(), this.field(strings.contactLabel, this.contact, "contact", strings.contactHint)),
      this.part(strings.whenTitle, this.schedule()),
      el("details", { class: "form-part form-more" }, el("summary", {}, strings.more1), this.how()),
      el("div", { class: "form-end" }, el("button", { type: "submit", class: "primary" }, strings.saveAndStart), button(strings.saveOnly, () => void this.save(false), { class: "secondary" }), button(strings.clearForm, () => events.onClear(), { class: "quiet" }), this.status),
    );
    this.addKeyword("", 1);
    this.element.addEventListener("input", () => this.changed());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save(true);
    });
  }

  // -- Parts -----------------------------------------------------------------------------------------

  private part(title: string, ...children: (HTMLElement | null)[]): HTMLElement {
    return el("fieldset", { class: "form-part" }, title ? el("legend", {}, title) : null, ...children);
  }

  private field(label: string, input: HTMLElement, error: string, hint = ""): HTMLElement {
    const note = this.error(error);
    input.setAttribute("aria-describedby", note.id);
    return el("div", { class: "field" }, el("label", { for: input.id }, label), input, hint ? el("p", { class: "field-note" }, hint) : null, note);
  }

  private error(field: string): HTMLElement {
    const known = this.errors.get(field);
    if (known) return known;
    const note = el("p", { class: "field-error", id: `error-${field}`, "data-error": field });
    this.errors.set(field, note);
    return note;
  }

  private addKeyword(word: string, weight: number, focus = false): void {
    const text = el("input", { type: "text", maxlength: "200", value: word, "aria-label": strings.keywordLabel, placeholder: strings.keywordLabel });
    const share = el("input", { type: "range", min: "0.01", max: "1", step: "0.01", value: String(weight), "aria-label": strings.weightLabel });
    const shown = el("output", {}, weight.toFixed(2));
    share.addEventListener("input", () => {
      shown.textContent = Number(share.value).toFixed(2);
    });
    const row = el("li", { class: "keyword-row" }, text, share, shown, button("×", () => {
      row.remove();
      this.changed();
    }, { class: "chip-clear", "aria-label": `${strings.keywordLabel}: ${strings.remove}` }));
    this.keywords.append(row);
    if (focus) text.focus();
  }

  private learnBox(): HTMLElement {
    const files = el("input", { type: "file", id: "f-samples", multiple: true, accept: ".txt,.text,.md,.html,.htm,text/plain,text/html" });
    files.addEventListener("change", () => void this.learn([...(files.files ?? [])]));
    return el("details", { class: "learn-box" }, el("summary", {}, strings.learnTitle), el("p", { class: "path" }, strings.learnHint), el("label", { for: "f-samples" }, strings.learnFiles), files, this.learnNote);
  }

  private async learn(files: File[]): Promise<void> {
    if (!files.length) return;
    this.learnNote.textContent = strings.learning;
    await attempt(async () => {
      const samples = await Promise.all(files.slice(0, MOST_SAMPLES).map(async (file) => ({ name: file.name.slice(0, 300), text: (await file.slice(0, MOST_SAMPLE_BYTES).text()).slice(0, MOST_SAMPLE_BYTES) })));
      const learnt = await send<Learnt>("POST", "learn", { samples });
      this.learnt = learnt;
      this.keywords.replaceChildren();
      for (const [word, weight] of Object.entries(learnt.keywords).slice(0, 60)) this.addKeyword(word, weight);
      this.places.set(learnt.places);
      this.learnNote.textContent = `${strings.learntFrom} ${countOf(learnt.samples, "sample", "samples")}.`;
      this.changed();
    }, (message) => {
      this.learnNote.textContent = message;
    });
  }

  private seedFile(): HTMLElement {
    const file = el("input", { type: "file", id: "f-seedfile", accept: ".txt,.csv,text/plain" });
    file.addEventListener("change", async () => {
      const text = (await file.files?.[0]?.slice(0, MOST_SAMPLE_BYTES).text()) ?? "";
      const lines = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
      this.seeds.value = [this.seeds.value.trim(), ...lines].filter(Boolean).join("\n");
      this.changed();
    });
    return el("div", { class: "field is-inline" }, el("label", { for: "f-seedfile" }, strings.seedsFile), file);
  }

  private schedule(): HTMLElement {
    const choice = (value: string, label: string, ...rest: (HTMLElement | string)[]) => {
      const radio = el("input", { type: "radio", name: "when", value, id: `when-${value}`, ...(value === "hand" ? { checked: true } : {}) });
      for (const one of rest) {
        if (typeof one === "string") continue;
        one.setAttribute("aria-label", label);
        one.addEventListener("focus", () => {
          radio.checked = true;
          this.changed();
        });
      }
      return el("div", { class: "choice" }, radio, el("label", { for: `when-${value}` }, label), ...rest);
    };
    return el("div", {}, choice("hand", strings.byHand), choice("every", strings.everyLabel, this.hours, strings.hoursWord), choice("daily", strings.dailyLabel, this.daily), choice("cron", strings.cronLabel, this.cron), this.next, this.error("schedule"));
  }

  private how(): HTMLElement {
    return el(
      "div",
      {},
      el("div", { class: "field-grid" }, this.plain(strings.pagesLabel, this.pages), this.plain(strings.minutesLabel, this.minutes), this.plain(strings.delayLabel, this.delay), this.plain(strings.workersLabel, this.workers), this.plain(strings.keepLabel, this.keep)),
      this.strategy.element,
      el("h3", {}, strings.nodesLabel),
      el("p", { class: "path" }, strings.nodesHint),
      this.nodes,
      button(`+ ${strings.addNode}`, () => this.addNode(), { class: "quiet" }),
      this.error("nodes"),
    );
  }

  private plain(label: string, input: HTMLElement): HTMLElement {
    return this.field(label, input, input.id);
  }

  private addNode(): void {
    const name = el("input", { type: "text", maxlength: "32", "aria-label": strings.nodeName, placeholder: strings.nodeName, "data-node": "name" });
    const places = el("input", { type: "text", "aria-label": strings.nodePlaces, placeholder: strings.nodePlaces, "data-node": "places" });
    const row = el("li", { class: "node-row" }, name, places, button("×", () => {
      row.remove();
      this.changed();
    }, { class: "chip-clear", "aria-label": `${strings.nodeName}: ${strings.remove}` }));
    this.nodes.append(row);
    name.focus();
  }

  // -- The value -------------------------------------------------------------------------------------

  private value(): Record<string, unknown> {
    const keywords: Record<string, number> = {};
    for (const row of this.keywords.querySelectorAll("li")) {
      const [text, share] = row.querySelectorAll("input");
      if (text?.value.trim() && share) keywords[text.value.trim()] = Number(share.value);
    }
    const nodes: Record<string, string[]> = {};
    for (const row of this.nodes.querySelectorAll("li")) {
      const [name, places] = row.querySelectorAll("input");
      if (name?.value.trim()) nodes[name.value.trim()] = (places?.value ?? "").split(";").map((place) => place.trim()).filter(Boolean);
    }
    const learnt = this.learnt ? { learnt: this.learnt.learnt, memory: this.learnt.memory, against: this.learnt.against } : {};
    return {
      name: this.name.value.trim(),
      schedule: this.scheduleText(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "",
      contact: this.contact.value.trim(),
      seeds: this.seeds.value.split(/\r?\n/).map((line) => line.trim()).filter(Boolean),
      keywords,
      places: this.places.value,
      nodes,
      ...this.strategy.value,
      keep: this.keep.value,
      pages: Math.round(valueOf(this.pages)),
      minutes: valueOf(this.minutes),
      delay_seconds: valueOf(this.delay),
      workers: Math.round(valueOf(this.workers)),
      ...learnt,
    };
  }

  private scheduleText(): string {
    const kind = new FormData(this.element).get("when");
    if (kind === "every") return `every ${this.hours.value} hours`;
    if (kind === "daily") return `daily at ${this.daily.value}`;
    return kind === "cron" ? `cron ${this.cron.value.trim()}` : "";
  }

  // -- Checking and saving ---------------------------------------------------------------------------

  private changed(): void {
    this.touched = true;
    if (this.saving) return; // a check would take the place of that before saving
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), 350);
  }

  private async check(all = false): Promise<boolean> {
    this.waiting?.abort();
    this.waiting = new AbortController();
    const signal = this.waiting.signal;
    let fine = false;
    await attempt(async () => {
      const found = await send<Checked>("POST", "tasks/check", this.value(), signal);
      found.errors.push(...this.wrongNumbers());
      fine = this.mark(found, all);
    }, (message) => {
      this.status.textContent = message;
    });
    return fine;
  }

  /** Numbers that are none or out of bounds; the server is asked with the usual ones instead. */
  private wrongNumbers(): Checked["errors"] {
    const wrong = [...this.element.querySelectorAll<HTMLInputElement>('input[type="number"]')].filter((one) => one !== this.hours && !one.validity.valid);
    return wrong.map((one) => ({ field: one.closest(".picker") ? "places" : one.id, text: `${strings.numberFrom} ${one.min} ${strings.until} ${count(Number(one.max))}.` }));
  }

  /** Show what is wrong: of fields that are still empty only when `all`, so that nobody is scolded for beginning. */
  private mark(found: Checked, all: boolean): boolean {
    const empty: Record<string, boolean> = { name: !this.name.value, seeds: !this.seeds.value.trim(), keywords: true, contact: !this.seeds.value.trim() };
    for (const [field, note] of this.errors) {
      const texts = found.errors.filter((error) => error.field === field).map((error) => error.text);
      note.textContent = texts.length && (all || !empty[field]) ? texts.join(" ") : "";
      this.element.querySelector(`[aria-describedby="${note.id}"]`)?.setAttribute("aria-invalid", String(note.textContent !== ""));
    }
    this.next.textContent = found.next.length ? `${strings.nextRuns}: ${found.next.map((at) => moment(at)).join(" · ")}` : "";
    const other = found.errors.find((error) => !this.errors.has(error.field));
    this.status.textContent = other ? other.text : found.errors.length ? (all ? `${strings.fix}: ${[...new Set(found.errors.map((error) => strings.fields[error.field] ?? error.field))].join(", ")}` : "") : strings.allGood;
    this.element.classList.toggle("is-fine", found.errors.length === 0);
    return found.errors.length === 0;
  }

  /** Save it once, however often that is asked for while the server takes its time. */
  private async save(start: boolean): Promise<void> {
    if (this.saving) return;
    this.saving = true;
    clearTimeout(this.timer);
    this.status.textContent = strings.checking;
    if (await this.check(true)) await this.send(start);
    else this.showFirst();
    this.saving = false;
  }

  private async send(start: boolean): Promise<void> {
    this.status.textContent = strings.saving;
    await attempt(async () => {
      const task = await send<Task>("POST", "tasks", this.value());
      this.touched = false;
      if (start) await attempt(async () => void (await send("POST", `tasks/${task.id}/wish`, { wish: "start" })), () => undefined); // it can be started where it is shown
      this.events.onSaved(task);
    }, (message) => {
      this.status.textContent = message;
    });
  }

  /** Bring what is wrong before the eyes, wherever it is. */
  private showFirst(): void {
    const note = [...this.element.querySelectorAll<HTMLElement>(".field-error:not(:empty)")][0];
    note?.closest("details")?.setAttribute("open", "");
    const input = note && this.element.querySelector<HTMLElement>(`[aria-describedby="${note.id}"]`);
    input?.focus({ preventScroll: true });
    (input ?? note)?.scrollIntoView({ block: "center", behavior: isCalm() ? "auto" : "smooth" });
  }

  /** Whether something was typed that is not saved. */
  get isUnsaved(): boolean {
    return this.touched;
  }
}

function number(id: string, value: number, most: number): HTMLInputElement {
  return el("input", { type: "number", id, value: String(value), min: "0", max: String(most), step: "any", required: true });
}

/** What was typed, or what stood there if that is no possible number. */
function valueOf(field: HTMLInputElement): number {
  return Number(field.validity.valid ? field.value : field.defaultValue);
}
