/** Where the text is typed. Behind it lies a mirror of it, whose words can be marked. */

import { cutSentences } from "./texts.js";
import { drawWords, wordAt } from "./words.js";

export class SourcePane {
  sentences = []; // {text, gap} each
  words = []; // elements of the mirror, a list a sentence
  #hovered = "";

  /**
   * @param {{field: HTMLTextAreaElement, mirror: Element, count: Element, clear: HTMLElement}} parts
   * @param {{language: string, limit: number}} facts - The text's language; the most characters.
   * @param {{onText: (isUrgent: boolean) => void, onHover: (place: [number, number] | null) => void,
   *   onEnter: () => void}} told - Of another text, the word that is pointed at, and Ctrl+Enter.
   */
  constructor(parts, facts, told) {
    Object.assign(this, parts, facts, told);
    this.field.addEventListener("input", () => this.#read(false));
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.onEnter();
    });
    this.field.addEventListener("pointermove", (event) => this.#hover(event));
    this.field.addEventListener("pointerleave", () => this.#tell(null));
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
    this.sentences = cutSentences(this.text, this.language);
    this.words = drawWords(this.mirror, this.sentences);
    this.mirror.append("\n"); // or a last empty line would have no height
    this.clear.hidden = this.text === "";
    const most = Number.isFinite(this.limit) ? ` of ${this.limit.toLocaleString("en")}` : "";
    this.count.textContent = this.text === "" ? "" : `${this.text.length.toLocaleString("en")}${most} characters`;
    this.count.classList.toggle("error", this.isTooLong);
  }

  #hover(event) {
    this.#tell(event.pointerType === "touch" ? null : wordAt(this.words, event.clientX, event.clientY));
  }

  /** Tell which word is pointed at, when it is another than before. */
  #tell(place) {
    if (String(place) === this.#hovered) return;
    this.#hovered = String(place);
    this.onHover(place);
  }
}
