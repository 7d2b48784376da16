// Markdown that arrives in pieces. Invariants: what is drawn is what the whole text would give,
// however it was cut; finished blocks are never read or drawn again, but for definitions that come
// after them; an open code block grows line by line, and any other open block is read again for a
// bounded share of the time, so the cost of a piece does not grow with the message; blocks go into
// parts that the browser lays out on their own. When drawing fails, the text is shown as it is.
import { areSame, layer, markup, noDefinitions, readBlocks } from "./blocks.js";
import { settle, toFragment } from "./draw.js";
import { Fence } from "./fence.js";
import { Finished } from "./finished.js";
import { place, takeAway } from "./parts.js";
import { mendInline, pieceEnd } from "./source.js";
import { renew } from "./trees.js";

const SLICE = 12_000;
// After reading and drawing the open block for t ms, it rests for REST * t ms: its share of the
// time is bounded however long it grows.
const REST = 6;

/** @import { Block, Definitions } from "./blocks.js" */

export class MarkdownStream {
  /** @param {Element} element */
  constructor(element) {
    this.element = element;
    this.env = noDefinitions();
    this.text = "";
    this.backlog = "";
    this.source = ""; // what is not finished
    /** @type {Block[]} */
    this.open = []; // its blocks, as they are drawn
    this.finished = new Finished();
    /** @type {Fence | null} */
    this.fence = null;
    /** @type {Text | null} */
    this.plain = null; // the whole text, when drawing failed
    this.restUntil = 0;
    this.ended = false;
    this.timer = 0;
  }

  /** @param {string} text */
  push(text) {
    this.take(text);
    if (!this.timer) this.step();
  }

  /** The last piece. `cut`: the text broke off, so what it left open is closed. */
  end(text = "", cut = false) {
    this.take(text);
    if (cut && !this.fence)
      this.backlog = mendInline(this.source + this.backlog).slice(this.source.length);
    this.ended = true;
    clearTimeout(this.timer);
    this.step();
  }

  dispose() {
    clearTimeout(this.timer);
    this.backlog = "";
  }

  /** @param {string} text */
  take(text) {
    this.text += text;
    this.backlog += text;
  }

  step() {
    this.timer = 0;
    const started = performance.now();
    if (!this.ended && !this.fence && started < this.restUntil) {
      this.timer = setTimeout(() => this.step(), this.restUntil - started);
      return;
    }
    try {
      this.advance();
    } catch (error) {
      this.giveUp(error);
    }
    this.restUntil = started + (1 + REST) * (performance.now() - started);
    if (this.backlog && !this.timer) this.timer = setTimeout(() => this.step());
  }

  advance() {
    if (this.plain) return this.showPlain();
    const size = Math.max(SLICE, this.source.length / 4);
    // A carriage return waits for the line feed that may follow.
    const whole = this.ended ? this.backlog : this.backlog.replace(/\r$/, "");
    const end = pieceEnd(whole, size);
    this.source += whole.slice(0, end).replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd");
    this.backlog = this.backlog.slice(end);
    const last = this.ended && !this.backlog;
    while (this.fence ? this.advanceFence(this.fence, last) : this.advanceBlocks(last));
    if (last) this.finished.finish(this.element, this.env);
  }

  /**
   * @param {Fence} fence
   * @param {boolean} last
   */
  advanceFence(fence, last) {
    const { rest, ended } = fence.read(this.source, last);
    this.source = rest;
    if (ended) this.fence = null;
    return ended && rest !== "";
  }

  /**
   * Finishes the blocks that can't change and draws the others; true when there is more to do.
   * @param {boolean} last
   */
  advanceBlocks(last) {
    const whole = last ? this.source : this.source.slice(0, this.source.lastIndexOf("\n") + 1);
    const env = layer(this.env);
    const { blocks, decided } = readBlocks(whole, env);
    const certain = last ? blocks.length : Math.min(decided, Math.max(0, blocks.length - 1));
    const fence = blocks.findIndex(({ tokens }) => tokens[0]?.type === "fence");
    const fenceFirst = fence >= 0 && fence <= certain && fence <= decided;
    const count = fenceFirst ? fence : certain;
    if (last || fenceFirst) this.show(blocks.slice(0, count), env);
    else this.show(this.draft(blocks, count, env), env);
    this.finish(blocks.slice(0, count), env);
    if (fenceFirst) this.openFence(blocks[fence]);
    return fenceFirst;
  }

  /**
   * What is shown of a text that goes on: as if it ended here, in good order.
   * @param {Block[]} blocks
   * @param {number} count
   * @param {Definitions} env
   */
  draft(blocks, count, env) {
    const draft = readBlocks(mendInline(this.source), env).blocks;
    for (let at = 0; at < count; at += 1)
      if (!draft[at] || !areSame(draft[at].tokens, blocks[at].tokens)) return blocks;
    return [...blocks.slice(0, count), ...draft.slice(count)];
  }

  /**
   * Brings the page to these blocks.
   * @param {Block[]} blocks
   * @param {Definitions} env
   */
  show(blocks, env) {
    const { open } = this;
    let same = 0;
    for (; same < open.length && same < blocks.length; same += 1) {
      if (!areDrawnAlike(open[same], blocks[same])) break;
      blocks[same].element = open[same].element;
    }
    if (same < open.length && same < blocks.length && renewed(open[same], blocks[same], env))
      same += 1;
    const left = open.slice(same).flatMap(({ element }) => element ?? []);
    takeAway(left);
    this.open = blocks;
    this.draw(blocks.slice(same), env);
  }

  /**
   * @param {Block[]} blocks
   * @param {Definitions} env
   */
  draw(blocks, env) {
    const texts = blocks.map((block) => markup(block, env));
    const fragment = toFragment(texts.join(""));
    const elements = [...fragment.children];
    for (const [at, block] of blocks.entries())
      block.element = texts[at] ? elements.shift() : undefined;
    place(this.element, fragment);
  }

  /**
   * Forgets the source of blocks that are drawn and can't change.
   * @param {Block[]} blocks
   * @param {Definitions} env
   */
  finish(blocks, env) {
    for (const block of blocks) {
      if (block.element) settle(block.element);
      this.finished.add(block, env, this.env);
    }
    this.open = this.open.slice(blocks.length);
    this.source = this.source.slice(blocks.at(-1)?.end ?? 0);
  }

  /** @param {Block} block */
  openFence({ tokens: [token], source }) {
    takeAway(this.open.flatMap(({ element }) => element ?? []));
    this.open = [];
    const begin = source.length - source.trimStart().length;
    const start = source.lastIndexOf("\n", begin) + 1;
    const opening = source.slice(start, source.indexOf("\n", start) + 1 || undefined);
    this.fence = new Fence(token, opening);
    place(this.element, this.fence.element);
    this.source = this.source.slice(start + opening.length);
  }

  /** @param {unknown} error */
  giveUp(error) {
    console.warn("A message is shown as it is:", error);
    const shown = document.createElement("p");
    shown.className = "plain";
    this.plain = shown.appendChild(document.createTextNode(""));
    this.element.replaceChildren(shown);
    this.showPlain();
  }

  showPlain() {
    const text = /** @type {Text} */ (this.plain);
    text.appendData(this.text.slice(text.length));
    this.backlog = "";
  }
}

/**
 * @param {Block} one
 * @param {Block} other
 */
function areDrawnAlike(one, other) {
  if (one.plain || other.plain) return one.plain === other.plain && one.source === other.source;
  return areSame(one.tokens, other.tokens);
}

/**
 * @param {Block} drawn
 * @param {Block} block
 * @param {Definitions} env
 */
function renewed(drawn, block, env) {
  try {
    return renew(drawn, block, env);
  } catch {
    return false; // drawn anew, it is shown as it is
  }
}
