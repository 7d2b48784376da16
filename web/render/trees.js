// Brings drawn blocks to what their text has become, by changing only what changed: what is the same
// keeps its elements, and with them the reader's selection. Invariant: the result is what drawing
// the new text alone would give.
import { areSame, isSame, isVisible, markupOf } from "./blocks.js";
import { arrange, toFragment } from "./draw.js";

/** @import { Token } from "markdown-it" */
/** @import { Block, Definitions } from "./blocks.js" */

/** Containers whose children are compared one by one: the first token's type -> where they are. */
const CHILDREN = {
  bullet_list_open: { depth: 1, around: ["<ul>", "</ul>"] },
  ordered_list_open: { depth: 1, around: ["<ol>", "</ol>"] },
  blockquote_open: { depth: 1, around: ["", ""] },
  table_open: { depth: 2, around: ["<table><tbody>", "</tbody></table>"] },
};

/**
 * True when `block` is drawn now, in the element of `drawn`.
 * @param {Block} drawn
 * @param {Block} block
 * @param {Definitions} env
 */
export function renew(drawn, block, env) {
  if (drawn.plain || block.plain || !drawn.element || !isVisible(block.tokens)) return false;
  if (!renewElement(drawn.element, drawn.tokens, block.tokens, env)) return false;
  block.element = drawn.element;
  return true;
}

/**
 * @param {Element} element
 * @param {Token[]} old
 * @param {Token[]} fresh
 * @param {Definitions} env
 * @returns {boolean}
 */
function renewElement(element, old, fresh, env) {
  if (!isSame(old[0], fresh[0])) return false;
  if (fresh[0].type in CHILDREN) return renewChildren(element, old, fresh, env);
  const made = toFragment(markupOf(fresh, env)).firstElementChild;
  if (!made || !areAlike(element, made)) return false;
  graft(element, made);
  return true;
}

/**
 * @param {Element} element
 * @param {Token[]} old
 * @param {Token[]} fresh
 * @param {Definitions} env
 */
function renewChildren(element, old, fresh, env) {
  const { depth, around } = CHILDREN[/** @type {keyof typeof CHILDREN} */ (fresh[0].type)];
  const before = childrenOf(old, depth);
  const after = childrenOf(fresh, depth);
  if (!before.length || !after.length) return false;
  const elements = elementsOf(element);
  if (elements.length !== before.length) return false;
  let same = 0;
  while (same < before.length && same < after.length && areSame(before[same], after[same]))
    same += 1;
  if (same === 0 && depth === 2) return false; // another head, another table
  const grown = same < before.length && same < after.length;
  if (grown && renewElement(elements[same], before[same], after[same], env)) same += 1;
  for (const left of elements.slice(same)) left.remove();
  const rest = after.slice(same);
  if (rest.length) append(element, rest, around, env);
  if (!(element instanceof HTMLTableElement)) arrange(element);
  return true;
}

/**
 * @param {Element} element
 * @param {Token[][]} children
 * @param {string[]} around
 * @param {Definitions} env
 */
function append(element, children, around, env) {
  const markup = children.map((tokens) => markupOf(tokens, env)).join("");
  const made = toFragment(around[0] + markup + around[1]);
  if (!around[0]) element.append(made);
  else bodyOf(element).append(...elementsOf(/** @type {Element} */ (made.firstElementChild)));
}

/**
 * The tokens of each child that is drawn.
 * @param {Token[]} tokens
 * @param {number} depth
 */
function childrenOf(tokens, depth) {
  const children = [];
  let from = -1;
  for (let at = 0, level = 0; at < tokens.length; at += 1) {
    if (tokens[at].nesting < 0) level -= 1;
    if (level === depth && tokens[at].nesting >= 0) from = at;
    if (tokens[at].nesting > 0) level += 1;
    if (level !== depth || from < 0) continue;
    const child = tokens.slice(from, at + 1);
    if (isVisible(child)) children.push(child);
    from = -1;
  }
  return children;
}

/** @param {Element} element */
function elementsOf(element) {
  return [...(element instanceof HTMLTableElement ? element.rows : element.children)];
}

/** @param {Element} element */
function bodyOf(element) {
  if (!(element instanceof HTMLTableElement)) return element;
  return element.tBodies[0] ?? element.createTBody();
}

/**
 * Makes the content of `old` that of `fresh`, and keeps what both have.
 * @param {Element} old
 * @param {Element} fresh
 */
function graft(old, fresh) {
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const following = at?.nextSibling ?? null;
    if (!at) old.append(next);
    else if (at instanceof Text && next instanceof Text) grow(at, next.data);
    else if (
      at instanceof Element &&
      next instanceof Element &&
      areAlike(at, next) &&
      !at.isEqualNode(next)
    )
      graft(at, next);
    else if (!at.isEqualNode(next)) at.replaceWith(next);
    at = following;
  }
  while (at) {
    const following = at.nextSibling;
    at.remove();
    at = following;
  }
}

/**
 * @param {Text} text
 * @param {string} data
 */
function grow(text, data) {
  if (data.startsWith(text.data)) text.appendData(data.slice(text.data.length));
  else text.data = data;
}

/** What is drawn by more than its markup: replaced as a whole. */
const WHOLE = "figure, button, img, input, sup, [data-formula]";

/**
 * Whether one can become the other by its content.
 * @param {Element} one
 * @param {Element} other
 */
function areAlike(one, other) {
  return !one.matches(WHOLE) && one.cloneNode().isEqualNode(other.cloneNode());
}
