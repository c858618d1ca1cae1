/** The languages to translate from and to: menus where there are several, and a button that swaps them. */

import { capitalized, nameOfLanguage } from "./strings.js";

export class Languages {
  /**
   * @param {{source: HTMLSelectElement, target: HTMLSelectElement, swap: HTMLElement}} parts
   * @param {{code: string, targets: string[]}[]} known - What each language can be translated to.
   * @param {{source: string, target: string}} chosen - Their codes.
   * @param {(isSwapped: boolean) => void} onChange
   */
  constructor(parts, known, chosen, onChange) {
    Object.assign(this, parts, { onChange });
    // With LibreTranslate's API, a language may be its own target.
    this.targets = new Map(known.map(({ code, targets }) => [code, targets.filter((target) => target !== code)]));
    this.sources = [...this.targets.keys()].filter((code) => this.targets.get(code).length);
    this.chosen = chosen;
    this.source.addEventListener("change", () => this.choose(this.source.value, this.target.value));
    this.target.addEventListener("change", () => this.choose(this.source.value, this.target.value));
    this.swap.addEventListener("click", () => this.choose(this.chosen.target, this.chosen.source, true));
    this.#draw();
  }

  /** Whether a language can be translated to another one. */
  has(source, target) {
    return this.targets.get(source)?.includes(target) ?? false;
  }

  /** Choose languages; in place of a target that there is not, the source's first one. */
  choose(source, target, isSwapped = false) {
    if (!this.sources.includes(source)) return;
    const other = this.has(source, target) ? target : this.targets.get(source)[0];
    if (source === this.chosen.source && other === this.chosen.target) return;
    this.chosen = { source, target: other };
    this.#draw();
    this.onChange(isSwapped);
  }

  #draw() {
    const { source, target } = this.chosen;
    fill(this.source, this.sources, source);
    fill(this.target, this.targets.get(source) ?? [target], target);
    this.swap.hidden = !this.has(target, source);
  }
}

/** Offer languages, if there is a choice. */
function fill(select, codes, chosen) {
  select.replaceChildren(...codes.map((code) => new Option(capitalized(nameOfLanguage(code)), code)));
  select.value = chosen;
  select.hidden = codes.length < 2;
}
