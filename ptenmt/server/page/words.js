/** Sentences drawn as words that can be marked and found again. */

import { make } from "./elements.js";
import { splitWords } from "./texts.js";

const drawn = new WeakMap(); // container -> its sentences, as elements

/**
 * Draw sentences, {text, gap, isStale} each, with each word in an element; dots for an undefined text.
 * What is unchanged at the beginning and end of the container, which has nothing else, stays.
 *
 * @returns {HTMLElement[][]} The words' elements, a list a sentence.
 */
export function drawWords(container, sentences) {
  const old = drawn.get(container) ?? [];
  const keys = sentences.map((sentence) => JSON.stringify(sentence));
  const shorter = Math.min(old.length, keys.length);
  let [start, end] = [0, 0];
  while (start < shorter && old[start].key === keys[start]) start += 1;
  while (end < shorter - start && old.at(-1 - end).key === keys.at(-1 - end)) end += 1;
  const fresh = sentences.slice(start, keys.length - end).map((sentence, place) => draw(sentence, keys[start + place]));
  const kept = old.slice(old.length - end);
  old.slice(start, old.length - end).forEach(({ element }) => element.remove());
  fresh.forEach(({ element }) => container.insertBefore(element, kept[0]?.element ?? null));
  const all = [...old.slice(0, start), ...fresh, ...kept];
  drawn.set(container, all);
  return all.map(({ words }) => words);
}

function draw({ text, gap, isStale }, key) {
  if (text === undefined) return { key, element: make("span", { className: "waiting" }, `…${gap}`), words: [] };
  const sentence = make("span");
  let place = 0;
  const words = splitWords(text).map(({ text: word, start }) => {
    const part = make("span", { className: isStale ? "word stale" : "word" }, word);
    sentence.append(text.slice(place, start), part);
    place = start + word.length;
    return part;
  });
  sentence.append(text.slice(place));
  return { key, element: make("span", {}, sentence, gap), words };
}

const marked = new Set();

/** Mark words, each with its strength, 0 to 1. */
export function mark(words, strengths) {
  words.forEach((word, place) => {
    word.style.setProperty("--strength", strengths[place].toFixed(3));
    marked.add(word);
  });
}

/** Remove all marks. */
export function unmark() {
  marked.forEach((word) => word.style.removeProperty("--strength"));
  marked.clear();
}

/** @returns {[number, number] | null} The numbers of the sentence and of the word in it at a point of the window. */
export function wordAt(words, x, y) {
  const inside = (box) => box.left <= x && x < box.right && box.top <= y && y < box.bottom;
  for (const [sentence, elements] of words.entries()) {
    const word = elements.findIndex((element) => [...element.getClientRects()].some(inside));
    if (word >= 0) return [sentence, word];
  }
  return null;
}
