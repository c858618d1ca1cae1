/** What the page says besides the translation: that it works, what it did, what went wrong, what is odd. */

import { nameOfLanguage, say } from "./strings.js";

const CONFIRMED = 3000; // milliseconds for which something is confirmed

export class Notices {
  #timer = 0;

  /**
   * @param {{pane: HTMLElement, status: HTMLElement, notice: HTMLElement, toDocument: HTMLElement,
   *   toLanguage: HTMLElement}} parts - The last two are buttons that follow the notice.
   */
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Show whether a request is in progress. */
  busy(isBusy) {
    this.pane.ariaBusy = String(isBusy);
  }

  /** Show the status of the translation. */
  show(text, isError = false) {
    clearTimeout(this.#timer);
    this.status.textContent = text;
    this.status.classList.toggle("error", isError);
  }

  /** Confirm what was done, for a moment. */
  confirm(text) {
    this.show(text);
    this.#timer = setTimeout(() => this.show(""), CONFIRMED);
  }

  /**
   * Say what is remarkable about the text.
   *
   * @param {boolean} isTooLong
   * @param {boolean} hasFiles - Whether it may be translated as a document.
   * @param {string | undefined} detected - The code of another language that it is in.
   * @param {boolean} isKnown - Whether that can be translated from.
   */
  remark({ isTooLong, hasFiles, detected, isKnown }) {
    const language = detected && nameOfLanguage(detected);
    let text = language ? say("This looks like {language}.", { language }) : "";
    if (isTooLong) text = say("Too long for this field.");
    if (this.notice.textContent !== text) this.notice.textContent = text;
    this.toDocument.hidden = !(isTooLong && hasFiles);
    this.toLanguage.hidden = isTooLong || !isKnown;
    this.toLanguage.textContent = say("Translate from {language}", { language });
  }
}
