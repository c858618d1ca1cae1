/** Sentences drawn as words that can be marked and found again. */

import { splitWords } from "./texts.js";

/**
 * Draw texts, each word in an element of its own.
 *
 * @param {Element} container - Its content is replaced.
 * @param {{text: string | undefined, gap: string, isStale?: boolean}[]} sentences - An undefined text is shown as dots.
 * @returns {HTMLElement[][]} The words' elements, a list a sentence.
 */
export function drawWords(container, sentences) {
  const drawn = sentences.map((each) => (each.text === undefined ? waiting(each.gap) : sentence(each)));
  container.replaceChildren(...drawn.flatMap(({ nodes }) => nodes));
  return drawn.map(({ words }) => words);
}

function waiting(gap) {
  const dots = document.createElement("span");
  dots.className = "waiting";
  dots.textContent = "…";
  return { nodes: [dots, gap], words: [] };
}

function sentence({ text, gap, isStale }) {
  const nodes = [];
  const words = [];
  let place = 0;
  for (const { text: word, start } of splitWords(text)) {
    const element = document.createElement("span");
    element.className = isStale ? "word stale" : "word";
    element.textContent = word;
    nodes.push(text.slice(place, start), element);
    words.push(element);
    place = start + word.length;
  }
  nodes.push(text.slice(place) + gap);
  return { nodes, words };
}

/** Mark words, each with its strength, 0 to 1. */
export function mark(words, strengths) {
  words.forEach((word, place) => word.style.setProperty("--strength", strengths[place].toFixed(3)));
}

/** Remove all marks. */
export function unmark(words) {
  words.flat().forEach((word) => word.style.removeProperty("--strength"));
}

/**
 * Find the word at a point of the window.
 *
 * @returns {[number, number] | null} The numbers of its sentence and of the word in it.
 */
export function wordAt(words, x, y) {
  const inside = (box) => box.left <= x && x < box.right && box.top <= y && y < box.bottom;
  for (const [sentence, elements] of words.entries()) {
    const word = elements.findIndex((element) => [...element.getClientRects()].some(inside));
    if (word >= 0) return [sentence, word];
  }
  return null;
}
