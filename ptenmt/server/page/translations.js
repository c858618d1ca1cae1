/** A cache of each sentence's translation, word alignment and attention. */

import { fetchAlignment, fetchAlternatives, fetchAttention, fetchTranslations } from "./api.js";
import { alignWords } from "./alignment.js";
import { splitWords } from "./texts.js";

const MOST_SENTENCES = 16; // per request, so that the first translations of a long text arrive soon
const REMEMBERED = 1000; // translations
const ANSWERS = 20; // an attention has all heads of all layers

export class Translations {
  #known = new Map(); // languages and sentence -> {text, detected}, the oldest first
  #answers = new Map(); // request -> promise of the alignment or attention of a sentence and its translation

  /**
   * @param {object} facts
   * @param {{source: string, target: string}} facts.languages - Their codes.
   * @param {number} facts.limit - Characters a request.
   * @param {number} facts.sentenceLimit - Sentences a request, as the server splits them: it may split one in two.
   */
  constructor({ languages, limit, sentenceLimit }) {
    this.languages = languages;
    this.limit = limit;
    this.mostSentences = Math.max(1, Math.min(MOST_SENTENCES, Math.floor(sentenceLimit / 2)));
  }

  /** @returns {string | undefined} A sentence's translation, if it is cached. */
  of(sentence) {
    return sentence === "" ? "" : this.#known.get(this.#key(sentence))?.text;
  }

  /** @returns {string | undefined} The language of sentences that are confidently identified as another one. */
  detected(sentences) {
    const found = sentences.map((sentence) => this.#known.get(this.#key(sentence))?.detected);
    const language = found.find(Boolean);
    return 2 * found.filter((each) => each === language).length > found.length ? language : undefined;
  }

  /** @returns {[string, string, object]} A sentence, its translation, and its language, as `choose` takes them. */
  known(sentence) {
    const { text, detected } = this.#known.get(this.#key(sentence)) ?? {};
    return [sentence, text, { detected }];
  }

  /** Replace the translation of a sentence. */
  choose(sentence, text, { detected } = {}) {
    this.#known.delete(this.#key(sentence));
    this.#known.set(this.#key(sentence), { text, detected });
    forgetOldest(this.#known, REMEMBERED);
  }

  /** Forget everything. */
  forget() {
    this.#known.clear();
    this.#answers.clear();
  }

  /** @returns {string[]} The first of the sentences that are not cached, as many as fit into a request. */
  missing(sentences) {
    const unknown = [...new Set(sentences)].filter((sentence) => this.of(sentence) === undefined);
    let length = 0;
    return unknown
      .slice(0, this.mostSentences)
      .filter((sentence, place) => (length += sentence.length) <= this.limit || place === 0);
  }

  /** Translate sentences in one request. */
  async translate(sentences, signal) {
    const { translatedText, detected = [] } = await fetchTranslations(sentences, this.languages, signal);
    sentences.forEach((sentence, place) => this.choose(sentence, translatedText[place], { detected: detected[place] }));
  }

  /** @returns {Promise<number[][]>} The alignment of a sentence and its translation; see `alignWords`. */
  alignment(sentence) {
    return this.#cached("alignment", sentence, async (translation) => {
      const words = splitWords(sentence);
      const alignment = await fetchAlignment(sentence, translation, this.languages);
      return alignWords(words, splitWords(translation), alignment);
    });
  }

  /** @returns {Promise<object>} The attention of every head; see `fetchAttention`. */
  attention(sentence) {
    return this.#cached("attention", sentence, (translation) => fetchAttention(sentence, translation, this.languages));
  }

  /** @returns {Promise<{text: string, probability: number}[]>} Whole translations with other words after a prefix. */
  async alternatives(sentence, prefix) {
    const found = await fetchAlternatives(sentence, prefix, this.languages);
    const texts = found.map(({ text }) => text);
    return found.filter(({ text }, place) => text !== this.of(sentence) && texts.indexOf(text) === place);
  }

  #key(sentence) {
    return `${this.languages.source} ${this.languages.target} ${sentence}`;
  }

  /** The cached answer, or that of a new request; failures are not cached. */
  #cached(kind, sentence, send) {
    const translation = this.of(sentence);
    const key = JSON.stringify([kind, this.#key(sentence), translation]);
    if (!this.#answers.has(key)) {
      const answer = send(translation);
      answer.catch(() => this.#answers.delete(key));
      this.#answers.set(key, answer);
      forgetOldest(this.#answers, ANSWERS);
    }
    return this.#answers.get(key);
  }
}

function forgetOldest(map, most) {
  if (map.size > most) map.delete(map.keys().next().value);
}
