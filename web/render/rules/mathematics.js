// Formulas as models write them: \( \), \[ \], $ $ and $$ $$. What is between stays as it is. A
// price is no formula: a single dollar opens only before something that is no space, and closes
// only after such, with no letter or digit outside; and a formula names something, so that escaped
// brackets alone are none.
/** @import { MarkdownIt, StateBlock, StateInline } from "markdown-it" */

const NAMED = /[\p{L}\p{N}]/u;
const WORD = /[A-Za-z0-9$\\]/;
/**
 * What opens a formula -> what closes it.
 * @type {Record<string, string>}
 */
const CLOSING = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };

/**
 * By what closes them: a stretch of the text in which no formula opens.
 * @type {WeakMap<StateInline, Record<string, { from: number, to: number }>>}
 */
const without = new WeakMap();
/**
 * The same for lines.
 * @type {WeakMap<StateBlock, Record<string, { from: number, to: number }>>}
 */
const bare = new WeakMap();

/** @param {MarkdownIt} md */
export function mathematics(md) {
  md.block.ruler.before("fence", "formula_block", block, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  md.inline.ruler.before("escape", "formula", inline);
  md.renderer.rules.formula = (tokens, at) => {
    const { content, info } = tokens[at];
    return `<span data-formula="${info}">${md.utils.escapeHtml(content)}</span>`;
  };
  md.renderer.rules.formula_block = (tokens, at) =>
    `<p class="formula"><span data-formula="display">${md.utils.escapeHtml(tokens[at].content)}</span></p>`;
}

/**
 * @param {StateInline} state
 * @param {boolean} silent
 */
function inline(state, silent) {
  const { src, pos, posMax } = state;
  const character = src[pos];
  if (character !== "\\" && character !== "$") return false;
  const opening = src.slice(pos, pos + 2);
  const end =
    opening in CLOSING
      ? closed(state, CLOSING[opening])
      : character === "$"
        ? closedByDollar(src, pos, posMax)
        : -1;
  if (end < 0) return false;
  if (!silent) {
    const token = state.push("formula", "", 0);
    token.content = src.slice(pos, end);
    token.info = opening === "\\[" || opening === "$$" ? "display" : "inline";
  }
  state.pos = end;
  return true;
}

/**
 * Where the formula that opens here ends; -1 when none does.
 * @param {StateInline} state
 * @param {string} closing
 */
function closed(state, closing) {
  const { src, pos, posMax } = state;
  // Where none opens is found out once: a thousand openings without an end cost one search.
  const known = without.get(state) ?? {};
  const none = known[closing];
  if (none && none.from <= pos && pos < none.to) return -1;
  const at = src.indexOf(closing, pos + 2);
  if (at >= 0 && at + 2 <= posMax && NAMED.test(src.slice(pos + 2, at))) return at + 2;
  without.set(state, { ...known, [closing]: { from: pos, to: at < 0 ? posMax : at } });
  return -1;
}

/**
 * @param {string} src
 * @param {number} pos
 * @param {number} max
 */
function closedByDollar(src, pos, max) {
  if (WORD.test(src[pos - 1] ?? "") || /\s/.test(src[pos + 1] ?? " ")) return -1;
  const end = /[$`\n]/g;
  end.lastIndex = pos + 1;
  for (let match; (match = end.exec(src)) && match.index < max;) {
    if (match[0] === "$" && src[match.index - 1] === "\\") continue;
    const content = src.slice(pos + 1, match.index);
    if (match[0] !== "$" || /\s$/.test(content) || !NAMED.test(content)) return -1;
    return WORD.test(src[match.index + 1] ?? "") ? -1 : match.index + 1;
  }
  return -1;
}

/**
 * A formula on lines of its own: from a line that begins with \[ or $$ to one that ends it, before
 * the next empty line. `env.undecided` notes the first line of one that more text might close.
 * @param {StateBlock} state
 * @param {number} startLine
 * @param {number} endLine
 * @param {boolean} silent
 */
function block(state, startLine, endLine, silent) {
  if (state.sCount[startLine] - state.blkIndent >= 4) return false;
  const begin = state.bMarks[startLine] + state.tShift[startLine];
  const opening = state.src.slice(begin, begin + 2);
  if (opening !== "\\[" && opening !== "$$") return false;
  const end = lastLine(state, startLine, endLine, begin + 2, CLOSING[opening]);
  if (end < 0) return false;
  if (silent) return true;
  const token = state.push("formula_block", "", 0);
  token.content = state.getLines(startLine, end + 1, state.blkIndent, false).trim();
  token.map = [startLine, end + 1];
  state.line = end + 1;
  return true;
}

/**
 * The line that ends the formula; -1 when there is none. One search finds out for all lines of a
 * stretch that no formula begins there.
 * @param {StateBlock} state
 * @param {number} startLine
 * @param {number} endLine
 * @param {number} from
 * @param {string} closing
 */
function lastLine(state, startLine, endLine, from, closing) {
  const key = `${closing} ${state.blkIndent} ${endLine}`;
  const known = bare.get(state) ?? {};
  const none = known[key];
  if (none && none.from <= startLine && startLine < none.to) return -1;
  const found = state.src.indexOf(closing, from);
  const at = found < 0 ? state.src.length : found;
  let line = startLine;
  while (line < endLine && state.eMarks[line] <= at && belongs(state, line)) line += 1;
  if (line < endLine && state.eMarks[line] > at && belongs(state, line)) {
    const after = state.src.slice(at + 2, state.eMarks[line]);
    if (!after.trim() && NAMED.test(state.src.slice(from, at))) return line;
  } else if (line === endLine && state.level === 0 && endLine === state.lineMax) {
    const earlier = /** @type {number | undefined} */ (state.env.undecided);
    state.env.undecided = Math.min(earlier ?? startLine, startLine);
  }
  bare.set(state, { ...known, [key]: { from: startLine, to: Math.max(line, startLine + 1) } });
  return -1;
}

/**
 * @param {StateBlock} state
 * @param {number} line
 */
function belongs(state, line) {
  return !state.isEmpty(line) && state.sCount[line] >= state.blkIndent;
}
