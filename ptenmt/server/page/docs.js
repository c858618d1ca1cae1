/** The description of the API: each route, its fields, an example as a curl command, and this server's answer to it. */

import { fetchSettings, keyed } from "./api.js";
import { make } from "./elements.js";
import { curlCommand } from "./sharing.js";
import { EXAMPLES } from "./strings.js";

const LONGEST = 1500; // characters of an answer
const FILE = new File(["Este modelo parece funcionar bem.\n"], "letter.txt");

const [facts, { paths }] = await Promise.all([fetchSettings(), fetch("openapi.json").then((answer) => answer.json())]);
const { source, target } = facts.language;
const VALUES = {
  q: EXAMPLES[source.code]?.[0] ?? "…",
  source: source.code,
  target: target.code,
  file: FILE,
};

for (const [path, methods] of Object.entries(paths)) {
  for (const [method, route] of Object.entries(methods)) describe(path, method.toUpperCase(), route);
}

function describe(path, method, { description = "", requestBody }) {
  const name = `${method} ${path}`;
  const anchor = name.replace(/\W+/g, "-").toLowerCase();
  document.getElementById("contents").append(make("li", {}, make("a", { href: `#${anchor}` }, name)));
  const title = make("h2", {}, make("code", {}, name));
  const section = make("section", { id: anchor }, title, make("p", {}, description));
  document.getElementById("routes").append(section);
  const content = requestBody?.content ?? {};
  const [kind] = Object.keys(content);
  const schema = content[kind]?.schema ?? { properties: {} };
  if (kind) section.append(make("p", {}, `${Object.keys(content).join(", ")}:`), fields(schema));
  const values = example(schema);
  if (values && !path.includes("{")) answer(section, path.slice(1), method, kind, values);
}

function fields({ properties, required = [] }) {
  const lines = Object.entries(properties).flatMap(([name, { description = "", title = "" }]) => [
    make("dt", {}, make("code", {}, name), required.includes(name) ? " (required)" : ""),
    make("dd", {}, description || title),
  ]);
  return make("dl", {}, ...lines);
}

/** Values of the required fields, and of a few others; nothing if one is not known. */
function example({ properties, required = [] }) {
  const names = Object.keys(properties).filter((name) => name in VALUES || required.includes(name));
  const values = Object.fromEntries(names.map((name) => [name, VALUES[name] ?? properties[name].examples?.[0]]));
  if ("text" in values) values.text = [VALUES.q]; // as in DeepL's API
  return Object.values(values).includes(undefined) ? null : values;
}

async function answer(section, path, method, kind, values) {
  const output = make("pre", {}, "…");
  const shown = kind && { ...values, ...(facts.keyRequired ? { api_key: "KEY" } : {}) };
  section.append(make("pre", {}, curlCommand(path, shown ?? null)), output);
  const request = { method };
  if (kind?.includes("json")) {
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify({ ...values, ...keyed() });
  } else if (kind) {
    request.body = new FormData();
    for (const [name, value] of Object.entries({ ...values, ...keyed() })) request.body.append(name, value);
  }
  const text = await fetch(path, request).then((found) => found.text(), String);
  output.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}
