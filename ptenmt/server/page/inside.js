/** The view into the model: what each of its heads attends to in a sentence and its translation. */

import { HeatTable, drawThumbnail, percent } from "./heatmap.js";
import { say } from "./strings.js";
import { walkWithArrows } from "./tabs.js";

const BLOCKS = {
  cross: {
    name: (layer) => `decoder_layer${layer}_block2`,
    pieces: ["written", "source"],
    help: "To predict a row’s token of the translation, the decoder attends to the columns’ tokens of the source.",
  },
  encoder: {
    name: (layer) => `encoder_layer${layer}`,
    pieces: ["source", "source"],
    help: "In the encoder, a row’s token of the source attends to the columns’ tokens.",
  },
  decoder: {
    name: (layer) => `decoder_layer${layer}_block1`,
    pieces: ["written", "target"],
    help: "To predict a row’s token, the decoder attends to the tokens before it, never to later ones (causal mask).",
  },
};
const MEAN = "mean";
const NOT_IMPLEMENTED = 501; // this server has no attention for any sentence

export class Inside {
  #sentences = [];
  #attention = null;
  #asking = 0;
  #head = MEAN;
  #isLayerChosen = false;

  /**
   * @param {Record<string, HTMLElement>} parts - The elements of the view, by name.
   * @param {import("./translations.js").Translations} translations
   */
  constructor(parts, translations) {
    Object.assign(this, { parts, translations });
    this.table = new HeatTable(parts.map, (row, column) => this.#readOut(row, column));
    walkWithArrows(parts.heads, () => [...parts.heads.children], (button) => button.click());
    parts.sentence.addEventListener("change", () => this.#ask());
    parts.block.addEventListener("change", () => {
      this.#offerLayers();
      this.#draw();
    });
    parts.layer.addEventListener("change", () => {
      this.#isLayerChosen = true;
      this.#draw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  /**
   * Show a sentence.
   *
   * @param {string[]} sentences - Those to choose from, translated.
   * @param {number} [chosen] - The number of one; by default the first.
   */
  show(sentences, chosen = 0) {
    this.#sentences = sentences;
    this.parts.empty.hidden = sentences.length > 0;
    this.parts.view.hidden = sentences.length === 0;
    this.parts.sentence.replaceChildren(...sentences.map((text, place) => new Option(text, String(place))));
    if (sentences.length === 0) return;
    this.parts.sentence.value = String(chosen);
    this.#ask();
  }

  async #ask() {
    const asking = ++this.#asking;
    this.#showStatus(say("Inspecting …"));
    try {
      const attention = await this.translations.attention(this.#sentences[Number(this.parts.sentence.value)]);
      if (asking !== this.#asking) return;
      this.#attention = attention;
      this.parts.choices.hidden = false;
      this.#showStatus("");
      this.#offerLayers();
    } catch (error) {
      if (asking !== this.#asking) return;
      this.#attention = null;
      delete this.parts.view.dataset.block;
      this.parts.choices.hidden = error.status === NOT_IMPLEMENTED;
      this.#showStatus(error.message);
    }
    this.#draw();
  }

  #showStatus(text) {
    this.parts.status.textContent = text;
    this.parts.readout.textContent = "";
  }

  /** List the layers that have the block: encoder and decoder may differ in depth. */
  #offerLayers() {
    if (!this.#attention) return;
    const { block, layer } = this.parts;
    let count = 0;
    while (BLOCKS[block.value].name(count + 1) in this.#attention.weights) count++;
    if (layer.options.length !== count) {
      const wanted = Number(layer.value);
      layer.replaceChildren(...Array.from({ length: count }, (_, place) => new Option(String(place + 1))));
      layer.value = String(Math.min(wanted, count));
    }
    this.#chooseLayer();
  }

  /** Select the layer that aligns words best, or the last where nothing is aligned, until the user selects one. */
  #chooseLayer() {
    const { block, layer } = this.parts;
    if (!this.#attention || this.#isLayerChosen) return;
    layer.value = String(block.value === "cross" ? this.#attention.alignment_layer : layer.options.length);
  }

  #draw() {
    if (!this.#attention) return;
    const block = BLOCKS[this.parts.block.value];
    const heads = this.#attention.weights[block.name(this.parts.layer.value)];
    this.parts.view.dataset.block = this.parts.block.value;
    this.parts.help.textContent = say(block.help);
    this.choices = new Map([[MEAN, meanOf(heads)], ...heads.map((weights, place) => [String(place + 1), weights])]);
    if (!this.choices.has(this.#head)) this.#head = MEAN;
    this.#drawHeads();
    this.#drawTable();
  }

  #drawHeads() {
    const buttons = [...this.choices].map(([name, weights]) => this.#headButton(name, weights));
    this.parts.heads.replaceChildren(...buttons.map(({ button }) => button));
    buttons.forEach(({ canvas, weights }) => drawThumbnail(canvas, weights));
  }

  #headButton(name, weights) {
    const button = document.createElement("button");
    const canvas = document.createElement("canvas");
    button.type = "button";
    button.setAttribute("role", "radio");
    canvas.setAttribute("aria-hidden", "true");
    button.append(canvas, name === MEAN ? say("All heads") : say("Head {head}", { head: name }));
    button.dataset.head = name;
    button.addEventListener("click", () => {
      this.#head = name;
      this.#drawTable();
    });
    return { button, canvas, weights };
  }

  #drawTable() {
    for (const button of this.parts.heads.children) {
      const isChosen = button.dataset.head === this.#head;
      button.setAttribute("aria-checked", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
    this.parts.readout.textContent = "";
    const title = this.#head === MEAN ? "Layer {layer}, mean of all heads" : "Layer {layer}, head {head}";
    const named = say(title, { layer: this.parts.layer.value, head: this.#head });
    this.table.show(named, ...this.#pieces(), this.choices.get(this.#head));
  }

  /** The tokens of the rows and of the columns. */
  #pieces() {
    return BLOCKS[this.parts.block.value].pieces.map((side) => this.#attention[`${side}_pieces`]);
  }

  #readOut(row, column) {
    const [rows, columns] = this.#pieces();
    const share = percent(this.choices.get(this.#head)[row][column]);
    const isEncoder = this.parts.block.value === "encoder";
    this.parts.readout.textContent = say(
      isEncoder ? "{row} attends to {column}: {share}" : "{row} is predicted attending to {column}: {share}",
      { row: rows[row], column: columns[column], share },
    );
  }
}

/** [H][rows][columns] -> [rows][columns] */
function meanOf(heads) {
  return heads[0].map((row, y) =>
    row.map((_, x) => heads.reduce((sum, head) => sum + head[y][x], 0) / heads.length),
  );
}
