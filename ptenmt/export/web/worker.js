/** The engine's own thread, so that typing never waits: it answers the page's messages. */

import { Engine } from "./engine.js";

const TIME_OF_WORK = 100; // milliseconds without a pause: a message for each token would take memory
const searching = new Set(); // the numbers of the messages that ask for a translation
const { port1, port2 } = new MessageChannel();
let engine;

port1.start();
self.addEventListener("message", async ({ data: { number, method, values } }) => {
  try {
    if (method === "stop") return searching.delete(number);
    if (method === "translate") return await translate(number, values);
    if (method === "load") engine = new Engine(values[0], bytesOf(values[1]));
    return postMessage({ number, answer: method === "load" ? true : engine[method](...values) });
  } catch (error) {
    return postMessage({ number, error: error.message });
  }
});

/** Post a translation as it grows. Other messages are answered in its pauses, and may stop it. */
async function translate(number, values) {
  searching.add(number);
  const steps = engine.translate(...values);
  let step = steps.next();
  let pause = 0; // when the next one is
  while (!step.done && searching.has(number)) {
    if (performance.now() >= pause) {
      postMessage({ number, text: step.value });
      await nextTask();
      pause = performance.now() + TIME_OF_WORK;
    }
    step = steps.next();
  }
  if (searching.delete(number)) postMessage({ number, answer: step.value });
}

/** Sooner than with a timer, which browsers delay. */
function nextTask() {
  return new Promise((resolve) => {
    port1.addEventListener("message", resolve, { once: true });
    port2.postMessage(null);
  });
}

/** Base64 to bytes. */
function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place += 1) bytes[place] = characters.charCodeAt(place);
  return bytes;
}
