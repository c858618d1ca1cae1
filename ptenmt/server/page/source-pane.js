/** The source text field, over a mirror of it whose words can be marked. */

import { splitSentences } from "./texts.js";
import { drawWords, wordAt } from "./words.js";

export class SourcePane {
  sentences = []; // {text, gap} each
  words = []; // elements of the mirror, a list a sentence
  #hovered = "";

  /**
   * @param {{field: HTMLTextAreaElement, mirror: Element, count: Element, clear: HTMLElement}} parts
   * @param {{language: string, limit: number}} facts - The text's language; the most characters.
   * @param {{onText: (isUrgent: boolean) => void, onHover: (place: [number, number] | null) => void,
   *   onEnter: () => void}} callbacks - Called on a change of text, of the hovered word, and on Ctrl+Enter.
   */
  constructor(parts, facts, callbacks) {
    Object.assign(this, parts, facts, callbacks);
    this.field.addEventListener("input", () => this.#read(false));
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.onEnter();
    });
    this.field.addEventListener("pointermove", (event) => this.#hover(event));
    this.field.addEventListener("pointerleave", () => this.#setHovered(null));
    this.clear.addEventListener("click", () => {
      this.text = "";
      this.field.focus();
    });
    this.#draw();
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
    this.#read(true);
  }

  get isTooLong() {
    return this.text.length > this.limit;
  }

  #read(isUrgent) {
    this.#draw();
    this.onText(isUrgent);
  }

  #draw() {
    this.sentences = splitSentences(this.text, this.language);
    this.words = drawWords(this.mirror, this.sentences);
    this.mirror.append("\n"); // or a last empty line would have no height
    this.clear.hidden = this.text === "";
    const most = Number.isFinite(this.limit) ? ` of ${this.limit.toLocaleString("en")}` : "";
    this.count.textContent = this.text === "" ? "" : `${this.text.length.toLocaleString("en")}${most} characters`;
    this.count.classList.toggle("error", this.isTooLong);
  }

  #hover(event) {
    this.#setHovered(event.pointerType === "touch" ? null : wordAt(this.words, event.clientX, event.clientY));
  }

  /** Call `onHover` if the hovered word has changed. */
  #setHovered(place) {
    if (String(place) === this.#hovered) return;
    this.#hovered = String(place);
    this.onHover(place);
  }
}
