/** Elements of the page. */

/** Make an element with these properties and texts or elements in it. */
export function make(tag, properties, ...content) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
}

/** Make a button; the texts or elements in it come last. */
export function makeButton(onClick, properties, ...content) {
  const button = make("button", { type: "button", ...properties }, ...content);
  button.addEventListener("click", onClick);
  return button;
}

/** The element of the page with an id. */
export function part(id) {
  return document.getElementById(id);
}

/** Elements of the page by name, of their ids by name. */
export function parts(ids) {
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, part(id)]));
}
