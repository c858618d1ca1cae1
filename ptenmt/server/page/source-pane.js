/** The source text field, over a mirror of it whose words can be marked. */

import { locale, say } from "./strings.js";
import { splitSentences } from "./texts.js";
import { drawWords, wordAt } from "./words.js";

export class SourcePane {
  sentences = []; // {text, gap} each
  words = []; // elements of the mirror, a list a sentence
  #hovered = "";
  #cleared = ""; // the text before the button "Clear"

  /**
   * @param {{field: HTMLTextAreaElement, mirror: Element, count: Element, clear: HTMLElement}} parts
   * @param {{language: string, limit: number}} facts - The text's language; the most characters.
   * @param {{onText: (isUrgent: boolean) => void, onHover: (place: [number, number] | null) => void,
   *   onEnter: () => void}} callbacks - Called on a change of text, of the hovered word, and on Ctrl+Enter.
   */
  constructor(parts, facts, callbacks) {
    Object.assign(this, parts, facts, callbacks);
    this.field.addEventListener("input", (event) => {
      this.#cleared = "";
      this.#read(/^insertFrom/.test(event.inputType)); // pasted, dropped
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.onEnter();
    });
    this.field.addEventListener("pointermove", (event) => this.#hover(event));
    this.field.addEventListener("pointerleave", () => this.#setHovered(null));
    this.clear.addEventListener("click", () => {
      const before = this.text;
      this.text = this.#cleared;
      this.#cleared = before;
      this.#draw();
    });
    this.#draw();
  }

  get text() {
    return this.field.value;
  }

  /** Replace the text, so that the browser can undo it. */
  set text(text) {
    if (matchMedia("(hover: hover)").matches) { // no keyboard comes up with the focus
      this.field.focus();
      this.field.select();
      document.execCommand(text ? "insertText" : "delete", false, text); // nothing else keeps the field's history
    }
    if (this.text !== text) this.field.value = text;
    this.#cleared = "";
    this.#read(true);
  }

  get isTooLong() {
    return this.text.length > this.limit;
  }

  /** The texts of all sentences but one that is being typed. */
  get finished() {
    const last = this.sentences.at(-1);
    const isFinished = last?.gap !== "" && /[.!?…]["”»)]*$/.test(last?.text);
    return this.sentences.slice(0, isFinished ? undefined : -1).map(({ text }) => text);
  }

  #read(isUrgent) {
    this.#draw();
    this.onText(isUrgent);
  }

  #draw() {
    this.sentences = splitSentences(this.text, this.language);
    this.words = drawWords(this.mirror, this.sentences);
    this.clear.hidden = this.text === "" && this.#cleared === "";
    this.clear.textContent = say(this.text === "" ? "Undo" : "Clear");
    const [count, most] = [this.text.length, this.limit].map((number) => number.toLocaleString(locale));
    const counted = Number.isFinite(this.limit) ? "{count} of {most} characters" : "{count} characters";
    this.count.textContent = this.text === "" ? "" : say(counted, { count, most });
    this.count.classList.toggle("error", this.isTooLong);
    this.field.parentElement.classList.toggle("too-long", this.isTooLong);
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
