/** Which model answers, and what it was asked. */

import { fetchModels, lastTranslation } from "./api.js";
import { curlCommand } from "./sharing.js";
import { capitalized, locale, nameOfLanguage, say } from "./strings.js";

const PAIR = /\[\n\s+("(?:[^"\\]|\\.)*"),\n\s+([\d.e-]+|null)\n\s+\]/g; // a word and its probability
const METRICS = { bleu: "BLEU", chrf: "chrF" };

/** Show the last request for a translation, and its answer, once there is one. */
export function showExchange(parts) {
  const { request, answer } = lastTranslation;
  if (!request) return;
  parts.box.hidden = false;
  parts.request.textContent = curlCommand("translate", request);
  parts.answer.textContent = JSON.stringify(answer, null, 2).replace(PAIR, "[$1, $2]");
}

/**
 * Say what is known of the model of two languages, if anything is.
 *
 * @returns {Promise<boolean>} Whether there is one, or the server does not say.
 */
export async function describeModel(line, { source, target }) {
  const models = await fetchModels();
  const model = models.find((each) => each.source === source && each.target === target);
  if (!model) return models.length === 0;
  const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 2 });
  const score = model.score?.toLocaleString(locale, { maximumSignificantDigits: 3 });
  const facts = [
    say("Model {name}", model),
    `${capitalized(nameOfLanguage(source))} → ${nameOfLanguage(target)}`,
    model.parameters && say("{count} parameters", { count: compact.format(model.parameters) }),
    model.pairs && say("trained on {count} sentence pairs", { count: compact.format(model.pairs) }),
    score && say("{metric} {score} in validation", { metric: METRICS[model.metric] ?? model.metric, score }),
    model.trained && new Date(model.trained).toLocaleDateString(locale, { dateStyle: "medium" }),
    model.licences.length && say("data: {licences}", { licences: model.licences.join(", ") }),
  ];
  line.textContent = facts.filter(Boolean).join(" · ");
  return true;
}
