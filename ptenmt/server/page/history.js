/** The history of translations, stored in this browser. */

const NAME = "ptenmt.history";
const MOST = 50;
const PAUSE = 1500; // milliseconds without a change, after which a text is worth keeping

export class History {
  #timer = 0;

  /**
   * @param {{list: Element, empty: HTMLElement, forgetAll: HTMLElement}} parts
   * @param {(source: string) => void} onAgain - Called with a text to translate again.
   */
  constructor(parts, onAgain) {
    Object.assign(this, parts, { onAgain });
    this.forgetAll.addEventListener("click", () => this.#keep([]));
    window.addEventListener("storage", () => this.#draw()); // another tab translates, too
    this.#draw();
  }

  /** Store a text and its translation, unless they change soon. */
  add(source, translation) {
    clearTimeout(this.#timer);
    if (source.trim() === "") return;
    this.#timer = setTimeout(() => {
      const others = read().filter((entry) => entry.source !== source && !isBeginning(entry.source, source));
      this.#keep([{ source, translation }, ...others]);
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
    this.empty.hidden = entries.length > 0;
    this.forgetAll.hidden = entries.length === 0;
    this.list.replaceChildren(...entries.map((entry) => this.#line(entry)));
  }

  #line(entry) {
    const again = button("again", "", () => this.onAgain(entry.source));
    again.append(...[entry.source, entry.translation].map(span));
    const forget = button("forget", "Forget", () => this.#keep(read().filter(({ source }) => source !== entry.source)));
    forget.setAttribute("aria-label", `Forget: ${entry.source.slice(0, 60)}`);
    const line = document.createElement("li");
    line.append(again, forget);
    return line;
  }
}

/** The stored entries; none if they are damaged. */
function read() {
  try {
    const entries = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return entries.filter(({ source, translation }) => typeof source === "string" && typeof translation === "string");
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
