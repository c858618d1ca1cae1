/** What is known of each sentence: its translation, how its words are aligned, and how its pieces attend. */

import * as api from "./api.js";
import { alignWords } from "./alignment.js";
import { cutWords } from "./texts.js";

const MOST_SENTENCES = 16; // a request: so the first translations of a long text are there soon
const REMEMBERED = 1000;

export class Translations {
  #translations = new Map(); // sentence -> translation, the oldest first
  #answers = new Map(); // question -> promise of what was learnt about a sentence and its translation

  /**
   * @param {object} facts
   * @param {{source: string, target: string}} facts.languages - Their codes.
   * @param {number} facts.limit - Characters a request.
   * @param {number} facts.sentenceLimit - Sentences a request, as the server cuts them, which may cut one in two.
   */
  constructor({ languages, limit, sentenceLimit }) {
    this.languages = languages;
    this.limit = limit;
    this.mostSentences = Math.max(1, Math.min(MOST_SENTENCES, Math.floor(sentenceLimit / 2)));
  }

  /** @returns {string | undefined} A sentence's translation, if it is known. */
  of(sentence) {
    return sentence === "" ? "" : this.#translations.get(sentence);
  }

  /** Take another translation of a sentence. */
  choose(sentence, translation) {
    this.#translations.delete(sentence);
    this.#translations.set(sentence, translation);
    forgetOldest(this.#translations);
  }

  /**
   * Translate what is not known yet.
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

  /** @returns {Promise<number[][]>} How a sentence's translation comes from its words; see `alignWords`. */
  alignment(sentence) {
    return this.#learnt("alignment", sentence, async (translation) => {
      const words = cutWords(sentence);
      return alignWords(words, cutWords(translation), await api.alignment(sentence, translation));
    });
  }

  /** @returns {Promise<object>} The attention of every head; see `api.attention`. */
  attention(sentence) {
    return this.#learnt("attention", sentence, (translation) => api.attention(sentence, translation));
  }

  /**
   * Find other ways to go on.
   *
   * @param {string} sentence
   * @param {string} prefix - How its translation begins.
   * @returns {Promise<string[]>} Whole translations, without the one that is shown.
   */
  async branches(sentence, prefix) {
    const found = await api.branches(sentence, prefix);
    return [...new Set(found)].filter((translation) => translation !== this.of(sentence));
  }

  /** Ask once; again only if it failed. */
  #learnt(kind, sentence, ask) {
    const translation = this.of(sentence);
    const question = JSON.stringify([kind, sentence, translation]);
    if (!this.#answers.has(question)) {
      const answer = ask(translation);
      answer.catch(() => this.#answers.delete(question));
      this.#answers.set(question, answer);
      forgetOldest(this.#answers);
    }
    return this.#answers.get(question);
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
