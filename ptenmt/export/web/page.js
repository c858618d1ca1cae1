/** The page: translates while you type, and connects its parts. */

import { search, start } from "./client.js";
import { makeButton } from "./elements.js";
import { Inside } from "./inside.js";
import { Marks } from "./marks.js";
import { Menu } from "./menu.js";
import { Requests } from "./requests.js";
import { copy } from "./sharing.js";
import { SourcePane } from "./source-pane.js";
import { EXAMPLES, PORTUGUESE, capitalized, localize, nameOfLanguage, say } from "./strings.js";
import { makeTabs } from "./tabs.js";
import { TargetPane } from "./target-pane.js";
import { Translations } from "./translations.js";

const TYPING_PAUSE = 250; // milliseconds
const SPEAKING_PAUSE = 900;
const DRAWING_PAUSE = 100;
const LIMIT = 20000; // characters of a text

const part = (name) => document.getElementById(name);
const parts = (...names) => Object.fromEntries(names.map((name) => [name.replace(/^inside-/, ""), part(name)]));

class Page {
  #typing = 0;
  #speaking = 0;
  #begun = {}; // the sentence that is being translated, and what there is of its translation
  #isStopped = false;
  #drawing = 0; // timer

  constructor({ languages: [source, target] }) {
    this.languages = { source, target };
    this.source = new SourcePane(
      { field: part("source"), ...parts("mirror", "count", "clear") },
      { language: source, limit: LIMIT },
      {
        onText: (isUrgent) => this.#typed(isUrgent),
        onHover: (place) => this.menu.isOpen || this.marks.ofSource(place),
        onEnter: () => this.#typed(true).then(() => this.target.focusFirst()),
      },
    );
    this.target = new TargetPane(part("target"), {
      onMeet: (place) => this.menu.isOpen || this.marks.ofTarget(place),
      onPress: (place) => this.#openMenu(place),
      onLeave: () => this.source.field.focus(),
    });
    this.menu = new Menu(part("menu"), () => this.marks.ofTarget(null));
    this.#use(Number(part("beams").value));
    this.show = makeTabs(document.querySelector("[role=tablist]"), (name) => this.#shown(name));
    part("beams").addEventListener("change", () => {
      this.#use(Number(part("beams").value));
      this.#typed(true);
    });
    part("stop").addEventListener("click", () => this.#stopOrGoOn());
    part("copy").addEventListener("click", () => this.#copy());
    search.onText = (sentence, text) => {
      this.#begun = { sentence, text };
      this.#drawing ||= setTimeout(() => this.#draw(), DRAWING_PAUSE);
    };
    this.#nameLanguages();
    if (this.source.text) this.#typed(true); // the browser restores the text when it navigates back
  }

  /** Translate with this beam width; earlier translations are forgotten. */
  #use(beamSize) {
    search.beamSize = beamSize;
    this.translations = new Translations({ languages: this.languages, limit: LIMIT, sentenceLimit: 2 });
    this.requests = new Requests(this.translations, {
      onBusy: (isBusy) => (part("target-pane").ariaBusy = String(isBusy)),
      onSome: () => this.#draw(),
      onError: (error) => fail(error),
    });
    this.marks = new Marks(this.source, this.target, this.translations);
    this.inside = new Inside(
      { ...parts("inside-empty", "inside-sentence", "inside-block", "inside-choices", "inside-status", "inside-help"),
        ...parts("heads", "map", "readout"), view: part("inside") },
      this.translations,
    );
  }

  #nameLanguages() {
    const names = { source: nameOfLanguage(this.languages.source), target: nameOfLanguage(this.languages.target) };
    document.title = `${say("{source} to {target}", names)} · ptenmt`;
    for (const side of ["source", "target"]) {
      part(`${side}-name`).textContent = capitalized(names[side]);
      part(side).lang = this.languages[side];
    }
    part("source").placeholder = say("Type or paste {source}", names);
    const buttons = (EXAMPLES[this.languages.source] ?? []).map((text) =>
      makeButton(() => (this.source.text = text), { lang: this.languages.source }, text),
    );
    part("examples").append(...(buttons.length ? [say("Try:"), ...buttons] : []));
  }

  /** The text has changed: translate its finished sentences at once, and the last one after a pause in typing. */
  async #typed(isUrgent) {
    clearTimeout(this.#typing);
    this.menu.close();
    this.#isStopped = false;
    part("examples").hidden = part("intro").hidden = this.source.text !== "";
    this.requests.keep(this.#sentences());
    this.#draw();
    if (isUrgent) return this.requests.translate(this.#sentences());
    this.#typing = setTimeout(() => this.requests.translate(this.#sentences()), TYPING_PAUSE);
    return this.requests.translate(this.source.isTooLong ? [] : this.source.finished);
  }

  #sentences() {
    return this.source.isTooLong ? [] : this.source.sentences.map(({ text }) => text);
  }

  #draw() {
    clearTimeout(this.#drawing);
    this.#drawing = 0;
    const known = this.source.sentences.map(({ text }) => this.translations.of(text));
    const isBegun = (text) => text === this.#begun.sentence;
    const shown = this.source.sentences.map(({ text, gap }, place) =>
      known[place] === undefined && isBegun(text)
        ? { text: this.#begun.text, gap, isStale: true }
        : { text: known[place], gap },
    );
    this.target.show(this.source.isTooLong ? [] : shown);
    const [done, all] = [known.filter((text) => text !== undefined).length, known.length];
    const isDone = done === all && !this.source.isTooLong;
    part("copy").hidden = part("words-help").hidden = !isDone || this.target.text === "";
    part("stop").hidden = isDone || this.source.isTooLong || all < 3;
    part("stop").textContent = say(this.#isStopped ? "Go on" : "Stop");
    part("status").textContent = part("stop").hidden ? "" : say("{done} of {all} sentences", { done, all });
    if (this.source.isTooLong) part("status").textContent = say("Too long for this field.");
    clearTimeout(this.#speaking);
    if (isDone) this.#speaking = setTimeout(() => (part("spoken").textContent = this.target.text), SPEAKING_PAUSE);
  }

  #stopOrGoOn() {
    this.#isStopped = !this.#isStopped;
    const wanted = this.#isStopped ? [] : this.#sentences();
    this.requests.keep(wanted);
    this.requests.translate(wanted);
    this.#draw();
  }

  #openMenu(place) {
    const { text } = this.source.sentences[place[0]];
    if (this.translations.of(text) === undefined) return;
    const prefix = this.target.before(place).trimEnd();
    const word = this.target.words[place[0]][place[1]];
    this.menu.open(word, prefix, this.translations.alternatives(text, prefix), (translation) => {
      this.translations.choose(text, translation);
      this.#draw();
      this.target.focus(place);
    });
    this.marks.ofTarget(place, 0);
  }

  #shown(view) {
    this.menu.close();
    if (view !== "inside") return;
    this.inside.show(this.#sentences().filter((text) => text !== "" && this.translations.of(text) !== undefined));
  }

  async #copy() {
    if (await copy(this.target.text)) part("status").textContent = say("Copied.");
    else document.getSelection().selectAllChildren(part("target"));
  }
}

function fail(error) {
  part("status").textContent = error.message;
  part("status").classList.add("error");
}

const facts = JSON.parse(part("facts").textContent);
Object.assign(PORTUGUESE, facts.portuguese);
localize();
new Page(facts);
start(part("engine").textContent, facts, part("weights").textContent).catch(fail);
