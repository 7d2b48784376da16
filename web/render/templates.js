// The page's templates (templates/*.html), for what is drawn here.

/**
 * A copy of what a template holds.
 * @param {string} id
 */
export function template(id) {
  const found = /** @type {HTMLTemplateElement} */ (document.getElementById(id));
  return /** @type {HTMLElement} */ (found.content.firstElementChild?.cloneNode(true));
}

/**
 * The first descendant that a template is known to have.
 * @param {HTMLElement} element
 * @param {string} selector
 */
export function part(element, selector) {
  return /** @type {HTMLElement} */ (element.querySelector(selector));
}
