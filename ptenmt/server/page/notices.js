/** What the page says besides the translation: that it works, what it did, what went wrong, what is odd. */

const CONFIRMED = 3000; // milliseconds for which something is confirmed

export class Notices {
  #timer = 0;

  /** @param {{pane: HTMLElement, status: HTMLElement, notice: HTMLElement}} parts */
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

  /** Say what is remarkable about the text. */
  remark(text) {
    if (this.notice.textContent !== text) this.notice.textContent = text;
  }
}
