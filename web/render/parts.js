// The blocks of a text in parts of a few, each contained (styles/prose.css): what the browser lays
// out and paints again when a block arrives is one part, not the text. Invariant: how blocks are
// divided depends on the blocks alone, not on how they arrived.
const BLOCKS_PER_PART = 32;
// A contained part keeps its children's margins inside. These have one above, which would then add
// to the margin of the block before.
const WITH_MARGIN_ABOVE = /^(?:H[1-6]|HR)$/;

/** Puts a block, or a fragment of blocks, at the end of `element`; returns the last block. */
export function place(element, blocks) {
  if (element.tagName === "BLOCKQUOTE") {
    element.append(blocks); // a quote that arrives whole has no parts either
    return element.lastElementChild;
  }
  const nodes = blocks instanceof DocumentFragment ? [...blocks.childNodes] : [blocks];
  for (const node of nodes) partFor(element, node).append(node);
  return element.lastElementChild?.lastElementChild;
}

function partFor(element, node) {
  const last = element.lastElementChild;
  const full = last?.childElementCount >= BLOCKS_PER_PART && node.nodeType === Node.ELEMENT_NODE;
  if (last && !(full && !WITH_MARGIN_ABOVE.test(node.tagName))) return last;
  const part = document.createElement("div");
  part.className = "prose-part";
  element.append(part);
  return part;
}

/** Removes nodes that were placed, and parts that are empty without them. */
export function takeAway(nodes) {
  for (const node of nodes) {
    const part = node.parentNode;
    node.remove();
    if (part?.className === "prose-part" && !part.hasChildNodes()) part.remove();
  }
}
