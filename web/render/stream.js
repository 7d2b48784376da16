// Markdown that arrives in pieces. Invariants: finished blocks are never rendered again; only the
// open block is, and an open code block, list or table is committed line by line, so the cost of
// a piece does not grow with the message; blocks go into parts that the browser lays out on their
// own. A step takes at most SLICE characters.
import { codeFigure } from "./code.js";
import { lex, toFragment } from "./markup.js";
import { place, takeAway } from "./parts.js";
import {
  closingFence,
  couldCloseFence,
  isClosed,
  isProse,
  mendInline,
  openingFence,
  splitLong,
} from "./source.js";

const SLICE = 12_000;
// After rendering the open block for t ms, it rests for REST * t ms: its share of the time is
// bounded however long it grows.
const REST = 6;

/** @import { Links, Token, Tokens } from "marked" */
/** @typedef {{ close: RegExp, code: import("./code.js").CodeFigure, midLine: boolean }} Fence */
/** @typedef {{ head: string, body: Element }} Table */
/** @typedef {{ stream: MarkdownStream, midLine: boolean, prose: boolean }} Quote */

export class MarkdownStream {
  /** @param {Element} element */
  constructor(element) {
    this.element = element;
    /** @type {Links} */
    this.links = {};
    this.backlog = "";
    this.source = ""; // of the open block
    /** @type {ChildNode[]} */
    this.openNodes = []; // its nodes, replaced when it is rendered again
    /** @type {Fence | null} */
    this.fence = null;
    /** @type {Element | null} */
    this.list = null; // the <ul> or <ol> whose later items are still open
    /** @type {Table | null} */
    this.table = null;
    /** @type {Quote | null} */
    this.quote = null; // a quote is a stream of its own
    this.restUntil = 0;
    this.ended = false;
    this.timer = 0;
  }

  /** @param {string} text */
  push(text) {
    this.backlog += text;
    if (!this.timer) this.step();
  }

  /** The last piece. `cut`: the text broke off, so what it left open is closed. */
  end(text = "", cut = false) {
    this.backlog += text;
    if (cut && !this.fence)
      this.backlog = mendInline(this.source + this.backlog).slice(this.source.length);
    this.ended = true;
    clearTimeout(this.timer);
    this.step();
  }

  dispose() {
    clearTimeout(this.timer);
    this.quote?.stream.dispose();
    this.backlog = "";
  }

  step() {
    this.timer = 0;
    this.source += this.backlog.slice(0, SLICE);
    this.backlog = this.backlog.slice(SLICE);
    const last = this.ended && !this.backlog;
    while (this.advance(last));
    if (this.backlog && !this.timer) this.timer = setTimeout(() => this.step());
  }

  /**
   * Does one piece of work on the source; true when there may be more.
   * @param {boolean} last
   * @returns {boolean}
   */
  advance(last) {
    if (this.fence) return this.advanceFence(this.fence, last);
    if (this.table) return this.advanceTable(this.table, last);
    if (this.quote) return this.advanceQuote(this.quote, last);
    if (!this.list && this.openFence()) return true;
    return this.advanceBlocks(last);
  }

  openFence() {
    const opening = openingFence(this.source);
    if (!opening) return false;
    this.clearOpen();
    const code = codeFigure(opening.language);
    place(this.element, code.element);
    this.fence = { close: closingFence(opening.fence), code, midLine: false };
    this.source = this.source.slice(opening.length);
    return true;
  }

  /**
   * @param {Fence} fence
   * @param {boolean} last
   */
  advanceFence(fence, last) {
    let taken = 0;
    for (;;) {
      const newline = this.source.indexOf("\n", taken);
      if (newline < 0) break;
      const line = this.source.slice(taken, newline);
      if (!fence.midLine && fence.close.test(line)) {
        this.flushCode(fence, taken, newline + 1);
        this.closeFence(fence);
        return true;
      }
      fence.midLine = false;
      taken = newline + 1;
    }
    const rest = this.source.slice(taken);
    if (last) {
      const closed = !fence.midLine && fence.close.test(rest);
      this.flushCode(fence, closed ? taken : this.source.length, this.source.length);
      this.closeFence(fence);
    } else if (fence.midLine || !couldCloseFence(rest)) {
      this.flushCode(fence, this.source.length, this.source.length);
      fence.midLine = rest !== "";
    } else {
      this.flushCode(fence, taken, taken);
    }
    return false;
  }

  /**
   * @param {Fence} fence
   * @param {number} end
   * @param {number} consumed
   */
  flushCode(fence, end, consumed) {
    if (end > 0) fence.code.append(this.source.slice(0, end));
    this.source = this.source.slice(consumed);
  }

  /** @param {Fence} fence */
  closeFence(fence) {
    fence.code.finish();
    this.fence = null;
  }

  /** @param {boolean} last */
  advanceBlocks(last) {
    const whole = last ? this.source : this.source.slice(0, this.source.lastIndexOf("\n") + 1);
    const tokens = whole ? lex(whole, this.links) : [];
    let solid = tokens.length;
    while (solid > 0 && tokens[solid - 1].type === "space") solid -= 1;
    const ended = solid > 0 && isClosed(tokens[solid - 1], solid < tokens.length);
    const finished = last || ended ? tokens.length : Math.max(0, solid - 1);
    const fenceAt = tokens.findIndex((token, at) => at > 0 && openingFence(token.raw));
    if (finished > 0 || fenceAt > 0) {
      const count = fenceAt > 0 ? fenceAt : finished;
      this.commit(tokens.slice(0, count));
      return fenceAt > 0 || this.source !== "";
    }
    const open = tokens[0];
    if (open?.type === "list" && open.items.length > 1) return this.commitItems(open);
    if (open?.type === "table" && open.rows.length > 0) return this.startTable(open);
    if (open?.type === "blockquote") return this.startQuote();
    const cut = open && open.type !== "paragraph" ? 0 : splitLong(this.source);
    if (cut) {
      this.commit(lex(this.source.slice(0, cut), this.links), cut);
      return true;
    }
    this.renderOpen();
    return false;
  }

  /**
   * Puts finished tokens in place and forgets their source.
   * @param {Token[]} tokens
   */
  commit(tokens, length = tokens.reduce((sum, token) => sum + token.raw.length, 0)) {
    this.clearOpen();
    const [first, ...others] = tokens;
    if (this.list && first?.type === "list") {
      this.addItems(this.list, first.items, first);
      this.list = null;
      place(this.element, toFragment(others, { final: true }));
    } else {
      this.list = null;
      place(this.element, toFragment(tokens, { final: true }));
    }
    this.source = this.source.slice(length);
  }

  /** @param {Tokens.List | Tokens.Generic} token */
  commitItems(token) {
    this.clearOpen();
    const items = /** @type {Tokens.ListItem[]} */ (token.items.slice(0, -1));
    this.list ??= place(this.element, toFragment([{ ...token, items: [] }]));
    this.addItems(this.list, items, token);
    this.source = this.source.slice(items.reduce((sum, item) => sum + item.raw.length, 0));
    return true;
  }

  /**
   * @param {Element} list
   * @param {Tokens.ListItem[]} items
   * @param {Tokens.List | Tokens.Generic} token
   */
  addItems(list, items, token) {
    const nodes =
      toFragment([{ ...token, items }], { final: true }).firstElementChild?.childNodes ?? [];
    list.append(...nodes);
  }

  /** @param {Token} token */
  startTable(token) {
    this.clearOpen();
    this.list = null;
    const lines = this.source.split("\n");
    const head = `${lines[0]}\n${lines[1]}\n`;
    const table = place(this.element, toFragment([{ ...token, rows: [] }]));
    this.table = { head, body: table.appendChild(document.createElement("tbody")) };
    this.source = this.source.slice(head.length);
    return true;
  }

  /**
   * @param {Table} table
   * @param {boolean} last
   */
  advanceTable(table, last) {
    this.clearOpen();
    const newline = this.source.indexOf("\n");
    if (newline < 0 && !last) {
      if (this.source.trim()) this.openNodes = this.addRow(table, this.source);
      return false;
    }
    const line = newline < 0 ? this.source : this.source.slice(0, newline);
    if (line.trim() && this.addRow(table, line).length) {
      this.source = this.source.slice(line.length + 1);
      return this.source !== "";
    }
    this.table = null;
    return this.source !== "";
  }

  /**
   * Appends one table row; an empty list when the line is not a row of the table.
   * @param {Table} table
   * @param {string} line
   */
  addRow({ head, body }, line) {
    const tokens = lex(head + line, this.links);
    if (tokens.length !== 1 || /** @type {Tokens.Table} */ (tokens[0]).rows?.length !== 1)
      return [];
    const nodes = [...toFragment(tokens).querySelectorAll("tbody > tr")];
    body.append(...nodes);
    return nodes;
  }

  startQuote() {
    this.clearOpen();
    this.list = null;
    const element = document.createElement("blockquote");
    place(this.element, element);
    this.quote = { stream: new MarkdownStream(element), midLine: false, prose: false };
    return true;
  }

  /**
   * @param {Quote} quote
   * @param {boolean} last
   */
  advanceQuote(quote, last) {
    const { stream } = quote;
    for (;;) {
      const newline = this.source.indexOf("\n");
      if (newline < 0) break;
      const line = this.quotedLine(quote, this.source.slice(0, newline));
      if (line === null) return this.closeQuote(quote);
      stream.push(`${line}\n`);
      this.endQuotedLine(quote, line);
      this.source = this.source.slice(newline + 1);
    }
    const rest = this.source && (last || /^ {0,3}> ?\S/.test(this.source) || quote.midLine);
    const line = rest ? this.quotedLine(quote, this.source) : null;
    if (line !== null) {
      stream.push(line);
      this.endQuotedLine(quote, line);
      quote.midLine = true;
      this.source = "";
    }
    return last ? this.closeQuote(quote) : false;
  }

  /**
   * Notes whether the next line may go on without a quote mark.
   * @param {Quote} quote
   * @param {string} line
   */
  endQuotedLine(quote, line) {
    if (!quote.midLine) quote.prose = !quote.stream.fence && isProse(line);
    quote.midLine = false;
  }

  /**
   * The line without its quote mark; null when it does not belong to the quote.
   * @param {Quote} quote
   * @param {string} line
   */
  quotedLine(quote, line) {
    if (quote.midLine) return line;
    const marked = /^ {0,3}> ?/.exec(line);
    if (marked) return line.slice(marked[0].length);
    const tokens = quote.prose && line.trim() ? lex(`> x\n${line}`, {}) : [];
    return tokens.length === 1 && tokens[0].type === "blockquote" ? line : null;
  }

  /** @param {Quote} quote */
  closeQuote(quote) {
    quote.stream.end();
    this.quote = null;
    return this.source !== "";
  }

  renderOpen() {
    const started = performance.now();
    if (started < this.restUntil) {
      this.timer = setTimeout(() => this.step(), this.restUntil - started);
      return;
    }
    this.clearOpen();
    if (!this.source.trim()) return;
    const tokens = lex(mendInline(this.source), this.links);
    if (this.list && tokens[0]?.type === "list") {
      const before = this.list.childNodes.length;
      this.addItems(this.list, tokens[0].items, tokens[0]);
      this.openNodes = [...this.list.childNodes].slice(before);
      tokens.shift();
    }
    const fragment = toFragment(tokens);
    this.openNodes.push(...fragment.childNodes);
    place(this.element, fragment);
    this.restUntil = started + (1 + REST) * (performance.now() - started);
  }

  clearOpen() {
    takeAway(this.openNodes);
    this.openNodes = [];
  }
}
