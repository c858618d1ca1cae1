/** Sentences drawn as words that can be marked and found again. */

import { cutWords } from "./texts.js";

/**
 * Draw texts, each word in an element of its own.
 *
 * @param {Element} container - What was in it goes.
 * @param {{text: string | undefined, gap: string}[]} sentences - A text that is not known yet is shown as dots.
 * @returns {HTMLElement[][]} The words' elements, a list a sentence.
 */
export function drawWords(container, sentences) {
  const drawn = sentences.map(({ text, gap }) => (text === undefined ? waiting(gap) : sentence(text, gap)));
  container.replaceChildren(...drawn.flatMap(({ nodes }) => nodes));
  return drawn.map(({ words }) => words);
}

function waiting(gap) {
  const dots = document.createElement("span");
  dots.className = "waiting";
  dots.textContent = "…";
  return { nodes: [dots, gap], words: [] };
}

function sentence(text, gap) {
  const nodes = [];
  const words = [];
  let place = 0;
  for (const { text: word, start } of cutWords(text)) {
    const element = document.createElement("span");
    element.className = "word";
    element.textContent = word;
    nodes.push(text.slice(place, start), element);
    words.push(element);
    place = start + word.length;
  }
  nodes.push(text.slice(place) + gap);
  return { nodes, words };
}

/** Mark words, each as strongly as it is said: 0 to 1, in the order of the words. */
export function mark(words, strengths) {
  words.forEach((word, place) => word.style.setProperty("--strength", strengths[place].toFixed(3)));
}

/** Take all marks away. */
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
