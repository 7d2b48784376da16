// A text's blocks as tokens, and the markup of each. Pure; no DOM. Invariant: what is read from a
// block does not depend on what stands before it, but for the definitions in `env`.
import { md } from "./grammar.js";
import { alignColumns, DEPTH, markTasks, numberItems } from "./rules/small.js";

/** @import { Env, Token } from "markdown-it" */
/**
 * @typedef {Env & {
 *   references: Record<string, { title: string, href: string }>,
 *   footnotes: { refs: Record<string, number>, list: { label: string, count: number }[] },
 *   undecided?: number,
 * }} Definitions
 * @typedef {{
 *   tokens: Token[],
 *   source: string,
 *   end: number,
 *   plain: boolean,
 *   notes: [label: string, tokens: Token[]][],
 *   element?: Element,
 * }} Block end: where it ends in the text that was read; plain: too deep to be drawn
 */

/** @returns {Definitions} */
export function noDefinitions() {
  return { references: Object.create(null), footnotes: { refs: Object.create(null), list: [] } };
}

/**
 * Definitions that begin with those of `env` and leave it as it is.
 * @param {Definitions} env
 * @returns {Definitions}
 */
export function layer({ references, footnotes }) {
  return {
    references: Object.create(references),
    footnotes: { refs: Object.create(footnotes.refs), list: [...footnotes.list] },
  };
}

/**
 * The blocks of `source`; definitions go into `env`. `decided`: how many more text can't change,
 * apart from the last.
 * @param {string} source
 * @param {Definitions} env
 * @returns {{ blocks: Block[], decided: number }}
 */
export function readBlocks(source, env) {
  /** @type {Token[]} */
  const tokens = [];
  env.undecided = undefined;
  md.block.parse(source, md, env, tokens);
  const lines = lineStarts(source);
  const blocks = [];
  let decided = 0;
  let begin = 0;
  let from = 0;
  for (let at = 0, depth = 0, lastLine = -1; at < tokens.length; at += 1) {
    depth += tokens[at].nesting;
    lastLine = Math.max(lastLine, tokens[at].map?.[1] ?? -1);
    if (depth > 0 || lastLine < 0) continue;
    const end = lines[lastLine] ?? source.length;
    blocks.push(blockOf(tokens.slice(from, at + 1), source.slice(begin, end), end));
    if (env.undecided === undefined || lastLine <= env.undecided) decided = blocks.length;
    [from, begin, lastLine] = [at + 1, end, -1];
  }
  return { blocks, decided };
}

/** @param {string} source */
function lineStarts(source) {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1))
    starts.push(at + 1);
  return starts;
}

/**
 * @param {Token[]} all
 * @param {string} source
 * @param {number} end
 * @returns {Block}
 */
function blockOf(all, source, end) {
  /** @type {Block["notes"]} */
  const notes = [];
  /** @type {Token[]} */
  const tokens = [];
  let inNote = false;
  for (const token of all) {
    if (token.type === "footnote_reference_open") {
      notes.push([String(token.meta?.label), []]);
      inNote = true;
    } else if (token.type === "footnote_reference_close") inNote = false;
    else (inNote ? notes[notes.length - 1][1] : tokens).push(token);
  }
  for (const group of [tokens, ...notes.map(([, inner]) => inner)]) {
    markTasks(group);
    alignColumns(group);
    numberItems(group);
  }
  const plain = tokens.some((token) => token.type === "too_deep");
  return { tokens, source, end, plain, notes };
}

/**
 * Whether anything of it is drawn.
 * @param {Token[]} tokens
 */
export function isVisible(tokens) {
  return tokens.some((token) => !token.hidden || token.type === "too_deep");
}

/**
 * The markup of one block: of one element, or "" when it only defines something.
 * @param {Block} block
 * @param {Definitions} env
 */
export function markup(block, env) {
  if (!isVisible(block.tokens)) return "";
  if (!block.plain) {
    try {
      return markupOf(block.tokens, env);
    } catch {
      block.plain = true; // what can't be drawn is shown as it is
    }
  }
  const text = block.source.replace(/^\n+/, "").trimEnd();
  return `<p class="plain">${md.utils.escapeHtml(text)}</p>`;
}

/**
 * @param {Token[]} tokens
 * @param {Definitions} env
 */
export function markupOf(tokens, env) {
  for (const token of tokens) if (token.type === "inline") readInline(token, env);
  return md.renderer.render(tokens, md.options, env);
}

/**
 * @param {Token} token
 * @param {Definitions} env
 */
function readInline(token, env) {
  const children = (token.children = /** @type {Token[]} */ ([]));
  md.inline.parse(token.content, md, env, children);
  let depth = 0;
  for (const child of children) {
    depth += child.nesting;
    if (depth > DEPTH) throw new Error("too deep");
    if (child.type === "text_special") child.type = "text";
    if (child.type === "image") asWords(child);
  }
  if (token.info) children.unshift(taskBox(token));
}

/**
 * What describes a picture is text alone: escaped characters and formulas, too.
 * @param {Token} image
 */
function asWords(image) {
  for (const child of image.children ?? [])
    if (child.type === "image") asWords(child);
    else if (child.type === "text_special" || child.type === "formula") child.type = "text";
}

/** @param {Token} token */
function taskBox({ info, constructor }) {
  const box = new /** @type {typeof Token} */ (constructor)("task", "input", 0);
  box.attrs = [
    ["disabled", ""],
    ["type", "checkbox"],
  ];
  if (info === "done") box.attrs.unshift(["checked", ""]);
  return box;
}

/**
 * Whether two lists of tokens of one kind of place are drawn alike.
 * @param {Token[]} some
 * @param {Token[]} others
 */
export function areSame(some, others) {
  return some.length === others.length && some.every((token, at) => isSame(token, others[at]));
}

/**
 * @param {Token} one
 * @param {Token} other
 */
export function isSame(one, other) {
  return (
    one.type === other.type &&
    one.tag === other.tag &&
    one.hidden === other.hidden &&
    one.content === other.content &&
    one.info === other.info &&
    String(one.attrs) === String(other.attrs)
  );
}
