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
  private listening: (() => EventSource) | null = null; // how to listen to what is shown
  private shown = "";
  private compare: CompareView | null = null;
  private form: TaskFormView | null = null;

  constructor(private readonly change: (changes: Partial<State>) => void) {
    this.element.hidden = true;
    // A browser has few connections to one server for all its tabs: only what is seen keeps one.
    document.addEventListener("visibilitychange", () => {
      this.stream?.close();
      if (!document.hidden && this.listening) this.stream = this.listening();
    });
    window.addEventListener("beforeunload", (event) => {
      if (this.form?.isUnsaved && this.form.element.isConnected) event.preventDefault();
    });
  }

  /** Show the view that the state names; false if that is searching. */
  show(state: State): boolean {
    const wanted = state.view === "tasks" || state.view === "new" || state.view === "compare";
    this.element.hidden = !wanted;
    const key = wanted ? `${state.view} ${state.task}` : "";
    if (state.view === "compare") this.showCompare(state, key !== this.shown);
    if (key === this.shown) return wanted;
    this.shown = key;
    this.stream?.close();
    this.listening = null;
    if (state.view === "tasks") state.task ? this.showTask(state.task) : this.showTasks();
    if (state.view === "new") void this.showForm();
    window.scrollTo({ top: 0 });
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
      document.title = `${state.task.name} — ${strings.name}`;
      live.show(state.task);
    }, (message) => {
      if (live.element.parentElement === this.element) live.say(message);
      else if (message) this.failed(message);
    });
  }

  /** A form that was begun and left is still there: nobody types it twice. */
  private async showForm(): Promise<void> {
    if (this.form?.isUnsaved) return this.element.replaceChildren(this.form.element);
    this.loading();
    const mine = this.shown;
    await attempt(async () => {
      const { contact, files } = await ask<TaskList>("tasks");
      if (this.shown !== mine) return; // another view was chosen meanwhile
      this.form = new TaskFormView(
        {
          onSaved: (task) => this.change({ view: "tasks", task: String(task.id) }),
          onCancel: () => this.change({ view: "tasks", task: "" }),
          onClear: () => {
            this.form = null;
            void this.showForm();
          },
        },
        contact,
        files,
      );
      this.element.replaceChildren(this.form.element);
    }, (message) => {
      if (this.shown === mine) this.failed(message, () => void this.showForm());
    });
  }

  private showCompare(state: State, anew: boolean): void {
    if (anew || !this.compare) {
      this.compare = new CompareView({ onResult: (result) => this.change({ result }), onMeasure: (measure) => this.change({ measure }) });
      this.element.replaceChildren(this.compare.element);
    }
    void this.compare.show(state.result, state.measure);
  }

  /** `task`: its number, or none for all of them. */
  private listen(task: string, draw: (state: Live) => void, say: (message: string) => void): void {
    this.listening = () => this.opened(task, draw, say);
    this.stream = this.listening();
  }

  private opened(task: string, draw: (state: Live) => void, tell: (message: string) => void): EventSource {
    const say = (message: string) => this.stream === stream && tell(message); // not what another view has replaced
    const stream = new EventSource(`/api/tasks/events${task ? `?task=${encodeURIComponent(task)}` : ""}`);
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
    return stream;
  }

  /** This server has no saved crawls. */
  refuse(): void {
    this.stream?.close();
    this.stream = null;
    this.listening = null;
    this.shown = "";
    const way = button(strings.searchView, () => this.change({ view: "results", task: "" }), { class: "secondary" });
    this.element.replaceChildren(el("div", { class: "empty" }, el("h2", {}, strings.noCrawlsTitle), el("p", {}, strings.noCrawlsText), way));
  }

  private loading(): void {
    this.element.replaceChildren(el("p", { class: "hint", role: "status" }, strings.loadingWord));
  }

  private failed(message: string, again?: () => void): void {
    const way = again ? button(strings.askAgain, again, { class: "secondary" }) : button(strings.back, () => this.change({ view: "tasks", task: "" }), { class: "secondary" });
    this.element.replaceChildren(el("div", { class: "empty is-error", role: "alert" }, el("h2", {}, strings.errorTitle), el("p", {}, message), way));
  }
}
