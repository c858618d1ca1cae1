/** Which words of a sentence a word of its translation comes from. */

/**
 * Align words as they are shown.
 *
 * @param {{text: string, start: number}[]} source - The sentence's words.
 * @param {{text: string, start: number}[]} target - Its translation's words.
 * @param {{source_words: string[], target_words: string[], weights: number[][]}} alignment - As the server gives
 *   it; its words, joined, are the texts.
 * @returns {number[][]} A row a target word, a column a source word: 1 for the one with the largest weight.
 */
export function alignWords(source, target, alignment) {
  const rows = overlaps(target, alignment.target_words);
  const columns = overlaps(source, alignment.source_words);
  const share = (row, column) =>
    sum(rows[row].flatMap((from) => columns[column].map((to) => alignment.weights[from][to])));
  return target.map((_, row) => relative(source.map((_, column) => share(row, column))));
}

/** For each word, which of the server's words it shares characters with. */
function overlaps(words, others) {
  let place = 0;
  const spans = others.map((text) => ({ start: place, end: (place += text.length) }));
  return words.map(({ text, start }) =>
    spans.flatMap((span, number) => (span.start < start + text.length && start < span.end ? [number] : [])),
  );
}

/** Shares relative to the largest. */
function relative(shares) {
  const largest = Math.max(...shares);
  return largest > 0 ? shares.map((share) => share / largest) : shares;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
