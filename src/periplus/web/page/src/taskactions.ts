/** What can be done with a task, as buttons; and how it stands, in a word. */

import { attempt, send, type Task } from "./api";
import { button, el } from "./dom";
import { strings } from "./strings";

const CAN: Record<string, ("start" | "pause" | "resume" | "stop")[]> = {
  new: ["start"],
  scheduled: ["start", "pause"],
  waiting: ["pause", "stop"],
  running: ["pause", "stop"],
  pausing: [],
  paused: ["resume", "stop"],
  stopping: [],
  done: ["start"],
  limit: ["start"],
  stopped: ["start"],
  failed: ["start"],
};

export class TaskActions {
  readonly element = el("div", { class: "task-actions" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly dialog = el("dialog", { class: "ask-dialog", "aria-label": strings.removeTask });
  private task: Task | null = null;

  constructor(private readonly say: (message: string) => void, private readonly onRemoved: () => void) {
    for (const wish of ["start", "resume", "pause", "stop"] as const) {
      const one = button(strings[wish], () => this.wish(wish), { class: wish === "start" || wish === "resume" ? "small primary" : "small secondary" });
      this.buttons.set(wish, one);
      this.element.append(one);
    }
    this.element.append(button(strings.removeTask, () => this.dialog.showModal(), { class: "small quiet is-danger" }), this.dialog);
    const erase = el("input", { type: "checkbox" });
    this.dialog.append(
      el("p", {}, strings.removeAsk),
      el("label", { class: "check" }, erase, ` ${strings.eraseAsk}`),
      el("div", { class: "dialog-buttons" }, button(strings.cancel, () => this.dialog.close(), { class: "small secondary" }), button(strings.removeTask, () => this.remove(erase.checked), { class: "small primary is-danger" })),
    );
  }

  show(task: Task): void {
    this.task = task;
    const can = CAN[task.state] ?? [];
    for (const [wish, one] of this.buttons) {
      one.hidden = !can.includes(wish as "start") || (wish === "stop" && task.state === "paused" && task.latest?.ended !== null);
      one.disabled = task.wish !== "";
      one.setAttribute("aria-label", `${one.textContent}: ${task.name}`);
    }
  }

  private wish(wish: string): void {
    const task = this.task;
    if (!task) return;
    for (const one of this.buttons.values()) one.disabled = true; // one wish at a time
    void attempt(async () => this.show(await send<Task>("POST", `tasks/${task.id}/wish`, { wish })), (message) => {
      this.show(task);
      this.say(message);
    });
  }

  private remove(erase: boolean): void {
    const task = this.task;
    this.dialog.close();
    if (!task) return;
    void attempt(async () => {
      await send("DELETE", `tasks/${task.id}${erase ? "?erase=1" : ""}`);
      this.onRemoved();
    }, this.say);
  }
}

export function badge(state: string): HTMLElement {
  const one = el("span", { class: "badge" });
  setBadge(one, state);
  return one;
}

export function setBadge(one: HTMLElement, state: string): void {
  one.className = `badge is-${state}`;
  one.textContent = strings.states[state] ?? state;
}
