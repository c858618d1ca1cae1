/**
 * Greedy and beam search for one sentence, as ptenmt/translation/search.py has them for many.
 *
 * A hypothesis is {ids, total, score}: the tokens after [START], the sum of their log-probabilities, and that sum
 * divided by length ** length penalty.
 */

import { END, START } from "./tokenizer.js";

const LIMIT_STEP = 8; // see DecodingConfig.max_length_for
const TOKENS_PER_ALTERNATIVE = 4; // some only continue a word
const LEAST_SHARE = 0.01; // of an alternative, in the probability of the best one

export class Search {
  /**
   * @param {import("./transformer.js").Transformer} model
   * @param {object} options
   * @param {number | null} options.max_length - The most tokens; null: it grows with the source.
   * @param {number} options.length_penalty
   * @param {boolean[]} allowed - For each token, whether it may be generated.
   */
  constructor(model, options, allowed) {
    Object.assign(this, { model, options, allowed });
  }

  /** The best translation of a source, as `steps` searches for it. */
  translate(source, how) {
    const steps = this.steps(source, how);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  /**
   * Search for the translation of a source, ids from [START] to [END]: yields the ids of the best hypothesis so far
   * after each token, and returns the best hypothesis.
   *
   * @param {object} how
   * @param {number} how.beamSize - The beam width; 1: greedy search.
   * @param {number[]} [how.prefix] - What the translation starts with.
   */
  *steps(source, { beamSize, prefix = [] }) {
    const limit = this.#limit(source.length) + prefix.length;
    let state = this.#begin(source, prefix);
    let beams = [{ ids: prefix, total: 0 }];
    const found = [];
    let hasBestEnded = false;
    for (let length = prefix.length + 1; ; length += 1) {
      const candidates = this.#expand(beams, state, 2 * beamSize);
      const isLast = length >= Math.min(limit, this.model.config.max_positions);
      const others = candidates.slice(beamSize).filter(({ ids }) => ids.at(-1) !== END);
      const kept = [];
      for (const candidate of candidates.slice(0, beamSize)) {
        const isFound = isLast || candidate.ids.at(-1) === END;
        if (isFound) found.push({ ...candidate, score: candidate.total / length ** this.options.length_penalty });
        kept.push((isFound && others.shift()) || candidate);
      }
      hasBestEnded ||= candidates[0].ids.at(-1) === END;
      const isSure = this.options.length_penalty === 0 ? hasBestEnded && found.length > 0 : found.length >= beamSize;
      if (isLast || isSure) return found.reduce((best, each) => (each.score > best.score ? each : best));
      yield kept[0].ids;
      state = this.model.select(state, kept.map(({ beam }) => beam));
      beams = kept;
    }
  }

  /**
   * The most probable tokens after a prefix that begin a word, and how each goes on.
   *
   * @param {(ids: number[]) => string} decode - Decodes ids.
   * @returns {{ids: number[], probability: number}[]} The most probable token first, [END] not among them.
   */
  alternatives(source, prefix, count, decode) {
    const [logits] = this.#logits(this.#begin(source, prefix), [prefix.at(-1) ?? START]);
    const others = this.allowed.map((isAllowed, id) => isAllowed && id !== END);
    const before = decode(prefix);
    const beginsWord = ({ id }) => !/[\p{L}\p{N}]$/u.test(before) || !/^[\p{L}\p{N}]/u.test(decode([...prefix, id]).slice(before.length));
    const ranked = rank(logits, others, TOKENS_PER_ALTERNATIVE * count).filter(beginsWord).slice(0, count);
    return ranked
      .filter(({ logProb }) => logProb >= ranked[0].logProb + Math.log(LEAST_SHARE))
      .map(({ id, logProb }) => {
        const { ids } = this.translate(source, { beamSize: 1, prefix: [...prefix, id] });
        return { ids, probability: Math.exp(logProb) };
      });
  }

  #limit(numSourceTokens) {
    return this.options.max_length ?? 2 * LIMIT_STEP * Math.ceil(numSourceTokens / LIMIT_STEP) + 20;
  }

  /** The state that has read all of [START] and a prefix but the last. */
  #begin(source, prefix) {
    const state = this.model.start(source);
    for (const token of [START, ...prefix].slice(0, -1)) this.model.step([token], state);
    return state;
  }

  #logits(state, tokens) {
    return this.model.project(this.model.step(tokens, state).hidden);
  }

  /** The most probable continuations of all beams, the best first: {ids, total, beam}, the beam that each continues. */
  #expand(beams, state, count) {
    const logits = this.#logits(state, beams.map(({ ids }) => ids.at(-1) ?? START));
    const candidates = beams.flatMap(({ ids, total }, beam) =>
      rank(logits[beam], this.allowed, count).map(({ id, logProb }) => ({ ids: [...ids, id], total: total + logProb, beam })),
    );
    return candidates.sort((one, other) => other.total - one.total).slice(0, count); // it is stable
  }
}

/** The most probable allowed tokens, best first: {id, logProb}; of equal ones the lower id first. */
function rank(logits, allowed, count) {
  const best = [];
  let least = -Infinity; // of the best
  for (let id = 0; id < logits.length; id += 1) {
    const logit = logits[id];
    if (!allowed[id] || logit <= least) continue;
    let place = best.length;
    while (place > 0 && logit > logits[best[place - 1]]) place -= 1;
    best.splice(place, 0, id);
    best.length = Math.min(best.length, count);
    if (best.length === count) least = logits[best[count - 1]];
  }
  const total = logSum(logits, allowed, logits[best[0]]);
  return best.map((id) => ({ id, logProb: logits[id] - total }));
}

/** log Σ exp of the allowed logits, given the largest. */
function logSum(logits, allowed, largest) {
  let total = 0;
  for (let id = 0; id < logits.length; id += 1) if (allowed[id]) total += Math.exp(logits[id] - largest);
  return largest + Math.log(total);
}
