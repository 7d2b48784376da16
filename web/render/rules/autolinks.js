// Addresses that stand in a text as they are (GFM's "extended autolinks"): www., http, https, mailto
// and e-mail. Beyond GFM, an address ends where Chinese, Japanese or Korean punctuation begins, at
// a bracket or quotation mark that closes around it, and a name of ASCII letters ends where other
// letters begin: between those scripts and an address nobody puts a space.
/** @import { MarkdownIt, StateInline } from "markdown-it" */

const AFTER = String.raw`(?<![A-Za-z0-9_.+\-/@])`;
const HOST = String.raw`[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*`;
const REST = String.raw`(?::\d+)?(?:[/?#][^\s<>"\x60\[\]\u2018-\u201f\u2026\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]*)?`;
const MAIL = String.raw`(?:mailto:)?[A-Za-z0-9.+_-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+`;
const ADDRESS = new RegExp(
  `${AFTER}(?:((?:(?:https?|ftp)://|www\\.)(?:${HOST})${REST})|(${MAIL})(?![A-Za-z0-9_@-]))`,
  "giu",
);
const TRAILING = "?!.,:*_~'\"";
/** Of a host's name, in characters. */
const LONGEST = 253;

/**
 * In the order of the text.
 * @typedef {{ start: number, end: number, href: string }} Address
 * @type {WeakMap<StateInline, Address[]>}
 */
const found = new WeakMap();

/** @param {MarkdownIt} md */
export function autolinks(md) {
  md.inline.ruler.before("text", "address", (state, silent) => {
    const address = firstFrom(addressesOf(state), state.pos);
    if (address?.start !== state.pos || state.linkLevel > 0) return false;
    if (!silent) pushLink(state, address);
    state.pos = address.end;
    return true;
  });
  // The text before an address must not run over its beginning.
  md.inline.ruler.before("text", "until_address", (state, silent) => {
    const text = /[^\n!#$%&*+\-:<=>@[\\\]^_`{}~]+/y;
    text.lastIndex = state.pos;
    const run = text.exec(state.src)?.[0] ?? "";
    const next = firstFrom(addressesOf(state), state.pos + 1);
    if (!next || next.start >= state.pos + run.length) return false;
    if (!silent) state.pending += state.src.slice(state.pos, next.start);
    state.pos = next.start;
    return true;
  });
}

/**
 * @param {Address[]} addresses
 * @param {number} pos
 * @returns {Address | undefined}
 */
function firstFrom(addresses, pos) {
  let [low, high] = [0, addresses.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (addresses[middle].start < pos) low = middle + 1;
    else high = middle;
  }
  return addresses[low];
}

/** @param {StateInline} state */
function addressesOf(state) {
  let addresses = found.get(state);
  if (!addresses) {
    addresses = [];
    if (/[@:]|www\./i.test(state.src))
      for (const match of state.src.matchAll(ADDRESS)) {
        const address = addressOf(match);
        if (address) addresses.push(address);
      }
    found.set(state, addresses);
  }
  return addresses;
}

/**
 * @param {RegExpExecArray} match
 * @returns {Address | null}
 */
function addressOf({ index, 1: web, 2: mail }) {
  if (mail) {
    if (/[_-]$/.test(mail)) return null;
    const href = /^mailto:/i.test(mail) ? mail : `mailto:${mail}`;
    return { start: index, end: index + mail.length, href };
  }
  const text = trimmed(web);
  const host = /^(?:(?:https?|ftp):\/\/)?([^/?#:]*)/i.exec(text)?.[1] ?? "";
  const names = host.split(".");
  if (/^www\./i.test(text) && (names.length < 2 || !names[1])) return null;
  if (!host || host.length > LONGEST) return null;
  if (names.slice(-2).some((name) => name.includes("_"))) return null;
  const href = /^www\./i.test(text) ? `http://${text}` : text;
  return { start: index, end: index + text.length, href };
}

/**
 * Without punctuation at the end that belongs to the sentence, and without a bracket that was
 * opened before the address.
 * @param {string} text
 */
function trimmed(text) {
  let unopened = text.split(")").length - text.split("(").length;
  let end = text.length;
  for (; end > 0; end -= 1) {
    const last = text[end - 1];
    if (last === ";") {
      const entity = /&[A-Za-z0-9]+;$/.exec(text.slice(Math.max(0, end - 40), end));
      if (!entity) break;
      end -= entity[0].length - 1;
    } else if (last === ")" && unopened > 0) unopened -= 1;
    else if (!TRAILING.includes(last)) break;
  }
  return text.slice(0, end);
}

/**
 * @param {StateInline} state
 * @param {Address} address
 */
function pushLink(state, { start, end, href }) {
  const open = state.push("link_open", "a", 1);
  open.attrs = [["href", state.md.normalizeLink(href)]];
  state.push("text", "", 0).content = state.src.slice(start, end);
  state.push("link_close", "a", -1);
}
