/** How links are shared among nodes, in the form of a new crawl: the strategy, and the files that some strategies need.
 *
 * Files are offered by the server under names; the form can choose among them and name no other. */

import type { Files } from "./api";
import { el } from "./dom";
import { strings } from "./strings";

export class StrategyField {
  readonly element: HTMLElement;
  private readonly strategy = el("select", { id: "f-strategy", "aria-describedby": "error-strategy" }, ...Object.entries(strings.strategies).map(([value, label]) => el("option", { value }, label)));
  private readonly model: HTMLSelectElement;
  private readonly database: HTMLSelectElement;
  private readonly modelField: HTMLElement;
  private readonly databaseField: HTMLElement;
  private readonly hint = el("p", { class: "field-note" });

  constructor(private readonly files: Files, error: HTMLElement) {
    this.model = choice("f-model", files.models);
    this.database = choice("f-database", files.databases);
    this.modelField = labelled(strings.modelLabel, this.model);
    this.databaseField = labelled(strings.databaseLabel, this.database);
    this.element = el("div", { class: "field-grid" }, labelled(strings.strategyLabel, this.strategy, this.hint, error), this.modelField, this.databaseField);
    this.strategy.addEventListener("change", () => this.draw());
    this.draw();
  }

  /** What the strategy needs is asked for, and nothing else. */
  private draw(): void {
    const wanted = this.strategy.value;
    this.modelField.hidden = wanted !== "classifier" || !this.files.models.length;
    this.databaseField.hidden = !["ip", "blend"].includes(wanted) || !this.files.databases.length;
    const hints: Record<string, string> = {
      classifier: this.files.models.length ? "" : strings.noModels,
      ip: this.files.databases.length ? "" : strings.noDatabases,
      blend: this.files.databases.length ? strings.blendDatabase : "",
      nearest: strings.nearestHint,
      "place+nearest": strings.nearestHint,
    };
    this.hint.textContent = hints[wanted] ?? "";
    if (wanted === "classifier" && !this.model.value) this.model.value = this.files.models[0] ?? "";
    if (wanted === "ip" && !this.database.value) this.database.value = this.files.databases[0] ?? "";
  }

  get value(): { strategy: string; model: string; database: string } {
    return {
      strategy: this.strategy.value,
      model: this.modelField.hidden ? "" : this.model.value,
      database: this.databaseField.hidden ? "" : this.database.value,
    };
  }
}

function labelled(label: string, input: HTMLElement, ...rest: HTMLElement[]): HTMLElement {
  return el("div", { class: "field" }, el("label", { for: input.id }, label), input, ...rest);
}

function choice(id: string, names: string[]): HTMLSelectElement {
  return el("select", { id }, el("option", { value: "" }, strings.noFile), ...names.map((name) => el("option", { value: name }, name)));
}
