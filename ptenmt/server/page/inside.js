/** The view into the model: what each of its heads attends to in a sentence and its translation. */

import { make, makeButton } from "./elements.js";
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
const MEAN = 0; // the number of the mean of all heads
const NOT_IMPLEMENTED = 501; // this server has no attention for any sentence

export class Inside {
  #sentences = [];
  #attention = null;
  #asking = 0;
  #layers = []; // of the block: [L][1 + H][rows][columns], the mean of all heads first
  #chosen = { layer: 0, head: MEAN }; // layers count from 0
  #isLayerChosen = false;

  /**
   * @param {Record<string, HTMLElement>} parts - The elements of the view, by name.
   * @param {import("./translations.js").Translations} translations
   */
  constructor(parts, translations) {
    Object.assign(this, { parts, translations });
    this.table = new HeatTable(parts.map, (row, column) => this.#readOut(row, column));
    walkWithArrows(parts.heads, () => this.#buttons(), (button) => button.click(), () => this.#layers[0].length);
    parts.sentence.addEventListener("change", () => this.#ask());
    parts.block.addEventListener("change", () => this.#draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  /** Show one of the translated sentences, by its number. */
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

  #draw() {
    if (!this.#attention) return;
    const { name, help } = BLOCKS[this.parts.block.value];
    this.parts.view.dataset.block = this.parts.block.value;
    this.parts.help.textContent = say(help);
    this.#layers = [];
    for (let heads; (heads = this.#attention.weights[name(this.#layers.length + 1)]); ) {
      this.#layers.push([meanOf(heads), ...heads]);
    }
    this.#chooseLayer();
    this.#drawHeads();
    this.#drawTable();
  }

  /** Choose the layer that aligns words best, or the last where nothing is aligned, until the user chooses one. */
  #chooseLayer() {
    const last = this.#layers.length - 1;
    const best = this.parts.block.value === "cross" ? this.#attention.alignment_layer - 1 : last;
    this.#chosen.layer = Math.min(this.#isLayerChosen ? this.#chosen.layer : best, last);
  }

  /** A row of small pictures for each layer, one for each head. */
  #drawHeads() {
    const titles = ["", say("Mean"), ...this.#layers[0].slice(1).map((_, place) => String(place + 1))];
    const rows = this.#layers.map((heads, layer) => [
      label(say("Layer {layer}", { layer: layer + 1 })),
      ...heads.map((_, head) => this.#headButton(layer, head)),
    ]);
    this.parts.heads.style.setProperty("--heads", this.#layers[0].length);
    this.parts.heads.replaceChildren(...titles.map(label), ...rows.flat());
    const pictures = this.parts.heads.querySelectorAll("canvas");
    this.#layers.flat().forEach((weights, place) => drawThumbnail(pictures[place], weights));
  }

  #headButton(layer, head) {
    const choose = () => {
      this.#chosen = { layer, head };
      this.#isLayerChosen = true;
      this.#drawTable();
    };
    const picture = make("canvas", { ariaHidden: "true" });
    return makeButton(choose, { role: "radio", ariaLabel: this.#nameOf(layer, head) }, picture);
  }

  #nameOf(layer, head) {
    const text = head === MEAN ? "Layer {layer}, mean of all heads" : "Layer {layer}, head {head}";
    return say(text, { layer: layer + 1, head });
  }

  #buttons() {
    return [...this.parts.heads.querySelectorAll("button")];
  }

  #drawTable() {
    const { layer, head } = this.#chosen;
    this.#buttons().forEach((button, place) => {
      const isChosen = place === layer * this.#layers[0].length + head;
      button.ariaChecked = String(isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    });
    this.parts.readout.textContent = "";
    this.table.show(this.#nameOf(layer, head), ...this.#pieces(), this.#layers[layer][head]);
  }

  /** The tokens of the rows and of the columns. */
  #pieces() {
    return BLOCKS[this.parts.block.value].pieces.map((side) => this.#attention[`${side}_pieces`]);
  }

  #readOut(row, column) {
    const [rows, columns] = this.#pieces();
    const { layer, head } = this.#chosen;
    const isEncoder = this.parts.block.value === "encoder";
    this.parts.readout.textContent = say(
      isEncoder ? "“{row}” attends to “{column}”: {share}" : "“{row}” is predicted attending to “{column}”: {share}",
      { row: rows[row], column: columns[column], share: percent(this.#layers[layer][head][row][column]) },
    );
  }
}

function label(text) {
  return make("span", { ariaHidden: "true" }, text); // the buttons are named in full
}

/** [H][rows][columns] -> [rows][columns] */
function meanOf(heads) {
  return heads[0].map((row, y) =>
    row.map((_, x) => heads.reduce((sum, head) => sum + head[y][x], 0) / heads.length),
  );
}
