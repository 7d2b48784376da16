// The blocks of a text in parts of a few, each contained (styles/prose.css): what the browser lays
// out and paints again when a block arrives is one part, not the text. Invariant: how blocks are
// divided depends on the blocks alone, not on how they arrived.
const BLOCKS_PER_PART = 32;
// A contained part keeps its children's margins inside. These have one above, which would then add
// to the margin of the block before.
const WITH_MARGIN_ABOVE = /^(?:H[1-6]|HR)$/;

/**
 * Puts a block, or a fragment of blocks, at the end of `element`; returns the last block.
 * @param {Element} element
 * @param {Node} blocks
 */
export function place(element, blocks) {
  const nodes = blocks instanceof DocumentFragment ? [...blocks.childNodes] : [blocks];
  for (const node of nodes) partFor(element, node).append(node);
  return /** @type {Element} */ (element.lastElementChild?.lastElementChild);
}

/**
 * @param {Element} element
 * @param {Node} node
 */
function partFor(element, node) {
  const last = element.lastElementChild;
  if (last && !(last.childElementCount >= BLOCKS_PER_PART && beginsPart(node))) return last;
  const part = document.createElement("div");
  part.className = "prose-part";
  element.append(part);
  return part;
}

/** @param {Node} node */
function beginsPart(node) {
  return node instanceof Element && !WITH_MARGIN_ABOVE.test(node.tagName);
}

/**
 * Removes nodes that were placed, and parts that are empty without them.
 * @param {ChildNode[]} nodes
 */
export function takeAway(nodes) {
  for (const node of nodes) {
    const part = node.parentElement;
    node.remove();
    if (part?.className === "prose-part" && !part.hasChildNodes()) part.remove();
  }
}
