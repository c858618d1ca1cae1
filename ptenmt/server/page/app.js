/** The page: translates while you type, and connects its parts. */

import { fetchLanguages, fetchSettings } from "./api.js";
import { Files } from "./files.js";
import { History } from "./history.js";
import { Inside } from "./inside.js";
import { KeyForm } from "./key-form.js";
import { Languages } from "./languages.js";
import { Marks } from "./marks.js";
import { Menu } from "./menu.js";
import { Notices } from "./notices.js";
import { describeModel, offerExamples, showExchange } from "./overview.js";
import { Requests } from "./requests.js";
import { copy, linkTo, linked } from "./sharing.js";
import { SourcePane } from "./source-pane.js";
import { capitalized, localize, nameOfLanguage, say } from "./strings.js";
import { makeTabs } from "./tabs.js";
import { TargetPane } from "./target-pane.js";
import { Translations } from "./translations.js";

const TYPING_PAUSE = 250; // milliseconds, as all that follow
const SPEAKING_PAUSE = 900;
const RETRY_PAUSE = 3000;
const REQUESTS = 4; // a text may be as long as so many requests
const BUSY = { 0: "The server cannot be reached. Trying again …", 503: "The server is busy. Trying again …" };

const part = (name) => document.getElementById(name);
const parts = (names) => Object.fromEntries(Object.entries(names).map(([name, id]) => [name, part(id)]));

class Page {
  #typing = 0;
  #speaking = 0;
  #isLoaded = false; // whether the model is: it has translated
  #movesFocus = false; // whether the focus moves to the translation when it is complete
  #last = [0, 0]; // the last hovered word of the translation

  /**
   * @param {object} facts - The server's settings; see `fetchSettings`.
   * @param {object[]} known - Its languages; see `fetchLanguages`.
   */
  constructor(facts, known) {
    const { source, target } = facts.language;
    const limit = facts.charLimit > 0 ? facts.charLimit : Infinity;
    const languages = { source: source.code, target: target.code };
    this.languages = new Languages(
      parts({ source: "source-language", target: "target-language", swap: "swap" }),
      known,
      languages,
      (isSwapped) => this.#useLanguages(isSwapped),
    );
    this.notices = new Notices(parts({
      pane: "target-pane", status: "status", notice: "notice", toDocument: "to-document", toLanguage: "to-language",
    }));
    this.menu = new Menu(part("menu"), () => this.marks.ofTarget(null));
    this.translations = new Translations({ languages, limit, sentenceLimit: facts.sentenceLimit });
    this.requests = new Requests(this.translations, {
      onBusy: (isBusy) => this.notices.busy(isBusy),
      onSome: () => (this.#isKnown() ? this.#settle() : this.#draw()),
      onError: (error) => this.#failed(error),
    });
    this.source = new SourcePane(
      parts({ field: "source", mirror: "mirror", count: "count", clear: "clear" }),
      { language: source.code, limit: REQUESTS * limit },
      {
        onText: (isUrgent) => this.#typed(isUrgent),
        onHover: (place) => this.menu.isOpen || this.marks.ofSource(place),
        onEnter: () => {
          this.#typed(true);
          this.#movesFocus = true;
          if (this.#isKnown()) this.#moveFocus();
        },
      },
    );
    this.target = new TargetPane(part("target"), {
      onMeet: (place) => this.#meetTarget(place),
      onPress: (place) => this.#openMenu(place),
      onLeave: () => this.source.field.focus(),
    });
    this.marks = new Marks(this.source, this.target, this.translations);
    this.#build(facts);
    this.#nameLanguages();
    window.addEventListener("online", () => this.#typed(true));
    const link = linked();
    this.languages.choose(link.source, link.target);
    if (this.source.text) this.#typed(true); // the browser restores the text when it navigates back
    else if (link.q) this.source.text = link.q;
  }

  #build(facts) {
    this.inside = new Inside(
      parts({
        view: "inside", empty: "inside-empty", sentence: "inside-sentence", block: "inside-block",
        choices: "inside-choices", status: "inside-status", heads: "heads", map: "map",
        readout: "readout", help: "inside-help",
      }),
      this.translations,
    );
    this.show = makeTabs(document.querySelector("[role=tablist]"), (name) => this.#shown(name));
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
    part("copy").addEventListener("click", () => this.#copy());
    part("share").addEventListener("click", () => this.#share());
    part("to-language").addEventListener("click", () => {
      this.languages.choose(this.#detected(), this.translations.languages.target);
      this.source.field.focus();
    });
    this.keyForm = new KeyForm(
      parts({ form: "key-form", field: "key", error: "key-error" }),
      facts.keyRequired,
      () => this.#typed(true),
    );
  }

  /** Translate with other languages; if they are swapped, the translation is the new text. */
  #useLanguages(isSwapped) {
    const text = isSwapped && this.#isKnown() ? this.target.text : this.source.text;
    this.translations.languages = this.languages.chosen;
    this.#nameLanguages();
    this.source.language = this.languages.chosen.source;
    if (text) this.source.text = text;
  }

  #nameLanguages() {
    const { languages } = this.translations;
    const names = { source: nameOfLanguage(languages.source), target: nameOfLanguage(languages.target) };
    document.title = `${say("{source} to {target}", names)} · ptenmt`;
    for (const side of ["source", "target"]) {
      part(`${side}-name`).textContent = capitalized(names[side]);
      part(`${side}-name`).classList.toggle("unseen", !part(`${side}-language`).hidden); // which names it, too
    }
    part("source").placeholder = say(
      this.files?.takesDrops ? "Type or paste {source}, or drop a document" : "Type or paste {source}",
      names,
    );
    part("source").lang = languages.source;
    part("target").lang = part("spoken").lang = languages.target;
    offerExamples(part("examples"), languages.source, (text) => (this.source.text = text));
    part("model").textContent = "";
    this.#isLoaded = false;
    this.#describeModel();
  }

  async #describeModel() {
    part("tab-inside").hidden = !(await describeModel(part("model"), this.translations.languages));
  }

  /** The text has changed: translate its finished sentences at once, and the last one after a pause in typing. */
  #typed(isUrgent) {
    this.#movesFocus = false;
    clearTimeout(this.#typing);
    this.menu.close();
    part("examples").hidden = part("intro").hidden = this.source.text !== "";
    const sentences = this.source.isTooLong ? [] : this.#sentences();
    this.requests.keep(sentences);
    this.#draw();
    this.#remark();
    if (this.source.isTooLong) return;
    if (this.#isKnown()) this.#settle();
    else if (isUrgent) this.requests.translate(sentences);
    else {
      this.requests.translate(this.source.finished);
      this.#typing = setTimeout(() => this.requests.translate(this.#sentences()), TYPING_PAUSE);
    }
  }

  #failed(error) {
    if (error.status === 403) this.keyForm.show();
    const again = BUSY[error.status];
    if (again) this.#typing = setTimeout(() => this.requests.translate(this.#sentences()), RETRY_PAUSE);
    this.notices.show(again ? say(again) : error.message, error.status !== 503);
  }

  #sentences() {
    return this.source.sentences.map(({ text }) => text);
  }

  #isKnown() {
    return !this.source.isTooLong && this.#sentences().every((text) => this.translations.of(text) !== undefined);
  }

  #draw() {
    const sentences = this.source.isTooLong ? [] : this.source.sentences;
    this.target.show(sentences.map(({ text, gap }) => ({ ...this.translations.shown(text), gap })));
    const isHidden = this.target.text === "" || !this.#isKnown();
    for (const name of ["copy", "share", "words-help"]) part(name).hidden = isHidden;
    part("share").hidden ||= !linkTo(this.source.text, this.translations.languages);
  }

  /** The whole text is translated. */
  #settle() {
    this.#draw();
    this.notices.show("");
    this.#remark();
    showExchange(parts({ box: "exchange", request: "exchange-request", answer: "exchange-answer" }));
    if (!part("model").textContent && !this.#isLoaded) this.#describeModel();
    this.#isLoaded = true;
    const { text } = this.target;
    this.history.add({
      source: this.source.text,
      translation: text,
      sentences: this.#sentences().filter(Boolean).map((sentence) => this.translations.known(sentence)),
      languages: this.translations.languages,
    });
    clearTimeout(this.#speaking);
    this.#speaking = setTimeout(() => (part("spoken").textContent = text), SPEAKING_PAUSE);
    if (!part("view-inside").hidden) this.#shown("inside");
    this.#moveFocus();
  }

  #moveFocus() {
    if (this.#movesFocus) this.target.focusFirst();
    this.#movesFocus = false;
  }

  /** The language that the text is in, if it is confidently identified as another one. */
  #detected() {
    return this.translations.detected(this.#sentences());
  }

  #remark() {
    const detected = this.#detected();
    this.notices.remark({
      isTooLong: this.source.isTooLong,
      hasFiles: Boolean(this.files),
      detected,
      isKnown: this.languages.sources.includes(detected),
    });
  }

  #meetTarget(place) {
    if (place) this.#last = place;
    if (!this.menu.isOpen) this.marks.ofTarget(place); // or the marks are those of its word
  }

  #openMenu(place) {
    if (!this.#isKnown()) return; // the translation is of an earlier text
    const { text } = this.source.sentences[place[0]];
    const prefix = this.target.before(place).trimEnd();
    const word = this.target.words[place[0]][place[1]];
    this.menu.open(word, prefix, this.translations.alternatives(text, prefix), (translation) => {
      this.translations.choose(text, translation);
      this.#settle();
      this.target.focus(place);
    });
    this.marks.ofTarget(place, 0);
  }

  #shown(view) {
    this.menu.close();
    if (view !== "inside") return;
    const sentences = this.source.sentences
      .map(({ text }, number) => ({ text, number }))
      .filter(({ text }) => text !== "" && this.translations.of(text) !== undefined);
    const chosen = sentences.findIndex(({ number }) => number === this.#last[0]);
    this.inside.show(sentences.map(({ text }) => text), Math.max(chosen, 0));
  }

  /** Show an entry of the history as it was. */
  #again({ source, sentences, languages }) {
    this.show("translate");
    this.languages.choose(languages.source, languages.target);
    sentences.forEach((known) => this.translations.choose(...known));
    this.source.text = source;
  }

  async #copy() {
    if (await copy(this.target.text)) return this.notices.confirm(say("Copied."));
    document.getSelection().selectAllChildren(part("target"));
    return this.notices.show(say("Selected: press Ctrl+C to copy."));
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
  new Page(...(await Promise.all([fetchSettings(), fetchLanguages()])));
} catch (error) {
  part("status").textContent = error.message;
  part("status").classList.add("error");
}
