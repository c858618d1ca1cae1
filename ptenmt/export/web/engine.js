/** What the page asks of the model: translations of a sentence, and how it comes to them. */

import { Search } from "./search.js";
import { END, START, Tokenizer } from "./tokenizer.js";
import { Transformer, readArrays, sum } from "./transformer.js";

const PLACEHOLDERS = Array.from("❶❷❸❹❺❻❼❽❾❿"); // see ptenmt/data/placeholders.py
const ADDRESS = /(?:https?:\/\/|www\.)[^\s<>"“”«»]*[\p{L}\p{N}/]|[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/;
const NUMBER = /(?<![\p{L}\p{N}])\p{Sc}?\d+(?:[.,:/–-]?\d+)*%?(?![\p{L}\p{N}])/u;
const KEPT = new RegExp(`${ADDRESS.source}|${NUMBER.source}`, "gu");
const CLAUSE_END = /[,;:.!?…)–—]\s+|\s+/g;

export class Engine {
  /** See `model_parts` in web_page.py for the facts, and `readArrays` for the bytes. */
  constructor(facts, bytes) {
    const arrays = readArrays(bytes, facts.index, facts.aliases);
    [this.source, this.target = this.source] = facts.tokenizers.map(
      (own, place) => new Tokenizer({ ...own, ...facts.preparation, scores: arrays[`scores${place}`].data }),
    );
    const never = new Set(facts.never);
    this.facts = facts;
    this.model = new Transformer(facts.model, arrays);
    this.search = new Search(this.model, facts.decoding, this.target.pieces.map((_, id) => !never.has(id)));
  }

  /** A sentence's translation. Addresses and numbers stay as they are, if the model was trained to place them. */
  translate(sentence, beamSize, onText = () => {}) {
    if (!/\p{L}/u.test(sentence.replace(KEPT, ""))) return sentence;
    const kept = [...new Set(sentence.match(KEPT))];
    if (this.facts.placeholders && kept.length > 0 && kept.length <= PLACEHOLDERS.length) {
      const masked = sentence.replace(KEPT, (part) => PLACEHOLDERS[kept.indexOf(part)]);
      const restore = (text) => text.replace(/[❶-❿]/gu, (sign) => kept[PLACEHOLDERS.indexOf(sign)] ?? "");
      const found = this.#translate(masked, beamSize, (text) => onText(restore(text)));
      if (PLACEHOLDERS.every((sign) => found.split(sign).length === masked.split(sign).length)) return restore(found);
    }
    return this.#translate(sentence, beamSize, onText);
  }

  /** A text's translation, or that of its halves if it is too long for the model. */
  #translate(text, beamSize, onText) {
    const ids = this.#framed(text);
    if (ids.length <= this.facts.model.max_positions || text.length < 2) {
      const onTokens = (tokens) => onText(this.target.decode(tokens));
      return this.target.decode(this.search.translate(ids, { beamSize, onTokens }).ids);
    }
    const middle = text.length / 2;
    const ends = Array.from(text.matchAll(CLAUSE_END), (found) => found.index + found[0].length);
    const isNearer = (end, best) => Math.abs(end - middle) < Math.abs(best - middle);
    const half = ends.reduce((best, end) => (isNearer(end, best) ? end : best), 0) % text.length || Math.ceil(middle);
    const first = this.#translate(text.slice(0, half), beamSize, onText);
    return `${first} ${this.#translate(text.slice(half), beamSize, (rest) => onText(`${first} ${rest}`))}`;
  }

  /** Which tokens of a sentence those of its translation come from, as `alignWords` takes it. */
  align(sentence, translation) {
    const layer = `decoder_layer${this.facts.alignment_layer}_block2`;
    const [source, target] = [this.source.encode(sentence), this.target.encode(translation)];
    const heads = this.#attention(sentence, translation)[layer];
    const marks = Number(this.facts.model.source_marks === "both");
    return {
      source_words: surfaces(source),
      target_words: surfaces(target),
      weights: target.map((_, row) => source.map((_token, column) => sum(heads.map((head) => head[row][marks + column])))),
    };
  }

  /** Whole translations with other words after a prefix: {text, probability}. */
  alternatives(sentence, prefix, count) {
    const ids = this.target.encode(prefix).map(({ id }) => id);
    const decode = (tokens) => this.target.decode(tokens);
    const rest = (tokens) => decode(tokens).slice(decode(ids).length);
    return this.search
      .alternatives(this.#fitting(sentence), ids, count, decode)
      .map((found) => ({ text: prefix + rest(found.ids), probability: found.probability }));
  }

  /** The attention of every head, as the page's view of it takes it. */
  attention(sentence, translation) {
    const fed = this.target.encode(translation).map(({ id }) => id);
    const names = (tokenizer, ids) => ids.map((id) => tokenizer.pieces[id]);
    return {
      source_pieces: names(this.source, this.model.read(this.#framed(sentence))),
      target_pieces: names(this.target, [START, ...fed]),
      written_pieces: names(this.target, [...fed, END]),
      alignment_layer: this.facts.alignment_layer,
      weights: this.#attention(sentence, translation),
    };
  }

  #attention(sentence, translation) {
    const fed = [START, ...this.target.encode(translation).map(({ id }) => id)];
    if (fed.length > this.facts.model.max_positions) throw new Error("This sentence is too long for that.");
    return this.model.attention(this.#fitting(sentence), fed);
  }

  #fitting(sentence) {
    const ids = this.#framed(sentence);
    if (ids.length > this.facts.model.max_positions) throw new Error("This sentence is too long for that.");
    return ids;
  }

  /** The ids of a source, from [START] to [END]. */
  #framed(text) {
    return [START, ...this.source.encode(text).map(({ id }) => id), END];
  }
}

/** The texts of tokens, which joined are the text. */
function surfaces(tokens) {
  return tokens.map(({ piece }, place) => piece.replaceAll("▁", place ? " " : ""));
}
