/** The server's page: a text and its translation, documents, the history, and which model answers. */

import { fetchLanguages, fetchSettings } from "./api.js";
import { part, parts } from "./elements.js";
import { Files } from "./files.js";
import { History } from "./history.js";
import { KeyForm } from "./key-form.js";
import { Languages } from "./languages.js";
import { describeModel, showExchange } from "./overview.js";
import { copy, linkTo, linked } from "./sharing.js";
import { localize, nameOfLanguage, say } from "./strings.js";
import { TranslationPage } from "./translation-page.js";

const RETRY_PAUSE = 3000; // milliseconds
const REQUESTS = 4; // a text may be as long as so many requests
const BUSY = { 0: "The server cannot be reached. Trying again …", 503: "The server is busy. Trying again …" };

class ServerPage extends TranslationPage {
  #isLoaded = false; // whether the model is: it has translated

  /**
   * @param {object} facts - The server's settings; see `fetchSettings`.
   * @param {object[]} known - Its languages; see `fetchLanguages`.
   */
  constructor(facts, known) {
    const { source, target } = facts.language;
    const limit = facts.charLimit > 0 ? facts.charLimit : Infinity;
    const languages = { source: source.code, target: target.code };
    super({ languages, limit, textLimit: REQUESTS * limit, sentenceLimit: facts.sentenceLimit });
    this.languages = new Languages(
      parts({ source: "source-language", target: "target-language", swap: "swap" }),
      known,
      languages,
      (isSwapped) => this.#useLanguages(isSwapped),
    );
    this.#build(facts);
    this.nameLanguages();
    window.addEventListener("online", () => this.typed(true));
    const link = linked();
    this.languages.choose(link.source, link.target);
    if (this.source.text) this.typed(true); // the browser restores the text when it navigates back
    else if (link.q) this.source.text = link.q;
  }

  #build(facts) {
    this.history = new History(
      parts({ list: "history", empty: "history-empty", forgetAll: "forget-all", search: "history-search" }),
      (entry) => this.#again(entry),
    );
    if (facts.filesTranslation) {
      this.files = new Files(
        parts({ button: "choose-file", field: "file", zone: "drop", list: "files" }),
        { translations: this.translations, formats: facts.supportedFilesFormat },
        () => this.show("translate"),
      );
    }
    part("to-document").addEventListener("click", () =>
      this.files.translate([new File([this.source.text], "text.txt")]),
    );
    part("share").addEventListener("click", () => this.#share());
    part("to-language").addEventListener("click", () => {
      this.languages.choose(this.#detected(), this.translations.languages.target);
      this.source.field.focus();
    });
    this.keyForm = new KeyForm(
      parts({ form: "key-form", field: "key", error: "key-error" }),
      facts.keyRequired,
      () => this.typed(true),
    );
  }

  /** Translate with other languages; if they are swapped, the translation is the new text. */
  #useLanguages(isSwapped) {
    const text = isSwapped && this.isKnown() ? this.target.text : this.source.text;
    this.translations.languages = this.languages.chosen;
    this.nameLanguages();
    this.source.language = this.languages.chosen.source;
    if (text) this.source.text = text;
  }

  nameLanguages() {
    super.nameLanguages();
    for (const side of ["source", "target"]) { // a menu of languages names it, too
      part(`${side}-name`).classList.toggle("unseen", !part(`${side}-language`).hidden);
    }
    if (this.files?.takesDrops) {
      const source = nameOfLanguage(this.translations.languages.source);
      part("source").placeholder = say("Type or paste {source}, or drop a document", { source });
    }
    part("model").textContent = "";
    this.#isLoaded = false;
    this.#describeModel();
  }

  async #describeModel() {
    part("tab-inside").hidden = !(await describeModel(part("model"), this.translations.languages));
  }

  failed(error) {
    if (error.status === 403) this.keyForm.show();
    const again = BUSY[error.status];
    if (again) this.typing = setTimeout(() => this.translate(), RETRY_PAUSE);
    this.notices.show(again ? say(again) : error.message, error.status !== 503);
  }

  draw() {
    super.draw();
    part("share").hidden = part("copy").hidden || !linkTo(this.source.text, this.translations.languages);
  }

  settle() {
    super.settle();
    showExchange(parts({ box: "exchange", request: "exchange-request", answer: "exchange-answer" }));
    if (!part("model").textContent && !this.#isLoaded) this.#describeModel();
    this.#isLoaded = true;
    this.history.add({
      source: this.source.text,
      translation: this.target.text,
      sentences: this.sentences().filter(Boolean).map((sentence) => this.translations.known(sentence)),
      languages: this.translations.languages,
    });
  }

  /** The language that the text is in, if it is confidently identified as another one. */
  #detected() {
    return this.translations.detected(this.sentences());
  }

  remark() {
    const { isTooLong } = this.source;
    const detected = this.#detected();
    const language = detected && nameOfLanguage(detected);
    super.remark(language ? say("This looks like {language}.", { language }) : "");
    part("to-document").hidden = !(isTooLong && this.files);
    part("to-language").hidden = isTooLong || !this.languages.sources.includes(detected);
    part("to-language").textContent = say("Translate from {language}", { language });
  }

  /** Show an entry of the history as it was. */
  #again({ source, sentences, languages }) {
    this.show("translate");
    this.languages.choose(languages.source, languages.target);
    sentences.forEach((known) => this.translations.choose(...known));
    this.source.text = source;
  }

  async #share() {
    const link = linkTo(this.source.text, this.translations.languages);
    history.replaceState(null, "", link);
    const isCopied = await copy(link);
    this.notices.confirm(say(isCopied ? "Link copied." : "The link is in the address bar."));
  }
}

localize();
try {
  new ServerPage(...(await Promise.all([fetchSettings(), fetchLanguages()])));
} catch (error) {
  part("status").textContent = error.message;
  part("status").classList.add("error");
}
