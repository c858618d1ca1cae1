/** Links to a text, and the clipboard. */

const LONGEST = 4000; // characters that programs and servers accept in a link

/** @returns {string} A link to this page with a text and its languages; empty if it would be too long. */
export function linkTo(text, languages) {
  const link = `${location.origin}${location.pathname}?${new URLSearchParams({ ...languages, q: text })}`;
  return link.length > LONGEST ? "" : link;
}

/** @returns {{source: string | null, target: string | null, q: string | null}} What this page's link says. */
export function linked() {
  const found = new URLSearchParams(location.search);
  return { source: found.get("source"), target: found.get("target"), q: found.get("q") ?? found.get("text") };
}

/** Write a request as a command: its path, and its fields, in JSON unless one is a file; null for GET. */
export function curlCommand(path, facts) {
  const address = new URL(path, document.baseURI).href;
  if (!facts) return `curl ${address}`;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const json = "-H 'Content-Type: application/json' \\\n  -d";
  if (!facts.file) return `curl ${address} ${json} ${quoted(JSON.stringify(facts))}`;
  const fields = Object.entries(facts).map(([name, value]) => `-F ${name}=${value.name ? `@${value.name}` : value}`);
  return `curl ${address} ${fields.join(" ")}`;
}

/** @returns {Promise<boolean>} Whether the text was copied: pages without HTTPS have no clipboard. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
