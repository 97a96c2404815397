/** The list of saved crawls, kept up to date by the server's events. */

import type { Task, TaskList } from "./api";
import { add, button, el } from "./dom";
import { count, countOf, moment, percent, strings } from "./strings";
import { setBadge, TaskActions } from "./taskactions";

export interface TaskListEvents {
  onNew(): void;
  onOpen(id: number): void;
}

class Card {
  readonly element: HTMLElement;
  private readonly badge = el("span", {});
  private readonly bar = el("progress", { class: "task-bar", max: "1" });
  private readonly figures = el("p", { class: "task-figures" });
  private readonly when = el("p", { class: "task-when" });
  private readonly trouble = el("p", { class: "notice task-trouble" });
  private readonly actions: TaskActions;

  constructor(task: Task, events: TaskListEvents, say: (message: string) => void) {
    this.actions = new TaskActions(say, () => this.element.remove());
    const open = button(task.name, () => events.onOpen(task.id), { class: "task-name" });
    this.bar.setAttribute("aria-label", `${task.name}: ${strings.pagesRead}`);
    this.element = el("li", { class: "task-card", "data-task": String(task.id) }, el("div", { class: "task-head" }, el("h3", {}, open), this.badge), el("p", { class: "job-chips" }, ...task.about.map((name) => el("span", { class: "chip" }, name))), this.when, this.bar, this.figures, this.trouble, this.actions.element);
  }

  show(task: Task): void {
    setBadge(this.badge, task.state);
    this.actions.show(task);
    const now = task.progress;
    const run = task.latest;
    this.bar.hidden = !now;
    if (now) {
      if (now.page_limit) {
        this.bar.max = now.page_limit;
        this.bar.value = now.pages;
      } else this.bar.removeAttribute("value");
      const harvest = now.harvest["all"];
      const parts = [countOf(now.pages, "page read", "pages read"), `${count(now.kept)} ${strings.pagesKept}`, `${now.rate.toFixed(1)} ${strings.pagesPerSecond}`];
      if (harvest) parts.push(`${percent(harvest.share)} ${strings.harvest}`);
      this.figures.textContent = parts.join(" · ");
    } else if (run) {
      this.figures.textContent = [`${count(run.kept)} ${strings.pagesKept}`, `${count(run.new)} ${strings.newPages.toLowerCase()}`, `${count(run.changed)} ${strings.changedPages.toLowerCase()}`, `${count(run.gone)} ${strings.gonePages.toLowerCase()}`].join(" · ");
    } else this.figures.textContent = "";
    const next = task.next_at ? ` · ${strings.nextRun} ${moment(task.next_at)}` : "";
    const last = run?.started ? ` · ${strings.previousRun} ${moment(run.started)}` : "";
    this.when.textContent = `${task.schedule || strings.byHand}${task.zone ? ` (${task.zone})` : ""}${next}${last}${task.state === "waiting" ? ` · ${strings.waitingForRoom}` : ""}`;
    this.trouble.textContent = now ? "" : lastTrouble(run);
    this.trouble.hidden = !this.trouble.textContent;
  }
}

/** What was wrong with a run that has ended; its task may be scheduled again as if nothing were. */
function lastTrouble(run: Task["latest"]): string {
  if (run?.state === "failed") return `${strings.lastFailed} ${run.reason}`;
  return run?.state === "done" && !run.pages ? strings.nothingRead : "";
}

export class TaskListView {
  readonly element = el("div", { class: "tasks" });
  private readonly list = el("ul", { class: "task-list" });
  private readonly note = el("p", { class: "notice", role: "alert" });
  private readonly empty: HTMLElement;
  private readonly another: HTMLButtonElement;
  private cards = new Map<number, Card>();

  constructor(private readonly events: TaskListEvents) {
    this.note.hidden = true;
    this.empty = el("div", { class: "empty" }, el("span", { class: "rose is-large", "aria-hidden": "true" }), el("h2", {}, strings.noTasksTitle), el("p", {}, strings.noTasksText), button(strings.newTask, () => events.onNew(), { class: "primary" }));
    this.empty.hidden = true;
    this.another = button(strings.newTask, () => events.onNew(), { class: "primary" });
    add(
      this.element,
      el("header", { class: "work-head" }, el("div", {}, el("h2", { class: "overview-title" }, strings.tasksTitle), el("p", { class: "path" }, strings.tasksIntro)), this.another),
      this.note,
      this.empty,
      this.list,
    );
  }

  show(state: TaskList): void {
    this.say(state.trouble);
    this.empty.hidden = state.tasks.length > 0;
    this.another.hidden = !state.tasks.length;
    for (const [id, card] of this.cards) {
      if (state.tasks.some((task) => task.id === id)) continue;
      card.element.remove();
      this.cards.delete(id);
    }
    for (const task of state.tasks) {
      let card = this.cards.get(task.id);
      if (!card) {
        card = new Card(task, this.events, (message) => this.say(message));
        this.cards.set(task.id, card);
        this.list.append(card.element);
      }
      card.show(task);
    }
  }

  say(message: string): void {
    this.note.hidden = !message;
    this.note.textContent = message;
  }
}
