// Formulas: drawn by KaTeX, which is fetched when a message has the first one. Until then, and
// where KaTeX can't read or reach them, they are shown as they were written.
/** @typedef {{ draw(source: string, element: HTMLElement, display: boolean): void }} Mathematics */

/** @type {Mathematics | undefined} */
let mathematics;
/** @type {Promise<void> | undefined} */
let loading;

/**
 * Draws the formula that an element has as its text, now or when that is possible.
 * @param {HTMLElement} element
 */
export function drawFormula(element) {
  if (mathematics) return drawWith(mathematics, element);
  loading ??= load();
  void loading.then(() => mathematics && drawWith(mathematics, element));
}

async function load() {
  try {
    mathematics = /** @type {Mathematics} */ (await window["personae.host"].load("math"));
  } catch (error) {
    console.warn("Formulas can't be drawn:", error);
    loading = undefined; // the next one tries again
  }
}

/**
 * @param {Mathematics} mathematics
 * @param {HTMLElement} element
 */
function drawWith({ draw }, element) {
  const text = element.textContent;
  const marks = /^(?:\$\$|\\)/.test(text) ? 2 : 1;
  const drawn = document.createElement("span");
  try {
    draw(text.slice(marks, -marks).trim(), drawn, element.dataset.formula === "display");
  } catch {
    return; // not mathematics, or not yet: the source stays
  }
  element.replaceChildren(...drawn.childNodes);
}
