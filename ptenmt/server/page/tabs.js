/** A row of tabs, one of them selected; arrow keys move between them. */

/**
 * @param {Element} list - Has the role "tablist".
 * @param {(name: string) => void} onShow - Called with the name of the view: the tab's id without "tab-".
 * @returns {(name: string) => void} Shows a view.
 */
export function makeTabs(list, onShow) {
  const tabs = [...list.querySelectorAll("[role=tab]")];

  function select(chosen) {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    onShow(chosen.id.replace("tab-", ""));
  }

  walkWithArrows(list, () => tabs.filter((tab) => !tab.hidden), select);
  tabs.forEach((tab) => tab.addEventListener("click", () => select(tab)));
  select(tabs[0]);
  return (name) => select(document.getElementById(`tab-${name}`));
}

/** Let arrow keys, Home and End choose among elements, which `among` gives; in several rows, of so many `columns`. */
export function walkWithArrows(container, among, onChoose, columns = () => 1) {
  container.addEventListener("keydown", (event) => {
    const elements = among();
    const place = nextPlace(event.key, elements.indexOf(document.activeElement), elements.length, columns());
    if (place === null) return;
    event.preventDefault();
    elements[place].focus();
    onChoose(elements[place]);
  });
}

/** The place among `count` in a circle, in rows of `columns`, that a key moves to; null for other keys. */
export function nextPlace(key, place, count, columns = 1) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = { ArrowLeft: -1, ArrowUp: -columns, ArrowRight: 1, ArrowDown: columns }[key];
  return step === undefined || count === 0 ? null : (place + step + count) % count;
}
