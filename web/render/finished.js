// What finished blocks may still need: a link or a note that is defined further down. They are drawn
// again when the text has ended, those alone that name what came later.
import { isVisible, markup, markupOf, readBlocks } from "./blocks.js";
import { settle, toFragment } from "./draw.js";
import { md } from "./grammar.js";
import { place } from "./parts.js";

/** @import { Token } from "markdown-it" */
/** @import { Block, Definitions } from "./blocks.js" */
/** @typedef {{ block: Block, known: number }} Kept known: how many labels there were before it */

export class Finished {
  constructor() {
    /** @type {Kept[]} */
    this.kept = [];
    /** @type {string[]} */
    this.labels = [];
    /** @type {Map<string, Token[]>} */
    this.notes = new Map();
  }

  /**
   * Takes a block, and what it defines from `env` into `all`.
   * @param {Block} block
   * @param {Definitions} env
   * @param {Definitions} all
   */
  add(block, env, all) {
    const { tokens, notes, source, element } = block;
    if (element && source.includes("[")) this.kept.push({ block, known: this.labels.length });
    for (const { type, meta } of tokens)
      if (type === "reference_definition") this.define(String(meta?.label), env, all);
    for (const [label, inner] of notes) {
      for (const { type, meta } of inner)
        if (type === "reference_definition") this.define(String(meta?.label), env, all);
      if (!this.notes.has(label)) this.notes.set(label, inner);
      all.footnotes.refs[`:${label}`] = -1;
    }
    block.tokens = []; // read again when it is needed
  }

  /**
   * @param {string} label
   * @param {Definitions} env
   * @param {Definitions} all
   */
  define(label, env, all) {
    if (Object.hasOwn(all.references, label)) return;
    all.references[label] = env.references[label];
    this.labels.push(label);
  }

  /**
   * @param {Element} element
   * @param {Definitions} env
   */
  finish(element, env) {
    env.footnotes.list = [];
    for (const { block, known } of this.kept)
      if (this.namesNote(block) || this.namesLater(block, known)) drawAgain(block, env);
    const notes = this.notes.size ? this.drawNotes(env) : null;
    if (notes) settle(place(element, notes));
    this.kept = [];
  }

  /** @param {Block} block */
  namesNote({ source }) {
    return this.notes.size > 0 && source.includes("[^");
  }

  /**
   * @param {Block} block
   * @param {number} known
   */
  namesLater({ source }, known) {
    if (known === this.labels.length) return false;
    const text = md.utils.normalizeReference(source);
    return this.labels.slice(known).some((label) => text.includes(label));
  }

  /**
   * The notes that the text refers to, in the order it does; they may refer to others.
   * @param {Definitions} env
   */
  drawNotes(env) {
    const { list } = env.footnotes;
    let items = "";
    for (let at = 0; at < list.length; at += 1) {
      const tokens = this.notes.get(list[at].label) ?? [];
      items += `<li>${isVisible(tokens) ? noteMarkup(tokens, env) : ""}</li>`;
    }
    return items && toFragment(`<section class="notes"><ol>${items}</ol></section>`);
  }
}

/**
 * @param {Token[]} tokens
 * @param {Definitions} env
 */
function noteMarkup(tokens, env) {
  try {
    return markupOf(tokens, env);
  } catch {
    const text = tokens
      .map(({ content }) => content)
      .join("\n")
      .trim();
    return `<p class="plain">${md.utils.escapeHtml(text)}</p>`;
  }
}

/**
 * @param {Block} block
 * @param {Definitions} env
 */
function drawAgain(block, env) {
  const { footnotes, references } = env;
  // Reading the block must not define anything anew.
  const reading = { references, footnotes: { refs: Object.create(footnotes.refs), list: [] } };
  const [read] = readBlocks(block.source, reading).blocks.filter(({ tokens }) => isVisible(tokens));
  const made = toFragment(markup(read, env)).firstElementChild;
  if (!made) return;
  settle(made);
  block.element?.replaceWith(made);
}
