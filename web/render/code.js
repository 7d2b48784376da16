// Code blocks: a figure with the language, a copy button, and text that only ever grows.
// The text is kept in parts of some sixty lines, each its own box, so that the browser lays out
// only the last part again when a line arrives, and colours are made a part at a time.
import { part, template } from "./templates.js";

const LINES_PER_PART = 60;
const HIGHLIGHT_LIMIT = 20_000;

/** @typedef {ReturnType<typeof codeFigure>} CodeFigure */

/** @param {string} language */
export function codeFigure(language) {
  const element = template("t-code");
  part(element, "[data-part=language]").textContent = language;
  const code = part(element, "code");
  /** @type {HTMLSpanElement | null} */
  let last = null;
  let lines = 0;
  return {
    element,
    /** @param {string} text */
    append(text) {
      for (let rest = text; rest;) {
        if (!last || lines >= LINES_PER_PART) {
          last = document.createElement("span");
          last.className = "code-part";
          code.append(last);
          lines = 0;
        }
        const taken = firstLines(rest, LINES_PER_PART - lines);
        last.append(taken);
        lines += taken.split("\n").length - 1;
        rest = rest.slice(taken.length);
      }
    },
    finish() {
      dropLastLineEnd(last);
      if (language && code.textContent.length <= HIGHLIGHT_LIMIT)
        highlightLater([...code.children], language);
    },
  };
}

/**
 * @param {string} text
 * @param {number} count
 */
function firstLines(text, count) {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    end = text.indexOf("\n", end) + 1;
    if (end === 0) return text;
  }
  return text.slice(0, end);
}

/** @param {HTMLElement | null} part */
function dropLastLineEnd(part) {
  const text = /** @type {Text | null | undefined} */ (part?.lastChild);
  if (text?.data.endsWith("\n")) text.data = text.data.slice(0, -1);
}

/** @type {(work: () => void, options: IdleRequestOptions) => unknown} */
const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work));
/** @returns {Promise<void>} */
const pause = () => new Promise((resolve) => idle(resolve, { timeout: 1000 }));
let highlighting = Promise.resolve();

/**
 * Colours the parts of a finished block when the page has nothing else to do, blocks in turn.
 * @param {Element[]} parts
 * @param {string} language
 */
function highlightLater(parts, language) {
  const work = () => highlightParts(parts, language);
  highlighting = highlighting.then(work, work);
}

/**
 * @param {Element[]} parts
 * @param {string} language
 */
async function highlightParts(parts, language) {
  const { highlight } = await import("./highlight.js");
  /** @type {Element[]} */
  let taken = [];
  for (const part of parts) {
    taken.push(part);
    await pause();
    const { fragment, open } = highlight(taken.map((one) => one.textContent).join(""), language);
    if (!fragment) return;
    // What ends within a comment or a text is coloured together with what follows.
    if (open && part !== parts.at(-1)) continue;
    taken[0].replaceChildren(fragment);
    for (const merged of taken.slice(1)) merged.remove();
    taken = [];
  }
}
