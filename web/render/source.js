// Pure helpers on Markdown source; no DOM.

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
 * Where a piece of at most `size` characters ends: never within a character or a line end.
 * @param {string} text
 * @param {number} size
 */
export function pieceEnd(text, size) {
  if (text.length <= size) return text.length;
  return /[\r\ud800-\udbff]/.test(text[size - 1]) ? size - 1 : size;
}
