// Small differences from CommonMark as markdown-it reads it, each a rule of its own.
/** @import { MarkdownIt, Token } from "markdown-it" */

/** Deeper than this, a block is shown as it was written. */
export const DEPTH = 60;

/**
 * Only two tildes strike out: one stands for "about", or for a drawn-out sound, and three or more
 * for nothing, as in GFM.
 * @param {MarkdownIt} md
 */
export function twoTildes(md) {
  md.inline.ruler.before("strikethrough", "tildes", (state, silent) => {
    const run = /~+/y;
    run.lastIndex = state.pos;
    const length = run.exec(state.src)?.[0].length ?? 0;
    if (silent || length === 0 || length === 2) return false;
    state.pending += "~".repeat(length);
    state.pos += length;
    return true;
  });
  md.renderer.rules.s_open = () => "<del>";
  md.renderer.rules.s_close = () => "</del>";
}

/**
 * `<br>` is how models break lines in table cells: the one tag that is not text.
 * @param {MarkdownIt} md
 */
export function lineBreakTag(md) {
  md.inline.ruler.before("autolink", "line_break_tag", (state, silent) => {
    const tag = /<br *\/?>(?: *\n)? */iy;
    tag.lastIndex = state.pos;
    const match = tag.exec(state.src);
    if (!match || tag.lastIndex > state.posMax) return false;
    if (!silent) state.push("hardbreak", "br", 0);
    state.pos += match[0].length;
    return true;
  });
  // The style sheet keeps line ends, so a break is not followed by one.
  md.renderer.rules.hardbreak = () => "<br>";
}

/**
 * Blocks in blocks beyond DEPTH: what is left is one token, by which the block is known.
 * @param {MarkdownIt} md
 */
export function boundedDepth(md) {
  md.block.ruler.before("table", "too_deep", (state, startLine, endLine, silent) => {
    if (state.level < DEPTH) return false;
    if (silent) return true;
    let line = startLine + 1;
    while (line < endLine && (state.isEmpty(line) || state.sCount[line] >= state.blkIndent))
      line += 1;
    state.push("too_deep", "", 0).hidden = true;
    state.line = line;
    return true;
  });
}

const BOX = /^\[([ xX])\](?=\s)/;

/**
 * Marks the items of a task list; their box is drawn with the text of the item.
 * @param {Token[]} tokens
 */
export function markTasks(tokens) {
  for (let at = 0; at + 2 < tokens.length; at += 1) {
    const text = tokens[at + 2];
    if (tokens[at].type !== "list_item_open" || tokens[at + 1].type !== "paragraph_open") continue;
    const box = BOX.exec(text.content);
    if (!box) continue;
    text.info = box[1] === " " ? "todo" : "done";
    text.content = text.content.slice(3);
  }
}

/**
 * Columns say their side by an attribute: the page allows no style in markup.
 * @param {Token[]} tokens
 */
export function alignColumns(tokens) {
  for (const token of tokens) {
    const style =
      token.type === "th_open" || token.type === "td_open" ? token.attrGet("style") : null;
    if (style) token.attrs = [["align", String(style).replace("text-align:", "")]];
  }
}

/**
 * An item has the number it was written with, where that is not the next one. The same number again
 * and again counts on.
 * @param {Token[]} tokens
 */
export function numberItems(tokens) {
  /** @type {{ next: number, written: number }[]} */
  const lists = [];
  for (const token of tokens) {
    if (token.type === "ordered_list_open") lists.push({ next: -1, written: -1 });
    else if (token.type === "ordered_list_close") lists.pop();
    else if (token.type === "list_item_open" && token.info) {
      const list = lists[lists.length - 1];
      const written = Number(token.info);
      const moved = list.next >= 0 && written !== list.next && written !== list.written;
      if (moved) token.attrSet("value", String(written));
      list.next = (moved || list.next < 0 ? written : list.next) + 1;
      list.written = written;
    }
  }
}
