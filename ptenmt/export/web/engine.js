/** What the page asks of the model: translations of a sentence, and how it comes to them. */

import { Search } from "./search.js";
import { END, START, Tokenizer } from "./tokenizer.js";
import { Transformer, readArrays, sum } from "./transformer.js";

const PLACEHOLDERS = Array.from("❶❷❸❹❺❻❼❽❾❿"); // see ptenmt/data/placeholders.py
const SIGN = new RegExp(PLACEHOLDERS.join("|"), "gu");
const ADDRESS = /(?:https?:\/\/|www\.)[^\s<>"“”«»]*[\p{L}\p{N}/]|[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/;
const NUMBER = /(?<![\p{L}\p{N}])\p{Sc}?\d+(?:[.,:/–-]?\d+)*%?(?![\p{L}\p{N}])/u;
const KEPT = new RegExp(`${ADDRESS.source}|${NUMBER.source}`, "gu");
const TOO_LONG = "This sentence is too long for that.";
const CLAUSE_END = /[,;:.!?…)–—]\s+|\s+/g;

export class Engine {
  #misplaced = new Set(); // sentences whose signs the model loses or repeats: it reads them as they are

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

  /**
   * Translate a sentence: yields what there is of the translation, and returns it. Addresses and numbers stay as they
   * are, if the model was trained to place them.
   */
  *translate(sentence, beamSize) {
    if (!/\p{L}/u.test(sentence.replace(KEPT, ""))) return sentence;
    this.#misplaced.delete(sentence);
    const { masked, restore } = this.#mask(sentence);
    const found = yield* this.#translate(masked, beamSize, restore);
    const isPlaced = (sign) => found.split(sign).length === masked.split(sign).length;
    if (masked === sentence || PLACEHOLDERS.every(isPlaced)) return restore(found);
    this.#misplaced.add(sentence);
    return yield* this.#translate(sentence, beamSize, (text) => text);
  }

  /**
   * A sentence as the model reads it, with signs in place of addresses and numbers.
   *
   * @returns {{masked: string, mask: (text: string) => string, restore: (text: string) => string}} The sentence, and
   *   functions that put in signs and take them out of its translation.
   */
  #mask(sentence) {
    const canMask = this.facts.placeholders && sentence.search(SIGN) < 0 && !this.#misplaced.has(sentence);
    const parts = [...new Set(sentence.match(KEPT))];
    const kept = canMask && parts.length <= PLACEHOLDERS.length ? parts : [];
    const mask = (text) => text.replace(KEPT, (part) => PLACEHOLDERS[kept.indexOf(part)] ?? part);
    const restore = (text) => text.replace(SIGN, (sign) => kept[PLACEHOLDERS.indexOf(sign)] ?? sign);
    return { masked: mask(sentence), mask, restore };
  }

  /** Translate a text, or its halves if it is too long for the model. */
  *#translate(text, beamSize, restore) {
    const ids = this.#framed(text);
    const characters = Array.from(text);
    if (ids.length <= this.facts.model.max_positions || characters.length < 2) {
      const steps = this.search.steps(ids, { beamSize });
      let step = steps.next();
      for (; !step.done; step = steps.next()) yield restore(this.target.decode(step.value));
      return this.target.decode(step.value.ids);
    }
    const middle = characters.slice(0, Math.ceil(characters.length / 2)).join("").length;
    const ends = Array.from(text.matchAll(CLAUSE_END), (found) => found.index + found[0].length);
    const inside = ends.filter((end) => end < text.length);
    const isNearer = (end, best) => Math.abs(end - middle) < Math.abs(best - middle);
    const half = inside.length ? inside.reduce((best, end) => (isNearer(end, best) ? end : best)) : middle;
    const first = yield* this.#translate(text.slice(0, half), beamSize, restore);
    const second = yield* this.#translate(text.slice(half), beamSize, (rest) => restore(`${first} ${rest}`));
    return `${first} ${second}`;
  }

  /** Which tokens of a sentence those of its translation come from, as `alignWords` takes it. */
  align(sentence, translation) {
    const layer = `decoder_layer${this.facts.alignment_layer}_block2`;
    const { masked, mask, restore } = this.#mask(sentence);
    const [source, target] = [this.source.encode(masked), this.target.encode(mask(translation))];
    const heads = this.attention(sentence, translation).weights[layer];
    const marks = Number(this.facts.model.source_marks === "both");
    return {
      source_words: surfaces(source).map(restore),
      target_words: surfaces(target).map(restore),
      weights: target.map((_, row) => source.map((_token, column) => sum(heads.map((head) => head[row][marks + column])))),
    };
  }

  /** Whole translations with other words after a prefix: {text, probability}. */
  alternatives(sentence, prefix, count) {
    const { masked, mask, restore } = this.#mask(sentence);
    const ids = this.target.encode(mask(prefix)).map(({ id }) => id);
    const decode = (tokens) => this.target.decode(tokens);
    const rest = (tokens) => restore(decode(tokens).slice(decode(ids).length));
    return this.search
      .alternatives(this.#fitting(masked), ids, count, decode)
      .map((found) => ({ text: prefix + rest(found.ids), probability: found.probability }));
  }

  /** The attention of every head, as the page's view of it takes it. */
  attention(sentence, translation) {
    const { masked, mask } = this.#mask(sentence);
    const fed = this.target.encode(mask(translation)).map(({ id }) => id);
    if (fed.length >= this.facts.model.max_positions) throw new Error(TOO_LONG);
    const source = this.#fitting(masked);
    const names = (tokenizer, ids) => ids.map((id) => tokenizer.pieces[id]);
    return {
      source_pieces: names(this.source, this.model.read(source)),
      target_pieces: names(this.target, [START, ...fed]),
      written_pieces: names(this.target, [...fed, END]),
      alignment_layer: this.facts.alignment_layer,
      weights: this.model.attention(source, [START, ...fed]),
    };
  }

  /** The ids of a source that is not too long for the model. */
  #fitting(text) {
    const ids = this.#framed(text);
    if (ids.length > this.facts.model.max_positions) throw new Error(TOO_LONG);
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
