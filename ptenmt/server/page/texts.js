/** Texts as sentences, and sentences as words, without losing a character. */

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’\-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]+/gu;
const ABBREVIATION = /(?:^|[\s(])(?:\p{Lu}|dra?|sra?|srs|srta|profa?|eng|d|exm[oa]|av|n|núm|pág|vol|cap|fig)\.$/iu;

/**
 * Split a text in a language, such as "pt", into sentences.
 *
 * @returns {{text: string, gap: string}[]} Each sentence, and the white space after it; at the beginning of
 *   the text an empty sentence, if there is white space.
 */
export function splitSentences(text, language) {
  const sentences = [];
  for (const piece of segments(text, language)) {
    const sentence = piece.trimEnd();
    const gap = piece.slice(sentence.length);
    const last = sentences.at(-1);
    if (last && (sentence === "" || isUnfinished(last))) {
      last.text = sentence === "" ? last.text : last.text + last.gap + sentence;
      last.gap = sentence === "" ? last.gap + gap : gap;
    } else {
      sentences.push({ text: sentence.trimStart(), gap, before: leading(sentence) });
    }
  }
  return withoutLeadingBlanks(sentences);
}

function segments(text, language) {
  const segmenter = new Intl.Segmenter(language, { granularity: "sentence" });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** Whether the period at its end belongs to an abbreviation. */
function isUnfinished(sentence) {
  return !sentence.gap.includes("\n") && ABBREVIATION.test(sentence.text);
}

function leading(sentence) {
  return sentence.slice(0, sentence.length - sentence.trimStart().length);
}

function withoutLeadingBlanks(sentences) {
  return sentences.flatMap(({ text, gap, before }) => [
    ...(before ? [{ text: "", gap: before }] : []),
    { text, gap },
  ]);
}

/** @returns {{text: string, start: number}[]} The words of a text; marks stand for themselves. */
export function splitWords(text) {
  return Array.from(text.matchAll(WORD), (found) => ({ text: found[0], start: found.index }));
}
