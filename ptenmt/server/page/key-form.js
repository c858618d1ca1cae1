/** The form for an API key, shown until the server accepts one. */

import { hasKey, useKey } from "./api.js";
import { say } from "./strings.js";

export class KeyForm {
  /**
   * @param {{form: HTMLFormElement, field: HTMLInputElement, error: HTMLElement}} parts
   * @param {boolean} isRequired - Whether the server requires a key.
   * @param {() => void} onKey - Called when the server has accepted one.
   */
  constructor(parts, isRequired, onKey) {
    Object.assign(this, parts, { onKey });
    this.form.hidden = !isRequired || hasKey();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#try();
    });
  }

  /** Ask for a key, or for another one. */
  show() {
    this.form.hidden = false;
    if (hasKey()) this.#showStatus(say("That key is not valid."));
  }

  async #try() {
    this.#showStatus("");
    try {
      await useKey(this.field.value);
    } catch (error) {
      this.#showStatus(error.status === 403 ? say("That key is not valid.") : error.message);
      this.field.focus();
      return;
    }
    this.form.hidden = true;
    this.onKey();
  }

  #showStatus(text) {
    this.error.textContent = text;
    this.field.setAttribute("aria-invalid", String(text !== ""));
  }
}
