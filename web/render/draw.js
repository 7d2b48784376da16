// Markup of ours, made of foreign text, to sanitised elements.
import DOMPurify from "dompurify";
import { codeFigure } from "./code.js";
import { drawFormula } from "./formulas.js";
import { imageButton } from "./images.js";
import { linkNotes } from "./notes.js";

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS =
  "p br strong em del sup span code pre blockquote ul ol li hr h1 h2 h3 h4 h5 h6 " +
  "table thead tbody tr th td a img input section";
// What holds no address is not tested as one.
const PLAIN =
  "title alt class start value type checked disabled align data-remote data-formula data-note";
/** @type {import("dompurify").Config & { RETURN_DOM_FRAGMENT: true }} */
const ALLOWED = {
  ALLOWED_TAGS: TAGS.split(" "),
  ALLOWED_ATTR: ["href", ...PLAIN.split(" ")],
  ADD_URI_SAFE_ATTR: PLAIN.split(" "),
  ALLOWED_URI_REGEXP: SAFE_LINK,
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/**
 * The elements of `markup`, safe anywhere in the page.
 * @param {string} markup
 */
export function toFragment(markup) {
  const fragment = DOMPurify.sanitize(markup, ALLOWED);
  for (const link of fragment.querySelectorAll("a")) drawLink(link);
  for (const image of fragment.querySelectorAll("img")) image.replaceWith(imageButton(image));
  for (const box of fragment.querySelectorAll("input")) {
    box.disabled = true;
    box.setAttribute("aria-label", box.checked ? "Done" : "Not done");
  }
  for (const pre of fragment.querySelectorAll("pre")) pre.replaceWith(codeFromPre(pre));
  for (const group of fragment.querySelectorAll("ul, ol, blockquote")) arrange(group);
  for (const table of fragment.querySelectorAll("table")) table.tabIndex = 0;
  for (const formula of fragment.querySelectorAll("[data-formula]"))
    drawFormula(/** @type {HTMLElement} */ (formula));
  for (const note of fragment.querySelectorAll("sup")) linkNotes(note);
  return fragment;
}

/** What begins with a letter of a script that runs from right to left. */
const RIGHT_TO_LEFT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/**
 * A list's marks and a quote's line are where its text begins, and a list has room for its numbers.
 * @param {Element} group
 */
export function arrange(group) {
  if (group instanceof HTMLOListElement) makeRoom(group);
  if (RIGHT_TO_LEFT.test(group.firstElementChild?.textContent ?? ""))
    group.setAttribute("dir", "rtl");
  else group.removeAttribute("dir");
}

/**
 * Numbers of three digits and more need more room than a list has beside it.
 * @param {HTMLOListElement} list
 */
function makeRoom(list) {
  let [number, highest] = [list.start - 1, 0];
  for (const item of /** @type {Iterable<HTMLLIElement>} */ (list.children)) {
    number = item.hasAttribute("value") ? item.value : number + 1;
    highest = Math.max(highest, number);
  }
  const digits = String(highest).length;
  if (digits > 2) list.style.paddingInlineStart = `${digits + 1.5}ch`;
  else list.removeAttribute("style");
}

/**
 * A link that leads nowhere safe is the text it has.
 * @param {HTMLAnchorElement} link
 */
function drawLink(link) {
  if (!link.getAttribute("href")) return link.replaceWith(...link.childNodes);
  link.target = "_blank";
  link.rel = "noopener noreferrer";
}

/**
 * Code blocks that may be coloured once nothing follows in them.
 * @type {WeakMap<Element, import("./code.js").CodeFigure>}
 */
const unfinished = new WeakMap();

/** @param {HTMLPreElement} pre */
function codeFromPre(pre) {
  const code = pre.querySelector("code") ?? pre;
  const block = codeFigure(/language-(\S+)/.exec(code.className)?.[1].toLowerCase() ?? "");
  block.append(code.textContent);
  unfinished.set(block.element, block);
  return block.element;
}

/**
 * Nothing in `element` will change any more.
 * @param {Element} element
 */
export function settle(element) {
  const figures = element.matches("figure.code")
    ? [element]
    : element.querySelectorAll("figure.code");
  for (const figure of figures) {
    unfinished.get(figure)?.finish();
    unfinished.delete(figure);
  }
}
