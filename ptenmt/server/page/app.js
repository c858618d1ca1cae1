/** The page: translates while you type, and connects its parts. */

import * as api from "./api.js";
import { Files } from "./files.js";
import { History } from "./history.js";
import { Inside } from "./inside.js";
import { KeyForm } from "./key-form.js";
import { Menu } from "./menu.js";
import { SourcePane } from "./source-pane.js";
import { makeTabs } from "./tabs.js";
import { TargetPane } from "./target-pane.js";
import { Translations } from "./translations.js";
import { mark, unmark } from "./words.js";

const TYPING_PAUSE = 250; // milliseconds, as all that follow
const POINTING_PAUSE = 100;
const SPEAKING_PAUSE = 900;

const part = (name) => document.getElementById(name);

class Page {
  #typing = 0;
  #pointing = 0;
  #speaking = 0;
  #request = new AbortController();
  #movesFocus = false; // whether the focus moves to the translation when it is complete
  #last = [0, 0]; // the last hovered word of the translation

  /** @param {object} facts - The server's settings; see `api.settings`. */
  constructor(facts) {
    const { source, target } = facts.language;
    const limit = facts.charLimit > 0 ? facts.charLimit : Infinity;
    const languages = { source: source.code, target: target.code };
    nameLanguages(source, target);
    this.menu = new Menu(part("menu"));
    this.translations = new Translations({ languages, limit, sentenceLimit: facts.sentenceLimit });
    this.source = new SourcePane(
      { field: part("source"), mirror: part("mirror"), count: part("count"), clear: part("clear") },
      { language: source.code, limit },
      {
        onText: (isUrgent) => this.#typed(isUrgent),
        onHover: (place) => this.#meetSource(place),
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
    this.#build(facts, languages);
    if (this.source.text) this.#typed(true); // the browser restores the text when it navigates back
  }

  #build(facts, languages) {
    this.inside = new Inside(
      {
        view: part("inside"),
        empty: part("inside-empty"),
        sentence: part("inside-sentence"),
        block: part("inside-block"),
        layer: part("inside-layer"),
        choices: part("inside-choices"),
        status: part("inside-status"),
        heads: part("heads"),
        map: part("map"),
        readout: part("readout"),
        help: part("inside-help"),
      },
      this.translations,
    );
    this.show = makeTabs(document.querySelector("[role=tablist]"), (name) => this.#shown(name));
    this.history = new History(
      { list: part("history"), empty: part("history-empty"), forgetAll: part("forget-all") },
      (text) => this.#again(text),
    );
    if (facts.filesTranslation) {
      new Files(
        { button: part("choose-file"), field: part("file"), zone: part("drop"), list: part("files") },
        { languages, formats: facts.supportedFilesFormat },
        () => this.show("translate"),
      );
    }
    part("copy").addEventListener("click", () => this.#copy());
    this.keyForm = new KeyForm(
      { form: part("key-form"), field: part("key"), error: part("key-error") },
      facts.keyRequired,
      () => this.#typed(true),
    );
  }

  /** The text has changed: translate it after a pause in typing, and abort the previous request. */
  #typed(isUrgent) {
    this.#request.abort();
    this.#movesFocus = false;
    clearTimeout(this.#typing);
    this.menu.close();
    if (this.source.isTooLong) {
      this.#showStatus("Too long: a file may be longer.", true);
      return;
    }
    if (this.#isKnown()) {
      this.#settle();
      return;
    }
    part("target").classList.add("stale");
    this.#typing = setTimeout(() => this.#translate(), isUrgent ? 0 : TYPING_PAUSE);
  }

  async #translate() {
    const request = (this.#request = new AbortController());
    this.#showStatus("Translating …");
    const sentences = this.source.sentences.map(({ text }) => text);
    try {
      await this.translations.translate(sentences, request.signal, () => this.#draw());
      if (!request.signal.aborted) this.#settle();
    } catch (error) {
      if (request.signal.aborted) return;
      if (error.status === 403) this.keyForm.show();
      this.#showStatus(error.message, true);
    }
  }

  #isKnown() {
    return this.source.sentences.every(({ text }) => this.translations.of(text) !== undefined);
  }

  #draw() {
    part("target").classList.remove("stale");
    const { sentences } = this.source;
    this.target.show(sentences.map(({ text, gap }) => ({ text: this.translations.of(text), gap })));
    part("copy").hidden = this.target.text === "";
  }

  /** The whole text is translated. */
  #settle() {
    this.#draw();
    this.#showStatus("");
    const { text } = this.target;
    this.history.add(this.source.text, text);
    clearTimeout(this.#speaking);
    this.#speaking = setTimeout(() => (part("spoken").textContent = text), SPEAKING_PAUSE);
    if (!part("view-inside").hidden) this.#shown("inside");
    this.#moveFocus();
  }

  #moveFocus() {
    if (this.#movesFocus) this.target.focusFirst();
    this.#movesFocus = false;
  }

  #showStatus(text, isError = false) {
    part("status").textContent = text;
    part("status").classList.toggle("error", isError);
  }

  #meetTarget(place) {
    if (place) this.#last = place;
    this.#align(place, (alignment, [sentence, word]) => {
      mark(this.source.words[sentence], alignment[word]);
      mark([this.target.words[sentence][word]], [1]);
    });
  }

  #meetSource(place) {
    this.#align(place, (alignment, [sentence, word]) => {
      const column = alignment.map((row) => row[word]);
      mark(this.target.words[sentence], column);
      mark([this.source.words[sentence][word]], [1]);
    });
  }

  /** Once the pointer rests on a word, mark the words aligned with it, and unmark all others. */
  #align(place, show) {
    clearTimeout(this.#pointing);
    unmark(this.source.words);
    unmark(this.target.words);
    if (!place || !this.#isKnown()) return;
    const pointing = (this.#pointing = setTimeout(async () => {
      const { text } = this.source.sentences[place[0]];
      const alignment = await this.translations.alignment(text).catch(() => null); // it may be too long
      const isOutdated = pointing !== this.#pointing || text !== this.source.sentences[place[0]]?.text;
      if (alignment && !isOutdated) show(alignment, place);
    }, POINTING_PAUSE));
  }

  #openMenu(place) {
    if (!this.#isKnown()) return; // the translation is of an earlier text
    const { text } = this.source.sentences[place[0]];
    const prefix = this.target.before(place);
    const word = this.target.words[place[0]][place[1]];
    this.menu.open(word, prefix, this.translations.alternatives(text, prefix.trimEnd()), (translation) => {
      this.translations.choose(text, translation);
      this.#settle();
      this.target.focus(place);
    });
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

  #again(text) {
    this.show("translate");
    this.source.text = text;
    this.source.field.focus();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.target.text);
      this.#showStatus("Copied.");
    } catch {
      document.getSelection().selectAllChildren(part("target")); // no clipboard for pages without HTTPS
      this.#showStatus("Selected: press Ctrl+C to copy.");
    }
  }
}

function nameLanguages(source, target) {
  document.title = `${source.name} to ${target.name} · ptenmt`;
  part("direction").textContent = `${source.name} → ${target.name}: the only direction of this model`;
  part("source-name").textContent = source.name;
  part("target-name").textContent = target.name;
  part("source").lang = source.code;
  part("source").placeholder = `Type or paste ${source.name}, or drop a file`;
  part("target").lang = part("spoken").lang = target.code;
}

try {
  new Page(await api.settings());
} catch (error) {
  part("status").textContent = error.message;
  part("status").classList.add("error");
}
