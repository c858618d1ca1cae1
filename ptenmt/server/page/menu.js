/** The menu of next-token alternatives at a word of the translation. */

import { nextPlace } from "./tabs.js";

export class Menu {
  #opening = 0; // counts openings, to ignore answers for earlier words
  #anchor = null;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("focusout", (event) => this.#closeIfLeft(event.relatedTarget));
    element.addEventListener("mousedown", (event) => event.preventDefault()); // Safari would take the focus away
    document.addEventListener("pointerdown", (event) => this.#closeIfLeft(event.target));
    window.addEventListener("resize", () => this.close());
  }

  /**
   * Open it below a word.
   *
   * @param {HTMLElement} anchor - Gets the focus back.
   * @param {string} prefix - The target prefix of all translations.
   * @param {Promise<string[]>} translations
   * @param {(translation: string) => void} onChoose
   */
  async open(anchor, prefix, translations, onChoose) {
    this.close();
    const opening = ++this.#opening;
    this.#anchor = anchor;
    anchor.classList.add("chosen");
    this.#show([remark("…")]);
    const items = await translations.then(
      (found) => found.map((text) => this.#item(text, prefix, onChoose)),
      (error) => [remark(error.message)],
    );
    if (opening !== this.#opening) return;
    this.#show(items.length ? items : [remark("no alternatives")]);
    this.element.querySelector("button")?.focus();
  }

  /** Close it, if it is open. */
  close() {
    this.#opening += 1;
    this.#anchor?.classList.remove("chosen");
    this.#anchor = null;
    this.element.hidden = true;
  }

  #show(items) {
    this.element.replaceChildren(...items);
    this.element.hidden = false;
    const word = this.#anchor.getBoundingClientRect();
    const widest = document.documentElement.clientWidth - this.element.offsetWidth - 12;
    this.element.style.left = `${window.scrollX + Math.max(12, Math.min(word.left, widest))}px`;
    this.element.style.top = `${window.scrollY + word.bottom + 6}px`;
  }

  #item(text, prefix, onChoose) {
    const item = document.createElement("button");
    item.type = "button";
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    const same = document.createElement("span");
    same.className = "same";
    const length = commonLength(prefix, text);
    same.textContent = text.slice(0, length);
    item.append(same, text.slice(length));
    item.addEventListener("click", () => {
      this.close();
      onChoose(text);
    });
    return item;
  }

  #key(event) {
    const items = [...this.element.querySelectorAll("button")];
    const place = nextPlace(event.key, items.indexOf(document.activeElement), items.length);
    if (place !== null) {
      event.preventDefault();
      items[place].focus();
    }
    if (event.key === "Escape") {
      event.stopPropagation();
      const anchor = this.#anchor;
      this.close();
      anchor.focus();
    }
  }

  #closeIfLeft(element) {
    if (!this.#anchor || this.element.contains(element) || element === this.#anchor) return;
    this.close();
  }
}

function remark(text) {
  const paragraph = document.createElement("p");
  paragraph.setAttribute("role", "menuitem");
  paragraph.setAttribute("aria-disabled", "true");
  paragraph.textContent = text;
  return paragraph;
}

/** Length of the common prefix of two texts. */
function commonLength(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
