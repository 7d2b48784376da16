// Pure helpers on Markdown source; no DOM.

const OPENING = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;
const LONG = 4_000;

/**
 * The fence that opens at the start of `source`, once its line is complete.
 * @param {string} source
 */
export function openingFence(source) {
  const match = OPENING.exec(source);
  if (!match) return null;
  const [whole, fence, info] = match;
  if (fence[0] === "`" && info.includes("`")) return null;
  return { fence, language: info.trim().split(/\s+/)[0].toLowerCase(), length: whole.length };
}

/**
 * Matches a line that closes `fence`.
 * @param {string} fence
 */
export function closingFence(fence) {
  return new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}[ \\t]*$`);
}

/**
 * Whether more characters could turn this unfinished line into a closing fence.
 * @param {string} line
 */
export function couldCloseFence(line) {
  return /^ {0,3}(?:`*|~*)[ \t]*$/.test(line);
}

/**
 * Closes emphasis and code that is still open, so that it does not flicker as it arrives.
 * @param {string} source
 */
export function mendInline(source) {
  const text = source.replace(/(?:\*{1,2}|_{1,2}|~~|`)$/, "");
  const last = text.slice(text.lastIndexOf("\n\n") + 1);
  if ((last.match(/`/g)?.length ?? 0) % 2) return `${text}\``;
  const open = (last.match(/\*\*(?=\S)|(?<=\S)\*\*/g)?.length ?? 0) % 2;
  return open ? `${text.trimEnd()}**` : text;
}

/**
 * Whether nothing that follows can still belong to this block.
 * @param {import("marked").Token} token
 * @param {boolean} blankFollows
 */
export function isClosed(token, blankFollows) {
  if (token.type === "heading" || token.type === "hr") return true;
  return token.type === "paragraph" && blankFollows;
}

/**
 * Whether a line is one of a paragraph, which the next line may go on with.
 * @param {string} line
 */
export function isProse(line) {
  return line.trim() !== "" && !/^ {0,3}(?:`{3}|~{3}|#{1,6}\s|\|)/.test(line);
}

/**
 * Where an endless paragraph may be cut: after a sentence or a line; 0 when it is short.
 * @param {string} source
 */
export function splitLong(source) {
  if (source.length < LONG) return 0;
  const head = source.slice(0, LONG);
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("。"), head.lastIndexOf("\n"));
  return sentence > LONG / 2 ? sentence + 1 : head.lastIndexOf(" ") + 1;
}
