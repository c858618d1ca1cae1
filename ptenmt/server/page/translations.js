/** A cache of each sentence's translation, word alignment and attention. */

import * as api from "./api.js";
import { alignWords } from "./alignment.js";
import { splitWords } from "./texts.js";

const MOST_SENTENCES = 16; // per request, so that the first translations of a long text arrive soon
const REMEMBERED = 1000;

export class Translations {
  #translations = new Map(); // sentence -> translation, the oldest first
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
    return sentence === "" ? "" : this.#translations.get(sentence);
  }

  /** Replace the translation of a sentence. */
  choose(sentence, translation) {
    this.#translations.delete(sentence);
    this.#translations.set(sentence, translation);
    forgetOldest(this.#translations);
  }

  /**
   * Translate the sentences that are not cached.
   *
   * @param {string[]} sentences
   * @param {AbortSignal} signal
   * @param {() => void} onSome - Called whenever some are translated.
   */
  async translate(sentences, signal, onSome) {
    const unknown = [...new Set(sentences)].filter((sentence) => this.of(sentence) === undefined);
    for (const batch of batches(unknown, this.limit, this.mostSentences)) {
      const found = await api.translate(batch, this.languages, signal);
      batch.forEach((sentence, place) => this.choose(sentence, found[place]));
      onSome();
    }
  }

  /** @returns {Promise<number[][]>} The alignment of a sentence and its translation; see `alignWords`. */
  alignment(sentence) {
    return this.#cached("alignment", sentence, async (translation) => {
      const words = splitWords(sentence);
      return alignWords(words, splitWords(translation), await api.alignment(sentence, translation));
    });
  }

  /** @returns {Promise<object>} The attention of every head; see `api.attention`. */
  attention(sentence) {
    return this.#cached("attention", sentence, (translation) => api.attention(sentence, translation));
  }

  /**
   * Find next-token alternatives.
   *
   * @param {string} sentence
   * @param {string} prefix - The target prefix.
   * @returns {Promise<string[]>} Whole translations, without the current one.
   */
  async alternatives(sentence, prefix) {
    const found = await api.alternatives(sentence, prefix);
    return [...new Set(found)].filter((translation) => translation !== this.of(sentence));
  }

  /** The cached answer, or that of a new request; failures are not cached. */
  #cached(kind, sentence, send) {
    const translation = this.of(sentence);
    const key = JSON.stringify([kind, sentence, translation]);
    if (!this.#answers.has(key)) {
      const answer = send(translation);
      answer.catch(() => this.#answers.delete(key));
      this.#answers.set(key, answer);
      forgetOldest(this.#answers);
    }
    return this.#answers.get(key);
  }
}

/** Sentences in requests that are not too large. */
function* batches(sentences, limit, mostSentences) {
  let batch = [];
  let length = 0;
  for (const sentence of sentences) {
    if (batch.length === mostSentences || (batch.length && length + sentence.length > limit)) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(sentence);
    length += sentence.length;
  }
  if (batch.length) yield batch;
}

function forgetOldest(map) {
  if (map.size > REMEMBERED) map.delete(map.keys().next().value);
}
