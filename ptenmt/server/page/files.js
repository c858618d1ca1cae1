/** Translation of files that are chosen or dropped onto the page. */

import { translateFile } from "./api.js";
import { make, makeButton } from "./elements.js";
import { say } from "./strings.js";

export class Files {
  #depth = 0; // how many elements a file is being dragged over

  /**
   * @param {{button: HTMLElement, field: HTMLInputElement, zone: HTMLElement, list: Element}} parts
   * @param {{translations: import("./translations.js").Translations, formats: string[]}} facts - The former knows
   *   the languages, the latter are endings of names.
   * @param {() => void} onBegin - Called when a file is being translated.
   */
  constructor(parts, facts, onBegin) {
    Object.assign(this, parts, facts, { onBegin });
    this.button.hidden = false;
    this.field.accept = this.formats.join(",");
    this.button.title = this.formats.join(" ");
    this.takesDrops = matchMedia("(hover: hover)").matches; // with a finger nothing is dragged here
    this.button.addEventListener("click", () => this.field.click());
    this.field.addEventListener("change", () => {
      this.translate(this.field.files);
      this.field.value = "";
    });
    this.#listenToDrops();
  }

  #listenToDrops() {
    const listen = (kind, answer) =>
      document.addEventListener(kind, (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        answer(event);
        this.zone.hidden = this.#depth === 0;
      });
    listen("dragenter", () => (this.#depth += 1));
    listen("dragleave", () => (this.#depth -= 1));
    listen("dragover", () => {});
    listen("drop", (event) => {
      this.#depth = 0;
      this.translate(event.dataTransfer.files);
    });
  }

  /** Translate files, one after the other. */
  async translate(files) {
    this.onBegin();
    const entries = [...files].map((file) => [file, this.#add(file)]);
    for (const entry of entries) await this.#translateOne(...entry);
  }

  #add(file) {
    const entry = make("li", {}, make("span", { role: "status" }, say("{name}: waiting …", file)));
    this.list.append(entry);
    return entry;
  }

  async #translateOne(file, entry) {
    const line = entry.firstChild;
    line.textContent = say("{name}: translating …", file);
    entry.scrollIntoView({ block: "nearest" });
    try {
      const isKnown = this.formats.some((ending) => file.name.toLowerCase().endsWith(ending));
      if (!isKnown) throw new Error(say("only {formats} can be translated", { formats: this.formats.join(", ") }));
      const href = await translateFile(file, this.translations.languages);
      line.replaceChildren(`${file.name}: `, make("a", { href, download: "" }, say("download the translation")));
    } catch (error) {
      line.classList.add("error");
      line.textContent = `${file.name}: ${error.message}`;
    }
    const dismiss = () => {
      entry.remove();
      this.button.focus();
    };
    entry.append(makeButton(dismiss, { ariaLabel: say("Remove: {text}", { text: file.name }) }, say("Remove")));
  }
}
