/** One crawl, live: how far it is, what goes wrong, its log, its nodes on the map, its runs and its alerts. */

import { attempt, type Question, type Run, send, type TaskDetail, type TaskNode } from "./api";
import { add, button, el, outerLink, wide } from "./dom";
import { count, duration, moment, percent, strings } from "./strings";
import { setBadge, TaskActions } from "./taskactions";
import { type Dot, type Way, WorldMap } from "./worldmap";

export interface TaskLiveEvents {
  onBack(): void;
  onResults(): void;
}

export class TaskLiveView {
  readonly element = el("div", { class: "live" });
  private readonly title = el("h2", { class: "overview-title" });
  private readonly badge = el("span", {});
  private readonly actions: TaskActions;
  private readonly note = el("p", { class: "notice", role: "alert" });
  private readonly when = el("p", { class: "path" });
  private readonly holdup = el("p", { class: "path" });
  private readonly bar = el("progress", { class: "task-bar is-large", max: "1", value: "0" });
  private readonly figures = el("dl", { class: "figures live-figures" });
  private readonly errors = el("div", { class: "live-errors" });
  private readonly log = el("ol", { class: "log", tabindex: "0", "aria-label": strings.log });
  private readonly runs = wide(strings.history);
  private readonly nodes = wide(strings.nodesLabel);
  private readonly job = el("div", { class: "job" });
  private readonly questions = el("ul", { class: "questions" });
  private readonly map = new WorldMap(strings.nodesMap);
  private readonly mapBox = el("section", { class: "panel live-map", "aria-label": strings.nodesMap });
  private readonly offMap = el("p", { class: "field-note" });
  private id = 0;
  private shown: Record<string, string> = {};

  constructor(events: TaskLiveEvents) {
    this.actions = new TaskActions((message) => this.say(message), () => events.onBack());
    this.note.hidden = true;
    this.bar.setAttribute("aria-label", strings.pagesRead);
    const panel = (title: string, ...children: HTMLElement[]) => el("section", { class: "panel" }, el("h3", {}, title), ...children);
    this.mapBox.append(el("h3", {}, strings.nodesMap), this.map.element, this.offMap);
    add(
      this.element,
      button(`‹ ${strings.back}`, () => events.onBack(), { class: "quiet" }),
      el("header", { class: "work-head" }, el("div", {}, el("div", { class: "live-title" }, this.title, this.badge), this.when), el("div", { class: "live-buttons" }, this.actions.element, button(strings.showResults, () => events.onResults(), { class: "small secondary" }))),
      this.note,
      this.bar,
      this.holdup,
      this.figures,
      el(
        "div",
        { class: "live-grid" },
        this.mapBox,
        panel(strings.errors, this.errors),
        panel(strings.log, this.log),
        panel(strings.history, this.runs),
        panel(strings.nodesTable, this.nodes),
        panel(strings.alerts, el("p", { class: "path" }, strings.alertsHint), this.questions, this.questionForm()),
        panel(strings.aboutJob, this.job),
      ),
    );
  }

  say(message: string): void {
    this.note.hidden = !message;
    this.note.textContent = message;
  }

  show(task: TaskDetail): void {
    if (this.id !== task.id) this.shown = {};
    this.id = task.id;
    this.title.textContent = task.name;
    setBadge(this.badge, task.state);
    this.actions.show(task);
    const next = task.next_at ? ` · ${strings.nextRun} ${moment(task.next_at)}` : "";
    this.when.textContent = `${task.schedule || strings.byHand}${task.zone ? ` (${task.zone})` : ""}${next}`;
    this.showProgress(task);
    const part = (name: string, value: unknown, draw: () => void) => {
      const now = JSON.stringify(value);
      if (this.shown[name] === now) return; // untouched, so that focus and scrolling stay where they are
      this.shown[name] = now;
      draw();
    };
    part("errors", [task.errors, task.latest?.reason], () => this.showErrors(task));
    part("log", task.log, () => this.showLog(task.log));
    part("runs", task.runs, () => this.showRuns(task.runs));
    part("nodes", task.nodes, () => this.showNodes(task.nodes));
    part("questions", task.questions, () => this.showQuestions(task.questions));
    part("job", task.job, () => this.showJob(task));
  }

  private showProgress(task: TaskDetail): void {
    const now = task.progress;
    const run = task.latest;
    const pages = now?.pages ?? run?.pages ?? 0;
    const limit = now?.page_limit || (run?.ended === null ? task.page_limit : 0);
    this.bar.hidden = !run;
    if (limit) {
      this.bar.max = limit;
      this.bar.value = Math.min(pages, limit);
    } else if (run?.ended === null && now) this.bar.removeAttribute("value");
    else {
      this.bar.max = 1;
      this.bar.value = run?.ended ? 1 : 0;
    }
    const held = now?.paused ? strings.pausedFor(now.paused) : now?.waits ? strings.waitsFor(now.waits) : "";
    this.holdup.textContent = held;
    this.holdup.hidden = !held;
    const harvest = now?.harvest["all"];
    const figure = (value: string, name: string, hint = "") => el("div", hint ? { title: hint } : {}, el("dt", {}, name), el("dd", {}, value));
    this.figures.replaceChildren(
      figure(count(pages), pages === 1 ? strings.pageRead : strings.pagesRead),
      figure(count(now?.kept ?? run?.kept ?? 0), strings.pagesKept),
      figure(now ? now.rate.toFixed(1) : "–", strings.pagesPerSecond),
      figure(harvest ? percent(harvest.share) : "–", strings.harvest, strings.harvestHint),
      figure(count(now?.queued ?? run?.queued ?? 0), strings.queue),
      figure(now ? `${count(now.busy_hosts)} / ${count(now.hosts)}` : "–", strings.hosts),
      ...(now && now.left_seconds !== null ? [figure(duration(now.left_seconds), strings.timeLeft)] : []),
    );
  }

  private showErrors(task: TaskDetail): void {
    const errors = Object.entries(task.errors);
    const failed = task.latest?.state === "failed" ? task.latest.reason : "";
    if (failed) this.errors.replaceChildren(el("p", { class: "is-error" }, failed));
    else if (!errors.length) this.errors.replaceChildren(el("p", { class: "path" }, strings.noErrors));
    else this.errors.replaceChildren(table([strings.reason, strings.number], errors.map(([reason, number]) => [reason.replaceAll("_", " "), count(number)])));
  }

  private showLog(lines: Record<string, unknown>[]): void {
    const below = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.replaceChildren(
      ...lines.map(({ time, event, ...facts }) => {
        const rest = Object.entries(facts).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`).join(" ");
        return el("li", {}, el("time", {}, String(time).slice(11, 19)), " ", el("strong", {}, String(event)), " ", rest.slice(0, 400));
      }),
    );
    if (!lines.length) this.log.replaceChildren(el("li", { class: "path" }, strings.emptyLog));
    if (below) this.log.scrollTop = this.log.scrollHeight;
  }

  private showRuns(runs: Run[]): void {
    if (!runs.length) return this.runs.replaceChildren(el("p", { class: "path" }, strings.noRuns));
    const heads = [strings.began, strings.state, strings.cause, strings.newPages, strings.changedPages, strings.gonePages, strings.took, strings.ended];
    const rows = runs.map((run) => [
      moment(run.started ?? run.began),
      strings.states[run.state] ?? run.state,
      strings.causes[run.cause] ?? run.cause,
      count(run.new),
      count(run.changed),
      count(run.gone),
      run.started && run.ended ? duration(run.ended - run.started) : "–",
      run.reason,
    ]);
    this.runs.replaceChildren(table(heads, rows));
  }

  private showNodes(nodes: TaskNode[]): void {
    const most = Math.max(1, ...nodes.map((node) => node.pages));
    const dots = new Map<string, Dot>();
    for (const node of nodes) {
      if (node.lat !== null && node.lon !== null) dots.set(node.node, { lat: node.lat, lon: node.lon, label: `${node.node} · ${count(node.pages)}`, size: node.pages / most });
    }
    const sent = nodes.flatMap((node) => node.traffic.map((row) => ({ from: node.node, to: row.peer, sent: row.sent })));
    const busiest = Math.max(1, ...sent.map((row) => row.sent));
    const ways: Way[] = sent.flatMap(({ from, to, sent: links }) => {
      const [start, end] = [dots.get(from), dots.get(to)];
      return start && end && links ? [{ from: start, to: end, weight: links / busiest, label: count(links) }] : [];
    });
    this.mapBox.hidden = dots.size === 0;
    const named = (some: TaskNode[]) => some.map((node) => node.node).join(", ");
    const [absent, placeless] = [nodes.filter((node) => !dots.has(node.node)), nodes.filter((node) => node.placeless)];
    this.offMap.textContent = [absent.length && `${strings.offMap} ${named(absent)}.`, placeless.length && `${strings.amongPages} ${named(placeless)}.`].filter(Boolean).join(" ");
    this.map.show([...dots.values()], ways);
    const rows = nodes.map((node) => [node.node, count(node.pages), count(node.kept), count(node.queued), node.traffic.map((row) => `${row.peer} ${count(row.sent)}`).join(" · ") || "–"]);
    this.nodes.replaceChildren(rows.length ? table([strings.node, strings.pages, strings.pagesKept, strings.queue, strings.sentLinks], rows) : el("p", { class: "path" }, strings.noRuns));
  }

  private showJob(task: TaskDetail): void {
    const chips = (values: Record<string, number>) => el("p", { class: "job-chips" }, ...Object.entries(values).slice(0, 40).map(([name, weight]) => el("span", { class: "chip" }, weight === 1 ? name : `${name} · ${weight}`)));
    const seeds = el("ul", { class: "job-seeds" }, ...task.job.seeds.slice(0, 8).map((seed) => el("li", {}, outerLink(seed, seed))));
    if (task.job.seed_count > 8) seeds.append(el("li", { class: "path" }, `+ ${count(task.job.seed_count - 8)}`));
    this.job.replaceChildren(chips(task.job.keywords), chips(task.job.places), el("h4", {}, strings.seeds), seeds, el("p", { class: "path" }, `${strings.strategyLabel}: ${task.job.strategy} · ${strings.keepLabel}: ${task.job.keep === "all" ? strings.keepAll : strings.keepRelevant}`));
  }

  private showQuestions(questions: Question[]): void {
    this.questions.replaceChildren(
      ...questions.map((question) => {
        const gone = button("×", () => void attempt(async () => void (await send("DELETE", `questions/${question.id}`)), (message) => this.say(message)), { class: "chip-clear", "aria-label": `${strings.removeTask}: ${question.text}` });
        const feeds = ["atom", "rss"].map((form) => el("a", { href: `/api/questions/${question.id}/feed?form=${form}`, target: "_blank", rel: "noopener" }, form === "atom" ? "Atom" : "RSS"));
        return el("li", {}, el("strong", {}, question.text), el("span", { class: "path" }, `${count(question.fresh)} ${strings.newHits}`), ...feeds, question.trouble ? el("small", { class: "is-error" }, question.trouble) : "", gone);
      }),
    );
  }

  private questionForm(): HTMLElement {
    const text = el("input", { type: "text", required: true, maxlength: "1000", id: "question-text" });
    const hook = el("input", { type: "url", maxlength: "2000", id: "question-hook" });
    const form = el("form", { class: "question-form" }, el("label", { for: "question-text" }, strings.questionLabel), text, el("label", { for: "question-hook" }, strings.webhookLabel), hook, el("button", { type: "submit", class: "small secondary" }, strings.saveQuestion));
    let saving = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (saving) return;
      saving = true;
      void attempt(async () => {
        await send("POST", `tasks/${this.id}/questions`, { text: text.value, webhook: hook.value });
        this.say("");
        form.reset();
      }, (message) => this.say(message)).finally(() => {
        saving = false;
      });
    });
    return form;
  }
}

function table(heads: string[], rows: string[][]): HTMLElement {
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, index) => (index ? el("td", {}, cell) : el("th", { scope: "row" }, cell))))));
  return el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))), body);
}
