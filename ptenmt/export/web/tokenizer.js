/** SentencePiece's Unigram segmentation: a text becomes the most probable sequence of sub-words, by Viterbi. */

export const [PAD, UNK, START, END] = [0, 1, 2, 3];
const SPACE = "▁"; // marks a space before a sub-word
const UNKNOWN_PENALTY = 10; // how much less likely than the rarest sub-word a character is that none spells
const NOT_TYPED = /[\0-\x1f\x7f-\x9f\ufeff\ud800-\udfff]/gu; // control characters, halves of surrogate pairs
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ue000-\uf8ff]/gu;

export class Tokenizer {
  #ids = new Map(); // sub-word -> id
  #longest = 0; // characters of a sub-word

  /**
   * @param {object} facts
   * @param {string[]} facts.pieces - The token of each id; the four special ones are first.
   * @param {Float32Array} facts.scores - The log-probability of each.
   * @param {number[]} facts.symbols - Tokens that are taken wherever they occur.
   * @param {string} facts.normalization - "NFC", "NFKC" or "none".
   * @param {boolean} facts.lowercase - Whether the model reads lower case only.
   */
  constructor({ pieces, scores, symbols, normalization, lowercase }) {
    Object.assign(this, { pieces, normalization, lowercase });
    this.scores = Float64Array.from(scores);
    const ordinary = pieces.map((_, id) => id).filter((id) => id > END && !symbols.includes(id));
    this.unknownScore = Math.fround(Math.min(...ordinary.map((id) => scores[id])) - UNKNOWN_PENALTY);
    for (const id of symbols) this.scores[id] = -0.1;
    for (const id of [...ordinary, ...symbols]) this.#ids.set(pieces[id], id);
    for (const piece of this.#ids.keys()) this.#longest = Math.max(this.#longest, Array.from(piece).length);
  }

  /** A text as the training corpus has it: composed accents, single spaces, lower case if all of it is. */
  prepare(text) {
    let prepared = text.replace(NOT_TYPED, " ");
    if (this.normalization !== "none") prepared = prepared.normalize(this.normalization);
    prepared = prepared.trim().replace(/\s+/gu, " ");
    if (this.lowercase) prepared = prepared.toLowerCase();
    return prepared.normalize("NFC").replace(INVISIBLE, "").trim().replace(/ +/g, " ");
  }

  /** @returns {{id: number, piece: string}[]} The sub-words of a text, without [START] and [END]. */
  encode(text) {
    const prepared = this.prepare(text);
    const spaced = (prepared && SPACE + prepared).replaceAll(" ", SPACE).replace(/▁+$/, "");
    const characters = Array.from(spaced);
    const tokens = [];
    for (const { id, from, to } of this.#bestPath(characters)) {
      const piece = characters.slice(from, to).join("");
      if (id === UNK && tokens.at(-1)?.id === UNK) tokens.at(-1).piece += piece; // one [UNK] for several in a row
      else tokens.push({ id, piece });
    }
    return tokens;
  }

  /** The best segmentation: for each end, the best last token and where it begins; then back from the end. */
  #bestPath(characters) {
    const best = new Float32Array(characters.length + 1); // as SentencePiece rounds them
    const last = new Array(characters.length + 1).fill(null);
    const offer = (id, from, to, score) => {
      const total = Math.fround(best[from] + score);
      if (last[to] !== null && total <= best[to]) return;
      best[to] = total;
      last[to] = { id, from, to };
    };
    for (let from = 0; from < characters.length; from += 1) {
      if (!this.#ids.has(characters[from])) offer(UNK, from, from + 1, this.unknownScore);
      let piece = "";
      for (let to = from + 1; to <= Math.min(from + this.#longest, characters.length); to += 1) {
        piece += characters[to - 1];
        const id = this.#ids.get(piece);
        if (id !== undefined) offer(id, from, to, this.scores[id]);
      }
    }
    const path = [];
    for (let place = characters.length; place > 0; place = last[place].from) path.unshift(last[place]);
    return path;
  }

  /** The text of ids. */
  decode(ids) {
    let text = "";
    for (const id of ids) {
      if (id === PAD || id === START || id === END) continue;
      const piece = this.pieces[id];
      text += (text === "" && piece.startsWith(SPACE) ? piece.slice(1) : piece).replaceAll(SPACE, " ");
    }
    return text;
  }
}
