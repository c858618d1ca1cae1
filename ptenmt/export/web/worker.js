/** The engine's own thread, so that typing never waits: it answers the page's messages, one at a time. */

import { Engine } from "./engine.js";

let engine;

self.addEventListener("message", ({ data: { number, method, values } }) => {
  try {
    const onText = (text) => postMessage({ number, text });
    if (method === "load") engine = new Engine(values[0], bytesOf(values[1]));
    postMessage({ number, answer: method === "load" ? true : engine[method](...values, onText) });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
});

/** Base64 to bytes. */
function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place += 1) bytes[place] = characters.charCodeAt(place);
  return bytes;
}
