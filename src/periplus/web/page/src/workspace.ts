/** The views beside searching: saved crawls, a new one, one of them live, and comparisons. */

import { ask, attempt, type TaskDetail, type TaskList } from "./api";
import { CompareView } from "./compare";
import { button, el } from "./dom";
import type { State } from "./state";
import { strings } from "./strings";
import { TaskFormView } from "./taskform";
import { TaskListView } from "./tasklist";
import { TaskLiveView } from "./tasklive";

interface Live extends TaskList {
  task: TaskDetail | null;
}

export class Workspace {
  readonly element = el("main", { class: "work", id: "work", tabindex: "-1", "aria-label": strings.tasksView });
  private stream: EventSource | null = null;
  private shown = "";
  private compare: CompareView | null = null;

  constructor(private readonly change: (changes: Partial<State>) => void) {
    this.element.hidden = true;
  }

  /** Show the view that the state names; false if that is searching. */
  show(state: State): boolean {
    const wanted = state.view === "tasks" || state.view === "new" || state.view === "compare";
    this.element.hidden = !wanted;
    const key = wanted ? `${state.view} ${state.task}` : "";
    if (state.view === "compare") this.showCompare(state.result, key !== this.shown);
    if (key === this.shown) return wanted;
    this.shown = key;
    this.stream?.close();
    this.stream = null;
    if (state.view === "tasks") state.task ? this.showTask(state.task) : this.showTasks();
    if (state.view === "new") void this.showForm();
    if (wanted) this.element.scrollTop = 0;
    else this.element.replaceChildren();
    return wanted;
  }

  private showTasks(): void {
    const list = new TaskListView({ onNew: () => this.change({ view: "new", task: "" }), onOpen: (id) => this.change({ view: "tasks", task: String(id) }) });
    this.loading();
    this.listen("", (state) => {
      if (list.element.parentElement !== this.element) this.element.replaceChildren(list.element);
      list.show(state);
    }, (message) => {
      if (list.element.parentElement === this.element) list.say(message);
      else if (message) this.failed(message);
    });
  }

  private showTask(id: string): void {
    const live = new TaskLiveView({ onBack: () => this.change({ view: "tasks", task: "" }), onResults: () => this.change({ view: "results", task: "" }) });
    this.loading();
    this.listen(id, (state) => {
      if (!state.task) return;
      if (live.element.parentElement !== this.element) this.element.replaceChildren(live.element);
      live.show(state.task);
    }, (message) => {
      if (live.element.parentElement === this.element) live.say(message);
      else if (message) this.failed(message);
    });
  }

  private async showForm(): Promise<void> {
    this.loading();
    await attempt(async () => {
      const { contact, files } = await ask<TaskList>("tasks");
      const form = new TaskFormView({ onSaved: (task) => this.change({ view: "tasks", task: String(task.id) }), onCancel: () => this.change({ view: "tasks", task: "" }) }, contact, files);
      this.element.replaceChildren(form.element);
    }, (message) => this.failed(message));
  }

  private showCompare(result: string, anew: boolean): void {
    if (anew || !this.compare) {
      this.compare = new CompareView((name) => this.change({ result: name }));
      this.element.replaceChildren(this.compare.element);
    }
    void this.compare.show(result);
  }

  /** `task`: its number, or none for all of them. */
  private listen(task: string, draw: (state: Live) => void, say: (message: string) => void): void {
    const stream = new EventSource(`/api/tasks/events${task ? `?task=${encodeURIComponent(task)}` : ""}`);
    this.stream = stream;
    stream.addEventListener("state", (event) => {
      say("");
      draw(JSON.parse((event as MessageEvent<string>).data) as Live);
    });
    stream.addEventListener("trouble", (event) => say((JSON.parse((event as MessageEvent<string>).data) as { error: string }).error));
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) return say(strings.liveLost); // the browser tries again by itself
      void attempt(async () => {
        await ask(task ? `tasks/${encodeURIComponent(task)}` : "tasks"); // refused: this says why
        say(strings.liveLost);
      }, say);
    });
  }

  private loading(): void {
    this.element.replaceChildren(el("p", { class: "hint", role: "status" }, strings.loadingWord));
  }

  private failed(message: string): void {
    this.element.replaceChildren(el("div", { class: "empty is-error", role: "alert" }, el("h2", {}, strings.errorTitle), el("p", {}, message), button(strings.back, () => this.change({ view: "tasks", task: "" }), { class: "secondary" })));
  }
}
