/** The translation, navigated word by word with the pointer or arrow keys. */

import { nextPlace } from "./tabs.js";
import { splitWords } from "./texts.js";
import { drawWords } from "./words.js";

export class TargetPane {
  words = []; // elements, a list a sentence
  #sentences = [];

  /**
   * @param {Element} container
   * @param {{onMeet: (place: [number, number] | null) => void, onPress: (place: [number, number]) => void,
   *   onLeave: () => void}} callbacks - Called with the hovered or focused word, the pressed word, and on Escape.
   */
  constructor(container, callbacks) {
    Object.assign(this, { container }, callbacks);
    container.addEventListener("pointerover", (event) => this.onMeet(this.#place(event.target)));
    container.addEventListener("pointerleave", () => this.onMeet(null));
    container.addEventListener("focusin", (event) => this.#walkedTo(event.target));
    container.addEventListener("focusout", () => this.onMeet(null));
    container.addEventListener("click", (event) => this.#press(event.target));
    container.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show sentences, as `drawWords` takes them; in place of an undefined text, what is there stays. */
  show(sentences) {
    sentences = sentences.map((each, place) => (each.text === undefined ? this.#stale(each, place) : each));
    this.#sentences = sentences;
    this.words = drawWords(this.container, sentences);
    const words = this.words.flat();
    for (const word of words.filter(({ role }) => role === null)) {
      word.role = "button";
      word.ariaHasPopup = "menu";
      word.tabIndex = -1;
    }
    if (words.length && !words.some(({ tabIndex }) => tabIndex === 0)) words[0].tabIndex = 0;
  }

  #stale(sentence, place) {
    const { text } = this.#sentences[place] ?? {};
    return text ? { ...sentence, text, isStale: true } : sentence;
  }

  /** The whole translation as text. */
  get text() {
    return this.#sentences.map(({ text, gap }) => (text ?? "") + gap).join("").trimEnd();
  }

  /** @returns {string} A sentence's translation up to a word. */
  before([sentence, word]) {
    const { text } = this.#sentences[sentence];
    return text.slice(0, splitWords(text)[word].start);
  }

  /** Put the keyboard's focus on the first word. */
  focusFirst() {
    this.words.flat()[0]?.focus();
  }

  /** Put the keyboard's focus on a word, or on the last one of its sentence. */
  focus([sentence, word]) {
    const words = this.words[sentence] ?? [];
    words[Math.min(word, words.length - 1)]?.focus();
  }

  #place(element) {
    const sentence = this.words.findIndex((words) => words.includes(element));
    return sentence < 0 ? null : [sentence, this.words[sentence].indexOf(element)];
  }

  #walkedTo(element) {
    this.words.flat().forEach((word) => (word.tabIndex = word === element ? 0 : -1));
    this.onMeet(this.#place(element));
  }

  #press(element) {
    const place = this.#place(element);
    if (place && document.getSelection().isCollapsed) this.onPress(place);
  }

  #key(event) {
    if (event.key === "Escape") this.onLeave();
    const all = this.words.flat();
    const place = nextPlace(event.key, all.indexOf(event.target), all.length);
    if (place !== null) {
      event.preventDefault();
      all[place].focus();
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.onPress(this.#place(event.target));
    }
  }
}
