/** The first screen: sentences to try, and which model answers. */

import { fetchModels, lastTranslation } from "./api.js";
import { makeButton } from "./elements.js";
import { curlCommand } from "./sharing.js";
import { EXAMPLES, capitalized, locale, nameOfLanguage, say } from "./strings.js";

const PAIR = /\[\n\s+("(?:[^"\\]|\\.)*"),\n\s+([\d.e-]+|null)\n\s+\]/g; // a word and its probability
const METRICS = { bleu: "BLEU", chrf: "chrF" };

/** Show sentences of a language as buttons. */
export function offerExamples(container, language, onChoose) {
  const buttons = (EXAMPLES[language] ?? []).map((text) =>
    makeButton(() => onChoose(text), { lang: language }, text),
  );
  container.replaceChildren(...(buttons.length ? [say("Try:"), ...buttons] : []));
}

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
 * @returns {Promise<boolean>} Whether there is one: other languages may be translated by two in sequence.
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
