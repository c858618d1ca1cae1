/** The engine in its worker, by the functions of server/page/api.js: it takes the place of that module. */

import { say } from "./strings.js";

/** How to translate, and what to call with a sentence and what there is of its translation. */
export const search = { beamSize: 1, onText: () => {} };

const waiting = new Map(); // number -> what to call with the answer
let [worker, count] = [null, 0];

/** Start the worker, whose program and model are texts of the document. */
export function start(program, facts, weights) {
  worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  worker.addEventListener("message", ({ data: { number, text, answer, error } }) => {
    const { resolve, reject, onText } = waiting.get(number) ?? {};
    if (!resolve) return; // it was aborted
    if (text !== undefined) return onText(text);
    waiting.delete(number);
    return error === undefined ? resolve(answer) : reject(new Error(say(error)));
  });
  return ask("load", [facts, weights]);
}

/** Ask for a sentence's translation. */
export async function fetchTranslations([sentence], _languages, signal) {
  const onText = (text) => search.onText(sentence, text);
  return { translatedText: [await ask("translate", [sentence, search.beamSize], onText, signal)] };
}

export function fetchAlignment(sentence, translation) {
  return ask("align", [sentence, translation]);
}

export function fetchAlternatives(sentence, prefix) {
  return ask("alternatives", [sentence, prefix, 6]);
}

export function fetchAttention(sentence, translation) {
  return ask("attention", [sentence, translation]);
}

function ask(method, values, onText, signal) {
  count += 1;
  const number = count;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject, onText });
    worker.postMessage({ number, method, values });
    signal?.addEventListener("abort", () => {
      waiting.delete(number);
      worker.postMessage({ number, method: "stop" });
      reject(signal.reason);
    });
  });
}
