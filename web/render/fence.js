// An open code block: its lines are put in place as they arrive and never read again.
import { codeFigure } from "./code.js";
import { closingFence, couldCloseFence } from "./source.js";

/** @import { Token } from "markdown-it" */

export class Fence {
  /**
   * @param {Token} token
   * @param {string} opening its first line
   */
  constructor({ info, markup }, opening) {
    const language = info.trim().split(/\s+/)[0].toLowerCase();
    this.code = codeFigure(language);
    this.element = this.code.element;
    this.close = closingFence(markup);
    this.indent = /^ */.exec(opening)?.[0].length ?? 0;
    this.midLine = false;
  }

  /**
   * Takes what is certain; returns what is left, and whether the block has ended.
   * @param {string} source
   * @param {boolean} last
   * @returns {{ rest: string, ended: boolean }}
   */
  read(source, last) {
    let from = 0;
    let taken = "";
    for (let newline; (newline = source.indexOf("\n", from)) >= 0; from = newline + 1) {
      const line = source.slice(from, newline);
      if (!this.midLine && this.close.test(line)) return this.end(taken, source.slice(newline + 1));
      taken += `${this.dedented(line)}\n`;
      this.midLine = false;
    }
    const rest = source.slice(from);
    const open = !this.midLine && (couldCloseFence(rest) || rest.length < this.indent);
    if (last) {
      const closed = !this.midLine && this.close.test(rest);
      return this.end(closed ? taken : taken + this.dedented(rest), "");
    }
    if (open) {
      this.code.append(taken);
      return { rest, ended: false };
    }
    this.code.append(taken + this.dedented(rest));
    this.midLine ||= rest !== "";
    return { rest: "", ended: false };
  }

  /**
   * @param {string} taken
   * @param {string} rest
   */
  end(taken, rest) {
    this.code.append(taken);
    this.code.finish();
    return { rest, ended: true };
  }

  /** @param {string} line */
  dedented(line) {
    if (this.midLine) return line;
    let spaces = 0;
    while (spaces < this.indent && line[spaces] === " ") spaces += 1;
    return line.slice(spaces);
  }
}
