// Markdown tokens to sanitised DOM fragments.
import { Lexer, Marked } from "marked";
import DOMPurify from "dompurify";
import { codeFigure } from "./code.js";
import { imageButton } from "./images.js";

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS =
  "p br strong em del code pre blockquote ul ol li hr h1 h2 h3 h4 h5 h6 " +
  "table thead tbody tr th td a img input";
const ATTRIBUTES = "href title alt data-remote class start type checked disabled align";
/** @type {import("dompurify").Config & { RETURN_DOM_FRAGMENT: true }} */
const ALLOWED = {
  ALLOWED_TAGS: TAGS.split(" "),
  ALLOWED_ATTR: ATTRIBUTES.split(" "),
  ALLOWED_URI_REGEXP: SAFE_LINK,
  // Never an address of the element itself; images.js looks at what it holds.
  ADD_URI_SAFE_ATTR: ["data-remote"],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** @type {Record<string, string>} */
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (character) => escapes[character]);

const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    // Raw HTML is text: without these two rules it falls through to paragraphs and plain text.
    html: () => undefined,
    tag: () => undefined,
  },
  renderer: {
    link({ href, title, tokens }) {
      const inner = this.parser.parseInline(tokens);
      if (!SAFE_LINK.test(href)) return inner;
      const hint = title ? ` title="${escape(title)}"` : "";
      return `<a href="${escape(href)}"${hint}>${inner}</a>`;
    },
    // No src: the browser must not fetch anything while the fragment is made.
    image({ href, text }) {
      return `<img data-remote="${escape(href)}" alt="${escape(text)}">`;
    },
  },
});

/**
 * Block tokens of `source`; `links` collects reference definitions across calls.
 * @param {string} source
 * @param {import("marked").Links} links
 */
export function lex(source, links) {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  const tokens = lexer.lex(source);
  Object.assign(links, tokens.links);
  return tokens;
}

/**
 * A fragment with the rendered `tokens`, safe anywhere in the page; code is coloured when `final`.
 * @param {import("marked").Token[]} tokens
 */
export function toFragment(tokens, { final = false } = {}) {
  const fragment = DOMPurify.sanitize(marked.parser(tokens), ALLOWED);
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const image of fragment.querySelectorAll("img")) image.replaceWith(imageButton(image));
  for (const box of fragment.querySelectorAll("input")) {
    box.disabled = true;
    box.setAttribute("aria-label", box.checked ? "Done" : "Not done");
  }
  for (const pre of fragment.querySelectorAll("pre")) pre.replaceWith(codeFromPre(pre, final));
  for (const table of fragment.querySelectorAll("table")) table.tabIndex = 0;
  return fragment;
}

/**
 * @param {HTMLPreElement} pre
 * @param {boolean} final
 */
function codeFromPre(pre, final) {
  const code = pre.querySelector("code") ?? pre;
  const language = /language-(\S+)/.exec(code.className)?.[1] ?? "";
  const block = codeFigure(language);
  block.append(code.textContent);
  if (final) block.finish();
  return block.element;
}
