/** Attention weights as colours: small, for an overview, and as a table that can be read cell by cell. */

import { make } from "./elements.js";

/** Draw weights, number[][], a pixel each; the CSS colour of the canvas stands for 1, nothing is drawn for 0. */
export function drawThumbnail(canvas, weights) {
  const [rows, columns] = [weights.length, weights[0].length];
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(canvas).color;
  weights.forEach((row, y) =>
    row.forEach((weight, x) => {
      context.globalAlpha = weight;
      context.fillRect(x, y, 1, 1);
    }),
  );
}

/** A table of weights, in which the pointer and arrow keys go from cell to cell. */
export class HeatTable {
  #cells = [];
  #headers = { rows: [], columns: [] };
  #met = [0, 0];

  /**
   * @param {HTMLTableElement} table
   * @param {(row: number, column: number) => void} onMeet - Called with the hovered or focused cell.
   */
  constructor(table, onMeet) {
    Object.assign(this, { table, onMeet });
    table.addEventListener("pointerover", (event) => this.#meet(event.target));
    table.addEventListener("focusin", (event) => this.#meet(event.target));
    table.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show weights, number[][], with the names of their rows and columns. */
  show(title, rows, columns, weights) {
    this.#headers = {
      rows: rows.map((text) => make("th", { scope: "row" }, text)),
      columns: columns.map((text) => make("th", { scope: "col" }, make("span", {}, text))), // turned upright
    };
    this.#cells = weights.map((row) => row.map(cell));
    const lines = this.#cells.map((cells, place) => make("tr", {}, this.#headers.rows[place], ...cells));
    const head = make("tr", {}, make("td", { className: "corner" }), ...this.#headers.columns);
    this.table.replaceChildren(make("caption", {}, make("span", {}, title)), head, ...lines);
    this.table.style.setProperty("--columns", columns.length);
    this.#cells[0][0].tabIndex = 0;
    this.#met = [0, 0];
  }

  #meet(element) {
    const row = this.#cells.findIndex((cells) => cells.includes(element));
    if (row < 0) return;
    const column = this.#cells[row].indexOf(element);
    this.#set(this.#met, false);
    this.#met = [row, column];
    this.#set(this.#met, true);
    this.onMeet(row, column);
  }

  #set([row, column], isMet) {
    this.#headers.rows[row].classList.toggle("met", isMet);
    this.#headers.columns[column].classList.toggle("met", isMet);
    this.#cells[row][column].tabIndex = isMet ? 0 : -1;
  }

  #key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!steps[event.key]) return;
    event.preventDefault();
    const [down, right] = steps[event.key];
    this.#cells[this.#met[0] + down]?.[this.#met[1] + right]?.focus();
  }
}

function cell(weight) {
  const element = make("td", { ariaLabel: percent(weight), tabIndex: -1 });
  element.style.setProperty("--weight", weight.toFixed(4));
  return element;
}

/** @returns {string} Such as "37%". */
export function percent(share) {
  return `${Math.round(100 * share)}%`;
}
