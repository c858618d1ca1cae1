/** The page of one file: it has the engine in a worker, and shows a sentence as it is translated. */

import { search, start } from "./api.js";
import { part } from "./elements.js";
import { PORTUGUESE, localize, say } from "./strings.js";
import { TranslationPage } from "./translation-page.js";

const PAUSE_PER_SENTENCE = 50; // milliseconds: with each change the browser lays out all of them, which takes memory
const LIMIT = 20000; // characters of a text
const LONG = 3; // sentences of a text that is shown sentence by sentence

class FilePage extends TranslationPage {
  #begun = {}; // the sentence that is being translated, and what there is of its translation
  #isStopped = false;
  #drawing = 0; // timer

  constructor({ languages: [source, target] }) {
    super({ languages: { source, target }, textLimit: LIMIT, limit: LIMIT, sentenceLimit: 2 });
    part("beams").addEventListener("change", () => this.#search());
    part("stop").addEventListener("click", () => this.#stopOrGoOn());
    search.onText = (sentence, text) => {
      this.#begun = { sentence, text };
      if (!this.#isLong) this.draw();
    };
    this.nameLanguages();
    this.#search();
  }

  /** Translate with the chosen beam size; earlier translations are forgotten. */
  #search() {
    search.beamSize = Number(part("beams").value);
    this.requests.keep([]);
    this.translations.forget();
    if (this.source.text) this.typed(true);
  }

  typed(isUrgent) {
    this.#isStopped = false;
    this.notices.show("");
    super.typed(isUrgent);
  }

  shown(sentence) {
    const shown = super.shown(sentence);
    const isBegun = shown.text === undefined && sentence === this.#begun.sentence && !this.#isLong;
    return isBegun ? { text: this.#begun.text, isStale: true } : shown;
  }

  get #done() {
    return this.sentences().filter((text) => this.translations.of(text) !== undefined).length;
  }

  get #isLong() {
    return this.sentences().length >= LONG;
  }

  /** Draw soon: the more is shown, the more rarely. */
  grow() {
    this.#drawing ||= setTimeout(() => this.draw(), PAUSE_PER_SENTENCE * this.#done);
  }

  draw() {
    clearTimeout(this.#drawing);
    this.#drawing = 0;
    super.draw();
    const [all, done] = [this.sentences().length, this.#done];
    part("stop").hidden = done === all || !this.#isLong;
    part("stop").textContent = say(this.#isStopped ? "Go on" : "Stop");
    if (!part("stop").hidden) this.notices.show(say("{done} of {all} sentences", { done, all }));
  }

  #stopOrGoOn() {
    this.#isStopped = !this.#isStopped;
    const wanted = this.#isStopped ? [] : this.sentences();
    this.requests.keep(wanted);
    this.requests.translate(wanted);
    this.draw();
  }
}

const facts = JSON.parse(part("facts").textContent);
Object.assign(PORTUGUESE, facts.portuguese);
localize();
const loaded = start(part("engine").textContent, facts, part("weights").textContent);
const show = () => {
  const page = new FilePage(facts);
  loaded.catch((error) => page.failed(error));
};
window.addEventListener("pageshow", show, { once: true }); // the browser has restored the text when it navigates back
