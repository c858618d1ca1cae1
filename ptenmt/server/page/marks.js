/** Marks on the words that are aligned with the one at the pointer, on both sides. */

import { mark, unmark } from "./words.js";

const RESTING = 100; // milliseconds that the pointer rests on a word

export class Marks {
  #timer = 0;

  /** Takes a `SourcePane`, a `TargetPane` and the `Translations`. */
  constructor(source, target, translations) {
    Object.assign(this, { source, target, translations });
  }

  /** Mark a word of the translation, [sentence, word], and those that it is aligned with; for null, mark nothing. */
  ofTarget(place, pause = RESTING) {
    this.#align(place, pause, (alignment, [sentence, word]) => {
      mark(this.source.words[sentence], alignment[word]);
      mark([this.target.words[sentence][word]], [1]);
    });
  }

  /** Mark a word of the source and those that are aligned with it. */
  ofSource(place) {
    this.#align(place, RESTING, (alignment, [sentence, word]) => {
      const column = alignment.map((row) => row[word]);
      mark(this.target.words[sentence], column);
      mark([this.source.words[sentence][word]], [1]);
    });
  }

  #align(place, pause, show) {
    clearTimeout(this.#timer);
    unmark();
    const sentence = place && this.source.sentences[place[0]]?.text;
    if (!sentence || this.translations.of(sentence) === undefined) return;
    const timer = (this.#timer = setTimeout(async () => {
      const alignment = await this.translations.alignment(sentence).catch(() => null); // it may be too long
      const isOutdated = timer !== this.#timer || sentence !== this.source.sentences[place[0]]?.text;
      if (alignment && !isOutdated) show(alignment, place);
    }, pause));
  }
}
