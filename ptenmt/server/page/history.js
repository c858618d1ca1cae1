/** The history of translations, stored in this browser. */

import { locale, say } from "./strings.js";

const NAME = "ptenmt.history";
const MOST = 50;
const PAUSE = 1500; // milliseconds without a change, after which a text is worth keeping

export class History {
  #timer = 0;
  #forgotten = null; // what can be undone

  /**
   * @param {{list: Element, empty: HTMLElement, forgetAll: HTMLElement, search: HTMLInputElement}} parts
   * @param {(entry: object) => void} onAgain - Called with the entry to show again.
   */
  constructor(parts, onAgain) {
    Object.assign(this, parts, { onAgain });
    this.forgetAll.addEventListener("click", () => {
      const entries = read();
      this.#keep(this.#forgotten ?? []);
      this.#forgotten = this.#forgotten ? null : entries;
      this.#draw();
    });
    this.search.placeholder = say("Search");
    this.search.addEventListener("input", () => this.#draw());
    window.addEventListener("storage", () => this.#draw()); // another tab translates, too
    this.#draw();
  }

  /**
   * Store a text and its translation, unless they change soon.
   *
   * @param {{source: string, translation: string, sentences: [string, string][],
   *   languages: {source: string, target: string}}} entry - The sentences with their translations make up both texts.
   */
  add(entry) {
    clearTimeout(this.#timer);
    if (entry.source.trim() === "") return;
    this.#timer = setTimeout(() => {
      this.#forgotten = null;
      const others = read().filter(({ source }) => source !== entry.source && !isBeginning(source, entry.source));
      this.#keep([{ ...entry, time: Date.now() }, ...others]);
    }, PAUSE);
  }

  #keep(entries) {
    try {
      localStorage.setItem(NAME, JSON.stringify(entries.slice(0, MOST)));
    } catch {
      return; // storage is disabled or full: no history
    }
    this.#draw();
  }

  #draw() {
    const entries = read();
    const wanted = this.search.value.toLocaleLowerCase(locale);
    const isFound = ({ source, translation }) =>
      `${source}\n${translation}`.toLocaleLowerCase(locale).includes(wanted);
    this.empty.hidden = entries.length > 0;
    this.search.hidden = entries.length === 0;
    this.forgetAll.hidden = entries.length === 0 && !this.#forgotten;
    this.forgetAll.textContent = say(this.#forgotten ? "Undo" : "Forget all");
    this.list.replaceChildren(...entries.filter(isFound).map((entry) => this.#line(entry)));
  }

  #line(entry) {
    const again = button("again", "", () => this.onAgain(entry));
    again.append(...[entry.source, entry.translation].map(span));
    const time = document.createElement("time");
    time.dateTime = new Date(entry.time).toISOString();
    time.textContent = new Date(entry.time).toLocaleString(locale, { dateStyle: "short", timeStyle: "short" });
    const forget = button("forget", say("Forget"), () => this.#keep(read().filter(({ time }) => time !== entry.time)));
    forget.ariaLabel = say("Forget: {text}", { text: entry.source.slice(0, 60) });
    const line = document.createElement("li");
    line.append(again, time, forget);
    return line;
  }
}

/** The stored entries; none if they are damaged. */
function read() {
  try {
    const entries = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return entries.filter(({ source, translation, sentences, time }) => source && translation && sentences && time);
  } catch {
    return [];
  }
}

/** Whether one text is a beginning of another, that is, unfinished typing. */
function isBeginning(one, other) {
  return other.startsWith(one.trimEnd());
}

function button(name, text, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = name;
  element.textContent = text;
  element.addEventListener("click", onClick);
  return element;
}

function span(text) {
  const element = document.createElement("span");
  element.textContent = text;
  return element;
}
