/** The menu of next-token alternatives at a word of the translation. */

import { make, makeButton } from "./elements.js";
import { percent } from "./heatmap.js";
import { say } from "./strings.js";
import { nextPlace } from "./tabs.js";

export class Menu {
  #opening = 0; // counts openings, to ignore answers for earlier words
  #anchor = null;

  /**
   * @param {HTMLElement} element
   * @param {() => void} onClose - Called whenever it is closed, open or not.
   */
  constructor(element, onClose) {
    Object.assign(this, { element, onClose });
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("focusout", (event) => this.#closeIfLeft(event.relatedTarget));
    element.addEventListener("mousedown", (event) => event.preventDefault()); // Safari would take the focus away
    // While there is nothing to choose, the focus stays on the word.
    document.addEventListener("keydown", (event) => this.isOpen && event.key === "Escape" && this.#key(event), true);
    document.addEventListener("pointerdown", (event) => this.#closeIfLeft(event.target));
    window.addEventListener("resize", () => this.isOpen && this.#place()); // a phone's address bar resizes it, too
  }

  get isOpen() {
    return this.#anchor !== null;
  }

  /**
   * Open it below a word, the anchor, which gets the focus back.
   *
   * @param {Promise<{text: string, probability: number}[]>} alternatives - Whole translations with this prefix.
   */
  async open(anchor, prefix, alternatives, onChoose) {
    this.close();
    const opening = ++this.#opening;
    this.#anchor = anchor;
    anchor.classList.add("chosen");
    this.#show([remark("…")]);
    const items = await alternatives.then(
      (found) => this.#items(found, prefix, onChoose),
      (error) => [remark(error.message)],
    );
    if (opening !== this.#opening) return;
    this.#show(items);
    this.element.querySelector("button")?.focus();
  }

  /** Close it, if it is open. */
  close() {
    this.#opening += 1;
    this.#anchor?.classList.remove("chosen");
    this.#anchor = null;
    this.element.hidden = true;
    this.onClose();
  }

  #show(items) {
    this.element.replaceChildren(...items);
    this.element.hidden = false;
    this.#place();
    this.element.scrollIntoView({ block: "nearest" });
  }

  #place() {
    const word = this.#anchor.getBoundingClientRect();
    const widest = document.documentElement.clientWidth - this.element.offsetWidth - 12;
    this.element.style.left = `${window.scrollX + Math.max(12, Math.min(word.left, widest))}px`;
    this.element.style.top = `${window.scrollY + word.bottom + 6}px`;
  }

  /** The prefix, once, and a button for the rest of each. */
  #items(alternatives, prefix, onChoose) {
    if (alternatives.length === 0) return [remark(say("no alternatives"))];
    const common = commonWords([prefix && `${prefix} `, ...alternatives.map(({ text }) => text)]);
    const items = alternatives.map((each) => this.#item(each, common.length, onChoose));
    return common ? [remark(`${common.trimEnd()} …`), ...items] : items;
  }

  #item({ text, probability }, start, onChoose) {
    const choose = () => {
      this.close();
      onChoose(text);
    };
    const item = makeButton(choose, { role: "menuitem", tabIndex: -1 }, text.slice(start));
    if (probability !== null) {
      const ariaLabel = say("{percent} likely", { percent: percent(probability) });
      const share = make("span", { className: "share", role: "img", ariaLabel }, percent(probability));
      share.style.setProperty("--share", probability.toFixed(3));
      item.append(" ", share);
    }
    return item;
  }

  #key(event) {
    const items = [...this.element.querySelectorAll("button")];
    const place = nextPlace(event.key, items.indexOf(document.activeElement), items.length);
    if (place !== null) {
      event.preventDefault();
      items[place].focus();
    }
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      const anchor = this.#anchor;
      this.close();
      anchor.focus();
    }
  }

  #closeIfLeft(element) {
    if (!this.isOpen || this.element.contains(element) || element === this.#anchor) return;
    this.close();
  }
}

function remark(text) {
  return make("p", { role: "menuitem", ariaDisabled: "true" }, text);
}

/** The words that all texts begin with. */
function commonWords([first, ...others]) {
  let length = 0;
  while (length < first.length && others.every((text) => text[length] === first[length])) length += 1;
  return first.slice(0, first.lastIndexOf(" ", length - 1) + 1);
}
