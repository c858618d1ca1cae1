/** What a page with a text and its translation does, whoever translates: it connects the parts of the page. */

import { makeButton, part, parts } from "./elements.js";
import { Inside } from "./inside.js";
import { Marks } from "./marks.js";
import { Menu } from "./menu.js";
import { Notices } from "./notices.js";
import { Requests } from "./requests.js";
import { copy } from "./sharing.js";
import { SourcePane } from "./source-pane.js";
import { EXAMPLES, capitalized, nameOfLanguage, say } from "./strings.js";
import { makeTabs } from "./tabs.js";
import { TargetPane } from "./target-pane.js";
import { Translations } from "./translations.js";

const TYPING_PAUSE = 250; // milliseconds, as that which follows
const SPEAKING_PAUSE = 900;

export class TranslationPage {
  typing = 0; // the timer of the next translation
  #speaking = 0;
  #movesFocus = false; // whether the focus moves to the translation when it is complete
  #last = [0, 0]; // the last hovered word of the translation

  /**
   * @param {object} facts
   * @param {{source: string, target: string}} facts.languages - Their codes.
   * @param {number} facts.textLimit - Characters of a text.
   * @param {number} facts.limit - Characters a request.
   * @param {number} facts.sentenceLimit - Sentences a request; see `Translations`.
   */
  constructor({ languages, textLimit, limit, sentenceLimit }) {
    this.notices = new Notices(parts({ pane: "target-pane", status: "status", notice: "notice" }));
    this.menu = new Menu(part("menu"), () => this.marks.ofTarget(null));
    this.translations = new Translations({ languages, limit, sentenceLimit });
    this.requests = new Requests(this.translations, {
      onBusy: (isBusy) => this.notices.busy(isBusy),
      onSome: () => (this.isKnown() ? this.settle() : this.grow()),
      onError: (error) => this.failed(error),
    });
    this.source = new SourcePane(
      parts({ field: "source", mirror: "mirror", count: "count", clear: "clear" }),
      { language: languages.source, limit: textLimit },
      {
        onText: (isUrgent) => this.typed(isUrgent),
        onHover: (place) => this.menu.isOpen || this.marks.ofSource(place),
        onEnter: () => {
          this.typed(true);
          this.#movesFocus = true;
          if (this.isKnown()) this.#moveFocus();
        },
      },
    );
    this.target = new TargetPane(part("target"), {
      onMeet: (place) => this.#meetTarget(place),
      onPress: (place) => this.#openMenu(place),
      onLeave: () => this.source.field.focus(),
    });
    this.marks = new Marks(this.source, this.target, this.translations);
    this.inside = new Inside(
      parts({
        view: "inside", empty: "inside-empty", sentence: "inside-sentence", block: "inside-block",
        choices: "inside-choices", status: "inside-status", heads: "heads", map: "map",
        readout: "readout", help: "inside-help",
      }),
      this.translations,
    );
    this.show = makeTabs(document.querySelector("[role=tablist]"), (name) => this.#shown(name));
    part("copy").addEventListener("click", () => this.#copy());
  }

  /** Say in the page which languages it translates. */
  nameLanguages() {
    const { languages } = this.translations;
    const names = { source: nameOfLanguage(languages.source), target: nameOfLanguage(languages.target) };
    document.title = `${say("{source} to {target}", names)} · ptenmt`;
    for (const side of ["source", "target"]) part(`${side}-name`).textContent = capitalized(names[side]);
    part("source").placeholder = say("Type or paste {source}", names);
    part("source").lang = languages.source;
    part("target").lang = part("spoken").lang = languages.target;
    const buttons = (EXAMPLES[languages.source] ?? []).map((text) =>
      makeButton(() => (this.source.text = text), { lang: languages.source }, text),
    );
    part("examples").replaceChildren(...(buttons.length ? [say("Try:"), ...buttons] : []));
  }

  /** The text has changed: translate its finished sentences at once, and the last one after a pause in typing. */
  typed(isUrgent) {
    this.#movesFocus = false;
    clearTimeout(this.typing);
    clearTimeout(this.#speaking);
    part("spoken").textContent = ""; // what was said is of another text
    this.menu.close();
    part("examples").hidden = part("intro").hidden = this.source.text !== "";
    this.requests.keep(this.sentences());
    this.draw();
    this.remark();
    if (this.source.isTooLong) return;
    if (this.isKnown()) this.settle();
    else if (isUrgent) this.translate();
    else {
      this.requests.translate(this.source.finished);
      this.typing = setTimeout(() => this.translate(), TYPING_PAUSE);
    }
  }

  /** Translate what is not translated. */
  translate() {
    this.requests.translate(this.sentences());
  }

  /** The sentences of a text that is not too long. */
  sentences() {
    return this.source.isTooLong ? [] : this.source.sentences.map(({ text }) => text);
  }

  isKnown() {
    return !this.source.isTooLong && this.sentences().every((text) => this.translations.of(text) !== undefined);
  }

  /** There is more of the translation. */
  grow() {
    this.draw();
  }

  /** Show what there is of the translation. */
  draw() {
    const sentences = this.source.isTooLong ? [] : this.source.sentences;
    this.target.show(sentences.map(({ text, gap }) => ({ ...this.shown(text), gap })));
    const isHidden = this.target.text === "" || !this.isKnown();
    for (const name of ["copy", "words-help"]) part(name).hidden = isHidden;
  }

  /** What is shown for a sentence; see `drawWords`. */
  shown(sentence) {
    return { text: this.translations.of(sentence) };
  }

  /** The whole text is translated. */
  settle() {
    this.draw();
    this.notices.show("");
    this.remark();
    const { text } = this.target;
    clearTimeout(this.#speaking);
    this.#speaking = setTimeout(() => (part("spoken").textContent = text), SPEAKING_PAUSE);
    if (!part("view-inside").hidden) this.#shown("inside");
    this.#moveFocus();
  }

  failed(error) {
    this.notices.show(error.message, true);
  }

  /** Say what is remarkable about the text: that it is too long, or something else. */
  remark(text = "") {
    this.notices.remark(this.source.isTooLong ? say("Too long for this field.") : text);
  }

  #moveFocus() {
    if (this.#movesFocus) this.target.focusFirst();
    this.#movesFocus = false;
  }

  #meetTarget(place) {
    if (place) this.#last = place;
    if (!this.menu.isOpen) this.marks.ofTarget(place); // or the marks are those of its word
  }

  #openMenu(place) {
    const { text } = this.source.sentences[place[0]];
    if (this.translations.of(text) === undefined) return; // what is shown is of an earlier text
    const prefix = this.target.before(place).trimEnd();
    const word = this.target.words[place[0]][place[1]];
    this.menu.open(word, prefix, this.translations.alternatives(text, prefix), (translation) => {
      this.translations.choose(text, translation);
      if (this.isKnown()) this.settle();
      else this.draw();
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

  async #copy() {
    if (await copy(this.target.text)) return this.notices.confirm(say("Copied."));
    document.getSelection().selectAllChildren(part("target"));
    return this.notices.show(say("Selected: press Ctrl+C to copy."));
  }
}
