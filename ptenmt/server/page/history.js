/** The history of translations, stored in this browser. */

import { make, makeButton } from "./elements.js";
import { locale, say } from "./strings.js";

const NAME = "ptenmt.history";
const MOST = 50;
const FORMAT = { dateStyle: "short", timeStyle: "short" };
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

  /** Store {source, translation, sentences, languages}, unless they change soon; sentences are pairs of both. */
  add(entry) {
    clearTimeout(this.#timer);
    if (entry.source.trim() === "") return;
    this.#timer = setTimeout(() => {
      this.#forgotten = null;
      const others = read().filter(({ source }) => !entry.source.startsWith(source.trimEnd())); // typed on
      this.#keep([{ ...entry, time: Date.now() }, ...others]);
    }, PAUSE);
  }

  #keep(entries) {
    for (let kept = entries.slice(0, MOST); ; kept = kept.slice(0, -1)) {
      try {
        localStorage.setItem(NAME, JSON.stringify(kept));
        break;
      } catch {
        if (kept.length === 0) return; // storage is disabled: no history; or full of the last ones
      }
    }
    this.#draw();
  }

  #draw() {
    const entries = read();
    const wanted = this.search.value.toLocaleLowerCase(locale);
    const isFound = ({ source, translation }) =>
      `${source}\n${translation}`.toLocaleLowerCase(locale).includes(wanted);
    const found = entries.filter(isFound);
    this.empty.textContent = say(entries.length ? "Nothing found." : "Nothing yet.");
    this.empty.hidden = found.length > 0;
    this.search.hidden = entries.length === 0;
    this.forgetAll.hidden = entries.length === 0 && !this.#forgotten;
    this.forgetAll.textContent = say(this.#forgotten ? "Undo" : "Clear history");
    this.list.replaceChildren(...found.map((entry) => this.#line(entry)));
  }

  #line(entry) {
    const texts = [entry.source, entry.translation].map((text) => make("span", {}, text));
    const date = new Date(entry.time);
    const ariaLabel = say("Remove: {text}", { text: entry.source.slice(0, 60) });
    const forget = ({ target }) => {
      const place = [...this.list.children].indexOf(target.parentElement);
      this.#keep(read().filter(({ time }) => time !== entry.time));
      (this.list.children[place] ?? this.list.lastChild)?.lastChild.focus();
    };
    return make(
      "li",
      {},
      makeButton(() => this.onAgain(entry), { className: "again" }, ...texts),
      make("time", { dateTime: date.toISOString() }, date.toLocaleString(locale, FORMAT)),
      makeButton(forget, { className: "forget", ariaLabel }, say("Remove")),
    );
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
