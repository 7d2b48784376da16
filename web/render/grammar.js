// How messages are read: CommonMark and GFM by markdown-it, with the rules of rules/. Raw HTML is
// text. Pure; no DOM.
import MarkdownIt from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";
import footnotes from "markdown-it-footnote";
import { autolinks } from "./rules/autolinks.js";
import { mathematics } from "./rules/mathematics.js";
import { boundedDepth, lineBreakTag, twoTildes } from "./rules/small.js";

export const md = new MarkdownIt({ html: false, linkify: false });
md.use(cjkFriendly).use(footnotes).disable("footnote_inline");
md.use(boundedDepth).use(mathematics).use(twoTildes).use(lineBreakTag).use(autolinks);

// Which links lead anywhere is decided on the drawn element, for all alike (draw.js).
md.validateLink = () => true;
const encoded = md.normalizeLink.bind(md);
md.normalizeLink = (url) => (/^data:/i.test(url) ? url : encoded(url));

// No line ends between blocks: the style sheet keeps those of a text.
md.renderer.renderToken = function renderToken(tokens, at) {
  const token = tokens[at];
  if (token.hidden) return "";
  return `<${token.nesting < 0 ? "/" : ""}${token.tag}${this.renderAttrs(token)}>`;
};
for (const name of /** @type {const} */ (["fence", "code_block"])) {
  const rule = md.renderer.rules[name];
  md.renderer.rules[name] = (...given) => rule?.(...given).trimEnd() ?? "";
}
// No src: the browser must not fetch anything while the element is made.
md.renderer.rules.image = (tokens, at, options, env, renderer) => {
  const token = tokens[at];
  const text = renderer.renderInlineAsText(token.children ?? [], options, env);
  token.attrs = [["data-remote", token.attrGet("src") ?? ""], ["alt", text], ...titleOf(token)];
  return renderer.renderToken(tokens, at, options);
};
md.renderer.rules.footnote_ref = (tokens, at) =>
  `<sup data-note="${Number(tokens[at].meta?.id) + 1}"></sup>`;

/**
 * @param {import("markdown-it").Token} token
 * @returns {[string, string | number][]}
 */
function titleOf(token) {
  const title = token.attrGet("title");
  return title === null ? [] : [["title", title]];
}
