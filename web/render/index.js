// Foreign text to safe DOM. Python owns the views and calls these three functions; nothing here
// knows about conversations. Markup comes from marked, is sanitised by DOMPurify, and never holds
// raw HTML, scripts, remote images or links other than http, https and mailto.
import { MarkdownStream } from "./stream.js";

/** A stream that appends Markdown to `element` as it arrives: push(text), end(), dispose(). */
export function openStream(element) {
  return new MarkdownStream(element);
}

/** Renders a whole text into `element`; long texts are finished over the next frames. */
export function render(element, text) {
  element.replaceChildren();
  const stream = new MarkdownStream(element);
  stream.push(text);
  stream.end();
  return stream;
}

export { loadImage } from "./images.js";
