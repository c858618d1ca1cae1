/** The engine's thread: answers the page's messages, one at a time. */

import { Search } from "./search.js";
import { END, START, Tokenizer, UNK } from "./tokenizer.js";
import { Transformer, readArrays } from "./transformer.js";

const PLACEHOLDERS = Array.from("❶❷❸❹❺❻❼❽❾❿");
const KEPT = /(?:https?:\/\/|www\.)[^\s<>"“”«»]*[\p{L}\p{N}/]|[\w.%+-]+@[\w-]+(?:\.[\w-]+)+|\p{Sc}?\d+(?:[.,:/–-]?\d+)*%?/gu;
const CLAUSE_END = /[,;:.!?…)–—]\s|\s/g;

/** Translates a sentence at a time. */
export class Engine {
  /** See `web_page.py` for the facts, and `readArrays` for the bytes. */
  constructor(facts, bytes) {
    const arrays = readArrays(bytes, facts.index, facts.aliases);
    [this.source, this.target = this.source] = facts.tokenizers.map(
      (own, place) => new Tokenizer({ ...own, ...facts.preparation, scores: arrays[`scores${place}`].data }),
    );
    const never = new Set(facts.never);
    this.model = new Transformer(facts.model, arrays);
    this.search = new Search(this.model, facts.decoding, this.target.pieces.map((_, id) => !never.has(id)));
    this.facts = facts;
  }

  /** A sentence's translation; `onText` is called with what there is of it. */
  translate(text, beamSize, onText = () => {}) {
    if (!/\p{L}/u.test(text.replace(KEPT, ""))) return text;
    const kept = [...new Set(text.match(KEPT))];
    const { placeholders } = this.facts;
    if (!placeholders || kept.length === 0 || kept.length > PLACEHOLDERS.length) return this.#parts(text, beamSize, onText);
    const masked = this.#parts(text.replace(KEPT, (each) => PLACEHOLDERS[kept.indexOf(each)]), beamSize, () => {});
    const isWhole = kept.every((_, place) => masked.split(PLACEHOLDERS[place]).length === 2);
    if (!isWhole) return this.#parts(text, beamSize, onText);
    return kept.reduce((result, each, place) => result.replace(PLACEHOLDERS[place], () => each), masked);
  }

  /** A translation of the text, or of its halves if it is too long for the model. */
  #parts(text, beamSize, onText) {
    const ids = this.framed(text);
    if (ids.length <= this.facts.model.max_positions || text.length < 2) {
      const onTokens = (tokens) => onText(this.target.decode(tokens));
      return this.target.decode(this.search.translate(ids, { beamSize, onTokens }).ids);
    }
    const middle = text.length / 2;
    const ends = [...text.matchAll(CLAUSE_END)].map((found) => found.index + found[0].length);
    const place = ends.reduce((best, end) => (Math.abs(end - middle) < Math.abs(best - middle) ? end : best), Infinity);
    const half = place > 0 && place < text.length ? place : Math.ceil(middle);
    const first = this.#parts(text.slice(0, half).trimEnd(), beamSize, onText);
    return `${first} ${this.#parts(text.slice(half), beamSize, (rest) => onText(`${first} ${rest}`))}`;
  }

  /** The ids of a source, from [START] to [END]. */
  framed(text) {
    return [START, ...this.source.encode(text).map(({ id }) => id), END];
  }
}
