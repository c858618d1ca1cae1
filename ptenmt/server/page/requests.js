/** Requests for translations, one at a time, each for the sentences that are wanted when it is sent. */

export class Requests {
  #wanted = []; // the sentences to translate
  #asked = []; // those of the request in progress
  #request = null; // its AbortController

  /** Calls back `onBusy(isBusy)` at the beginning and end, `onSome()` after each request, `onError(error)`. */
  constructor(translations, callbacks) {
    Object.assign(this, { translations }, callbacks);
  }

  /** Abort the request in progress if it has a sentence that is not among these. */
  keep(sentences) {
    if (!this.#asked.every((text) => sentences.includes(text))) this.#request.abort();
  }

  /** Translate those of the sentences that are not cached, in place of those that were wanted before. */
  async translate(sentences) {
    this.#wanted = sentences;
    if (this.#asked.length) return;
    while ((this.#asked = this.translations.missing(this.#wanted)).length) {
      const wanted = this.#wanted;
      const { signal } = (this.#request = new AbortController());
      this.onBusy(true);
      try {
        await this.translations.translate(this.#asked, signal);
        this.onSome();
      } catch (error) {
        if (signal.aborted || wanted !== this.#wanted) continue;
        this.#wanted = [];
        this.onError(error);
      }
    }
    this.onBusy(false);
  }
}
