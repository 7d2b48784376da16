// Code blocks: a figure with the language, a copy button, and text that only ever grows.
// The text is kept in parts of some sixty lines, each its own box, so that the browser lays out
// only the last part again when a line arrives.
const LINES_PER_PART = 60;
// Highlighting is one synchronous pass; above this size it would be felt.
const HIGHLIGHT_LIMIT = 20_000;

export function codeFigure(language) {
  const element = document.getElementById("t-code").content.firstElementChild.cloneNode(true);
  element.querySelector("[data-part=language]").textContent = language;
  const code = element.querySelector("code");
  let part = null;
  let lines = 0;
  return {
    element,
    append(text) {
      if (!part || lines >= LINES_PER_PART) {
        part = document.createElement("span");
        part.className = "code-part";
        code.append(part);
        lines = 0;
      }
      part.append(text);
      lines += text.split("\n").length - 1;
    },
    finish() {
      dropLastLineEnd(part);
      if (language && code.textContent.length <= HIGHLIGHT_LIMIT) highlightLater(code, language);
    },
  };
}

function dropLastLineEnd(part) {
  const text = part?.lastChild;
  if (text?.data.endsWith("\n")) text.data = text.data.slice(0, -1);
}

async function highlightLater(code, language) {
  const { highlight } = await import("./highlight.js");
  const fragment = highlight(code.textContent, language);
  if (fragment) code.replaceChildren(fragment);
}
