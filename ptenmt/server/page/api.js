/** The server's routes as functions. They throw an `ApiError`, whose message can be shown. */

import { say, sayAnswer } from "./strings.js";

const KEY_NAME = "ptenmt.key";
const MAX_RETRIES = 3; // of a request that a busy server refuses

export class ApiError extends Error {
  /** The status is 0 if there was no answer. */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The last request for a translation, without the key, and its answer. */
export const lastTranslation = {};

/** Whether a key was given in this tab. */
export function hasKey() {
  return Boolean(sessionStorage.getItem(KEY_NAME));
}

/** Use this key until the tab is closed, if the server accepts it. */
export async function useKey(key) {
  await post("detect", { q: "a", api_key: key });
  sessionStorage.setItem(KEY_NAME, key);
}

/** @returns {Promise<object>} Limits, formats and languages. */
export function fetchSettings() {
  return answered("frontend/settings", { method: "GET" });
}

/** @returns {Promise<{code: string, name: string, targets: string[]}[]>} What can be translated to what. */
export function fetchLanguages() {
  return answered("languages", { method: "GET" });
}

/** @returns {Promise<object[]>} What is known of each model; nothing if the server does not say. */
export function fetchModels() {
  return answered("v1/models", { method: "GET" }).catch(() => []);
}

/**
 * @returns {Promise<{translatedText: string[], detected?: (string | null)[]}>} For these texts and codes of languages.
 */
export async function fetchTranslations(texts, languages, signal) {
  const request = { q: texts, format: "text", ...languages };
  const answer = await post("translate", request, signal);
  Object.assign(lastTranslation, { request, answer });
  return answer;
}

/** @returns {Promise<{source_words: string[], target_words: string[], weights: number[][]}>} */
export function fetchAlignment(sentence, translation, languages) {
  return post("v1/alignment", { q: sentence, prefix: translation, ...languages });
}

/** @returns {Promise<{text: string, probability: number}[]>} Translations with different tokens after the prefix. */
export async function fetchAlternatives(sentence, prefix, languages) {
  return (await post("v1/alternatives", { q: sentence, prefix, count: 6, ...languages })).alternatives;
}

/** @returns {Promise<{source_pieces: string[], target_pieces: string[], weights: object}>} */
export function fetchAttention(sentence, translation, languages) {
  return post("v1/attention", { q: sentence, translation, ...languages });
}

/** @returns {Promise<string>} The path of the translated file on the server. */
export async function translateFile(file, { source, target }) {
  const form = new FormData();
  Object.entries({ source, target, file }).forEach((entry) => form.append(...entry));
  // A key in the header is checked before the file is received.
  const headers = hasKey() ? { Authorization: `Bearer ${sessionStorage.getItem(KEY_NAME)}` } : {};
  const { translatedFileUrl } = await answered("translate_file", { method: "POST", headers, body: form });
  return `download_file/${translatedFileUrl.split("/").at(-1)}`;
}

function post(path, facts, signal) {
  const body = JSON.stringify({ ...keyed(), ...facts });
  return answered(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
}

/** The key, as a field of a request, if one was given. */
export function keyed() {
  return hasKey() ? { api_key: sessionStorage.getItem(KEY_NAME) } : {};
}

/** Send a request, and retry it if the server is busy and sets Retry-After. */
async function answered(path, request) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetched(path, request);
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const pause = Number(response.headers.get("Retry-After"));
    if (attempt > MAX_RETRIES || !(pause > 0 && pause <= 10)) {
      const message = answer.error ?? answer.message ?? say("the server answered {status}", response);
      throw new ApiError(sayAnswer(message), response.status);
    }
    await sleep(pause, request.signal);
  }
}

async function fetched(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(say("The server cannot be reached."), 0);
  }
}

/** Wait some seconds; fail as soon as the request is aborted. */
function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
